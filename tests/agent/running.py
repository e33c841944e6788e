"""A real agent process on a real Unix socket, and a client for it."""

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp

WAIT_SECONDS = 30.0  # for what must happen soon, on a machine that does five other things
CHAT = UUID("01900000-0000-7000-8000-000000000001")
OTHER_CHAT = UUID("01900000-0000-7000-8000-000000000002")
SOURCE = Path(__file__).parents[2] / "src"


class Reply:
    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.status = status
        self.body = body
        self.headers = headers

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class AgentProcess:
    """One agent in the foreground, as a child of the test."""

    def __init__(self, folder: Path, home: Path, process: asyncio.subprocess.Process, address: str) -> None:
        self.folder = folder
        self.home = home
        self.process = process
        self.address = address
        self.token = (folder / "token").read_text()
        self._session = aiohttp.ClientSession(connector=aiohttp.UnixConnector(address.removeprefix("unix:"), limit=0))

    @property
    def pid(self) -> int:
        return self.process.pid

    async def ask(
        self,
        method: str,
        path: str,
        *,
        chat: UUID | None = CHAT,
        epoch: int | None = 1,
        ancestors: list[UUID] | None = None,
        token: str | None = None,
        body: object = None,
        raw: bytes | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        sent = {"Authorization": f"Bearer {self.token if token is None else token}", **(headers or {})}
        if chat is not None:
            sent["Chatd-Chat-Id"] = str(chat)
        if chat is not None and epoch is not None:
            sent["Chatd-Epoch"] = str(epoch)
        if ancestors is not None:
            sent["Chatd-Ancestor-Chat-Ids"] = json.dumps([str(one) for one in ancestors])
        content = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        sending = None if content is None else io.BytesIO(content)
        async with (
            asyncio.timeout(WAIT_SECONDS),
            self._session.request(method, f"http://agent{path}", headers=sent, data=sending, params=query) as reply,
        ):
            return Reply(reply.status, await reply.read(), reply.headers)

    @asynccontextmanager
    async def socket(self, path: str, *, token: str | None = None) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
        """A WebSocket. Raises WSServerHandshakeError when it is refused."""
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        async with asyncio.timeout(WAIT_SECONDS):
            socket = await self._session.ws_connect(f"http://agent{path}", headers=headers)
        try:
            yield socket
        finally:
            await socket.close()

    async def kill(self) -> None:
        """SIGKILL: it has no time for anything."""
        self.process.kill()
        await self.process.wait()
        await self._session.close()

    async def close(self) -> None:
        """A clean stop, by signal."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(WAIT_SECONDS):
                await self.process.wait()
        await self._session.close()


@asynccontextmanager
async def running_agent(
    folder: Path,
    *options: str,
    home: Path | None = None,
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = ("-m", "chatd.agent"),
) -> AsyncGenerator[AgentProcess]:
    """An agent in that folder. Its home is beside it, unless another is given."""
    home = home or folder.parent / "home"
    home.mkdir(exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *program,
        "--foreground",
        "--dir",
        str(folder),
        "--home",
        str(home),
        *options,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {}), "PYTHONPATH": str(SOURCE)},
    )
    assert process.stdout is not None
    agent: AgentProcess | None = None
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            address = (await process.stdout.readline()).decode().strip()
        assert address, "the agent did not start"
        agent = AgentProcess(folder, home, process, address)
        yield agent
    finally:
        if agent is not None:
            await agent.close()
        elif process.returncode is None:
            process.kill()
            await process.wait()


async def until_gone(pid: int) -> None:
    """Wait until a process has ended; a zombie has."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, gone.set)
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
