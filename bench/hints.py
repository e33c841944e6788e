"""Hints over Postgres and over NATS: how many a second arrive at another replica, and how many messages they took."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bench.processes import started
from chatd.clock import SystemClock
from chatd.store.hints import Gap, Hint, open_hints
from chatd.testing.postgres import postgres_kit

HINTS = 20_000
PER_TICK = 50


async def main() -> None:
    async with postgres_kit() as kit:
        database = await kit.create(migrated=False)
        await _measure("Postgres", None, database.dsn)
    async with _nats() as url:
        await _measure("NATS", url, "")


async def _measure(name: str, url: str | None, dsn: str) -> None:
    clock = SystemClock()
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    seen = 0

    def receive(hint: Hint | Gap) -> None:
        nonlocal seen
        seen += isinstance(hint, Hint)
        if seen == HINTS:
            arrived.set()

    async with AsyncExitStack() as stack:
        sender = await stack.enter_async_context(open_hints(url, dsn=lambda: dsn, clock=clock))
        receiver = await stack.enter_async_context(open_hints(url, dsn=lambda: dsn, clock=clock))
        await sender.wait_connected()
        await receiver.wait_connected()
        receiver.subscribe("chat:*", receive)
        begun = loop.time()
        for number in range(HINTS):
            sender.publish(f"chat:{number}")
            if number % PER_TICK == 0:
                await clock.sleep(0, timer="bench")
        async with asyncio.timeout(60):
            await arrived.wait()
        print(f"{name:9} {HINTS / (loop.time() - begun):8.0f} hints/s, {PER_TICK} per tick")


@asynccontextmanager
async def _nats() -> AsyncIterator[str]:
    program = str(Path(sys.executable).with_name("nats-server"))
    command = f"exec {program} -a 127.0.0.1 -p 4333 2>&1"
    async with started("sh", "-c", command, ready=r"(Server is ready)"):
        yield "nats://127.0.0.1:4333"
