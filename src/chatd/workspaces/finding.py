"""The resolver over the store: where a chat's agent is, and how a dead one comes back.

It acts as the provisioner. Whose workspace a chat may use was decided when the two were bound, and the query itself
gives only a workspace of the chat's own owner.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import PROVISIONER
from chatd.core.workspaces.kinds import BuildReason, BuildStatus, BuildTransition
from chatd.minting import uuid7
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.hints import Hints
from chatd.store.queries import GetWorkspaceAgentRow, GetWorkspaceSpecRow, ResolveWorkspaceRow
from chatd.store.store import Store
from chatd.workspaces.build_hints import BUILDS_TOPIC
from chatd.workspaces.lifecycle import Provisioners
from chatd.workspaces.resolving import Reason, Resolved, WorkspaceUnavailable
from chatd.workspaces.specs import spec_of
from chatd.workspaces.usage import UsageTracker
from chatd.workspaces.waiting import wait_build

FIND_SECONDS: Final = 10.0  # for a provisioner to look whether an agent runs
RECOVER_SECONDS: Final = 120.0  # for a recovery: a sandbox starts within seconds, a container within a minute
_ROUNDS: Final = 3  # of looking and building, before it counts as out of reach
_log = get_logger("chatd.workspaces")


class StoredResolver:
    def __init__(
        self, store: Store, hints: Hints, clock: Clock, provisioners: Provisioners, usage: UsageTracker, *, host_id: str
    ) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._provisioners = provisioners
        self._usage = usage
        self._host_id = host_id
        self._recovering: dict[UUID, _Turnstile] = {}

    def used(self, workspace_id: UUID) -> None:
        self._usage.used(workspace_id)

    async def resolve(self, chat_id: UUID) -> Resolved:
        with acting_as(PROVISIONER):
            row = await self._store.resolve_workspace(chat_id=chat_id)
            if row is not None and not row.is_owner_active:
                raise WorkspaceUnavailable(Reason.OWNER_GONE)
            if row is not None and _is_recovering(row) and row.build_id is not None:
                await wait_build(self._store, self._hints, self._clock, row.build_id, seconds=RECOVER_SECONDS)
                row = await self._store.resolve_workspace(chat_id=chat_id)
        return self._resolved(row)

    async def resolve_workspace(self, workspace_id: UUID) -> Resolved:
        """As `resolve`, by the workspace itself, with the rights of who acts."""
        return self._resolved(await self._store.get_workspace_agent(id=workspace_id))

    async def recover(self, failed: Resolved) -> Resolved:
        with acting_as(PROVISIONER), self._one_at_a_time(failed.workspace_id) as turnstile:
            async with turnstile.lock:
                for _ in range(_ROUNDS):
                    found = await self._recovered(failed.workspace_id)
                    if found is not None:
                        return found
        raise WorkspaceUnavailable(Reason.UNREACHABLE)

    async def _recovered(self, workspace_id: UUID) -> Resolved | None:
        """One look, and what follows from it; None: look again."""
        row = await self._store.get_workspace_agent(id=workspace_id)
        if row is not None and _is_recovering(row):
            await wait_build(self._store, self._hints, self._clock, row.build_id, seconds=RECOVER_SECONDS)
            return None
        there = self._resolved(row)  # or it is stopped, deleted, elsewhere
        if row is None or row.transition is not BuildTransition.START:
            raise WorkspaceUnavailable(Reason.STOPPED)  # a stop that failed: nobody wants it to run
        spec = await self._store.get_workspace_spec(id=workspace_id)
        if spec is None:
            raise WorkspaceUnavailable(Reason.UNREACHABLE)
        if await self._runs(there, row.build_number, spec):
            return await self._look_once(workspace_id)
        build = await self._store.insert_workspace_build(
            id=uuid7(self._clock.now()),
            workspace_id=workspace_id,
            after_number=row.build_number,
            transition=BuildTransition.START,
            reason=BuildReason.RECOVERY,
            initiator_id=None,
            key=None,
            parameters=spec.parameters,  # of the start that it repeats, if that is still the latest
            kept_parameters=row.parameters,
        )
        if build is not None:
            _log.info("an agent is gone and comes back", workspace=str(workspace_id))
            self._hints.publish(BUILDS_TOPIC)
            await wait_build(self._store, self._hints, self._clock, build.id, seconds=RECOVER_SECONDS)
        return None if build is None else await self._look_once(workspace_id)

    async def _look_once(self, workspace_id: UUID) -> Resolved:
        return self._resolved(await self._store.get_workspace_agent(id=workspace_id))

    async def _runs(self, there: Resolved, build_number: int, row: GetWorkspaceSpecRow) -> bool:
        """Whether an agent runs, after all; where it does is written down."""
        provisioner = self._provisioners.get(row.provisioner)
        if provisioner is None:
            raise WorkspaceUnavailable(Reason.UNREACHABLE)
        try:
            async with self._clock.timeout(FIND_SECONDS, timer="find-agent"):
                address = await provisioner.find(spec_of(row))
        except TimeoutError:
            return False
        if address is not None and address != there.address:
            await self._store.set_agent_address(id=there.workspace_id, build_number=build_number, agent_address=address)
        return address is not None

    def _resolved(self, row: ResolveWorkspaceRow | GetWorkspaceAgentRow | None) -> Resolved:
        """Raises WorkspaceUnavailable."""
        if row is None or row.id is None:
            raise WorkspaceUnavailable(Reason.NONE)
        if row.deleted:
            raise WorkspaceUnavailable(Reason.DELETED)
        if row.host_id is not None and row.host_id != self._host_id:
            raise WorkspaceUnavailable(Reason.OTHER_HOST)
        if row.status is None or not row.status.is_over:
            raise WorkspaceUnavailable(Reason.BUILDING)
        if row.agent_address is None or row.agent_token is None:
            if row.status is BuildStatus.SUCCEEDED:
                raise WorkspaceUnavailable(Reason.STOPPED)
            raise WorkspaceUnavailable(Reason.FAILED, detail=row.error or None)
        return Resolved(
            workspace_id=row.id,
            name=row.name or "",
            address=row.agent_address,
            token=row.agent_token,
            template_name=row.template_name or "",
        )

    @contextmanager
    def _one_at_a_time(self, workspace_id: UUID) -> "Iterator[_Turnstile]":
        """However many find it dead at once, they look one after the other: the second finds what the first did."""
        turnstile = self._recovering.setdefault(workspace_id, _Turnstile())
        turnstile.waiting += 1
        try:
            yield turnstile
        finally:
            turnstile.waiting -= 1
            if not turnstile.waiting:
                del self._recovering[workspace_id]


class _Turnstile:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0


def _is_recovering(row: ResolveWorkspaceRow | GetWorkspaceAgentRow) -> bool:
    return row.reason is BuildReason.RECOVERY and row.status is not None and not row.status.is_over
