"""The guarded stream against a real server: whole answers, and every way in which one is not."""

import asyncio
import gzip
import json
import socket
import tracemalloc

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
    asked: ModelCall, transport: Transport, clock: Clock, arrived: asyncio.Event | None = None
) -> list[ModelEvent]:
    """All events; `arrived` is set with each."""
    events: list[ModelEvent] = []
    async with asyncio.timeout(WAIT_SECONDS), open_stream(asked, transport=transport, clock=clock) as stream:
        async for batch in stream:
            events += batch
            if arrived:
                arrived.set()
    return events


async def heard(vendor: Vendor, transport: Transport) -> list[ModelEvent]:
    return await listen(call(vendor.url), transport, SystemClock())


async def failure(talk: Talk, clock: Clock | None = None) -> Failure:
    async with vendor(talk) as (running, transport):
        return await _failing(running, transport, clock or SystemClock())


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


@pytest.mark.behaviour("ERR-4")
@pytest.mark.parametrize("end", [chunk(b""), b""], ids=["a clean end", "a cut"])
async def test_a_stream_that_ends_early_is_never_whole(end: bytes):
    async def cut(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in (head(), chunk(b"data: a\n\n"), end):
            writer.write(piece)
        await writer.drain()
        raise ConnectionResetError

    told = await failure(cut)

    assert (told.kind, told.retryable) == (FailureKind.TIMEOUT, True)
    if end:
        assert told.message == "Anthropic closed the stream before the answer was complete."


@pytest.mark.behaviour("ERR-1", "ERR-2", "ERR-3")
async def test_a_refusal_is_classified_by_its_status_and_headers():
    body = b'{"error": {"type": "rate_limit_error", "message": "slow down"}}'
    told = await failure(says(head("429 No", "application/json", "Retry-After: 7\r\n"), chunk(body), chunk(b"")))

    assert (told.kind, told.status_code, told.retryable) == (FailureKind.RATE_LIMIT, 429, True)
    assert told.retry_after_seconds == 7


ERROR = b'{"error": {"type": "insufficient_quota", "message": "no money"}}'
REFUSED = head("429 No", "application/json")


@pytest.mark.behaviour("ERR-2")
async def test_the_body_of_a_refusal_may_come_in_pieces():
    async def slowly(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in (REFUSED, *(chunk(ERROR[place : place + 9]) for place in range(0, len(ERROR), 9)), chunk(b"")):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)  # noqa: TID251 - lets the client read this piece alone

    told = await failure(slowly)

    assert (told.kind, told.detail) == (FailureKind.USAGE_LIMIT, "no money")


@pytest.mark.behaviour("ERR-2")
async def test_a_refusal_whose_body_breaks_is_known_by_its_status():
    async def cut(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head("401 No", "application/json") + chunk(b'{"err'))
        await writer.drain()
        raise ConnectionResetError

    told = await failure(cut)

    assert (told.kind, told.status_code, told.retryable) == (FailureKind.AUTH, 401, False)


async def test_a_refusal_whose_body_does_not_end_is_known_by_what_came():
    clock = FakeClock()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(REFUSED + chunk(ERROR))
        await writer.drain()
        await reader.read()

    async with vendor(hang) as (running, transport), asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(_failing(running, transport, clock))
        await clock.wait_for("model error body")
        await clock.advance(5)
        told = await asked

    assert told.kind is FailureKind.USAGE_LIMIT


async def test_of_a_refusal_that_unpacks_to_gigabytes_little_is_read():
    bomb = gzip.compress(b"x" * 50_000_000)
    packed = head("400 No", "text/plain", "Content-Encoding: gzip\r\n")
    tracemalloc.start()
    try:
        told = await failure(says(packed, chunk(bomb), chunk(b"")))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert told.status_code == 400
    assert most < 20_000_000


@pytest.mark.parametrize("quoted", ["key", "Bearer key", "<key>"])
async def test_a_key_that_the_vendor_quotes_is_not_shown(quoted: str):
    said = json.dumps({"error": f"no good: '{quoted.replace('key', KEY)}'"}).encode()
    for talk in (
        says(head("400 No", "application/json"), chunk(said), chunk(b"")),
        says(head(), chunk(f"data: ERROR the key {KEY} is over\n\n".encode())),
    ):
        told = await failure(talk)
        assert told.detail
        assert KEY not in told.detail + told.message


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", "Text/Event-Stream;charset=utf-8"])
async def test_a_stream_may_be_called_otherwise(content_type: str):
    async with vendor(says(head(content_type=content_type), *WHOLE[1:])) as (running, transport):
        assert isinstance((await heard(running, transport))[-1], Finished)


async def test_an_error_under_a_good_status_is_classified_by_its_body():
    told = await failure(says(head(content_type="application/json"), chunk(ERROR), chunk(b"")))

    assert (told.kind, told.status_code) == (FailureKind.USAGE_LIMIT, None)


async def test_a_redirect_is_a_wrong_address():
    told = await failure(says(head("302 Found", extra="Location: /login\r\n"), chunk(b"")))

    assert (told.kind, told.retryable) == (FailureKind.CONFIG, False)


async def test_an_answer_without_end_is_ended():
    piece = chunk(b": " + b"x" * 1_000_000 + b"\n\n")

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head())
        while True:
            writer.write(piece)
            await writer.drain()

    told = await failure(talk)

    assert told.rule == "garbled"


