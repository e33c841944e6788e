"""`Store`: every query and transactions, over a pool or one connection."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol, Self

from chatd.store.connections import Connections
from chatd.store.custom_queries import CustomQueries, SqlCustomQueries
from chatd.store.queries import Queries, SqlQueries

if TYPE_CHECKING:
    import asyncpg
    from asyncpg.pool import PoolConnectionProxy

    Database = Connections | asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]


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
        if isinstance(self._db, Connections):
            async with self._db.acquire() as connection, connection.transaction():
                yield type(self)(connection)
        else:
            async with self._db.transaction():
                yield self

    async def ping(self) -> None:
        await self._db.execute("SELECT 1")
