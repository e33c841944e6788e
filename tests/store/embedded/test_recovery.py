"""Whatever is killed or hangs, Postgres comes back with its rows, and there is only one."""

import os
import signal

import asyncpg

from chatd.clock import SystemClock
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.options import KeeperLimits
from chatd.store.keeper.process import identify

FAST = {"fsync": "off"}


async def write(dsn):
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    await connection.close()


async def read(dsn):
    connection = await asyncpg.connect(dsn)
    value = await connection.fetchval("SELECT value FROM kept")
    await connection.close()
    return value


async def test_a_killed_postgres_is_started_again(data_dir, postmasters):
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        await write(postgres.dsn)
        keeper, killed = postgres.keeper_pid, postgres.postgres_pid
        os.kill(killed, signal.SIGKILL)
        assert await postgres.wait_restart(after=0) == 1
        await postgres.wait_ready()
        assert await read(postgres.dsn) == 7
        assert postgres.keeper_pid == keeper
        assert postmasters(data_dir) == [postgres.postgres_pid] != [killed]


async def test_a_killed_keeper_is_replaced(data_dir, postmasters, until):
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        await write(postgres.dsn)
        keeper, orphan = postgres.keeper_pid, postgres.postgres_pid
        os.kill(keeper, signal.SIGKILL)
        await postgres.wait_restart(after=0)
        assert await read(postgres.dsn) == 7
        assert postgres.keeper_pid != keeper
        assert identify(orphan) is None
        assert postmasters(data_dir) == [postgres.postgres_pid]


async def test_keeper_and_postgres_killed_together_are_replaced(data_dir, postmasters):
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        await write(postgres.dsn)
        busy = await asyncpg.connect(postgres.dsn)
        os.kill(postgres.keeper_pid, signal.SIGKILL)
        os.kill(postgres.postgres_pid, signal.SIGKILL)
        await postgres.wait_restart(after=0)
        busy.terminate()
        assert await read(postgres.dsn) == 7
        # At the first attempt: the zombie of the killed one is not taken for a running server.
        assert "already exists" not in (data_dir / "postgres" / "postgres.log").read_text()
        assert postmasters(data_dir) == [postgres.postgres_pid]


async def test_a_stopped_orphan_of_a_killed_keeper_is_never_doubled(data_dir, postmasters, until):
    """SIGSTOP keeps the orphan from obeying the signal that it gets with the keeper's death."""
    limits = KeeperLimits(check_every=60)
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST, limits=limits) as postgres:
        await write(postgres.dsn)
        orphan = postgres.postgres_pid
        os.kill(orphan, signal.SIGSTOP)
        os.kill(postgres.keeper_pid, signal.SIGKILL)
        await until(lambda: (data_dir / "keeper.log").read_text().count("starting") == 2)
        assert postmasters(data_dir) == [orphan]
        os.kill(orphan, signal.SIGCONT)
        await postgres.wait_restart(after=0)
        assert await read(postgres.dsn) == 7
        assert postmasters(data_dir) == [postgres.postgres_pid] != [orphan]


async def test_a_hung_postgres_is_killed_and_started_again(data_dir, postmasters):
    limits = KeeperLimits(check_every=0.1, answer_within=0.3)
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST, limits=limits) as postgres:
        await write(postgres.dsn)
        hung = postgres.postgres_pid
        os.kill(hung, signal.SIGSTOP)
        await postgres.wait_restart(after=0)
        assert await read(postgres.dsn) == 7
        assert postmasters(data_dir) == [postgres.postgres_pid] != [hung]


async def test_sigterm_makes_the_keeper_stop_postgres_and_a_living_server_starts_a_new_one(data_dir, postmasters):
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        keeper = postgres.keeper_pid
        os.kill(keeper, signal.SIGTERM)
        await postgres.wait_restart(after=0)
        assert postgres.keeper_pid != keeper
        assert postmasters(data_dir) == [postgres.postgres_pid]
    log = (data_dir / "postgres" / "postgres.log").read_text()
    assert "received fast shutdown request" in log
    assert "was not properly shut down" not in log


async def test_a_lost_password_file_is_replaced(data_dir):
    clock = SystemClock()
    async with embedded_postgres(data_dir, clock=clock, server_settings=FAST) as postgres:
        await write(postgres.dsn)
        old = postgres.dsn
    await wait_stopped(data_dir, clock)
    (data_dir / "postgres-password").unlink()
    async with embedded_postgres(data_dir, clock=clock, server_settings=FAST) as postgres:
        assert postgres.dsn != old
        assert await read(postgres.dsn) == 7


async def starts_despite(data_dir, account, process):
    """Name `process` in postmaster.pid, as a Postgres that was killed would have left it."""
    clock = SystemClock()
    async with embedded_postgres(data_dir, clock=clock, server_settings=FAST) as postgres:
        await write(postgres.dsn)
        left = (data_dir / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
    await wait_stopped(data_dir, clock)
    left[0] = str(process.pid)
    pid_file = data_dir / "postgres" / "data" / "postmaster.pid"
    pid_file.write_text("\n".join(left) + "\n")
    pid_file.chmod(0o600)
    account.own(pid_file)
    async with embedded_postgres(data_dir, clock=clock, server_settings=FAST) as postgres:
        assert await read(postgres.dsn) == 7


async def test_the_zombie_of_an_earlier_postgres_does_not_count_as_running(data_dir, account, spawn, until):
    program = data_dir.parent / "postgres"
    program.symlink_to("/bin/true")
    with spawn(program) as zombie:
        await until(lambda: identify(zombie.pid) is None)
        await starts_despite(data_dir, account, zombie)


async def test_another_program_with_the_number_of_an_earlier_postgres_does_not_count(data_dir, account, spawn):
    with spawn("cat") as other:
        await starts_despite(data_dir, account, other)
