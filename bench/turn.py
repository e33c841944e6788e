"""A turn: server CPU and time to the first token beside floors in the same run, and thousands of turns in one process.

The server has a core of its own; model, clients and Postgres share the other. CPU a turn is the figure to trust.
`BENCH_TURN=profile make bench ARGS=turn` shows where chatd's time goes, `BENCH_TURN=memory` where its memory does.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

import aiohttp
import asyncpg
import msgspec

from bench.cores import OTHERS, allow_many_files, family_cpu_seconds, parent_of, pin, resident_bytes
from bench.processes import Measured, median, started
from bench.turn_engine import prepare
from bench.turn_floor import TABLES
from bench.turn_vendor import CHUNKS
from chatd.clock import SystemClock
from chatd.minting import uuid7
from chatd.testing.postgres import migrated_database

KINDS = {
    "bare": "bare proxy",
    "single": "floor-durable, one statement a commit",
    "durable": "floor-durable",
    "chatd": "chatd",
}
CHATS = 16
TURNS = 20  # of each chat in a run: its prompts have half as many messages on average
RUNS = 3
PACED = "5"  # milliseconds between chunks: no two come with one read, and nobody is late
AT_ONCE = "0"
FIRST_CHATS = 8  # one after the other, with ten turns each: a prompt is as long as in a young chat
FIRST_TURNS = 10
TRACED = 200  # turns at once when every allocation is noted, which is slow
_QUESTION = b'{"stream":true,"said":"tell me"}'
CROWDS = (("1000", 2000), ("50", 150))  # milliseconds between chunks, turns at once


class Figures(msgspec.Struct, frozen=True):
    """Of one run: milliseconds of CPU a turn, and turns a second."""

    server: float
    postgres: float
    per_second: float


class Bench:
    def __init__(self, http: aiohttp.ClientSession, servers: dict[str, Measured], dsn: str, postmaster: int) -> None:
        self.http = http
        self.servers = servers
        self.dsn = dsn
        self.postmaster = postmaster

    async def begin(self, kind: str, pace: str, count: int, *, unread: bool = False) -> list[UUID]:
        """New chats, with a first turn behind them where there are turns; with `unread` it is under way."""
        chats = [uuid7(SystemClock().now()) for _ in range(count)]
        url = f"{self.servers[kind].url}/{pace}/begin/"
        await together(count, lambda number: self._post(f"{url}{chats[number]}{'?unread' if unread else ''}", b""))
        return chats

    async def turn(self, kind: str, pace: str, chat: UUID) -> bytes:
        return await self._post(f"{self.servers[kind].url}/{pace}/turn/{chat}", _QUESTION)

    async def first(self, url: str) -> float:
        """Milliseconds until the first part of an answer is here."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        async with self.http.post(url, data=_QUESTION) as answer:
            await answer.content.readany()
            seconds = loop.time() - begun
            await answer.read()
        return seconds * 1000

    async def ask(self, kind: str, what: str) -> str:
        async with self.http.get(f"{self.servers[kind].url}/{what}") as answer:
            assert answer.status == 200, await answer.text()
            return await answer.text()

    async def cpu_seconds(self, kind: str) -> float:
        """User and system time so far, to the microsecond."""
        return float(await self.ask(kind, "cpu"))

    async def _post(self, url: str, body: bytes) -> bytes:
        async with self.http.post(url, data=body) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.read()

    async def run(self, kind: str, pace: str) -> Figures:
        chats = await self.begin(kind, pace, CHATS)
        loop = asyncio.get_running_loop()

        async def client(number: int) -> None:
            for _ in range(TURNS):
                seen = await self.turn(kind, pace, chats[number])
                assert seen.count(b"data: ") >= CHUNKS, seen

        cpu, postgres, begun = await self.cpu_seconds(kind), family_cpu_seconds(self.postmaster), loop.time()
        await together(CHATS, client)
        seconds, turns = loop.time() - begun, CHATS * TURNS
        return Figures(
            (await self.cpu_seconds(kind) - cpu) / turns * 1000,
            (family_cpu_seconds(self.postmaster) - postgres) / turns * 1000,
            turns / seconds,
        )


