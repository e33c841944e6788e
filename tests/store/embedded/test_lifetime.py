"""Postgres lives exactly as long as somebody uses it."""

import asyncio
import os
import signal
import socket

import asyncpg
import pytest

from chatd.clock import SystemClock
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.paths import DataDirectory
from chatd.store.keeper.process import identify, postgres_processes
from store.embedded.server_process import server_process

FAST = {"fsync": "off"}


async def test_a_new_folder_becomes_a_database_that_keeps_its_rows(data_dir):
    clock = SystemClock()
    async with embedded_postgres(data_dir, clock=clock) as postgres:
        connection = await asyncpg.connect(postgres.dsn)
        assert await connection.fetchval("SELECT current_database() || '/' || current_user") == "chatd/chatd"
        assert await connection.fetchval("SHOW fsync") == "on"
        assert await connection.fetchval("SHOW listen_addresses") == ""
        assert await connection.fetchval("SHOW server_encoding") == "UTF8"
        await connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
        await connection.close()
    await wait_stopped(data_dir, clock)
    async with embedded_postgres(data_dir, clock=clock) as postgres:
        connection = await asyncpg.connect(postgres.dsn)
        assert await connection.fetchval("SELECT value FROM kept") == 7
        await connection.close()


async def test_the_password_is_needed_and_not_shown(data_dir):
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(postgres.dsn, password="wrong")
        password = DataDirectory(data_dir).password
        assert password.stat().st_mode & 0o777 == 0o600
        assert password.read_text() not in repr(postgres)


async def test_a_second_server_joins_and_the_last_one_to_leave_stops_it(data_dir, until):
    async with server_process(data_dir) as first, server_process(data_dir) as second:
        assert first.told == second.told
        await first.leave()
        connection = await asyncpg.connect(second.told.dsn)
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()
        await second.leave()
        await until(lambda: identify(second.told.keeper_pid) is None)
    assert identify(second.told.postgres_pid) is None
    assert postgres_processes(data_dir / "postgres" / "data") == []
    assert not DataDirectory(data_dir).socket.exists()


async def test_killing_the_only_server_stops_postgres(data_dir, until):
    async with server_process(data_dir) as server:
        await server.kill()
        await until(lambda: identify(server.told.keeper_pid) is None)
    assert postgres_processes(data_dir / "postgres" / "data") == []


async def test_a_child_forked_by_a_server_does_not_keep_postgres_alive(data_dir, until):
    async with server_process(data_dir, forking=True) as server:
        child = identify(server.told.forked_pid)
        assert child is not None
        try:
            await server.kill()
            await until(lambda: identify(server.told.keeper_pid) is None)
            assert child.alive()
        finally:
            os.kill(child.pid, signal.SIGKILL)


async def test_six_servers_that_start_together_share_one_keeper(data_dir, postmasters):
    async def start(ready, done):
        async with server_process(data_dir) as server:
            ready.append(server.told)
            if len(ready) == 6:
                done.set()
            await done.wait()
            return server.told

    ready: list[object] = []
    done = asyncio.Event()
    async with asyncio.TaskGroup() as servers:
        starting = [servers.create_task(start(ready, done)) for _ in range(6)]
        await done.wait()
        assert len(postmasters(data_dir)) == 1
    assert len({task.result().keeper_pid for task in starting}) == 1
    assert len({task.result().dsn for task in starting}) == 1


async def test_who_only_looks_whether_a_keeper_listens_holds_nothing(data_dir, until):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as onlooker:
        async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
            onlooker.connect(DataDirectory(data_dir).keeper_address())
            keeper = postgres.keeper_pid
        await until(lambda: identify(keeper) is None)


async def test_an_error_inside_the_block_comes_out_as_it_is(data_dir):
    with pytest.raises(LookupError, match="mine"):
        async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST):
            raise LookupError("mine")
