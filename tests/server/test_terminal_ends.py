"""When terminals end: with their client's rights, when nobody uses them, and for who does not read."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import pytest
import pytest_asyncio

from agent.running import running_agent
from chatd.clock import Clock, SystemClock
from chatd.core.secret import Secret
from chatd.minting import uuid7
from chatd.server.stream import keeping
from chatd.server.workspaces.terminal_loop import IDLE_SECONDS, TerminalLoop
from chatd.testing.fake_clock import FakeClock
from chatd.wire.agent.terminal import StartTerminal
from chatd.workspaces.agents import exchange
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.resolving import Resolved
from server.streaming import small_socket
from server.test_stream_slow import bytes_in_buffers, until
from server.test_workspace_terminals import PATIENCE, refused, terminal
from server.workspace_api import WORKSPACES, WorkspaceApi, workspace_api

WORKSPACE = UUID(int=7)


@pytest_asyncio.fixture
async def world(database: Any, tmp_path: Path) -> AsyncIterator[WorkspaceApi]:
    async with workspace_api(database.dsn, tmp_path, terminals_per_user="1") as made:
        yield made


async def test_the_terminal_of_a_user_who_is_suspended_ends(world: WorkspaceApi):
    workspace = await world.run()
    async with terminal(world.mia, workspace) as screen:
        suspended = await world.admin.put("/api/v2/users/mia/status/suspend")
        code = await screen.end()

    assert (suspended.status, code) == (200, 1013)
    assert await refused(world.mia, workspace) == 401


async def test_who_signs_out_while_the_workspace_comes_back_gets_no_terminal(world: WorkspaceApi):
    workspace = await world.run()
    session = await world.running.api.sign_in("mia")
    resolver = world.running.replica.workspaces.resolver
    recover, is_gone, may_go_on = resolver.recover, asyncio.Event(), asyncio.Event()

    async def slowly(failed: Resolved) -> Resolved:
        is_gone.set()
        await may_go_on.wait()
        return await recover(failed)

    resolver.recover = slowly
    health = (await world.mia.get(f"{WORKSPACES}/{workspace['id']}?agent=true")).body["agent"]["health"]
    os.kill(health["pid"], signal.SIGKILL)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        opened = group.create_task(refused(session, workspace))
        await is_gone.wait()
        await session.post("/api/v2/users/logout")
        may_go_on.set()

    assert opened.result() == 401
    async with terminal(world.mia, workspace):
        pass  # it counts for nobody any more


async def test_who_does_not_read_is_cut_and_finds_the_terminal_again(
    world: WorkspaceApi, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(keeping, "STALLED_SECONDS", 0.5)
    workspace = await world.run()
    id = uuid7(SystemClock().now())
    path = f"{world.mia.url}{WORKSPACES}/{workspace['id']}/terminal?reconnect={id}&command=yes"
    most = 0
    async with (
        asyncio.timeout(PATIENCE),
        aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {world.mia.token}"},
            connector=aiohttp.TCPConnector(socket_factory=small_socket),
            read_bufsize=2**12,
        ) as http,
        http.ws_connect(path),
    ):

        def is_cut() -> bool:
            nonlocal most
            most = max(most, bytes_in_buffers())
            return not keeper_of(world)

        await until(is_cut)
    async with terminal(world.mia, workspace, f"?reconnect={id}") as screen:
        await screen.until(b"y\r\ny\r\n")

    assert 0 < most < 1_000_000, "what a program says waits with the program"


def keeper_of(world: WorkspaceApi) -> int:
    """How many streams the replica has."""
    text = world.running.replica.opened.metrics.render()[0].decode()
    return int(float(next(line.split()[-1] for line in text.splitlines() if line.startswith("chatd_streams "))))


class Wire:
    """A client's side of a loop: what it is sent, and what it types, else nothing."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.came = asyncio.Event()
        self.typed: asyncio.Queue[bytes] = asyncio.Queue()

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        self.came.set()

    async def receive(self) -> dict[str, Any]:
        typed = await self.typed.get()
        self.typed.task_done()
        return {"type": "websocket.receive", "bytes": typed}

    async def until_shown(self, text: bytes) -> None:
        while text not in b"".join(each.get("bytes", b"") for each in self.sent):
            self.came.clear()
            await self.came.wait()


