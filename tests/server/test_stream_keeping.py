"""One timer keeps all streams: signs of life, rights that end, clients that are stuck; and a server that stops."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import msgspec
import pytest
from structlog.testing import capture_logs

from chatd.engine.drop_warnings import DropWarnings
from chatd.server.stream import keeping
from chatd.server.stream.keeping import BEAT_TICKS, STALLED_SECONDS, KeptStream, StreamKeeper
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Say, Turn
from server.chat_api import CHATS
from server.scripted import scripted_server
from server.streaming import TRANSPORTS, Transport, reading
from server.test_engine_room import PATIENCE, begin

CHAT = UUID(int=7)


class Loop:
    """Writes down what it is told."""

    subject = CHAT

    def __init__(self) -> None:
        self.told: list[str] = []
        self.sending_since: float | None = None

    def beat(self) -> None:
        self.told.append("beat")

    def recheck(self) -> None:
        self.told.append("recheck")

    def end(self, reason: str) -> None:
        self.told.append("end")

    def stop(self) -> None:
        self.told.append("stop")


async def test_each_stream_gives_a_sign_of_life_in_its_turn():
    clock = FakeClock()
    keeper, loops = StreamKeeper(clock, DropWarnings(clock)), [Loop() for _ in range(2 * BEAT_TICKS)]
    forget = [keeper.keep(KeptStream(loop, None, None)) for loop in loops]
    await clock.advance(1)
    once = sum(len(loop.told) for loop in loops)
    await clock.advance(2 * BEAT_TICKS - 1)
    for end in forget:
        end()
    await clock.advance(2)

    assert once == 2, "never all at once"
    assert all(loop.told == ["beat", "beat"] for loop in loops)
    assert clock.parked() == [], "no streams, no timer"


@pytest.mark.parametrize("path", ["{chat}/stream", "watch"])
async def test_a_silent_socket_brings_signs_of_life_that_a_page_can_see(
    database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
):
    monkeypatch.setattr(keeping, "BEAT_TICKS", 1)
    script = lambda _: Turn(Say("hello"))  # noqa: E731
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        chat = await begin(running, "hello")
        url = f"{running.owner.url}{CHATS}/{path.format(chat=chat)}"
        headers = {"Authorization": f"Bearer {running.owner.token}"}
        async with aiohttp.ClientSession(headers=headers) as http, http.ws_connect(url) as socket:
            said = [msgspec.json.decode(await socket.receive_str()) for _ in range(2)]
            while not (said[-2] == said[-1] and not said[-1]):
                said.append(msgspec.json.decode(await socket.receive_str()))

    assert all(isinstance(one, dict if path == "watch" else list) for one in said)


async def test_a_stream_ends_when_its_session_does_and_rights_are_asked_for_when_they_change():
    clock = FakeClock()
    keeper, loop, other = StreamKeeper(clock, DropWarnings(clock)), Loop(), Loop()
    keeper.keep(KeptStream(loop, None, clock.now() + timedelta(seconds=60)))
    keeper.keep(KeptStream(other, None, None))
    keeper.check_rights()
    await clock.advance(60 + BEAT_TICKS)

    assert loop.told[0] == other.told[0] == "recheck"
    assert "end" in loop.told
    assert "end" not in other.told


@pytest.mark.behaviour("STREAM-4")
async def test_who_takes_a_frame_for_too_long_is_cut():
    clock, cut = FakeClock(), list[str]()
    keeper, stuck, fine = StreamKeeper(clock, DropWarnings(clock)), Loop(), Loop()
    keeper.keep(KeptStream(stuck, lambda: cut.append("stuck"), None))
    keeper.keep(KeptStream(fine, lambda: cut.append("fine"), None))
    await clock.advance(5)
    stuck.sending_since = clock.monotonic()
    with capture_logs() as logs:
        await clock.advance(STALLED_SECONDS - 1)
        fine.sending_since = clock.monotonic()
        assert cut == []
        await clock.advance(1)

    assert cut == ["stuck"]
    assert [line["chat_id"] for line in logs] == [str(CHAT)]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_streams_end_when_the_server_stops_and_hold_nothing_up(
    database: Any, tmp_path: Path, transport: Transport
):
    script = lambda _: Turn(Say("ok"))  # noqa: E731
    async with (
        asyncio.timeout(PATIENCE),
        asyncio.TaskGroup() as tasks,
        scripted_server(database.dsn, tmp_path, script) as running,
    ):
        chat = await begin(running, "hello")
        ready = asyncio.Event()

        async def follow() -> None:
            async with reading(running.owner, chat, transport) as reader:
                await reader.resting()
                ready.set()
                await reader.ended()

        tasks.create_task(follow())
        await ready.wait()
