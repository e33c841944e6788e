"""One client that watches repositories: what it sees is kept, and who keeps streams knows when it takes nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from agent.git.repos import repository
from agent.running import CHAT, running_agent
from chatd.clock import SystemClock
from chatd.core.secret import Secret
from chatd.core.stream import Event
from chatd.server.git_stream.loop import NOT_YOURS, GitLoop
from chatd.testing.fake_clock import FakeClock
from chatd.wire.agent.git import Repositories
from chatd.wire.git import GitEvent
from chatd.workspaces.agents.client import agent_client
from workspaces.deployed import short_folder

PATIENCE = 30


class Client:
    """Takes events while it `reads`; is gone when it says so."""

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.begun = asyncio.Event()
        self.left = asyncio.Event()
        self.events: list[GitEvent] = []
        self.beats: asyncio.Queue[None] = asyncio.Queue()
        self.closed: list[str] = []
        self.kept: list[Repositories] = []
        self.has_kept = asyncio.Event()
        self.may_stay = True

    async def open(self) -> None: ...

    async def send(self, events: Sequence[Event]) -> None:
        self.begun.set()
        await self.reads.wait()
        self.events += [msgspec.json.decode(event.data, type=GitEvent) for event in events]

    async def beat(self) -> None:
        if self.left.is_set():
            raise ConnectionResetError
        self.beats.put_nowait(None)

    async def close(self, reason: str) -> None:
        self.closed.append(reason)

    async def gone(self) -> None:
        await self.left.wait()

    async def keep(self, seen: Repositories) -> None:
        self.kept.append(seen)
        self.has_kept.set()

    async def stays(self) -> bool:
        return self.may_stay


@asynccontextmanager
async def watching(tmp_path: Path, client: Client) -> AsyncIterator[tuple[GitLoop, asyncio.Task[None]]]:
    folder = short_folder(tmp_path) / "agent"
    async with asyncio.timeout(PATIENCE), running_agent(folder) as agent:
        repository(agent.home)
        asked = agent_client(agent.address, Secret(agent.token), SystemClock())
        try:
            async with asyncio.TaskGroup() as group:
                loop = GitLoop(CHAT, asked, client.keep, client, FakeClock(), client.stays)
                yield loop, group.create_task(loop.run())
        finally:
            await asked.close()


async def test_what_someone_sees_is_kept_for_lists_too(tmp_path: Path):
    client = Client()
    client.reads.set()
    async with watching(tmp_path, client):
        await client.has_kept.wait()
        client.left.set()

    assert [each.branch for each in client.events[0].repositories] == ["main"]
    assert [each.branch for each in client.kept[0].repositories] == ["main"]


async def test_a_client_that_takes_nothing_is_known_and_can_be_cut(tmp_path: Path):
    client = Client()
    async with watching(tmp_path, client) as (loop, running):
        before = loop.sending_since
        await client.begun.wait()
        since = loop.sending_since
        loop.stop()
        await running

    assert (before, since) == (None, FakeClock().monotonic())
    assert client.events == []


async def test_signs_of_life_come_while_the_agent_is_waited_for_and_not_amid_an_event(tmp_path: Path):
    client = Client()
    async with watching(tmp_path, client) as (loop, _):
        await client.begun.wait()
        loop.beat()  # it is being told something: that is enough
        client.reads.set()
        await client.has_kept.wait()
        loop.beat()
        await client.beats.get()
        loop.beat()
        await client.beats.get()
        client.left.set()

    assert client.beats.empty()
    assert len(client.events) == 1


async def test_a_stream_ends_with_its_clients_rights_and_with_the_server(tmp_path: Path):
    said: list[list[str]] = []
    for number, end in enumerate(("rights", "server")):
        client = Client()
        client.reads.set()
        async with watching(tmp_path / str(number), client) as (loop, running):
            await client.has_kept.wait()
            if end == "rights":
                client.may_stay = False
                loop.recheck()
            else:
                loop.recheck()  # nothing has changed for this one
                loop.end("The server is stopping.")
            await running
        said.append(client.closed)

    assert said == [[NOT_YOURS], ["The server is stopping."]]


async def test_no_sign_of_life_comes_after_the_goodbye(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    client = Client()
    client.reads.set()
    async with watching(tmp_path, client) as (loop, running):

        async def close(reason: str) -> None:
            client.closed.append(reason)
            asyncio.get_running_loop().call_soon(loop.beat)  # in the moment before it is known to be over

        monkeypatch.setattr(client, "close", close)
        await client.has_kept.wait()
        loop.end("The server is stopping.")
        await running

    assert client.closed == ["The server is stopping."]
    assert client.beats.empty()
