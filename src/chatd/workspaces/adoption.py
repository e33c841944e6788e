"""What becomes of agents when servers of a machine come and go."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final, Protocol
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import PROVISIONER
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.queries import GetWorkspaceSpecRow
from chatd.store.store import Store
from chatd.workspaces.lifecycle import Provisioners
from chatd.workspaces.provisioner import Provisioner
from chatd.workspaces.specs import spec_of

_PAGE: Final = 100
_AT_ONCE: Final = 8  # agents that are looked for or stopped at the same time
_FIND_SECONDS: Final = 10.0
STOP_SECONDS: Final = 15.0  # for all agents together, when the last server stops
_log = get_logger("chatd.adoption")


class _ListPage(Protocol):
    async def __call__(self, *, host_id: str, after_id: UUID, max_rows: int) -> list[UUID]: ...


class Adoption:
    def __init__(
        self, store: Store, clock: Clock, provisioners: Provisioners, *, replica_id: UUID, host_id: str
    ) -> None:
        self._store = store
        self._clock = clock
        self._provisioners = provisioners
        self._replica_id = replica_id
        self._host_id = host_id

    async def adopt(self) -> None:
        """At a start: find the agents of this machine that should run. Those that are gone come back when used.

        Never fails: whatever was not found here is looked for then.
        """
        found = gone = 0
        try:
            with acting_as(PROVISIONER):
                async for row in self._expected():
                    if await self._adopted(row):
                        found += 1
                    else:
                        gone += 1
        except Exception as error:  # noqa: BLE001 - see above
            _log.warning("agents can't be looked for", error=str(error) or type(error).__name__)
        if found or gone:
            _log.info("agents of this machine", found=found, gone=gone)
        await self._delete_orphans()

    async def _delete_orphans(self) -> None:
        """Workspaces that were deleted while no server was here: what they have left. Never fails: the next start tries
        again."""
        try:
            with acting_as(PROVISIONER):
                async for row in self._orphans():
                    provisioner = self._provisioners.get(row.provisioner)
                    if provisioner is not None and await _deleted(provisioner, row):
                        await self._store.settle_orphan(workspace_id=row.id)
        except Exception as error:  # noqa: BLE001 - see above
            _log.warning("orphans can't be looked for", error=str(error) or type(error).__name__)

    async def _adopted(self, row: GetWorkspaceSpecRow) -> bool:
        provisioner = self._provisioners.get(row.provisioner)
        if provisioner is None:
            return False
        try:
            async with self._clock.timeout(_FIND_SECONDS, timer="find-agent"):
                address = await provisioner.find(spec_of(row))
        except Exception as error:  # noqa: BLE001 - one that can't be found is gone
            _log.warning("an agent can't be looked for", workspace=str(row.id), error=str(error))
            return False
        if address is not None and address != row.agent_address:
            await self._store.set_agent_address(id=row.id, build_number=row.build_number, agent_address=address)
        return address is not None

    async def stop_agents(self) -> None:
        """At a clean stop: when this is the last server of its machine, its agents stop too. They come back when used;
        what ran in them is gone. Those that do not stop in time leave by themselves when nobody asks them."""
        try:
            with acting_as(PROVISIONER):
                if not await self._is_last():
                    return
                async with self._clock.timeout(STOP_SECONDS, timer="stop-agents"):
                    await self._stop_all()
        except Exception as error:  # noqa: BLE001 - the server stops whatever happens
            _log.warning("agents can't be stopped", error=str(error) or type(error).__name__)

    async def _is_last(self) -> bool:
        replicas = await self._store.list_live_replicas()
        return not any(each.host_id == self._host_id and each.id != self._replica_id for each in replicas)

    async def _stop_all(self) -> None:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def stop(row: GetWorkspaceSpecRow) -> None:
            async with slots:
                provisioner = self._provisioners.get(row.provisioner)
                if provisioner is None:
                    return
                try:
                    await provisioner.stop(spec_of(row), _say_nothing)
                except Exception as error:  # noqa: BLE001 - the others are stopped all the same
                    _log.warning("an agent can't be stopped", workspace=str(row.id), error=str(error))

        async with asyncio.TaskGroup() as group:
            async for row in self._expected():
                group.create_task(stop(row), name=f"stop {row.id}")
            async for row in self._begun():
                group.create_task(stop(row), name=f"stop {row.id}")

    async def _begun(self) -> AsyncIterator[GetWorkspaceSpecRow]:
        """Whose builds this server leaves to the next one, which does them again: what they have started by now."""
        for build in await self._store.list_carried_out_builds(replica_id=self._replica_id):
            row = await self._store.get_workspace_spec(id=build.workspace_id)
            if row is not None and row.agent_address is None:
                yield row

    def _expected(self) -> AsyncIterator[GetWorkspaceSpecRow]:
        return self._all(self._store.list_host_workspaces)

    def _orphans(self) -> AsyncIterator[GetWorkspaceSpecRow]:
        return self._all(self._store.list_orphans)

    async def _all(self, list_page: _ListPage) -> AsyncIterator[GetWorkspaceSpecRow]:
        after = UUID(int=0)
        while True:
            ids = await list_page(host_id=self._host_id, after_id=after, max_rows=_PAGE)
            for id in ids:
                row = await self._store.get_workspace_spec(id=id)
                if row is not None:
                    yield row
            if len(ids) < _PAGE:
                return
            after = ids[-1]


async def _deleted(provisioner: Provisioner, row: GetWorkspaceSpecRow) -> bool:
    try:
        await provisioner.delete(spec_of(row), _say_nothing)
    except Exception as error:  # noqa: BLE001 - the others are deleted all the same
        _log.warning("an orphan can't be deleted", workspace=str(row.id), error=str(error))
        return False
    _log.info("an orphan is deleted", workspace=str(row.id))
    return True


def _say_nothing(stage: str, line: str, *, level: str = "info") -> None:
    pass