@asynccontextmanager
async def a_loop(
    tmp_path: Path, clock: Clock, used: list[int], command: str = "cat", pids: list[int] | None = None
) -> AsyncIterator[TerminalLoop]:
    async def may_stay() -> bool:
        return True

    async with running_agent(tmp_path / "agent") as agent:
        (pids if pids is not None else []).append(agent.pid)
        client = agent_client(agent.address, Secret(agent.token), SystemClock())
        try:
            opened = await client.open_terminal(StartTerminal(command=command))
            async with client.attach(opened.id) as socket:
                yield TerminalLoop(WORKSPACE, socket, clock, used=lambda: used.append(1), may_stay=may_stay)
        finally:
            await client.close()


async def test_an_open_terminal_is_use_until_nothing_has_happened_for_half_an_hour(tmp_path: Path):
    clock, wire, used = FakeClock(), Wire(), list[int]()
    async with a_loop(tmp_path, clock, used) as loop, asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        running = group.create_task(loop.run(wire.receive, wire.send))
        await clock.advance(IDLE_SECONDS)
        loop.beat()
        assert (used, wire.sent) == ([1], [])
        await clock.advance(1)
        loop.beat()
        await running

    assert used == [1]
    *signs_of_life, closed = wire.sent
    assert [each["bytes"] for each in signs_of_life] == [b""]
    assert (closed["type"], closed["code"]) == ("websocket.close", 1013)
    assert "half an hour" in closed["reason"]


async def test_what_is_typed_is_use_of_a_terminal(tmp_path: Path):
    clock, wire, used = FakeClock(), Wire(), list[int]()
    silent = "stty -echo; echo ready; read a; read b; echo $b"
    async with a_loop(tmp_path, clock, used, silent) as loop, asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        running = group.create_task(loop.run(wire.receive, wire.send))
        await wire.until_shown(b"ready")
        await clock.advance(IDLE_SECONDS)
        wire.typed.put_nowait(b"one\n")
        await wire.typed.join()
        await asyncio.sleep(0)  # noqa: TID251 - it is taken
        await clock.advance(1)
        loop.beat()
        assert used == [1]
        wire.typed.put_nowait(b"two\n")
        await wire.until_shown(b"two")
        await running


async def test_what_is_shown_is_use_of_a_terminal(tmp_path: Path):
    clock, wire, used = FakeClock(), Wire(), list[int]()
    async with a_loop(tmp_path, clock, used, "read x; echo $x") as loop, asyncio.timeout(PATIENCE):
        await clock.advance(IDLE_SECONDS)
        await loop._agent.send_bytes(b"word\n")
        async with asyncio.TaskGroup() as group:
            running = group.create_task(loop.run(wire.receive, wire.send))
            await wire.until_shown(b"word")
            await clock.advance(1)
            loop.beat()
            await running

    assert used == [1]


async def test_a_terminal_that_was_ended_before_it_began_is_closed_at_once(tmp_path: Path):
    wire = Wire()
    async with a_loop(tmp_path, FakeClock(), []) as loop, asyncio.timeout(PATIENCE):
        loop.end("The server is stopping.")
        await loop.run(wire.receive, wire.send)

    assert wire.sent == [{"type": "websocket.close", "code": 1013, "reason": "The server is stopping."}]


async def test_an_agent_that_says_nothing_any_more_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A machine that is gone closes nothing."""
    monkeypatch.setattr(exchange, "_PING_SECONDS", 0.2)
    wire, pids = Wire(), list[int]()
    async with a_loop(tmp_path, FakeClock(), [], pids=pids) as loop, asyncio.timeout(PATIENCE):
        os.kill(pids[0], signal.SIGSTOP)
        try:
            await loop.run(wire.receive, wire.send)
        finally:
            os.kill(pids[0], signal.SIGCONT)

    assert [(each["type"], each["code"]) for each in wire.sent] == [("websocket.close", 1013)]
