"""Random calls on one workspace, by people and replicas at once: builds follow one another as the decisions allow."""

import asyncio
import os
import random
from typing import Any
from uuid import UUID

import pytest

from chatd.core.access import PROVISIONER
from chatd.core.errors import Conflict, NotFound
from chatd.core.workspaces.kinds import BuildStatus, BuildTransition, ProvisionerKind
from chatd.core.workspaces.states import WorkspaceState, may_build, state_of
from chatd.store.actor import acting_as
from chatd.store.queries import WorkspaceBuild
from chatd.testing.fake_clock import FakeClock
from chatd.workspaces.lifecycle import Lifecycle
from engine.deployment import new_id
from workspaces.deployed import Deployed
from workspaces.folders import FolderProvisioner

PROGRAMS = 40 if os.environ.get("CHATD_TEST_LONG") else 6
CLIENTS, STEPS = 4, 25


class Client:
    """One that does random things; each build that it made or ended is noted."""

    def __init__(self, here: Deployed, lifecycle: Lifecycle, workspace_id: UUID, seed: int) -> None:
        self._here = here
        self._lifecycle = lifecycle
        self._workspace_id = workspace_id
        self._dice = random.Random(seed)
        self._replica = new_id()
        self._claimed: list[WorkspaceBuild] = []
        self.made: list[WorkspaceBuild] = []
        self.refused = 0

    async def run(self) -> None:
        await self._here.beat(self._replica)
        for _ in range(STEPS):
            await self._dice.choice([self._build, self._build, self._claim, self._claim, self._finish, self._cancel])()

    async def _build(self) -> None:
        lifecycle = self._lifecycle
        call = self._dice.choice([lifecycle.start, lifecycle.stop, lifecycle.start, lifecycle.stop, lifecycle.delete])
        if call == lifecycle.delete and self._dice.random() < 0.8:
            return  # else every program would soon be over
        try:
            with acting_as(self._here.person):
                self.made.append(await call(self._workspace_id))
        except (Conflict, NotFound):
            self.refused += 1

    async def _claim(self) -> None:
        with acting_as(PROVISIONER):
            self._claimed += await self._here.store.claim_workspace_builds(
                replica_id=self._replica,
                host_id="here",
                provisioners=[ProvisionerKind.LOCAL],
                known_ids=[each.id for each in self._claimed],
                max_rows=5,
            )

    async def _finish(self) -> None:
        if not self._claimed:
            return
        build = self._claimed.pop()
        status = self._dice.choice([BuildStatus.SUCCEEDED, BuildStatus.SUCCEEDED, BuildStatus.FAILED])
        with acting_as(PROVISIONER):
            ended = await self._here.store.finish_workspace_build(
                id=build.id,
                replica_id=self._replica,
                status=status,
                error="",
                error_code="",
                agent_address="unix:a" if build.transition is BuildTransition.START else None,
                ttl=None,
                lifetime=None,
            )
        assert ended is not None, "a build was ended by someone else than its owner"

    async def _cancel(self) -> None:
        found = await self._here.sql.get_workspace(id=self._workspace_id)
        assert found is not None
        try:
            with acting_as(self._here.person):
                await self._lifecycle.cancel(found.build_id)
        except (Conflict, NotFound):
            self.refused += 1


@pytest.mark.parametrize("seed", range(PROGRAMS))
async def test_whatever_is_asked_for_at_once_builds_follow_one_another_as_decided(
    seed: int, here: Deployed, folders: FolderProvisioner
):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        first = await lifecycle.create(here.new())
    clients = [Client(here, lifecycle, first.workspace_id, seed * 100 + at) for at in range(CLIENTS)]
    async with asyncio.TaskGroup() as group:
        for at, client in enumerate(clients):
            group.create_task(client.run(), name=f"client {at}")

    builds: list[Any] = await here.pool.fetch("SELECT * FROM workspace_builds ORDER BY number")
    row: Any = await here.pool.fetchrow("SELECT * FROM workspaces WHERE id = $1", first.workspace_id)
    assert [each["number"] for each in builds] == list(range(1, row["build_number"] + 1))
    assert {each.id for client in clients for each in client.made} == {each["id"] for each in builds[1:]}
    state = None
    for each in builds:
        transition, status = BuildTransition(each["transition"]), BuildStatus(each["status"])
        assert state is None or may_build(state, transition), "a build followed that was not allowed"
        state = state_of(transition, status)
        assert not state.is_built or each is builds[-1], "two builds at once"
    assert row["deleted"] == (state is WorkspaceState.DELETED)
    if state in (WorkspaceState.RUNNING, WorkspaceState.STOPPED, WorkspaceState.DELETED):
        assert (row["agent_address"] is not None) == (state is WorkspaceState.RUNNING)
