"""The embedded Postgres as a server sees it: start or join it, hold it, learn when it was restarted."""

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import structlog

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.errors import StartRefused
from chatd.store.embedded_lease import KeeperState, Lease, join_lease, take_lease
from chatd.store.keeper.files import KeeperError, read_own, write_own
from chatd.store.keeper.options import KeeperLimits, KeeperOptions
from chatd.store.keeper.paths import DataDirectory
from chatd.store.postgres_binaries import find_binaries

_NAME = "chatd"  # the database and its owner, as the keeper makes them
_FIRST_PAUSE = 1.0  # seconds before asking for Postgres again after a failure; doubles
_LONGEST_PAUSE = 30.0  # seconds; a full disk that was cleared is noticed within this
_ENDS_BEFORE_READY = 10  # keepers that vanish without a word before the first start; then something kills them
_LIMITS = KeeperLimits()
_NO_SETTINGS: Mapping[str, str] = MappingProxyType({})

_log = structlog.get_logger("chatd.store.embedded")


class EmbeddedPostgres:
    """A running Postgres that stays as long as this object's context, in this or any other process.

    `dsn` holds a password: it must not be logged. It is set when Postgres is first ready and stays the same,
    valid over restarts: a password file that is lost meanwhile is written again. `restarts` counts how often
    Postgres came back; connections made before are then dead. `notes` are for the operator.
    """

    def __init__(self, directory: DataDirectory, clock: Clock) -> None:
        self._directory = directory
        self._clock = clock
        self._lease: Lease | None = None
        self._ready = asyncio.Event()
        self._changed = asyncio.Condition()
        self._refusal: StartRefused | None = None
        self._state: KeeperState | None = None
        self._password = ""
        self.dsn = ""
        self.notes: tuple[str, ...] = ()
        self.restarts = -1  # the first start makes it 0

    def __repr__(self) -> str:
        return f"EmbeddedPostgres({str(self._directory.path)!r})"

    @property
    def postgres_pid(self) -> int:
        """The process as last heard of."""
        return self._state.postgres_pid if self._state else 0

    @property
    def keeper_pid(self) -> int:
        return self._state.keeper_pid if self._state else 0

    async def wait_ready(self) -> None:
        """Until Postgres accepts connections. Raises StartRefused when it never did and can't be started."""
        await self._ready.wait()
        if self._refusal is not None:
            raise self._refusal

    async def wait_restart(self, after: int) -> int:
        """Until `restarts` is more than `after`; returns it."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.restarts > after)
        return self.restarts

    async def follow(self, options: Callable[[], KeeperOptions]) -> None:
        """Hold the lease; take a new one whenever the keeper is gone. Ends only if the first start fails."""
        pause, vanished = _FIRST_PAUSE, 0
        while True:
            starts = self.restarts
            self._restore_password()
            try:
                self._lease = await take_lease(self._directory, options, self._clock)
                refusal = await self._hear(self._lease)
            except StartRefused as error:
                refusal = error
            finally:
                if self._lease is not None:
                    await self._lease.close()
                    self._lease = None
            self._ready.clear()
            if self.restarts < 0:
                vanished += 1
                if refusal is None and vanished >= _ENDS_BEFORE_READY:
                    refusal = StartRefused(
                        f"The keeper of the embedded Postgres ended {vanished} times before it was ready.",
                        detail=f"See {self._directory.keeper_log}.",
                    )
                if refusal is not None:
                    self._refusal = refusal
                    self._ready.set()
                    return
            elif refusal is not None:
                pause = _FIRST_PAUSE if self.restarts > starts else min(pause * 2, _LONGEST_PAUSE)
                _log.error("the embedded Postgres can't be started", reason=refusal.message, retry_in_seconds=pause)
                await self._clock.sleep(pause, timer="embedded_postgres.retry")
            else:
                _log.warning("the keeper of the embedded Postgres is gone; starting a new one")

    async def _hear(self, lease: Lease) -> StartRefused | None:
        """Follow the keeper's lines: the reason when it failed, None when it is gone."""
        while (state := await lease.next_state()) is not None:
            self._state = state
            if state.state == "ready":
                await self._become_ready(state)
            else:
                self._ready.clear()
            if state.state == "failed":
                return StartRefused(f"The embedded Postgres does not run. {state.reason}")
            if state.state == "restarting":
                _log.warning("the embedded Postgres is restarted", reason=state.reason)
        return None

    async def _become_ready(self, state: KeeperState) -> None:
        self._restore_password()
        try:
            password = read_own(self._directory.password)
        except (KeeperError, OSError) as error:
            if not self._password:
                raise StartRefused(
                    f"The password of the embedded Postgres in {self._directory.password} can't be read.",
                    detail=f"Stop every chatd that uses {self._directory.path} and start again: it is then replaced.",
                ) from error
            password = self._password
        dsn = _dsn(state, password)
        if self.dsn not in ("", dsn):
            # Another server's keeper chose another socket folder (TMPDIR), or replaced the password.
            _log.error("the embedded Postgres has moved", advice="Restart this server: it can't connect any more.")
        self._password, self.dsn = self._password or password, self.dsn or dsn
        self.notes = state.notes
        async with self._changed:
            self.restarts += 1
            self._changed.notify_all()
        self._ready.set()

    def _restore_password(self) -> None:
        """A keeper that finds no password sets a new one, and this server's pool would be shut out."""
        if not self._password or self._directory.password.exists():
            return
        try:
            write_own(self._directory.password, self._password)
        except OSError as error:
            _log.error("the password file of the embedded Postgres can't be restored", reason=str(error))

    def leave_after_fork(self) -> None:
        """In a forked child: only the parent holds the lease. The number stays taken for its owner."""
        if self._lease is not None:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, self._lease.descriptor, inheritable=False)
            os.close(nothing)


