"""Carries builds out: claims them, runs the provisioner, and says how they ended.

A build belongs to one replica at a time (`replica_id`, and a status that only its owner moves). One whose replica is
gone is claimed by another of its machine and carried out again, which provisioners are made for.
"""

import asyncio
from contextlib import suppress
from typing import Final
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.access import PROVISIONER
from chatd.core.workspaces.kinds import BuildStatus, BuildTransition
from chatd.core.workspaces.lifetime import Lifetime
from chatd.core.workspaces.limits import BUILD_SECONDS, MOST_CLAIMS, MOST_ERROR_CHARACTERS
from chatd.observe.logs import get_logger
from chatd.observe.workspace_metrics import WorkspaceMetrics
from chatd.stoppable import Stoppable, Stopped
from chatd.store.actor import acting_as
from chatd.store.hints import Gap, Hint, Hints
from chatd.store.queries import GetWorkspaceSpecRow, WorkspaceBuild
from chatd.store.store import Store
from chatd.workspaces.build_hints import BUILDS_TOPIC, CANCEL, build_topic
from chatd.workspaces.build_logs import BuildLogWriter, storable
from chatd.workspaces.lifecycle import Provisioners
from chatd.workspaces.provisioner import BuildFailed, Provisioner, WorkspaceSpec
from chatd.workspaces.specs import lifetime_of, spec_of

LOOK_SECONDS: Final = 5.0  # when no hint comes: for builds of replicas that died, and for lost hints
MOST_AT_ONCE: Final = 4  # builds of one replica: each starts processes or pulls images
_CLEAN_SECONDS: Final = 60.0  # to end what a start has left that failed
_END_AGAIN_SECONDS: Final = 2.0  # when the end of a build can't be stored
_log = get_logger("chatd.builds")


class _Ended(msgspec.Struct, frozen=True):
    status: BuildStatus
    address: str | None = None
    error: str = ""
    code: str = ""


# Whatever it is that goes wrong each time, it must not go on for ever.
_GIVEN_UP: Final = _Ended(
    BuildStatus.FAILED,
    error="This build was begun again and again, and never came to an end. The servers' logs say more.",
    code="gave_up",
)
_NO_LIFE: Final = Lifetime(None, None)


