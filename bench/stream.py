"""What streams cost: the first token and the flow of many beside floors (P3, P4: `stream_turn.py`), a chunk to one more
reader (P7), and many that wait (P8): memory, and CPU at rest. `BENCH_STREAM="turns readers idle"` are all there are.
"""

import asyncio
import os
import resource
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

import aiohttp

from bench import stream_turn
from bench.processes import PASSWORD, Measured, chatd_serve, median, new_data_dir, started

Transport = Literal["websocket", "sse"]
READERS: Final = 20  # more of one chat than the one that is there anyway
CHUNKS: Final = 300  # the demo model counts that far
RUNS: Final = 3
IDLE: Final = 5000
CHATS: Final = 50  # that the idle ones spread over
REST_SECONDS: Final = 50  # two rounds of keep-alives
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_UPGRADE: Final = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


class Client:
    """Reads bytes and looks for words in them: its own CPU is not what is measured."""

    def __init__(self, server: Measured, token: str, http: aiohttp.ClientSession) -> None:
        self._server = server
        self._token = token
        self._http = http

    async def new_chat(self, text: str) -> str:
        body = {"content": [{"type": "text", "text": text}]}
        return await self._post("/api/experimental/chats", body)

    async def send(self, chat: str, text: str) -> None:
        await self._post(f"/api/experimental/chats/{chat}/messages", {"content": [{"type": "text", "text": text}]})

    async def _post(self, path: str, body: object) -> str:
        headers = {"Authorization": f"Bearer {self._token}"}
        async with self._http.post(self._server.url + path, json=body, headers=headers) as answer:
            assert answer.status < 300, await answer.text()
            return (await answer.json()).get("id", "")

    async def follow(self, chat: str, transport: Transport) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A stream that has shown its first picture."""
        url = urlsplit(self._server.url)
        reader, writer = await asyncio.open_connection(url.hostname, url.port, limit=2**22)
        how = _UPGRADE if transport == "websocket" else "Accept: text/event-stream\r\n"
        path = f"/api/experimental/chats/{chat}/stream"
        head = f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {self._token}\r\n{how}\r\n"
        writer.write(head.encode())
        await reader.readuntil(b"preview_reset")
        return reader, writer


async def main() -> None:
    asked = os.environ.get("BENCH_STREAM", "turns readers idle").split()
    if "turns" in asked:
        await stream_turn.main()
    for transport in ("websocket", "sse"):
        if "readers" in asked:
            async with AsyncExitStack() as stack:
                server, client = await _started(stack)
                micros = [await _one_more_reader(server, client, transport) for _ in range(RUNS)]
                print(
                    f"a chunk to one more reader, {transport:9}   {median(micros):6.1f} µs of server CPU "
                    f"({min(micros):.1f} to {max(micros):.1f})",
                    flush=True,
                )
        if "idle" in asked:
            async with AsyncExitStack() as stack:
                server, client = await _started(stack)
                kilobytes, percent = await _idle(server, client, transport)
                print(
                    f"{IDLE} idle streams, {transport:9}           {kilobytes:6.1f} kB each, {percent:.1f} % of a core",
                    flush=True,
                )


async def _started(stack: AsyncExitStack) -> tuple[Measured, Client]:
    data_dir = stack.enter_context(new_data_dir())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * IDLE <= hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * IDLE, hard))
    admin = {"CHATD_BOOTSTRAP_ADMIN_EMAIL": "a@example.com", "CHATD_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
    server = await stack.enter_async_context(started(*chatd_serve(data_dir), "--requests-per-minute", "0", **admin))
    http = await stack.enter_async_context(aiohttp.ClientSession())
    async with http.post(f"{server.url}/api/v2/users/login", json={"login": "admin", "password": PASSWORD}) as answer:
        token = (await answer.json())["session_token"]
    return server, Client(server, token, http)


async def _one_more_reader(server: Measured, client: Client, transport: Transport) -> float:
    """Microseconds: a turn with many readers, less one with a single one."""
    alone = await _turn(server, client, transport, 1)
    together = await _turn(server, client, transport, 1 + READERS)
    return (together - alone) / READERS / CHUNKS * 1e6


async def _turn(server: Measured, client: Client, transport: Transport, readers: int) -> float:
    """CPU seconds of a turn that all of them see to its end."""
    chat = await client.new_chat("hello")
    streams = [await client.follow(chat, transport) for _ in range(readers)]
    await until_stored(streams[:1])
    before = server.cpu_seconds()
    await client.send(chat, f"count to {CHUNKS}")
    await until_stored(streams, f" {CHUNKS}.".encode())
    used = server.cpu_seconds() - before
    for _, writer in streams:
        writer.close()
    return used


async def until_stored(streams: Sequence[tuple[asyncio.StreamReader, asyncio.StreamWriter]], last: bytes = b"") -> None:
    """Until each has seen the last words, and then that the chat waits."""

    async def one(reader: asyncio.StreamReader) -> None:
        if last:
            await reader.readuntil(last)
        await reader.readuntil(b'"status":"waiting"')

    await asyncio.gather(*(one(reader) for reader, _ in streams))


async def _idle(server: Measured, client: Client, transport: Transport) -> tuple[float, float]:
    """Kilobytes of each, and percent of a core for all of them at rest."""
    chats = [await client.new_chat("hello") for _ in range(CHATS)]
    streams = [await client.follow(chat, transport) for chat in chats]
    await until_stored(streams[-1:])
    before = _resident(server)
    for begin in range(0, IDLE, CHATS):
        streams += await asyncio.gather(*(client.follow(chat, transport) for chat in chats[: IDLE - begin]))
    kilobytes = (_resident(server) - before) / IDLE / 1000
    loop = asyncio.get_running_loop()
    cpu, begun = server.cpu_seconds(), loop.time()
    await asyncio.sleep(REST_SECONDS)  # noqa: TID251 - what is measured is what happens while nothing does
    percent = (server.cpu_seconds() - cpu) / (loop.time() - begun) * 100
    for _, writer in streams:
        writer.close()
    return kilobytes, percent


def _resident(server: Measured) -> int:
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * _PAGE
