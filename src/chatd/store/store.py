"""`Store`: every query and transactions, over a pool or one connection."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol, Self, cast

import asyncpg

from chatd.store.custom_queries import CustomQueries, SqlCustomQueries
from chatd.store.queries import Queries, SqlQueries

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Database = asyncpg.Pool[asyncpg.Record] | asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]


class Store(Queries, CustomQueries, Protocol):
    """What callers see, whichever layers are around it."""

    def transaction(self) -> "AbstractAsyncContextManager[Store]":
        """A store over one connection whose writes are kept together or not at all. Nested, it is a savepoint."""
        ...

    async def ping(self) -> None:
        """Ask the database for an answer."""
        ...


class SqlStore(SqlQueries, SqlCustomQueries):
    """The innermost layer: SQL and nothing else."""

    def __init__(self, db: "Database") -> None:
        self._db = db

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        db: object = self._db
        if isinstance(db, asyncpg.Pool):
            pool = cast("asyncpg.Pool[asyncpg.Record]", db)  # isinstance can't say what its rows are
            async with pool.acquire() as connection, connection.transaction():
                yield type(self)(connection)
        else:
            async with cast("asyncpg.Connection[asyncpg.Record]", db).transaction():
                yield self

    async def ping(self) -> None:
        await self._db.execute("SELECT 1")
