"""How long a terminal stays open that nobody uses: bytes over real sockets, time as the test says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web

from chatd.background import beside
from chatd.server.workspaces.terminal_loop import IDLE_SECONDS, TerminalLoop
from chatd.testing.fake_clock import FakeClock
from engine.deployment import new_id

PATIENCE = 30


class Client:
    """A browser's side. What it is sent is in `sent`."""

    def __init__(self) -> None:
        self._typed: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def type(self, text: bytes) -> None:
        self._typed.put_nowait({"type": "websocket.receive", "bytes": text})

    async def receive(self) -> dict[str, Any]:
        return await self._typed.get()

    async def send(self, message: dict[str, Any]) -> None:
        await self.sent.put(message)

    async def got(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            return await self.sent.get()


@asynccontextmanager
async def echoing_agent() -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A terminal in which what is typed is shown."""

    async def echo(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_bytes(message.data)
        return socket

    app = web.Application()
    app.router.add_get("/", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(f"ws://127.0.0.1:{runner.addresses[0][1]}/") as agent,
        ):
            yield agent
    finally:
        await runner.cleanup()


async def test_half_an_hour_without_a_key_or_a_letter_closes_a_terminal():
    clock, client, used = FakeClock(), Client(), 0

    def use() -> None:
        nonlocal used
        used += 1

    async def stays() -> bool:
        return True

    async with echoing_agent() as agent:
        loop = TerminalLoop(new_id(), agent, clock, used=use, may_stay=stays)
        async with beside({"terminal": loop.run(client.receive, client.send)}):
            for _ in range(3):  # each time it begins anew
                await clock.advance(IDLE_SECONDS - 1)
                loop.beat()
                assert (await client.got())["bytes"] == b"", "a sign of life"
                client.type(b"a")
                assert (await client.got())["bytes"] == b"a"
            in_use = used
            await clock.advance(IDLE_SECONDS + 1)
            loop.beat()
            closed = await client.got()

    assert (closed["type"], closed["code"]) == ("websocket.close", 1013)
    assert "half an hour" in closed["reason"]
    assert (in_use, used) == (3, 3)  # who has left does not keep the workspace running
