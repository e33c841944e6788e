"""Which workspaces are in use: noted in memory, stored for all of them in one statement per heartbeat."""

from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import PROVISIONER
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.store import Store

HEARTBEAT_SECONDS: Final = 30.0  # a workspace that may idle for a minute, the shortest there is, is bumped in time
_MOST_NOTED: Final = 100_000  # ids in memory while the database is away
_log = get_logger("chatd.workspace-usage")


class UsageTracker:
    """Those of chats that run on this replica are found by the statement itself; others are noted by who uses them."""

    def __init__(self, store: Store, clock: Clock, *, replica_id: UUID) -> None:
        self._store = store
        self._clock = clock
        self._replica_id = replica_id
        self._used: set[UUID] = set()
        self._failures = 0

    def used(self, workspace_id: UUID) -> None:
        if len(self._used) < _MOST_NOTED:
            self._used.add(workspace_id)

    async def keep(self) -> None:
        while True:
            await self._clock.sleep(HEARTBEAT_SECONDS, timer="workspace-heartbeat")
            await self.flush()

    async def flush(self) -> None:
        used, self._used = self._used, set()
        try:
            with acting_as(PROVISIONER):
                await self._store.bump_workspaces(replica_id=self._replica_id, used_ids=sorted(used))
        except Exception as error:  # noqa: BLE001 - the next heartbeat says it again
            self._used |= used
            self._failures += 1
            # Once is a hiccup. From the second time on workspaces may be stopped that are in use.
            log = _log.error if self._failures > 1 else _log.warning
            log("the use of workspaces can't be stored", error=str(error) or type(error).__name__)
        else:
            self._failures = 0
