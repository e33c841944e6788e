"""The heartbeat's thread: it ends with the block, and whatever else ends it, the lease is told lost first."""

import asyncio
import threading
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from chatd.clock import SystemClock
from chatd.store.heartbeat import Lease, Pulse, ReplicaRow, beating, dial
from chatd.store.migrate import shipped_functions
from engine.deployment import new_id
from store.world import open_sql

PATIENCE = 20  # real seconds


class Heard:
    def __init__(self, lease: Lease) -> None:
        self._changed = asyncio.Event()
        self._lease = lease
        lease.on_change(lambda _: self._changed.set())

    async def until(self, held: bool) -> None:
        async with asyncio.timeout(PATIENCE):
            while self._lease.held is not held:
                self._changed.clear()
                await self._changed.wait()


async def test_the_heartbeat_has_a_thread_of_its_own_and_ends_with_the_block(database: Any):
    row = ReplicaRow(new_id(), "", "host", 1, "1.0")
    schema = shipped_functions().schema
    threads: list[str] = []

    async def connect() -> Pulse:
        threads.append(threading.current_thread().name)
        return await dial(database.dsn, row, function_schema=schema)

    clock = SystemClock()
    async with open_sql(database.dsn) as sql:
        async with beating(connect, clock=clock, thread_clock=clock) as lease:
            await Heard(lease).until(True)
            assert [live.id for live in await sql.list_live_replicas()] == [row.id]

        assert threads == ["heartbeat"]
        assert await sql.get_replica(id=row.id) is None
    assert "heartbeat" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("trouble", [ConnectionRefusedError, RuntimeError])
async def test_a_database_that_is_never_there_keeps_nobody_from_ending(trouble: type[Exception]):
    async def connect() -> Pulse:
        raise trouble("away")

    clock = SystemClock()
    async with beating(connect, clock=clock, thread_clock=clock) as lease:
        assert not lease.held


class Hurried(SystemClock):
    """Real, but the pauses between beats are short."""

    def timeout(self, seconds: float, *, timer: str) -> AbstractAsyncContextManager[None]:
        return super().timeout(0.01 if timer == "heartbeat" else seconds, timer=timer)


class Fatal(BaseException):
    """What no code expects."""


class Breaking:
    """Beats until it is told what to raise."""

    def __init__(self) -> None:
        self.trouble: BaseException | None = None
        self.beats = 0

    async def beat(self) -> None:
        self.beats += 1
        if self.trouble is not None:
            raise self.trouble

    async def farewell(self) -> None: ...

    def drop(self) -> None: ...


@pytest.mark.parametrize(
    "trouble", [asyncio.CancelledError(), Fatal(), SystemExit(1)], ids=lambda one: type(one).__name__
)
async def test_a_heartbeat_that_ends_of_anything_has_said_that_the_lease_is_lost(trouble: BaseException):
    pulse = Breaking()

    async def connect() -> Pulse:
        return pulse

    async with beating(connect, clock=SystemClock(), thread_clock=Hurried()) as lease:
        heard = Heard(lease)
        await heard.until(True)
        pulse.trouble = trouble
        await heard.until(False)
        for thread in threading.enumerate():
            if thread.name == "heartbeat":
                await asyncio.to_thread(thread.join, PATIENCE)
        ended_after = pulse.beats

        assert "heartbeat" not in [thread.name for thread in threading.enumerate()]
        assert not lease.held
    assert pulse.beats == ended_after


async def test_an_error_that_nobody_expects_costs_one_beat_and_the_next_is_on_a_new_connection():
    pulses: list[Breaking] = []
    again = asyncio.Event()
    main = asyncio.get_running_loop()

    async def connect() -> Pulse:
        pulses.append(Breaking())
        if len(pulses) == 2:
            main.call_soon_threadsafe(again.set)
        return pulses[-1]

    async with beating(connect, clock=SystemClock(), thread_clock=Hurried()) as lease:
        await Heard(lease).until(True)
        pulses[0].trouble = RuntimeError("a mistake")
        async with asyncio.timeout(PATIENCE):
            await again.wait()
        assert lease.held
