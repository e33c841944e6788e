"""A protocol of plain words, for tests of the guarded stream that are about no vendor."""

import asyncio

import pytest

from chatd.clock import Clock, SystemClock
from chatd.core.failure import Failure
from chatd.core.model import (
    Finished,
    FinishReason,
    ModelEvent,
    ModelRequest,
    ProtocolName,
    TextDelta,
    TextStarted,
    VendorError,
)
from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.stream import ModelCall, ModelCallFailed, StreamLimits, open_stream
from chatd.providers.transport import OutboundRequest, Transport
from providers.raw_vendor import chunk, head

WAIT_SECONDS = 30.0  # of real time, for what takes milliseconds
STOP = FinishReason.STOP
KEY = "correct-horse"  # has the look of no vendor's


class PlainReader:
    """`data: word` is text, `data: END` the terminal event, `data: ERROR …` a vendor's error."""

    def __init__(self) -> None:
        self._begun = False

    def read(self, event: WireEvent) -> list[ModelEvent]:
        word = event.data.decode()
        if word == "END":
            return [Finished(STOP)]
        if word == "BAD":
            raise UnreadableStream("BAD")
        if word.startswith("ERROR"):
            return [VendorError(word, error_type="overloaded_error")]
        started: list[ModelEvent] = [] if self._begun else [TextStarted(0)]
        self._begun = True
        return [*started, TextDelta(0, word)]

    def end(self) -> list[ModelEvent]:
        return []


class Plain:
    name = ProtocolName.OPENAI_CHAT

    def body(self, request: ModelRequest) -> bytes:
        return b"{}"

    def reader(self) -> PlainReader:
        return PlainReader()


WHOLE = (head(), chunk(b"data: a\n\nda"), chunk(b"ta: b\n\ndata: END\n\n"), chunk(b""))


def call(url: str, limits: StreamLimits | None = None) -> ModelCall:
    request = OutboundRequest(url, b"{}", {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"})
    return ModelCall("anthropic", Plain(), SseFraming, request, limits or StreamLimits())


async def listen(
    asked: ModelCall, transport: Transport, clock: Clock | None = None, arrived: asyncio.Event | None = None
) -> list[ModelEvent]:
    """All events; `arrived` is set with each."""
    events: list[ModelEvent] = []
    async with (
        asyncio.timeout(WAIT_SECONDS),
        open_stream(asked, transport=transport, clock=clock or SystemClock()) as stream,
    ):
        async for batch in stream:
            events += batch
            if arrived:
                arrived.set()
    return events


async def failed(
    asked: ModelCall, transport: Transport, clock: Clock | None = None, arrived: asyncio.Event | None = None
) -> Failure:
    with pytest.raises(ModelCallFailed) as caught:
        await listen(asked, transport, clock, arrived)
    return caught.value.failure
