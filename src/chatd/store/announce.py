"""Tells other processes, for as long as this one lives, which primary key it encrypts with: a shared advisory lock.

A lock ends with its connection, so unlike a row it can't outlive a killed server.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import asyncpg

from chatd.clock import Clock
from chatd.observe.logs import get_logger
from chatd.store.custom_queries import ANNOUNCEMENT_CLASS
from chatd.store.pool import connect

_RETRY_SECONDS: Final = 1.0  # a database that restarts is back within a few seconds
_log = get_logger("chatd.store.announce")


def announcement(key_id: str) -> int:
    """A key's number in the lock table: 31 bits of its id."""
    return int(key_id[:8], 16) & 0x7FFFFFFF


@asynccontextmanager
async def announced_key(dsn: str, key_id: str, *, clock: Clock) -> AsyncIterator[None]:
    """Within the block the key is announced, again after every restart of the database."""
    announced = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(_announce_forever(dsn, key_id, announced, clock), name="announce key")
        await announced.wait()
        try:
            yield
        finally:
            keeping.cancel()


async def _announce_forever(dsn: str, key_id: str, announced: asyncio.Event, clock: Clock) -> None:
    while True:
        connection: asyncpg.Connection[asyncpg.Record] | None = None
        ended = asyncio.Event()
        try:
            connection = await connect(dsn)
            connection.add_termination_listener(lambda _, ended=ended: ended.set())
            await connection.execute("SELECT pg_advisory_lock_shared($1, $2)", ANNOUNCEMENT_CLASS, announcement(key_id))
            announced.set()
            await ended.wait()
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            _log.warning("the encryption key can't be announced", error=str(error))
        finally:
            if connection is not None:
                with suppress(Exception):
                    connection.terminate()
        await clock.sleep(_RETRY_SECONDS, timer="announce key")
