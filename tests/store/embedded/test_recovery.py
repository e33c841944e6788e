"""Whatever is killed or hangs, Postgres comes back with its rows, and there is only one."""

import contextlib
import os
import signal
import socket

import asyncpg
import pytest

from chatd.clock import SystemClock
from chatd.core.errors import StartRefused
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.options import KeeperLimits
from chatd.store.keeper.paths import postgres_socket
from chatd.store.keeper.postgres import Answer, Question
from chatd.store.keeper.process import identify
from store.embedded.stand_ins import stand_ins

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


def fill_queue(address, waiting):
    """Connect until there is no more room; nobody accepts."""
    while True:
        one = waiting.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        one.setblocking(False)
        try:
            one.connect(str(address))
        except BlockingIOError:
            return


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


async def test_a_busy_postgres_whose_queue_is_full_is_left_alone(data_dir, until):
    limits = KeeperLimits(check_every=0.5, answer_within=2)
    settings = {**FAST, "max_connections": "10"}  # the queue is twice that
    log = data_dir / "keeper.log"
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=settings, limits=limits) as postgres:
        busy = postgres.postgres_pid
        os.kill(busy, signal.SIGSTOP)
        with contextlib.ExitStack() as waiting:
            fill_queue(postgres_socket(data_dir / "postgres" / "socket"), waiting)
            await until(lambda: "did not answer" in log.read_text())
        os.kill(busy, signal.SIGCONT)
        await until(lambda: "answers again" in log.read_text())
        assert (postgres.postgres_pid, postgres.restarts) == (busy, 0)


def test_a_question_waits_for_its_place_in_a_full_queue(tmp_path):
    with contextlib.ExitStack() as waiting, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(postgres_socket(tmp_path)))
        listener.listen(1)
        fill_queue(postgres_socket(tmp_path), waiting)
        question = Question(tmp_path)
        waiting.callback(question.close)
        assert question.answer() is None
        assert not question.asked
        listener.accept()[0].close()
        listener.accept()[0].close()
        assert question.answer() is None
        assert question.asked
        with listener.accept()[0] as asked:
            assert b"user\0chatd\0" in asked.recv(1000)
            asked.send(b"R")
        assert question.answer() is Answer.ACCEPTS


async def test_checks_that_are_refused_at_once_are_spaced(data_dir, until):
    limits = KeeperLimits(check_every=2)
    log, away = data_dir / "keeper.log", data_dir / "postgres" / "away"
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST, limits=limits) as postgres:
        steady, address = postgres.postgres_pid, postgres_socket(data_dir / "postgres" / "socket")
        address.rename(away)
        await until(lambda: "did not answer" in log.read_text())
        away.rename(address)
        await until(lambda: "answers again" in log.read_text())
        assert (postgres.postgres_pid, postgres.restarts) == (steady, 0)


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


async def test_a_password_file_lost_while_running_is_missed_by_nobody(data_dir):
    password = data_dir / "postgres-password"
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        await write(postgres.dsn)
        dsn = postgres.dsn
        password.unlink()
        os.kill(postgres.postgres_pid, signal.SIGKILL)
        await postgres.wait_restart(after=0)
        assert await read(dsn) == 7
        assert password.exists()
        password.unlink()
        os.kill(postgres.keeper_pid, signal.SIGKILL)
        await postgres.wait_restart(after=1)
        assert await read(dsn) == 7
        assert postgres.dsn == dsn


async def test_a_replacement_of_the_password_that_is_cut_short_is_done_again(data_dir):
    """A Postgres that fails to set it, and repeats the statement as the real one does."""
    clock = SystemClock()
    async with embedded_postgres(data_dir, clock=clock, server_settings=FAST) as postgres:
        await write(postgres.dsn)
    await wait_stopped(data_dir, clock)
    (data_dir / "postgres-password").unlink()
    programs = stand_ins(data_dir.parent, postgres='case "$1" in --single) echo "STATEMENT: $(cat)" >&2; exit 1;; esac')
    with pytest.raises(StartRefused, match="STATEMENT: ALTER ROLE") as refused:
        async with embedded_postgres(data_dir, clock=clock, server_settings=FAST, binaries=programs):
            pass
    await wait_stopped(data_dir, clock)
    assert not (data_dir / "postgres-password").exists()
    secret = (data_dir / "postgres-password.new").read_text()
    assert len(secret) == 64
    assert secret not in refused.value.message
    assert secret not in (data_dir / "keeper.log").read_text()
    async with embedded_postgres(data_dir, clock=clock, server_settings=FAST) as postgres:
        assert await read(postgres.dsn) == 7
        assert not (data_dir / "postgres-password.new").exists()


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
