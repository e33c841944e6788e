"""Connections that stay taken between statements: a hand-over by asyncpg's pool costs more than a short statement."""

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Final

import asyncpg

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = PoolConnectionProxy[asyncpg.Record]

# Of statements; then all that are free go back to the pool, which closes those that are worn out, and after a while
# those that nobody needs. A server that rests gets there in minutes, and a busy one pays a hundredth of the hand-overs.
_BETWEEN_LOOKS: Final = 1000


class Connections:
    """At most `size` at once, of a pool that has as many. What fails or is cancelled leaves its connection to the pool,
    which ends what is under way and makes a new one if it must."""

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]", size: int) -> None:
        self._pool = pool
        self._slots = asyncio.Semaphore(size)
        self._free: list[Connection] = []  # the last one used is the next
        self._given = 0

    def acquire(self) -> "_Acquired":
        """One connection for the block."""
        return _Acquired(self)

    async def fetch(self, query: str, *args: object) -> "list[asyncpg.Record]":
        async with self.acquire() as connection:
            return await connection.fetch(query, *args)

    async def fetchrow(self, query: str, *args: object) -> "asyncpg.Record | None":
        async with self.acquire() as connection:
            return await connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: object) -> object:
        async with self.acquire() as connection:
            return await connection.fetchval(query, *args)

    async def execute(self, query: str, *args: object) -> str:
        async with self.acquire() as connection:
            return await connection.execute(query, *args)

    async def give_back(self) -> None:
        """All that are free, to the pool."""
        for _ in range(len(self._free)):
            if self._free:  # others take some meanwhile
                await self._pool.release(self._free.pop(0))

    async def take(self) -> "Connection":
        await self._slots.acquire()
        try:
            self._given += 1
            if self._given % _BETWEEN_LOOKS == 0:
                await self.give_back()
            while self._free:
                connection = self._free.pop()
                if _is_open(connection):
                    return connection
                await self._pool.release(connection)
            return await self._pool.acquire()
        except BaseException:
            self._slots.release()
            raise

    async def leave(self, connection: "Connection", *, is_whole: bool) -> None:
        try:
            if is_whole:
                self._free.append(connection)
            else:
                await self._pool.release(connection)
        finally:
            self._slots.release()


class _Acquired:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._connection: Connection | None = None

    async def __aenter__(self) -> "Connection":
        self._connection = await self._connections.take()
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._connection is not None:
            await self._connections.leave(self._connection, is_whole=error is None)


def _is_open(connection: "Connection") -> bool:
    try:
        return not connection.is_closed()
    except asyncpg.InterfaceError:  # lost while it was free: the pool knows, and has it already
        return False
