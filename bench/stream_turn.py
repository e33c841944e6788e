"""A turn as a user sees it: a message posted to `chatd serve`, its answer read from the chat's stream; beside floors.

The time to the first token (P3), and how much of what the model could say gets through with 64 chats (P4). The floors
are those of `turn_floor.py`: a POST whose answer is the stream. chatd is all there is: HTTP with every layer, titles
and labels, the fold, and a stream that was open before. All use the same Postgres, and the same core in turn.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal, Protocol
from urllib.parse import urlsplit

import aiohttp
import asyncpg
import msgspec

from bench.cores import OTHERS, SERVER, allow_many_files, parent_of, pin
from bench.processes import PASSWORD, Measured, chatd_serve, median, new_data_dir, started
from bench.turn_floor import TABLES
from chatd.clock import SystemClock
from chatd.minting import uuid7
from chatd.testing.postgres import migrated_database

Transport = Literal["websocket", "sse"]
RUNS: Final = 3
FIRST_CHATS: Final = 4  # one after the other, with ten turns each: a prompt is as long as in a young chat
FIRST_TURNS: Final = 10
FIRST_PACE: Final = "5"  # milliseconds between chunks
PAUSE_SECONDS: Final = 0.2  # after a turn: people read before they write, and labels are made meanwhile
CHATS: Final = 64
TURNS: Final = 8  # of each of them in a run: three seconds of saying
PACE: Final = "20"
_QUESTION: Final = b'{"stream":true,"said":"tell me"}'
_UPGRADE: Final = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


class Conversation(Protocol):
    """One chat, turn after turn."""

    async def turn(self) -> float:
        """Milliseconds until its first part was here. Returns when the turn is over."""
        ...


class _Posted:
    """Its answer is the stream: of a floor, or of the model itself."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url

    async def turn(self) -> float:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        async with self._http.post(self._url, data=_QUESTION) as answer:
            await answer.content.readany()
            seconds = loop.time() - begun
            await answer.read()
        return seconds * 1000


class _Followed:
    """Of chatd: posted there, read here."""

    def __init__(self, server: "Chatd", chat: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._path = f"/api/experimental/chats/{chat}/messages"
        self._reader = reader
        self._writer = writer  # the connection ends with it

    async def turn(self) -> float:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._server.post(self._path, {"content": [{"type": "text", "text": "tell me"}]}))
            await self._reader.readuntil(b'"type":"message_part"')
            seconds = loop.time() - begun
        await self._reader.readuntil(b'"status":"waiting"')
        return seconds * 1000