def _dsn(state: KeeperState, password: str) -> str:
    return f"postgresql://{_NAME}:{password}@/{_NAME}?host={quote(state.socket_dir, safe='')}&port={state.port}"


@asynccontextmanager
async def running_postgres(data_dir: Path) -> AsyncGenerator[str | None]:
    """The DSN of a Postgres that others run in this data directory, held while the block runs; None when nobody runs
    one, and none is started. Raises StartRefused when it can't be used."""
    directory = DataDirectory.of(data_dir)
    lease = await join_lease(directory)
    try:
        state = lease and await lease.next_state()
        while lease and state and state.state in ("starting", "restarting"):
            state = await lease.next_state()
        if state is not None and state.state == "failed":
            raise StartRefused(f"The embedded Postgres does not run. {state.reason}")
        try:
            ready = state is not None and state.state == "ready"
            dsn = _dsn(state, read_own(directory.password)) if ready and state else None
        except (KeeperError, OSError) as error:
            raise StartRefused(f"The password of the embedded Postgres can't be read: {error}") from error
        yield dsn
    finally:
        if lease is not None:
            await lease.close()


@cache
def _in_this_process() -> "weakref.WeakSet[EmbeddedPostgres]":
    """Who must let go in a forked child. Once for the process: a fork hook can't be taken back."""
    living = weakref.WeakSet[EmbeddedPostgres]()

    def leave_after_fork() -> None:
        for inherited in list(living):
            inherited.leave_after_fork()

    os.register_at_fork(after_in_child=leave_after_fork)
    return living


@asynccontextmanager
async def embedded_postgres(
    data_dir: Path,
    *,
    clock: Clock,
    server_settings: Mapping[str, str] = _NO_SETTINGS,
    binaries: Path | None = None,
    limits: KeeperLimits = _LIMITS,
) -> AsyncGenerator[EmbeddedPostgres]:
    """The Postgres of `data_dir`, ready; made when the folder is new, stopped when its last user leaves.

    `server_settings`, `binaries` and `limits` matter to whoever starts it; who joins takes it as it is.
    Raises StartRefused with the reason when it can't be started.
    """
    directory = DataDirectory.of(data_dir)
    postgres = EmbeddedPostgres(directory, clock)

    def options() -> KeeperOptions:
        found = find_binaries(binaries)
        return KeeperOptions(
            data_dir=str(directory.path),
            binaries=str(found.bin),
            postgres_version=found.version,
            settings=dict(server_settings),
            limits=limits,
        )

    _in_this_process().add(postgres)
    async with beside({"embedded postgres": postgres.follow(options)}):
        await postgres.wait_ready()
        yield postgres
