"""Tells other processes, for as long as this one lives, which primary key it encrypts with: a shared advisory lock.

A lock ends with its connection, so unlike a row it can't outlive a killed server.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final

import asyncpg

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.errors import StartRefused
from chatd.observe.logs import get_logger
from chatd.store.custom_queries import ANNOUNCEMENT_CLASS, ANNOUNCEMENT_GATE
from chatd.store.pool import connect

_FIRST_SECONDS: Final = 30.0  # a database that has just been migrated answers long before
_RETRY_SECONDS: Final = 1.0  # a database that restarts is back within a few seconds
_PROBE_SECONDS: Final = 30.0  # a connection that died without a word is noticed within this
_TROUBLE: Final = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
_log = get_logger("chatd.store.announce")


def announcement(key_id: str) -> int:
    """A key's number in the lock table: 31 bits of its id."""
    return int(key_id[:8], 16) & 0x7FFFFFFF


@asynccontextmanager
async def announced_key(dsn: str, key_id: str, *, clock: Clock) -> AsyncGenerator[None]:
    """Within the block the key is announced, again after every restart of the database.

    Announce before looking whether the key is still good: then whoever revokes it has either seen this or is seen.
    """
    announced = asyncio.Event()
    async with beside({"announce key": _announce_forever(dsn, key_id, announced, clock)}):
        try:
            async with clock.timeout(_FIRST_SECONDS, timer="announce key at first"):
                await announced.wait()
        except TimeoutError:
            raise StartRefused(
                "The database gave no connection to announce the encryption key on.",
                detail="It may have no connections left; the log says more.",
            ) from None
        yield


async def _announce_forever(dsn: str, key_id: str, announced: asyncio.Event, clock: Clock) -> None:
    while True:
        connection: asyncpg.Connection[asyncpg.Record] | None = None
        try:
            connection = await connect(dsn)
            await _announce(connection, key_id)
            announced.set()
            while True:
                await clock.sleep(_PROBE_SECONDS, timer="announce key probe")
                await connection.execute("SELECT 1")
        except _TROUBLE as error:
            _log.warning("the encryption key can't be announced", error=str(error))
        finally:
            if connection is not None:
                with suppress(*_TROUBLE):
                    connection.terminate()
        await clock.sleep(_RETRY_SECONDS, timer="announce key")


async def _announce(connection: "asyncpg.Connection[asyncpg.Record]", key_id: str) -> None:
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock_shared($1, $2)", ANNOUNCEMENT_CLASS, ANNOUNCEMENT_GATE)
        await connection.execute("SELECT pg_advisory_lock_shared($1, $2)", ANNOUNCEMENT_CLASS, announcement(key_id))
