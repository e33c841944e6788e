"""A parent and its replicas, as real processes that are really killed."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.clock import SystemClock
from chatd.core.errors import StartRefused
from chatd.server.replicas import LONGEST_DELAY_SECONDS, ReplicaOptions, keep_replicas, restart_delay
from chatd.server.serving import open_socket
from chatd.testing.fake_clock import FakeClock
from server.http.processes import Running, started


@asynccontextmanager
async def replicas(count: int) -> AsyncIterator[tuple[Running, str, set[int]]]:
    async with started("parent", str(count)) as parent:
        pids = {int(await parent.line("pid")) for _ in range(count)}
        yield parent, await parent.line("ready"), pids


async def ask(url: str) -> int:
    """Which replica answers, on a connection of its own."""
    async with aiohttp.ClientSession() as client, client.get(url) as response:
        return int(await response.text())


async def test_every_answer_comes_from_a_replica():
    async with replicas(2) as (parent, url, pids):
        assert {await ask(url) for _ in range(10)} <= pids

        parent.process.send_signal(signal.SIGTERM)
        assert await parent.ended() == 0


async def test_a_killed_replica_is_replaced_while_the_other_serves():
    async with replicas(2) as (parent, url, pids):
        victim, survivor = sorted(pids)
        os.kill(victim, signal.SIGKILL)
        assert int(await parent.line("death")) == victim
        assert await ask(url) == survivor

        assert int(await parent.line("pid")) not in pids
        parent.process.send_signal(signal.SIGTERM)
        assert await parent.ended() == 0


async def test_sigterm_lets_every_replica_finish_its_requests():
    async with replicas(2) as (parent, url, pids), aiohttp.ClientSession() as client:
        async with client.get(f"{url}/until-drain") as one, client.get(f"{url}/until-drain") as other:
            for held in (one, other):
                assert await held.content.readline() == b"held\n"
            parent.process.send_signal(signal.SIGTERM)
            for held in (one, other):
                assert int(await held.content.read()) in pids

        assert await parent.ended() == 0


async def test_a_second_signal_is_passed_on():
    async with replicas(1) as (parent, url, _pids), aiohttp.ClientSession() as client:
        async with client.get(f"{url}/for-ever") as response:
            assert await response.content.readline() == b"held\n"
            parent.process.send_signal(signal.SIGINT)
            await parent.line("draining")
            parent.process.send_signal(signal.SIGINT)
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.content.read()

        assert await parent.ended() == 0


# Takes no signal until two of them wait, and leaves with its parent.
_BUSY = """
import os, signal, sys
both, parent = {signal.SIGTERM, signal.SIGINT}, os.getppid()
signal.pthread_sigmask(signal.SIG_BLOCK, both)
open(sys.argv[1], "w").write("busy")
while not both <= signal.sigpending() and os.getppid() == parent:
    pass
"""


async def test_a_replica_that_is_busy_gets_both_of_two_signals(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    options = ReplicaOptions(count=1, argv=lambda _seat: [sys.executable, "-c", _BUSY, str(pipe)], drain_seconds=3600.0)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        kept = tasks.create_task(keep_replicas(open_socket("127.0.0.1", 0), clock=SystemClock(), options=options))
        assert await asyncio.to_thread(pipe.read_text) == "busy"
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.to_thread(lambda: None)  # the loop has heard of it
        await kept


async def test_no_replica_outlives_a_killed_parent():
    async with replicas(2) as (parent, _url, _pids):
        parent.process.kill()

        # The output closes only when the last process that inherited it is gone.
        assert await parent.ended() == -signal.SIGKILL


def dying(exit_code: int) -> ReplicaOptions:
    """Two replicas that end as soon as they have started."""
    command = [sys.executable, "-c", f"raise SystemExit({exit_code})"]
    return ReplicaOptions(count=2, argv=lambda _seat: command, drain_seconds=1.0)


async def test_replicas_that_all_die_again_and_again_are_given_up():
    clock = FakeClock()

    async def fail() -> StartRefused:
        with pytest.raises(StartRefused) as given_up:
            await keep_replicas(open_socket("127.0.0.1", 0), clock=clock, options=dying(3))
        return given_up.value

    async with asyncio.TaskGroup() as tasks:
        failing = tasks.create_task(fail())
        for delay in (0.5, 1.0, 2.0, 4.0):
            await clock.wait_for("replica restart", count=2)
            await clock.advance(delay)

    assert "exit code 3" in ((await failing).detail or "")


async def test_a_refused_first_start_is_final():
    with pytest.raises(StartRefused):
        await keep_replicas(open_socket("127.0.0.1", 0), clock=FakeClock(), options=dying(1))


async def test_a_child_whose_parent_is_gone_does_not_start():
    async with started("replica", "0", "0", "0", "1") as orphan:
        assert await orphan.ended() == 1


@given(st.integers(0, 10_000))
def test_the_delay_before_a_restart_grows_up_to_a_limit(quick_deaths: int):
    assert 0 <= restart_delay(quick_deaths) <= restart_delay(quick_deaths + 1) <= LONGEST_DELAY_SECONDS
