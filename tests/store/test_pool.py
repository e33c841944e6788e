"""The pool: one round trip a query, and nothing left behind on its connections."""

import asyncio
from typing import Any

import asyncpg
import pytest

from chatd.store.migrate import shipped_functions
from chatd.store.pool import connect, open_pool
from chatd.store.store import SqlStore


async def test_a_query_over_the_pool_is_one_statement(database: Any):
    """Counted by the server itself, over everything that the connection sends."""
    schema = shipped_functions().schema
    watcher = await connect(database.dsn)
    async with open_pool(database.dsn, function_schema=schema, size=1) as pool:
        store = SqlStore(pool)
        await store.has_any_user()  # connects, and prepares
        backend = await pool.fetchval("SELECT pg_backend_pid()")

        async def last_query() -> str:
            return await watcher.fetchval("SELECT query FROM pg_stat_activity WHERE pid = $1", backend)

        await store.has_any_user()
        assert (await last_query()).startswith("-- name: has_any_user")
    await watcher.close()


async def test_a_transaction_cut_short_leaves_nothing_for_the_next_user(database: Any):
    started = asyncio.Event()
    async with open_pool(database.dsn, function_schema=shipped_functions().schema, size=1) as pool:
        store = SqlStore(pool)

        async def write_and_hang() -> None:
            async with store.transaction() as tx:
                await tx.upsert_site_setting(key="a", value="1")
                started.set()
                await asyncio.Event().wait()

        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(write_and_hang())
            await started.wait()
            task.cancel()

        assert await store.get_site_setting(key="a") is None
        assert not (await pool.fetchval("SELECT pg_current_xact_id_if_assigned() IS NOT NULL"))


async def test_a_transaction_is_kept_whole_and_nests(database: Any):
    async with open_pool(database.dsn, function_schema=shipped_functions().schema, size=1) as pool:
        store = SqlStore(pool)
        async with store.transaction() as tx:
            await tx.upsert_site_setting(key="kept", value="1")
            with pytest.raises(ZeroDivisionError):  # noqa: PT012
                async with tx.transaction() as inner:
                    await inner.upsert_site_setting(key="dropped", value="1")
                    raise ZeroDivisionError

        assert (await store.get_site_setting(key="kept"), await store.get_site_setting(key="dropped")) == ("1", None)


async def test_a_connection_that_was_lost_between_statements_is_replaced(database: Any):
    watcher = await connect(database.dsn)
    async with open_pool(database.dsn, function_schema=shipped_functions().schema, size=1) as pool:
        backend = await pool.fetchval("SELECT pg_backend_pid()")
        await watcher.execute("SELECT pg_terminate_backend($1, 10000)", backend)
        while await watcher.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", backend):
            pass

        assert await pool.fetchval("SELECT pg_backend_pid()") != backend
    await watcher.close()


async def test_a_statement_that_failed_or_was_cancelled_leaves_its_connection_to_others(database: Any):
    watcher = await connect(database.dsn)
    async with open_pool(database.dsn, function_schema=shipped_functions().schema, size=1) as pool:
        with pytest.raises(asyncpg.DivisionByZeroError):
            await pool.fetchval("SELECT 1 / 0")
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(pool.execute("SELECT pg_sleep(600)"))
            while not await watcher.fetchval("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%sleep(600)'"):
                pass
            waiting.cancel()

        assert await pool.fetchval("SELECT 1") == 1
    await watcher.close()


async def test_more_statements_than_connections_take_turns(database: Any):
    async with open_pool(database.dsn, function_schema=shipped_functions().schema, size=2) as pool:
        asked = [pool.fetchval("SELECT pg_backend_pid() + 0 * $1::int", number) for number in range(1200)]
        backends = await asyncio.gather(*asked)

        assert len(set(backends)) <= 2
        async with pool.acquire() as one, pool.acquire() as other:
            assert await one.fetchval("SELECT pg_backend_pid()") != await other.fetchval("SELECT pg_backend_pid()")
