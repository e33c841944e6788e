"""Postgres is killed and comes back after more than a lease: everyone goes on with what was its own."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest

from chatd.background import beside
from chatd.clock import SystemClock
from chatd.core.lease import LEASE_SECONDS
from chatd.store.embedded import embedded_postgres
from chatd.store.heartbeat import Heartbeat, Progress, Pulse, ReplicaRow, dial
from chatd.store.migrate import shipped_functions
from chatd.store.pool import migrate_database
from chatd.store.transitions import Take
from engine.deployment import Deployment, Replica, new_id, open_deployment, replica
from store.embedded.conftest import data_dir

__all__ = ["data_dir"]  # the fixture


class Gate:
    """The way from a replica to the database; shut, the database is away for its heartbeat."""

    def __init__(self, dsn: str, id: UUID) -> None:
        self._row = ReplicaRow(id, "", "test", 1, "1")
        self._dsn = dsn
        self.shut = False

    async def dial(self) -> Pulse:
        if self.shut:
            raise ConnectionRefusedError("away")
        return await dial(self._dsn, self._row, function_schema=shipped_functions().schema)


class Beating:
    """A replica whose lease is its own: it has a heartbeat."""

    def __init__(self, replica: Replica, gate: Gate) -> None:
        self.replica = replica
        self.gate = gate
        clock = replica.clock
        self.progress = Progress(clock)
        self.heartbeat = Heartbeat(gate.dial, progress=self.progress, tell=replica.lease.change, clock=clock)

    async def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            await self._settled()
            await self.replica.clock.advance(1)
        await self._settled()

    async def _settled(self) -> None:
        await self.replica.clock.wait_for("heartbeat")
        await self.replica.settled()


@asynccontextmanager
async def beating_replica(deployment: Deployment) -> AsyncIterator[Beating]:
    async with replica(deployment, held=False) as one:
        beating = Beating(one, Gate(deployment.dsn, one.id))
        jobs = {"heartbeat": beating.heartbeat.run(), "progress": beating.progress.keep(one.clock)}
        async with beside(jobs):
            await one.clock.wait_for("heartbeat")
            assert one.lease.held
            yield beating


@pytest.mark.behaviour("STATE-4")
async def test_a_restart_of_the_database_moves_no_chat(data_dir: Path):
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(
            embedded_postgres(data_dir, clock=SystemClock(), server_settings={"fsync": "off"})
        )
        await postgres.wait_ready()
        await migrate_database(postgres.dsn)
        deployment = await stack.enter_async_context(open_deployment(postgres.dsn))
        both = [await stack.enter_async_context(beating_replica(deployment)) for _ in range(2)]
        owners = {await deployment.new_chat(take=Take(one.replica.id, new_id())): one.replica.id for one in both * 3}
        for one in both:
            await one.pass_time(2)
            assert len(one.replica.script.running) == 3

        for one in both:
            one.gate.shut = True
        os.kill(postgres.postgres_pid, signal.SIGKILL)
        await postgres.wait_restart(after=0)
        await postgres.wait_ready()
        for one in both:
            await one.pass_time(LEASE_SECONDS)
            assert (one.replica.lease.held, one.replica.script.running) == (False, {})
        # Across processes time can't be faked: by database time, too, all have been silent for longer than a lease.
        await deployment.silence(*(one.replica.id for one in both), seconds=LEASE_SECONDS + 1)

        for one in both:  # the first one is back long before the second
            one.gate.shut = False
            await one.pass_time(LEASE_SECONDS - 1)
        assert {chat: await deployment.owner(chat) for chat in owners} == owners
        for one in both:
            mine = {chat for chat, owner in owners.items() if owner == one.replica.id}
            assert set(one.replica.script.running) == mine
        takeovers = await deployment.pool.fetch("SELECT DISTINCT takeovers FROM chat_state")
        assert [row["takeovers"] for row in takeovers] == [0]
