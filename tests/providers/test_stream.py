"""The guarded stream against a real server: whole answers, and every way in which one is not."""

import asyncio
import gzip
import json
import tracemalloc

import pytest

from chatd.clock import SystemClock
from chatd.core.failure import Failure, FailureKind
from chatd.core.model import Finished, TextDelta, TextStarted
from chatd.providers.stream import ModelCallFailed, open_stream
from chatd.providers.transport import open_transport
from providers.plain_vendor import KEY, STOP, WHOLE, call, failed, listen
from providers.raw_vendor import Talk, chunk, head, says, vendor


async def failure(talk: Talk) -> Failure:
    async with vendor(talk) as (running, transport):
        return await failed(call(running.url), transport)


async def test_a_whole_answer_ends_with_its_terminal_event():
    async with vendor(says(*WHOLE)) as (running, transport):
        events = await listen(call(running.url), transport)

    assert events == [TextStarted(0), TextDelta(0, "a"), TextDelta(0, "b"), Finished(STOP)]


async def test_the_next_call_uses_the_same_connection():
    async with vendor(says(*WHOLE)) as (running, transport):
        for _ in range(3):
            await listen(call(running.url), transport)

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
        await listen(call(running.url), transport)
        closing.set()
        events = await listen(call(running.url), transport)

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
        assert isinstance((await listen(call(running.url), transport))[-1], Finished)


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
