"""How many statements Postgres itself has counted in a test's database.

The server counts only where it is told to: it has room for a few thousand statements in all, and those of every test
of a run would push each other out.
"""

from collections.abc import AsyncGenerator

import asyncpg
import pytest
import pytest_asyncio

from chatd.testing.postgres import Database

_COUNTED = """SELECT query, calls FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND query NOT LIKE '%pg_stat_statements%' AND toplevel"""


class Statements:
    """Top-level statements of this database, but for those that ask for them."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection

    async def by_query(self) -> list[tuple[str, int]]:
        """Each query, as Postgres keeps it, and how often it was asked."""
        return [(row["query"], row["calls"]) for row in await self._connection.fetch(_COUNTED)]

    async def count(self) -> int:
        return sum(calls for _, calls in await self.by_query())


@pytest_asyncio.fixture
async def statements(database: Database) -> AsyncGenerator[Statements]:
    """Counts on connections made from now on: ask for it before whatever opens them."""
    connection = await asyncpg.connect(database.dsn)
    try:
        try:
            await connection.execute("CREATE EXTENSION pg_stat_statements")
        except asyncpg.PostgresError as error:
            pytest.skip(f"this Postgres has no pg_stat_statements: {error}")
        await connection.execute(f"ALTER DATABASE \"{database.name}\" SET pg_stat_statements.track = 'top'")
        yield Statements(connection)
    finally:
        await connection.close()
