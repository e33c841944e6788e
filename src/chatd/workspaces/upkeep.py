"""What is done about workspaces now and then: stop those whose time is up, fail builds that nobody can carry out,
forget what old builds said, count what runs."""

from datetime import timedelta
from typing import Final

from chatd.clock import Clock
from chatd.core.access import PROVISIONER
from chatd.core.workspaces.limits import BUILD_SECONDS
from chatd.observe.logs import get_logger
from chatd.observe.workspace_metrics import WorkspaceMetrics
from chatd.store.actor import acting_as
from chatd.store.hints import Hints
from chatd.store.store import Store
from chatd.workspaces.build_hints import BUILDS_TOPIC, build_topic

SWEEP_SECONDS: Final = 60.0  # deadlines are minutes
_AT_ONCE: Final = 100  # a short statement; the rest follows at once
_STOP_AGAIN: Final = timedelta(minutes=5)  # after a stop that failed
_KEEP_LOGS: Final = timedelta(days=30)  # who asks why a build failed does so within days
_LOG_ROWS: Final = 5000  # in one sweep
_UNCLAIMED: Final = "No server is there that can build this workspace."
_log = get_logger("chatd.workspace-upkeep")


class Upkeep:
    """Every replica does it; rows that another one has locked are left to it."""

    def __init__(self, store: Store, hints: Hints, clock: Clock, metrics: WorkspaceMetrics) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._metrics = metrics

    async def keep(self) -> None:
        while True:
            try:
                await self.sweep()
            except Exception as error:  # noqa: BLE001 - the next round tries again
                _log.warning("workspaces can't be looked after", error=str(error) or type(error).__name__)
            await self._clock.sleep(SWEEP_SECONDS, timer="workspace-upkeep")

    async def sweep(self) -> None:
        with acting_as(PROVISIONER):
            while True:
                stopping = await self._store.stop_overdue_workspaces(again_after=_STOP_AGAIN, max_rows=_AT_ONCE)
                for build in stopping:
                    _log.info("a workspace is stopped at its deadline", workspace=str(build.workspace_id))
                if stopping:
                    self._hints.publish(BUILDS_TOPIC)
                if len(stopping) < _AT_ONCE:
                    break
            older = timedelta(seconds=BUILD_SECONDS)
            for build in await self._store.fail_unclaimed_builds(error=_UNCLAIMED, older_than=older):
                self._hints.publish(build_topic(build.id))
            await self._store.delete_old_build_logs(older_than=_KEEP_LOGS, max_rows=_LOG_ROWS)
            self._metrics.running(await self._store.count_running_workspaces())
