"""A client that does not read: cut after a while, in nobody's way, and back without loss."""

import asyncio
import gc
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import pytest
from structlog.testing import capture_logs

from chatd.core.parts import TextPart
from chatd.core.preview import Preview
from chatd.core.roles import Role
from chatd.core.stream_picture import Picture
from chatd.engine import episodes
from chatd.engine.drop_warnings import EVERY_SECONDS, Dropped, DropWarnings
from chatd.engine.episodes import Episodes
from chatd.server.handshakes import ShapedWebSocketProtocol
from chatd.server.slow_clients import ImpatientProtocol
from chatd.server.stream import keeping
from chatd.server.stream.framing import MOST_BYTES
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Say, Turn
from server.scripted import scripted_server, send
from server.streaming import TRANSPORTS, Reader, Transport, reading
from server.test_engine_room import PATIENCE, begin

CHAT = UUID(int=7)
# 12 MB: more than the buffers between a server and a client that reads nothing can hold.
FLOOD = Turn(Say(*[f"{number:06} " * 15_000 for number in range(115)]))


async def folded(reader: Reader, picture: Picture) -> None:
    """All that is left of a connection that was cut."""
    try:
        while True:
            picture.apply(await reader.next())
    except (StopAsyncIteration, aiohttp.ClientError, TypeError):
        pass  # TypeError: the message of a WebSocket that says that it is broken


async def answered(reader: Reader, picture: Picture, answers: int) -> None:
    while sum(one["role"] == "assistant" for one in picture.messages.values()) < answers or picture.parts:
        picture.apply(await reader.next())


@pytest.mark.behaviour("STREAM-4", "STREAM-5")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_who_does_not_read_is_cut_and_resumes_while_others_see_the_turn_at_once(
    database: Any, tmp_path: Path, transport: Transport, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(keeping, "STALLED_SECONDS", PATIENCE)
    script = lambda asked: FLOOD if asked.last_text == "flood" else Turn(Say("ok"))  # noqa: E731
    with capture_logs() as logs:
        async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
            chat = await begin(running, "hello")
            picture, slow = Picture(), Picture()
            async with reading(running.owner, chat, transport) as reader:
                await answered(reader, picture, 1)
                async with reading(running.owner, chat, transport, small_buffers=True) as stuck:
                    slow.apply(await stuck.next())
                    await send(running, chat, "flood")
                    await answered(reader, picture, 2)
                    seen = list(reader.seen)
                    held = bytes_in_buffers()
                    # The turn is over and seen, and nobody has waited for the one that is stuck. Now it is enough.
                    assert not any(line["event"].startswith("a subscriber") for line in logs)
                    monkeypatch.setattr(keeping, "STALLED_SECONDS", 0.5)
                    await until(lambda: any(line["event"].startswith("a subscriber") for line in logs))
                    await folded(stuck, slow)
            assert len(slow.messages) < 4
            assert slow.last_id is not None
            async with reading(running.owner, chat, transport, after=slow.last_id) as back:
                await answered(back, slow, 2)

    assert 0 < held < 2 * MOST_BYTES, "of the 12 MB, what is being sent; the rest is read when it is taken"
    parts = [event["message_part"]["seq"] for event in seen if event["type"] == "message_part"]
    assert parts[-115:] == list(range(1, 116))
    assert slow.shown() == picture.shown()
    [warning] = [line for line in logs if line["event"].startswith("a subscriber")]
    assert (warning["chat_id"], warning["dropped_count"]) == (str(chat), 1)


def bytes_in_buffers() -> int:
    """What the server has written to its clients' connections and the kernel has not taken."""
    protocols = [held for held in gc.get_objects() if isinstance(held, ShapedWebSocketProtocol | ImpatientProtocol)]
    # One that became a WebSocket is still there.
    transports = {id(transport): transport for held in protocols if (transport := getattr(held, "transport", None))}
    return sum(transport.get_write_buffer_size() for transport in transports.values() if not transport.is_closing())


async def until(is_so: Any) -> None:
    loop = asyncio.get_running_loop()
    while not is_so():
        woken = loop.create_future()
        loop.call_later(0.02, woken.set_result, None)
        await woken


def warnings(logs: Any) -> list[tuple[str, int]]:
    return [(line["dropped"], line["dropped_count"]) for line in logs if "dropped_count" in line]


@pytest.mark.behaviour("STREAM-5")
async def test_drops_are_told_once_in_ten_seconds_for_each_chat_and_kind():
    clock = FakeClock()
    drops = DropWarnings(clock)
    with capture_logs() as logs:
        for _ in range(3):
            drops.note(CHAT, Dropped.PART)
        drops.note(CHAT, Dropped.SUBSCRIBER)
        drops.note(UUID(int=8), Dropped.PART)
        await clock.advance(EVERY_SECONDS)
        drops.note(CHAT, Dropped.PART)

    assert warnings(logs) == [("part", 1), ("subscriber", 1), ("part", 1), ("part", 3)]


@pytest.mark.behaviour("STREAM-5")
async def test_a_full_buffer_is_told_and_counted_anew_by_the_next_stream(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(episodes, "MOST_BYTES", 500)
    made = Episodes(DropWarnings(FakeClock()))
    words = Preview(Role.ASSISTANT, TextPart(text="word"))
    with capture_logs() as logs:
        for attempt in (1, 2):
            episode = made.open(CHAT, 1, attempt)
            for _ in range(10):
                episode.add(words)
            assert (episode.last, episode.dropped) == (2, 8)
        made.end(CHAT)
        made.open(CHAT, 2, 1).close()

    assert warnings(logs) == [("part", 1), ("part", 1)], "the second stream does not go on with the first one's count"
