"""Tells other processes, for as long as this one lives, which primary key it encrypts with: a shared advisory lock.

A lock ends with its connection, so unlike a row it can't outlive a killed server.
"""

from typing import TYPE_CHECKING

from chatd.store.custom_queries import ANNOUNCEMENT_CLASS

if TYPE_CHECKING:
    import asyncpg
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]


def announcement(key_id: str) -> int:
    """A key's number in the lock table: the first 31 bits of its id."""
    return int(key_id[:8], 16) & 0x7FFFFFFF


async def announce_key(connection: "Connection", key_id: str) -> None:
    await connection.execute("SELECT pg_advisory_lock_shared($1, $2)", ANNOUNCEMENT_CLASS, announcement(key_id))
