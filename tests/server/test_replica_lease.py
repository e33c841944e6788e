"""A running replica beats, ends its own row, and rows of dead ones are removed in time."""

import asyncio
from pathlib import Path
from typing import Any

from chatd.clock import SystemClock
from chatd.core.access import JANITOR
from chatd.server.compose import expire_replica, running_replica
from chatd.server.janitor import clean
from chatd.store.actor import acting_as
from engine.deployment import Deployment, new_id, open_deployment
from server.running import QUICK, settings_for

PATIENCE = 20  # real seconds


async def _until_beating(deployment: Deployment, id: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while await deployment.sql.get_replica(id=id) is None:
            pass


async def test_a_replica_is_known_while_it_runs(database: Any, tmp_path: Path):
    settings = settings_for(database.dsn, tmp_path, relay_url="tls://10.0.0.7:7080")
    async with open_deployment(database.dsn) as deployment:
        async with running_replica(settings, clock=SystemClock(), hasher=QUICK) as replica:
            await _until_beating(deployment, replica.id)
            [row] = await deployment.sql.list_live_replicas()
            assert (row.id, row.url) == (replica.id, "tls://10.0.0.7:7080")

        assert await deployment.sql.get_replica(id=replica.id) is None


async def test_a_replica_takes_the_id_that_its_parent_gave_it(database: Any, tmp_path: Path):
    settings, id = settings_for(database.dsn, tmp_path), new_id()
    async with (
        open_deployment(database.dsn) as deployment,
        running_replica(settings, clock=SystemClock(), replica_id=id, hasher=QUICK) as replica,
    ):
        await _until_beating(deployment, id)
        assert replica.id == id


async def test_a_lease_that_can_not_be_ended_is_no_failure(database: Any, tmp_path: Path):
    settings = settings_for(database.dsn, tmp_path)
    async with (
        open_deployment(database.dsn) as deployment,
        running_replica(settings, clock=SystemClock(), hasher=QUICK) as replica,
    ):
        await deployment.pool.execute("ALTER TABLE replicas RENAME TO away")
        await expire_replica(replica.opened, replica.id, clock=replica.clock)
        await deployment.pool.execute("ALTER TABLE away RENAME TO replicas")


async def test_replicas_that_died_long_ago_are_forgotten_unless_they_own_a_chat(database: Any):
    async with open_deployment(database.dsn) as deployment:
        recent, dead, owner = [new_id() for _ in range(3)]
        for id in (recent, dead, owner):
            await deployment.beat(id)
        await deployment.silence(recent, seconds=23 * 3600)
        await deployment.silence(dead, owner, seconds=25 * 3600)
        chat = await deployment.new_chat()
        await deployment.transitions.acquire(owner, [new_id()], error="{}")
        assert await deployment.owner(chat) == owner

        with acting_as(JANITOR):
            await clean(deployment.guarded)

        kept = [id for id in (recent, dead, owner) if await deployment.sql.get_replica(id=id) is not None]
        assert kept == [recent, owner]
