"""Large files of workspaces go through the server in pieces, each as fast as the other side takes them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest_asyncio

from server.streaming import small_socket
from server.test_stream_slow import bytes_in_buffers, until
from server.workspace_api import WORKSPACES, WorkspaceApi, workspace_api

PATIENCE = 60
MOST_HELD = 12 << 20  # of a file in all buffers between a client and a disk; the kernel's sockets take some megabytes
LARGE = 48 << 20
PIECE = 64 * 1024


@pytest_asyncio.fixture
async def world(database: Any, tmp_path: Path) -> AsyncIterator[WorkspaceApi]:
    async with workspace_api(database.dsn, tmp_path, workspace_upload_limit=str(LARGE)) as made:
        yield made


async def health(world: WorkspaceApi, path: str) -> dict[str, Any]:
    return (await world.mia.get(f"{path}?agent=true")).body["agent"]["health"]


class Stalled:
    """Whether a number has stayed the same for a while."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last = -1
        self._since = self._loop.time()

    def at(self, number: int) -> bool:
        if number != self._last:
            self._last, self._since = number, self._loop.time()
        return self._loop.time() - self._since > 0.5


async def test_an_upload_waits_for_an_agent_that_does_not_take_it(world: WorkspaceApi):
    path = f"{WORKSPACES}/{(await world.run())['id']}"
    home = (await world.mia.get(f"{path}/files")).body["path"]
    pid = (await health(world, path))["pid"]
    sent = 0

    async def content() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < LARGE:
            if sent == 4 * PIECE:
                os.kill(pid, signal.SIGSTOP)
            yield bytes(PIECE)
            sent += PIECE

    async def put() -> int:
        headers = {"Authorization": f"Bearer {world.mia.token}"}
        url = f"{world.mia.url}{path}/files/content?path={quote(home)}/large"
        async with aiohttp.ClientSession(headers=headers) as http, http.put(url, data=content()) as response:
            return response.status

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        putting = group.create_task(put())
        stalled = Stalled()
        await until(lambda: sent > 4 * PIECE and stalled.at(sent))
        held = sent
        os.kill(pid, signal.SIGCONT)
    listed = (await world.mia.get(f"{path}/files")).body["entries"]

    assert putting.result() == 200
    assert held < MOST_HELD
    assert [entry["size"] for entry in listed if entry["name"] == "large"] == [LARGE]


async def test_a_download_waits_for_a_client_that_does_not_read_and_ends_with_it(world: WorkspaceApi):
    path = f"{WORKSPACES}/{(await world.run())['id']}"
    home = (await world.mia.get(f"{path}/files")).body["path"]
    await world.mia.raw("PUT", f"{path}/files/content?path={quote(home)}/large", b"x")
    os.truncate(f"{home}/large", 1 << 30)
    url = f"{world.mia.url}{path}/files/content?path={quote(home)}/large"
    async with (
        asyncio.timeout(PATIENCE),
        aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {world.mia.token}"},
            connector=aiohttp.TCPConnector(socket_factory=small_socket),
            read_bufsize=2**12,
        ) as http,
    ):
        async with http.get(url) as response:
            await response.content.readany()
            stalled = Stalled()
            await until(lambda: stalled.at(bytes_in_buffers()))
            held = bytes_in_buffers()
            response.close()
        while (await health(world, path))["open_requests"] > 1:
            pass

    assert 0 < held < 1 << 20


async def test_an_upload_that_breaks_off_midway_leaves_nothing_behind(world: WorkspaceApi):
    path = f"{WORKSPACES}/{(await world.run())['id']}"
    home = (await world.mia.get(f"{path}/files")).body["path"]
    before = (await world.mia.get(f"{path}/files")).body["entries"]

    async def content() -> AsyncIterator[bytes]:
        yield bytes(PIECE)
        await asyncio.Event().wait()

    async def put() -> None:
        headers = {"Authorization": f"Bearer {world.mia.token}"}
        url = f"{world.mia.url}{path}/files/content?path={quote(home)}/broken"
        async with aiohttp.ClientSession(headers=headers) as http, http.put(url, data=content()):
            raise AssertionError("it never ends")

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        putting = group.create_task(put())
        while (await health(world, path))["open_requests"] < 2:
            pass
        putting.cancel()
    async with asyncio.timeout(PATIENCE):
        while (await health(world, path))["open_requests"] > 1:
            pass
    after = (await world.mia.get(f"{path}/files")).body["entries"]

    assert after == before