class Chatd:
    """`chatd serve`, as one who is signed in."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url
        self._token = ""
        self._models: dict[str, str] = {}

    async def set_up(self, vendor: str, paces: Sequence[str]) -> None:
        signed_in = await self.post("/api/v2/users/login", {"login": "admin", "password": PASSWORD})
        self._token = signed_in["session_token"]
        for pace in paces:
            provider = {"type": "openai-compat", "name": f"pace-{pace}", "base_url": f"{vendor}/{pace}/v1"}
            made = await self.post("/api/experimental/chats/providers", {**provider, "api_key": "a-key-of-the-bench"})
            model = {"ai_provider_id": made["id"], "model": "m", "display_name": pace, "context_limit": 1_000_000}
            self._models[pace] = (await self.post("/api/experimental/chats/model-configs", model))["id"]

    async def begin(self, pace: str, transport: Transport) -> _Followed:
        """A chat with a first turn behind it, and a stream of it that has shown that."""
        body = {"content": [{"type": "text", "text": "hello"}], "model_config_id": self._models[pace]}
        chat = (await self.post("/api/experimental/chats", body))["id"]
        url = urlsplit(self._url)
        reader, writer = await asyncio.open_connection(url.hostname, url.port, limit=2**22)
        how = _UPGRADE if transport == "websocket" else "Accept: text/event-stream\r\n"
        path = f"/api/experimental/chats/{chat}/stream"
        head = f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {self._token}\r\n{how}\r\n"
        writer.write(head.encode())
        await reader.readuntil(b'"status":"waiting"')
        return _Followed(self, chat, reader, writer)

    async def post(self, path: str, body: object) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        async with self._http.post(self._url + path, json=body, headers=headers) as answer:
            assert answer.status < 300, await answer.text()
            return msgspec.json.decode(await answer.read())


Begin = Callable[[str], Awaitable[Conversation]]  # of the pace


async def main() -> None:
    allow_many_files()
    free = os.sched_getaffinity(0)
    pin(OTHERS)
    try:
        await _all()
    finally:
        os.sched_setaffinity(0, free)  # what is measured after this has other rules


async def _all() -> None:
    async with _kinds() as kinds:
        for begin in kinds.values():  # the first turns read configuration, and connections learn their types
            await _together([await begin("0") for _ in range(CHATS)], 2)
        await _first(kinds)
        await _share(kinds)


@asynccontextmanager
async def _kinds() -> AsyncGenerator[dict[str, Begin]]:
    """Ways to talk to the same model."""
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(migrated_database())
        vendor = await stack.enter_async_context(started(sys.executable, "-m", "bench.turn_vendor"))
        connection = await asyncpg.connect(dsn)
        await connection.execute(TABLES)
        pin(OTHERS, parent_of(await connection.fetchval("SELECT pg_backend_pid()")))
        await connection.close()
        connector, patience = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=None)
        http = await stack.enter_async_context(aiohttp.ClientSession(connector=connector, timeout=patience))
        floors = {
            kind: await stack.enter_async_context(
                started(sys.executable, "-m", "bench.turn_server", kind, dsn, vendor.url)
            )
            for kind in ("bare", "durable")
        }
        data_dir = stack.enter_context(new_data_dir())
        serve = [*chatd_serve(data_dir), "--requests-per-minute", "0"]
        environ = {
            "CHATD_DATABASE_URL": dsn,
            "CHATD_BOOTSTRAP_ADMIN_EMAIL": "a@example.com",
            "CHATD_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD,
        }
        server = await stack.enter_async_context(started(*serve, **environ))
        _pin_threads(server)
        chatd = Chatd(http, server.url)
        await chatd.set_up(vendor.url, ["0", FIRST_PACE, PACE])

        async def direct(pace: str) -> Conversation:
            return _Posted(http, f"{vendor.url}/{pace}/v1/chat/completions")

        def floor(kind: str) -> Begin:
            async def begin(pace: str) -> Conversation:
                chat = uuid7(SystemClock().now())
                await _begun(http, f"{floors[kind].url}/{pace}/begin/{chat}")
                return _Posted(http, f"{floors[kind].url}/{pace}/turn/{chat}")

            return begin

        yield {
            "direct": direct,
            "bare proxy": floor("bare"),
            "floor-durable": floor("durable"),
            "chatd, WebSocket": lambda pace: chatd.begin(pace, "websocket"),
            "chatd, server-sent events": lambda pace: chatd.begin(pace, "sse"),
        }


async def _begun(http: aiohttp.ClientSession, url: str) -> None:
    async with http.post(url) as answer:
        assert answer.status == 200, await answer.text()


def _pin_threads(server: Measured) -> None:
    for thread in Path(f"/proc/{server.pid}/task").iterdir():
        pin(SERVER, int(thread.name))


async def _first(kinds: dict[str, Begin]) -> None:
    """One chat at a time, kinds in turn; nothing else runs meanwhile."""
    runs: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(RUNS):
        seen: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(FIRST_CHATS):
            chats = {kind: await begin(FIRST_PACE) for kind, begin in kinds.items()}
            for _ in range(FIRST_TURNS):
                for kind, chat in chats.items():
                    seen[kind].append(await chat.turn())
                    await SystemClock().sleep(PAUSE_SECONDS, timer="bench")
        for kind, times in seen.items():
            runs[kind].append(median(times) - median(seen["direct"]))
    print(f"time to the first token over direct, one chat, {RUNS} runs of {FIRST_CHATS * FIRST_TURNS} turns: ms more")
    _print(runs, "floor-durable", unit="ms")


async def _share(kinds: dict[str, Begin]) -> None:
    runs: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(RUNS):
        seconds: dict[str, float] = {}
        for kind, begin in kinds.items():
            seconds[kind] = await _together([await begin(PACE) for _ in range(CHATS)], TURNS)
        for kind, taken in seconds.items():
            runs[kind].append(seconds["direct"] / taken * 100)
    print(f"{CHATS} chats, 20 chunks {PACE} ms apart: share of what the model says directly, {RUNS} runs")
    _print(runs, None, unit="%")


async def _together(chats: Sequence[Conversation], turns: int) -> float:
    """Seconds until each has had so many turns."""
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def one(chat: Conversation) -> None:
        for _ in range(turns):
            await chat.turn()

    async with asyncio.TaskGroup() as tasks:
        for chat in chats:
            tasks.create_task(one(chat))
    return loop.time() - begun


def _print(runs: dict[str, list[float]], over: str | None, *, unit: str) -> None:
    for kind, figures in runs.items():
        if kind == "direct":
            continue
        line = f"  {kind:26} {median(figures):6.2f} {unit} ({min(figures):.2f} to {max(figures):.2f})"
        if over is not None:
            ratios = [figure / floor for figure, floor in zip(figures, runs[over], strict=True)]
            line += f"; {median(ratios):.2f} x {over}'s ({min(ratios):.2f} to {max(ratios):.2f})"
        print(line, flush=True)