class Builder:
    def __init__(
        self,
        store: Store,
        hints: Hints,
        clock: Clock,
        provisioners: Provisioners,
        metrics: WorkspaceMetrics,
        *,
        replica_id: UUID,
        host_id: str,
    ) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._provisioners = provisioners
        self._metrics = metrics
        self._replica_id = replica_id
        self._host_id = host_id
        self._running: dict[UUID, Stoppable | None] = {}  # None: not begun, or ending
        self._look = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled. What is under way then is left as it is, to be claimed by who comes next."""
        subscription = self._hints.subscribe(BUILDS_TOPIC, self._told)
        try:
            with acting_as(PROVISIONER):
                async with asyncio.TaskGroup() as group:
                    while True:
                        self._look.clear()
                        await self._claim(group)
                        with suppress(TimeoutError):
                            async with self._clock.timeout(LOOK_SECONDS, timer="builds"):
                                await self._look.wait()
        finally:
            subscription.close()

    def _told(self, _: Hint | Gap) -> None:
        self._look.set()

    async def _claim(self, group: asyncio.TaskGroup) -> None:
        try:
            await self._stop_cancelled()
            room = MOST_AT_ONCE - len(self._running)
            if room <= 0:
                return
            claimed = await self._store.claim_workspace_builds(
                replica_id=self._replica_id,
                host_id=self._host_id,
                provisioners=list(self._provisioners),
                known_ids=list(self._running),
                max_rows=room,
            )
        except Exception as error:  # noqa: BLE001 - the next look tries again
            _log.warning("builds can't be claimed", error=str(error) or type(error).__name__)
            return
        for build in claimed:
            self._running[build.id] = None
            group.create_task(self._carry_out(build), name=f"build {build.id}")

    async def _stop_cancelled(self) -> None:
        if not self._running:
            return
        for row in await self._store.list_carried_out_builds(replica_id=self._replica_id):
            if row.is_cancelled and (running := self._running.get(row.id)):
                running.stop()

    async def _carry_out(self, build: WorkspaceBuild) -> None:
        log = BuildLogWriter(self._store, self._hints, self._clock, build_id=build.id, replica_id=self._replica_id)
        try:
            if build.claims > MOST_CLAIMS:
                await self._store_end(build, _GIVEN_UP, _NO_LIFE)
                return
            row = await self._store.get_workspace_spec(id=build.workspace_id)
            if row is None:
                raise BuildFailed("The workspace is not there.")
            async with beside({"build log": log.keep()}):
                ended = await self._ended(build, row, log)
            await log.flush()
            await self._store_end(build, ended, lifetime_of(row))
        except Exception as error:  # noqa: BLE001 - it is claimed again: by us, or by another when we are gone
            _log.exception("a build was left", build=str(build.id), error=str(error))
        finally:
            del self._running[build.id]
            self._look.set()

    async def _ended(self, build: WorkspaceBuild, row: GetWorkspaceSpecRow, log: BuildLogWriter) -> _Ended:
        provisioner, spec = self._provisioners[row.provisioner], spec_of(row)
        ended = await self._tried(build, provisioner, spec, log)
        if ended.error:
            log(build.transition, ended.error, level="error")
        has_failed = build.transition is BuildTransition.START and ended.status is not BuildStatus.SUCCEEDED
        if has_failed and await self._is_ours(build):
            await self._clean_up(provisioner, spec, log)
        return ended

    async def _tried(
        self, build: WorkspaceBuild, provisioner: Provisioner, spec: WorkspaceSpec, log: BuildLogWriter
    ) -> _Ended:
        stoppable = self._running[build.id] = Stoppable()

        def told(hint: Hint | Gap) -> None:
            if isinstance(hint, Gap):
                self._look.set()
            elif hint.payload == CANCEL:
                stoppable.stop()

        subscription = self._hints.subscribe(build_topic(build.id), told)
        try:
            if build.cancelled_by is not None:
                return _Ended(BuildStatus.CANCELLED)
            async with stoppable, self._clock.timeout(BUILD_SECONDS, timer="build"):
                address = await _run(build.transition, provisioner, spec, log)
            return _Ended(BuildStatus.SUCCEEDED, address)
        except Stopped:
            return _Ended(BuildStatus.CANCELLED)
        except TimeoutError:
            return _Ended(
                BuildStatus.FAILED, error=f"The build took longer than {BUILD_SECONDS / 60:g} minutes.", code="timeout"
            )
        except BuildFailed as failed:
            said = failed.message if failed.detail is None else f"{failed.message} {failed.detail}"
            return _Ended(BuildStatus.FAILED, error=storable(said)[:MOST_ERROR_CHARACTERS], code=storable(failed.code))
        except Exception as error:  # noqa: BLE001 - whatever it is, the build has failed
            _log.exception("a provisioner failed", build=str(build.id), provisioner=provisioner.kind)
            said = f"The provisioner failed: {type(error).__name__}. The server's log says more."
            return _Ended(BuildStatus.FAILED, error=said, code="internal")
        finally:
            self._running[build.id] = None
            subscription.close()

    async def _is_ours(self, build: WorkspaceBuild) -> bool:
        """Unless another has taken it over, who may have started what we could not. When in doubt it is ours."""
        try:
            now = await self._store.get_workspace_build(id=build.id)
        except Exception as error:  # noqa: BLE001 - see above
            _log.warning("a build can't be looked at", build=str(build.id), error=str(error))
            return True
        return now is not None and now.status is BuildStatus.RUNNING and now.replica_id == self._replica_id

    async def _clean_up(self, provisioner: Provisioner, spec: WorkspaceSpec, log: BuildLogWriter) -> None:
        """Nothing that no one knows of shall go on running."""
        try:
            async with self._clock.timeout(_CLEAN_SECONDS, timer="build-clean-up"):
                await provisioner.stop(spec, log)
        except Exception as error:  # noqa: BLE001 - the build has failed already
            _log.warning("what a failed start left can't be ended", workspace=str(spec.workspace_id), error=str(error))

    async def _store_end(self, build: WorkspaceBuild, ended: _Ended, lifetime: Lifetime) -> None:
        """However long the database is away: until it is stored, or belongs to another."""
        while True:
            try:
                stored = await self._store.finish_workspace_build(
                    id=build.id,
                    replica_id=self._replica_id,
                    status=ended.status,
                    error=ended.error,
                    error_code=ended.code,
                    agent_address=ended.address,
                    ttl=lifetime.ttl,
                    lifetime=lifetime.longest,
                )
                break
            except Exception as error:  # noqa: BLE001 - see above
                _log.warning("the end of a build can't be stored", build=str(build.id), error=str(error))
                await self._clock.sleep(_END_AGAIN_SECONDS, timer="build-end")
        outcome = "lost" if stored is None else str(ended.status)
        self._metrics.built(build.transition, build.reason, outcome)
        _log.info(
            "a build has ended",
            workspace=str(build.workspace_id),
            transition=str(build.transition),
            reason=str(build.reason),
            outcome=outcome,
            error=ended.error or None,
        )
        self._hints.publish(build_topic(build.id))


async def _run(
    transition: BuildTransition, provisioner: Provisioner, spec: WorkspaceSpec, log: BuildLogWriter
) -> str | None:
    match transition:
        case BuildTransition.START:
            return await provisioner.start(spec, log)
        case BuildTransition.STOP:
            await provisioner.stop(spec, log)
        case BuildTransition.DELETE:
            await provisioner.delete(spec, log)
    return None
