"""The kit that gives every test a database."""

import asyncpg
import pytest

from chatd.testing.postgres import migrated_database, postgres_kit


async def tables(dsn):
    connection = await asyncpg.connect(dsn)
    found = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    await connection.close()
    return {row["tablename"] for row in found}


async def test_a_database_has_the_schema_and_is_not_shared(database):
    connection = await asyncpg.connect(database.dsn)
    await connection.execute("CREATE TABLE only_here ()")
    await connection.close()
    assert "schema_info" in await tables(database.dsn)
    async with migrated_database() as other:
        assert "schema_info" in await tables(other)
        assert "only_here" not in await tables(other)


async def test_an_empty_database_has_no_tables(empty_database):
    assert await tables(empty_database.dsn) == set()


async def test_a_database_is_dropped_even_while_somebody_is_connected():
    async with postgres_kit() as kit:
        made = await kit.create(migrated=False)
        connection = await asyncpg.connect(made.dsn)
        await kit.drop(made)
        connection.terminate()
        with pytest.raises(asyncpg.InvalidCatalogNameError):
            await asyncpg.connect(made.dsn)