async def together(count: int, work: Callable[[int], Awaitable[object]]) -> None:
    async def one(number: int) -> None:
        await work(number)

    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            tasks.create_task(one(number))


async def main() -> None:
    """What is asked for by BENCH_TURN: `cpu`, `first`, `crowds`, `profile`, `memory`; the first three if nothing is."""
    pin(OTHERS)
    allow_many_files()
    asked = os.environ.get("BENCH_TURN", "cpu first crowds").split()
    async with migrated_database() as dsn, started(sys.executable, "-m", "bench.turn_vendor") as vendor:
        postmaster = await _prepared(dsn, vendor.url)

        @asynccontextmanager
        async def serving(*kinds: str) -> AsyncGenerator[Bench]:
            connector, patience = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=None)
            async with AsyncExitStack() as stack:
                servers = {
                    kind: await stack.enter_async_context(
                        started(sys.executable, "-m", "bench.turn_server", kind, dsn, vendor.url)
                    )
                    for kind in kinds
                }
                http = await stack.enter_async_context(aiohttp.ClientSession(connector=connector, timeout=patience))
                bench = Bench(http, servers, dsn, postmaster)
                for kind in kinds:  # the first turns read configuration, and connections learn their types
                    await bench.run(kind, AT_ONCE)
                yield bench

        if "cpu" in asked:
            async with serving(*KINDS) as bench:
                await _cpu(bench, PACED, f"{CHUNKS} chunks, {PACED} ms apart")
                await _cpu(bench, AT_ONCE, f"{CHUNKS} chunks at once")
        if "first" in asked:
            async with serving(*KINDS) as bench:
                await _first(bench, vendor.url)
        if "crowds" in asked:
            for pace, turns in CROWDS:
                for is_read in (False, True):  # a process of its own for each: memory that was used once stays
                    async with serving("chatd") as bench:
                        await _crowd(bench, pace, turns, is_read=is_read)
        if "profile" in asked:
            for kind in ("durable", "chatd"):
                async with serving(kind) as bench:
                    await _profile(bench, kind)
        if "memory" in asked:
            async with serving("chatd") as bench:
                await bench.ask("chatd", "trace")
                await bench.begin("chatd", CROWDS[0][0], TRACED, unread=True)
                await SystemClock().sleep(5, timer="bench")  # all are under way
                print(await bench.ask("chatd", "traced"))


async def _prepared(dsn: str, vendor: str) -> int:
    """The postmaster's process id."""
    paces = [PACED, AT_ONCE, *(pace for pace, _ in CROWDS)]
    await prepare(dsn, vendor, paces)
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(TABLES)
        postmaster = parent_of(await connection.fetchval("SELECT pg_backend_pid()"))
    finally:
        await connection.close()
    pin(OTHERS, postmaster)  # those it starts from now on too
    return postmaster


async def _cpu(bench: Bench, pace: str, what: str) -> None:
    figures: dict[str, list[Figures]] = {kind: [] for kind in KINDS}
    for _ in range(RUNS):  # interleaved: these machines are noisy
        for kind in KINDS:
            figures[kind].append(await bench.run(kind, pace))
    print(f"{what}: CPU ms a turn")
    for kind, name in KINDS.items():
        runs = figures[kind]
        server, postgres, speed = (median([getattr(run, field) for run in runs]) for field in Figures.__struct_fields__)
        print(f"  {name:38} {server:5.2f} server, {postgres:5.2f} Postgres, {speed:4.0f} turns/s")
    for kind in ("durable", "single"):
        ratios = [ours.server / floor.server for ours, floor in zip(figures["chatd"], figures[kind], strict=True)]
        print(f"  chatd over {KINDS[kind]:38} {median(ratios):.2f} x")