async def test_a_page_in_place_of_a_stream_is_no_answer():
    told = await failure(says(head(content_type="text/html"), chunk(b"<html>sign in</html>"), chunk(b"")))

    assert (told.kind, told.retryable) == (FailureKind.CONFIG, False)


async def test_an_error_inside_of_the_stream_ends_it():
    told = await failure(says(head(), chunk(b"data: a\n\ndata: ERROR busy\n\n")))

    assert told.kind is FailureKind.OVERLOADED


async def test_what_can_not_be_read_ends_it():
    told = await failure(says(head(), chunk(b"data: BAD\n\n")))

    assert told.retryable


@pytest.mark.behaviour("ERR-5")
async def test_nobody_there_is_a_retryable_failure():
    async with vendor(says()) as (running, transport):
        url = running.url
    async with open_transport() as transport:
        with pytest.raises(ModelCallFailed) as caught:
            async with open_stream(call(url), transport=transport, clock=SystemClock()):
                pass

    assert caught.value.failure.retryable


@pytest.mark.behaviour("LOOP-11")
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


@pytest.mark.behaviour("LOOP-11")
async def test_the_time_to_connect_counts_into_the_time_to_the_first_event():
    """A server that takes the connection into its queue and never looks at it."""
    clock = FakeClock()
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        async with open_transport() as transport, asyncio.TaskGroup() as tasks:
            url = f"https://127.0.0.1:{deaf.getsockname()[1]}/v1"
            asked = tasks.create_task(_failing_call(call(url, StreamLimits(first_event=7)), transport, clock))
            await clock.wait_for("model first event")
            await clock.advance(6.9)
            assert not asked.done()
            await clock.advance(0.1)
            told = await asked

    assert (told.kind, told.retryable) == (FailureKind.STARTUP_TIMEOUT, True)


@pytest.mark.behaviour("LOOP-11")
async def test_a_ping_is_a_first_event_and_after_it_silence_counts():
    clock = FakeClock()
    go_on = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head())
        await go_on.wait()
        writer.write(chunk(b": ping\n\n"))
        await writer.drain()
        await reader.read()

    limits = StreamLimits(first_event=60, silence=20)
    async with vendor(talk) as (running, transport), asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(_failing_call(call(running.url, limits), transport, clock))
        await clock.wait_for("model first event")
        await clock.advance(59)
        assert not asked.done()
        go_on.set()
        # The ping is heard in real time, and the watch looks up in fake time: step by step until it has.
        async with asyncio.timeout(WAIT_SECONDS):
            while "model silence" not in clock.parked():
                await clock.advance(0.01)
        await clock.advance(20.5)
        told = await asked

    assert (told.kind, told.retryable) == (FailureKind.STREAM_SILENCE_TIMEOUT, True)


@pytest.mark.behaviour("LOOP-11")
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


async def _failing_call(
    asked: ModelCall, transport: Transport, clock: Clock, arrived: asyncio.Event | None = None
) -> Failure:
    with pytest.raises(ModelCallFailed) as caught:
        await listen(asked, transport, clock, arrived)
    return caught.value.failure


async def _failing(
    running: Vendor, transport: Transport, clock: Clock, arrived: asyncio.Event | None = None
) -> Failure:
    return await _failing_call(call(running.url), transport, clock, arrived)
