"""The guarded stream against a real server: whole answers, and every way in which one is not."""

import asyncio

import pytest

from chatd.clock import Clock, SystemClock
from chatd.core.failure import Failure, FailureKind
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
from chatd.providers.transport import OutboundRequest, Transport, open_transport
from chatd.testing.fake_clock import FakeClock
from providers.raw_vendor import Talk, Vendor, chunk, head, says, vendor

WAIT_SECONDS = 30.0  # of real time, for what takes milliseconds
STOP = FinishReason.STOP


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
    request = OutboundRequest(url, b"{}", {"Content-Type": "application/json"})
    return ModelCall("anthropic", Plain(), SseFraming, request, limits or StreamLimits())


async def heard(
    vendor: Vendor, transport: Transport, clock: Clock | None = None, arrived: asyncio.Event | None = None
) -> list[ModelEvent]:
    """All events; `arrived` is set with each."""
    events: list[ModelEvent] = []
    async with (
        asyncio.timeout(WAIT_SECONDS),
        open_stream(call(vendor.url), transport=transport, clock=clock or SystemClock()) as stream,
    ):
        async for batch in stream:
            events += batch
            if arrived:
                arrived.set()
    return events


async def failure(talk: Talk) -> Failure:
    async with vendor(talk) as (running, transport):
        with pytest.raises(ModelCallFailed) as caught:
            await heard(running, transport)
    return caught.value.failure


async def test_a_whole_answer_ends_with_its_terminal_event():
    async with vendor(says(*WHOLE)) as (running, transport):
        events = await heard(running, transport)

    assert events == [TextStarted(0), TextDelta(0, "a"), TextDelta(0, "b"), Finished(STOP)]


async def test_the_next_call_uses_the_same_connection():
    async with vendor(says(*WHOLE)) as (running, transport):
        for _ in range(3):
            await heard(running, transport)

    assert (running.requests, running.connections) == (3, 1)


async def test_a_pooled_connection_that_the_vendor_closed_is_replaced_without_a_word():
    closing = asyncio.Event()

    async def answer_and_close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not closing.is_set():
            for piece in WHOLE:
                writer.write(piece)
            return
        closing.clear()
        raise ConnectionResetError

    async with vendor(answer_and_close) as (running, transport):
        await heard(running, transport)
        closing.set()
        events = await heard(running, transport)

    assert isinstance(events[-1], Finished)
    assert running.connections == 2


@pytest.mark.parametrize("end", [chunk(b""), b""], ids=["a clean end", "a cut"])
async def test_a_stream_that_ends_early_is_never_whole(end: bytes):
    async def cut(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in (head(), chunk(b"data: a\n\n"), end):
            writer.write(piece)
        await writer.drain()
        raise ConnectionResetError

    told = await failure(cut)

    assert (told.kind, told.retryable) == (FailureKind.TIMEOUT, True)


async def test_a_refusal_is_classified_by_its_status_and_headers():
    body = b'{"error": {"type": "rate_limit_error", "message": "slow down"}}'
    told = await failure(says(head("429 No", "application/json", "Retry-After: 7\r\n"), chunk(body), chunk(b"")))

    assert (told.kind, told.status_code, told.retryable) == (FailureKind.RATE_LIMIT, 429, True)
    assert told.retry_after_seconds == 7


async def test_a_page_in_place_of_a_stream_is_no_answer():
    told = await failure(says(head(content_type="text/html"), chunk(b"<html>sign in</html>"), chunk(b"")))

    assert (told.kind, told.retryable) == (FailureKind.CONFIG, False)


async def test_an_error_inside_of_the_stream_ends_it():
    told = await failure(says(head(), chunk(b"data: a\n\ndata: ERROR busy\n\n")))

    assert told.kind is FailureKind.OVERLOADED


async def test_what_can_not_be_read_ends_it():
    told = await failure(says(head(), chunk(b"data: BAD\n\n")))

    assert told.retryable


async def test_nobody_there_is_a_retryable_failure():
    async with vendor(says()) as (running, transport):
        url = running.url
    async with open_transport() as transport:
        with pytest.raises(ModelCallFailed) as caught:
            async with open_stream(call(url), transport=transport, clock=SystemClock()):
                pass

    assert caught.value.failure.retryable


async def test_no_first_event_in_time_is_a_startup_timeout():
    clock = FakeClock()

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with vendor(hang) as (running, transport), asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(_failing(running, transport, clock))
        await clock.wait_for("model first event")
        await clock.advance(59)
        assert not asked.done()
        await clock.advance(1)
        told = await asked
        async with asyncio.timeout(WAIT_SECONDS):
            await running.hung_up.wait()

    assert (told.kind, told.retryable) == (FailureKind.STARTUP_TIMEOUT, True)


async def test_a_stream_that_falls_silent_ends_and_one_that_pings_does_not():
    clock = FakeClock()
    go_on: asyncio.Queue[bytes] = asyncio.Queue()
    arrived = asyncio.Event()

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head())
        while True:
            writer.write(chunk(await go_on.get()))
            await writer.drain()

    async with vendor(talk) as (running, transport), asyncio.TaskGroup() as tasks:
        listening = tasks.create_task(_failing(running, transport, clock, arrived))
        for _ in range(4):
            await clock.wait_for("model first event" if not arrived.is_set() else "model silence")
            arrived.clear()
            go_on.put_nowait(b"data: a\n\n")
            async with asyncio.timeout(WAIT_SECONDS):
                await arrived.wait()
            await clock.advance(299)
            assert not listening.done()
        await clock.advance(2)
        told = await listening

    assert (told.kind, told.retryable) == (FailureKind.STREAM_SILENCE_TIMEOUT, True)


async def test_a_cancelled_call_closes_its_socket():
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head() + chunk(b"data: a\n\n"))
        await writer.drain()
        await reader.read()

    first = asyncio.Event()

    async def listen() -> None:
        async with open_stream(call(running.url), transport=transport, clock=SystemClock()) as stream:
            async for _ in stream:
                first.set()

    async with vendor(talk) as (running, transport), asyncio.TaskGroup() as tasks:
        listening = tasks.create_task(listen())
        await first.wait()
        listening.cancel()
        async with asyncio.timeout(WAIT_SECONDS):
            await running.hung_up.wait()
    assert listening.cancelled()


async def _failing(
    running: Vendor, transport: Transport, clock: Clock, arrived: asyncio.Event | None = None
) -> Failure:
    with pytest.raises(ModelCallFailed) as caught:
        await heard(running, transport, clock, arrived)
    return caught.value.failure
