"""How long a vendor is waited for, and what happens to its socket when it is not."""

import asyncio
import socket

import pytest

from chatd.clock import SystemClock
from chatd.core.failure import FailureKind
from chatd.core.model import Finished
from chatd.providers.stream import StreamLimits, open_stream
from chatd.providers.transport import open_transport
from chatd.testing.fake_clock import FakeClock
from providers.plain_vendor import WAIT_SECONDS, call, failed, listen
from providers.raw_vendor import chunk, head, vendor


async def test_a_refusal_whose_body_does_not_end_is_known_by_what_came():
    clock = FakeClock()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head("429 No", "application/json") + chunk(b'{"error": {"type": "insufficient_quota"}}'))
        await writer.drain()
        await reader.read()

    async with vendor(hang) as (running, transport), asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(failed(call(running.url), transport, clock))
        await clock.wait_for("model error body")
        await clock.advance(5)
        told = await asked

    assert told.kind is FailureKind.USAGE_LIMIT


@pytest.mark.behaviour("LOOP-11")
async def test_no_first_event_in_time_is_a_startup_timeout():
    clock = FakeClock()

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with vendor(hang) as (running, transport), asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(failed(call(running.url), transport, clock))
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
            asked = tasks.create_task(failed(call(url, StreamLimits(first_event=7)), transport, clock))
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
        asked = tasks.create_task(failed(call(running.url, limits), transport, clock))
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
async def test_silence_counts_from_the_first_event_where_that_may_take_longer():
    clock = FakeClock()
    arrived = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head() + chunk(b"data: a\n\n"))
        await writer.drain()
        await reader.read()

    limits = StreamLimits(first_event=60, silence=20)
    async with vendor(talk) as (running, transport), asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(failed(call(running.url, limits), transport, clock, arrived))
        async with asyncio.timeout(WAIT_SECONDS):
            await arrived.wait()
        await clock.advance(20)
        async with asyncio.timeout(WAIT_SECONDS):
            told = await asked

    assert told.kind is FailureKind.STREAM_SILENCE_TIMEOUT


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
        listening = tasks.create_task(failed(call(running.url), transport, clock, arrived))
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


@pytest.mark.parametrize("does_end", [True, False])
async def test_the_end_of_a_whole_answer_is_waited_for_shortly_so_that_its_connection_can_be_kept(does_end: bool):
    clock = FakeClock()
    ends = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head() + chunk(b"data: END\n\n"))
        await writer.drain()
        await ends.wait()
        writer.write(chunk(b""))

    async with vendor(talk) as (running, transport):
        for _ in range(2):
            ends.clear()
            async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as tasks:
                listening = tasks.create_task(listen(call(running.url), transport, clock))
                await clock.wait_for("model stream drain")
                if does_end:
                    ends.set()
                else:
                    await clock.advance(0.2)
            assert isinstance(listening.result()[-1], Finished)
        ends.set()

    assert running.connections == (1 if does_end else 2)