async def _first(bench: Bench, vendor: str) -> None:
    """Nothing else runs meanwhile. Who shares the machine shows in the median; in the best tenth, hardly anyone."""
    seen: dict[str, list[float]] = {kind: [] for kind in ("direct", *KINDS)}
    for _ in range(FIRST_CHATS):
        chats = {kind: (await bench.begin(kind, PACED, 1))[0] for kind in KINDS}
        for _ in range(FIRST_TURNS):  # interleaved: these machines are noisy
            seen["direct"].append(await bench.first(f"{vendor}/{PACED}/v1/chat/completions"))
            for kind, chat in chats.items():
                seen[kind].append(await bench.first(f"{bench.servers[kind].url}/{PACED}/turn/{chat}"))
    print(f"time to the first token over {median(seen['direct']):.2f} ms direct, one chat: median, best tenth")
    more = {kind: [at(seen[kind]) - at(seen["direct"]) for at in (median, _best_tenth)] for kind in KINDS}
    for kind, name in KINDS.items():
        over = [ms / floor for ms, floor in zip(more[kind], more["durable"], strict=True)]
        print(
            f"  {name:38} {more[kind][0]:5.2f}, {more[kind][1]:5.2f} ms more; "
            f"{over[0]:.2f} x, {over[1]:.2f} x floor-durable's"
        )


def _best_tenth(values: Sequence[float]) -> float:
    return median(sorted(values)[: max(1, len(values) // 10)])


async def _crowd(bench: Bench, pace: str, turns: int, *, is_read: bool) -> None:
    """So many turns at once, with a reader each or without."""
    server, clock = bench.servers["chatd"], SystemClock()
    chats = [chat for _ in range(turns // 10) for chat in await bench.begin("chatd", AT_ONCE, 10)] if is_read else []
    await bench.ask("chatd", "collect")
    before, cpu = resident_bytes(server.pid), await bench.cpu_seconds("chatd")
    async with asyncio.TaskGroup() as tasks:
        if is_read:
            tasks.create_task(together(turns, lambda number: bench.turn("chatd", pace, chats[number])))
        else:
            chats = await bench.begin("chatd", pace, turns, unread=True)
        most = await _until_over(bench, chats, clock, lambda: resident_bytes(server.pid))
    failed = await _failed(bench, chats, answers=2 if is_read else 1)
    print(
        f"{turns} turns at once, {pace} ms between chunks, {'a reader each' if is_read else 'nobody reads'}: "
        f"{failed} failed, {(most - before) / turns / 1000:.0f} kB a turn, "
        f"{(await bench.cpu_seconds('chatd') - cpu) / turns * 1000:.2f} ms CPU a turn"
    )


async def _until_over(bench: Bench, chats: list[UUID], clock: SystemClock, measure: Callable[[], int]) -> int:
    """The most that was measured until all of these rest."""
    most = 0
    connection = await asyncpg.connect(bench.dsn)
    try:
        while not most or await connection.fetchval(
            "SELECT exists (SELECT FROM chat_state WHERE chat_id = ANY ($1) AND status = 'running')", chats
        ):
            most = max(most, measure())
            await clock.sleep(0.2, timer="bench")
    finally:
        await connection.close()
    return most


async def _failed(bench: Bench, chats: list[UUID], *, answers: int) -> int:
    """How many are not at rest with exactly so many whole answers, each of one attempt."""
    connection = await asyncpg.connect(bench.dsn)
    try:
        well = await connection.fetchval(
            """SELECT count(*) FROM chat_state s WHERE chat_id = ANY ($1) AND status = 'waiting' AND takeovers = 0
            AND (SELECT count(*) FROM messages m WHERE m.chat_id = s.chat_id AND m.role = 'assistant'
                 AND m.content::text LIKE '%word0 %word18.%') = $2""",
            chats,
            answers,
        )
    finally:
        await connection.close()
    return len(chats) - well


async def _profile(bench: Bench, kind: str) -> None:
    await bench.ask(kind, "profile")
    used = [(await bench.run(kind, PACED)).server for _ in range(RUNS)]
    print(f"{KINDS[kind]}: {median(used):.2f} ms a turn\n{await bench.ask(kind, 'profiled')}")
