"""A database per test: how long a clone of the migrated template takes, on Postgres in memory."""

import asyncio

from bench.processes import median
from chatd.testing.postgres import postgres_kit

CLONES = 40


async def main() -> None:
    loop = asyncio.get_running_loop()
    async with postgres_kit() as kit:
        await kit.drop(await kit.create())
        taken: list[float] = []
        for _ in range(CLONES):
            begun = loop.time()
            database = await kit.create()
            taken.append(loop.time() - begun)
            await kit.drop(database)
    print(f"clone of the migrated template  {median(taken) * 1000:.1f} ms")
