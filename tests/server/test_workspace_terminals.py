"""Terminals in workspaces over WebSocket, and logs of builds as they come."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import aiohttp
import pytest
import pytest_asyncio

from chatd.clock import SystemClock
from chatd.minting import uuid7
from server.running import Api
from server.workspace_api import WORKSPACES, WorkspaceApi, workspace_api

PATIENCE = 30


@pytest_asyncio.fixture
async def world(database: Any, tmp_path: Path) -> AsyncIterator[WorkspaceApi]:
    async with workspace_api(database.dsn, tmp_path, terminals_per_user="2") as made:
        yield made


class Screen:
    """What a client sees."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.shown = b""
        self.told: list[dict[str, Any]] = []

    async def until(self, text: bytes) -> bytes:
        async with asyncio.timeout(PATIENCE):
            while text not in self.shown:
                assert await self._next(), self.shown
        return self.shown

    async def end(self) -> int | None:
        """The close code."""
        async with asyncio.timeout(PATIENCE):
            while await self._next():
                pass
        return self.socket.close_code

    async def _next(self) -> bool:
        frame = await self.socket.receive()
        if frame.type is aiohttp.WSMsgType.BINARY:
            self.shown += frame.data
        elif frame.type is aiohttp.WSMsgType.TEXT:
            self.told.append(json.loads(frame.data))
        else:
            return False
        return True


@asynccontextmanager
async def terminal(api: Api, workspace: dict[str, Any], query: str = "", **headers: str) -> AsyncIterator[Screen]:
    headers["Authorization"] = f"Bearer {api.token}"
    url = f"{api.url}{WORKSPACES}/{workspace['id']}/terminal{query}"
    async with aiohttp.ClientSession(headers=headers) as http, http.ws_connect(url) as socket:
        yield Screen(socket)


async def refused(api: Api, workspace: dict[str, Any], query: str = "", **headers: str) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        async with terminal(api, workspace, query, **headers):
            pass
    return caught.value.status


async def test_what_is_typed_is_run_and_shown(world: WorkspaceApi):
    workspace = await world.run()
    async with terminal(world.mia, workspace, "?width=100&height=30&command=sh") as screen:
        await screen.socket.send_bytes(b"stty size; echo $((20 + 3))\n")
        await screen.until(b"30 100")
        await screen.until(b"23")
        await screen.socket.send_str(json.dumps({"type": "resize", "columns": 77, "rows": 33}))
        await screen.socket.send_bytes(b"stty size\n")
        await screen.until(b"33 77")
        await screen.socket.send_bytes(b"exit 3\n")
        code = await screen.end()

    assert (code, screen.told) == (1000, [{"type": "exit", "exit_code": 3}])


async def test_who_comes_back_finds_the_same_terminal(world: WorkspaceApi):
    workspace = await world.run()
    id = uuid7(SystemClock().now())
    async with terminal(world.mia, workspace, f"?reconnect={id}&command=sh") as screen:
        await screen.socket.send_bytes(b"mark=fo; echo ${mark}und\n")
        await screen.until(b"found")
    async with terminal(world.mia, workspace, f"?reconnect={id}&command=sh") as screen:
        await screen.until(b"found")
        await screen.socket.send_bytes(b"echo still-${mark}\n")
        await screen.until(b"still-fo")


async def test_a_terminal_is_refused_before_it_is_opened(world: WorkspaceApi):
    workspace = await world.run()
    stranger, stopped = await world.running.add_user("sam"), await world.run()
    await world.build(stopped, "stop")
    await world.built(stopped)

    assert await refused(world.mia, workspace, Origin="https://evil.example") == 403
    assert await refused(world.admin, workspace) == 403
    assert await refused(stranger, workspace) == 404
    assert await refused(world.mia, {"id": "nonsense"}) == 404
    assert await refused(world.mia, stopped) == 409
    assert await refused(world.mia, workspace, "?reconnect=x&width=0&height=5000") == 400
    async with terminal(world.mia, workspace), terminal(world.mia, workspace):
        assert await refused(world.mia, workspace) == 409
    async with terminal(world.mia, workspace):
        pass


async def test_a_terminal_ends_with_the_session_of_who_opened_it(world: WorkspaceApi):
    workspace = await world.run()
    session = await world.running.api.sign_in("mia")
    async with terminal(session, workspace) as screen:
        await session.post("/api/v2/users/logout")
        code = await screen.end()

    assert code == 1013


async def test_a_text_that_is_no_size_closes_the_terminal(world: WorkspaceApi):
    workspace = await world.run()
    async with terminal(world.mia, workspace) as screen:
        await screen.socket.send_str("{}")
        code = await screen.end()

    assert code == 1003


async def test_a_terminal_ends_when_its_workspace_does_and_counts_as_use_until_then(world: WorkspaceApi):
    workspace = await world.run()
    async with terminal(world.mia, workspace) as screen:
        used = UUID(workspace["id"]) in world.running.replica.workspaces.usage._used
        await world.build(workspace, "stop")
        code = await screen.end()

    assert used
    assert code in (1000, 1013)


async def test_a_flood_of_output_reaches_a_client_whole_or_says_what_is_missing(world: WorkspaceApi):
    workspace = await world.run()
    command = quote("yes xxxxxxxxx | head -c 3000000; echo done")
    async with terminal(world.mia, workspace, f"?command={command}") as screen:
        code = await screen.end()

    lost = sum(each["bytes"] for each in screen.told if each["type"] == "skipped")
    assert code == 1000
    assert len(screen.shown) + lost >= 3_000_000
    assert screen.shown.rstrip().endswith(b"done")


async def test_logs_of_a_build_are_followed_until_it_is_over(world: WorkspaceApi):
    made = await world.create()
    path = f"{WORKSPACES}/{made['id']}/builds/{made['latest_build']['id']}/logs"
    headers = {"Authorization": f"Bearer {world.mia.token}", "Accept": "text/event-stream"}
    async with aiohttp.ClientSession(headers=headers) as http, asyncio.timeout(PATIENCE):
        async with http.get(f"{world.mia.url}{path}") as response:
            content_type, text = response.content_type, (await response.read()).decode()
        last_id = [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: ")][-1]
        async with http.get(f"{world.mia.url}{path}", headers={"Last-Event-ID": last_id}) as response:
            rest = (await response.read()).decode()
    events = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
    stored = (await world.mia.get(path)).body["logs"]

    assert content_type == "text/event-stream"
    assert [event["log"] for event in events[:-1]] == stored
    assert (events[-1]["type"], events[-1]["build"]["status"]) == ("end", "succeeded")
    assert '"type":"log"' not in rest
    assert '"type":"end"' in rest
