"""The heartbeat of a replica: one statement every few seconds, from a thread that nothing else can hold up.

The thread has its own event loop and its own connection. It beats only while the main loop makes progress, and tells
the main loop when the lease can no longer be counted on.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, Protocol
from uuid import UUID

import asyncpg
import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.lease import HEARTBEAT_SECONDS, LEASE_SECONDS, must_let_go
from chatd.observe.logs import get_logger
from chatd.store.pool import connect_options
from chatd.store.store import SqlStore

ANSWER_SECONDS: Final = 2.0  # for one beat or one connect: two that hang still leave time for a third within a lease
RETRY_SECONDS: Final = 1.0  # a database that restarts is back within seconds, and the lease runs
PROGRESS_SECONDS: Final = 1.0  # how often the main loop says that it runs: ten times in a lease
STOP_SECONDS: Final = 10.0  # for a last beat and the farewell; a thread that hangs then ends with the process
_TROUBLE: Final = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
_log = get_logger("chatd.heartbeat")


class ReplicaRow(msgspec.Struct, frozen=True):
    """What the others can know of a replica. `url` is where they reach it, if they can; `host` is for people to read,
    `host_id` tells machines apart."""

    id: UUID
    url: str
    host: str
    pid: int
    version: str
    host_id: str | None = None
    provisioners: tuple[str, ...] | None = None  # the kinds of workspaces that it makes; None: it does not say


class Pulse(Protocol):
    """An open connection that can say that the replica lives."""

    async def beat(self) -> None: ...

    async def farewell(self) -> None:
        """Remove the row: the replica is gone."""
        ...

    def drop(self) -> None:
        """Let go of the connection at once. Never raises."""
        ...


class Lease:
    """Whether this replica may work, as its main loop knows it. Used from that loop only."""

    def __init__(self) -> None:
        self._held = False
        self._listeners: list[Callable[[bool], None]] = []

    @property
    def held(self) -> bool:
        return self._held

    def on_change(self, listener: Callable[[bool], None]) -> None:
        """`listener` is told each time that the lease is won or lost, and must return at once."""
        self._listeners.append(listener)

    def change(self, held: bool) -> None:
        if held != self._held:
            self._held = held
            for listener in self._listeners:
                listener(held)


class Progress:
    """When the main loop last ran. One thread writes the stamp and another reads it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at = clock.monotonic()

    def touch(self) -> None:
        self._at = self._clock.monotonic()

    def stalled(self) -> bool:
        return self._clock.monotonic() - self._at > LEASE_SECONDS

    async def keep(self, clock: Clock) -> None:
        """In the main loop, on its own clock."""
        while True:
            self.touch()
            await clock.sleep(PROGRESS_SECONDS, timer="progress")


class Heartbeat:
    """Beats until told to stop. `tell` gets True with every beat, False when the lease is lost."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Pulse]],
        *,
        progress: Progress,
        tell: Callable[[bool], None],
        clock: Clock,
    ) -> None:
        self._connect = connect
        self._progress = progress
        self._tell = tell
        self._clock = clock
        self._pulse: Pulse | None = None
        self._beat_at: float | None = None  # when the last beat that arrived was sent
        self._beaten = asyncio.Event()
        self._stopping = asyncio.Event()
        self._in_trouble = False

    async def run(self) -> None:
        """Returns after `stop`, when the row is removed or can't be."""
        try:
            async with beside({"lease watch": self._watch()}):
                while not self._stopping.is_set():
                    await self._wait(HEARTBEAT_SECONDS if await self._try_to_beat() else RETRY_SECONDS)
            await self._say_farewell()
        finally:
            self._tell(False)  # whatever ended it: nobody beats any more
            self._drop()

    def stop(self) -> None:
        self._stopping.set()

    async def _try_to_beat(self) -> bool:
        if self._progress.stalled():
            self._note_trouble("the event loop has made no progress for a lease; its heartbeat stops")
            return False
        sent_at = self._clock.monotonic()
        try:
            async with self._clock.timeout(ANSWER_SECONDS, timer="heartbeat-answer"):
                if self._pulse is None:
                    self._pulse = await self._connect()
                    sent_at = self._clock.monotonic()
                await self._pulse.beat()
        except Exception as error:  # noqa: BLE001 - whatever it was, the next try is on a new connection
            self._drop()
            self._note_trouble("the heartbeat does not reach the database", error=str(error) or type(error).__name__)
            return False
        self._in_trouble = False
        self._beat_at = sent_at
        self._beaten.set()
        if not must_let_go(self._clock.monotonic() - sent_at):  # else the process was halted meanwhile
            self._tell(True)
        return True

    async def _watch(self) -> None:
        """Tells of a lost lease in time, however long a beat or a connect takes."""
        while True:
            self._beaten.clear()
            if self._beat_at is None or must_let_go(silent := self._clock.monotonic() - self._beat_at):
                self._tell(False)
                await self._beaten.wait()
            else:
                await self._clock.sleep(LEASE_SECONDS - HEARTBEAT_SECONDS - silent, timer="lease")

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds, timer="heartbeat"):
                await self._stopping.wait()

    async def _say_farewell(self) -> None:
        if self._pulse is None:
            return  # the row is silent soon, and removed later
        with suppress(*_TROUBLE):
            async with self._clock.timeout(ANSWER_SECONDS, timer="heartbeat-answer"):
                await self._pulse.farewell()

    def _drop(self) -> None:
        if self._pulse is not None:
            self._pulse.drop()
            self._pulse = None

    def _note_trouble(self, what: str, **fields: str) -> None:
        if not self._in_trouble:
            self._in_trouble = True
            _log.warning(what, **fields)


async def dial(dsn: str, row: ReplicaRow, *, function_schema: str) -> Pulse:
    """A connection for nothing but beats. A beat that a crash of the database forgets does no harm."""
    options = connect_options(dsn, function_schema=function_schema, command_seconds=ANSWER_SECONDS)
    options["server_settings"] |= {"application_name": "chatd heartbeat", "synchronous_commit": "off"}
    return _PostgresPulse(await asyncpg.connect(**options), row)


class _PostgresPulse:
    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]", row: ReplicaRow) -> None:
        self._connection = connection
        self._store = SqlStore(connection)
        self._row = row

    async def beat(self) -> None:
        row = self._row
        await self._store.beat_replica(**msgspec.structs.asdict(row))

    async def farewell(self) -> None:
        await self._store.delete_replica(id=self._row.id)

    def drop(self) -> None:
        with suppress(*_TROUBLE):
            self._connection.terminate()


@asynccontextmanager
async def beating(
    connect: Callable[[], Awaitable[Pulse]], *, clock: Clock, thread_clock: Clock
) -> AsyncGenerator[Lease]:
    """A replica beats for as long as the block runs; at its end the row is removed.

    `clock` is the main loop's; `thread_clock` is the thread's and must be a real one.
    """
    lease = Lease()
    main = asyncio.get_running_loop()
    progress = Progress(thread_clock)

    def tell(held: bool) -> None:
        _in(main, lambda: lease.change(held))

    thread = _Thread(Heartbeat(connect, progress=progress, tell=tell, clock=thread_clock))
    async with beside({"progress": progress.keep(clock)}):
        thread.start()
        try:
            yield lease
        finally:
            await thread.end()


class _Thread:
    """Runs one heartbeat in a thread and a loop of its own."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._loop = asyncio.new_event_loop()
        # A daemon: a process that wants to end does not wait for it.
        self._thread = threading.Thread(target=self._main, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def end(self) -> None:
        _in(self._loop, self._heartbeat.stop)
        await asyncio.to_thread(self._thread.join, STOP_SECONDS)
        if self._thread.is_alive():
            _log.warning("the thread of the heartbeat does not end")

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._heartbeat.run())
        except BaseException as error:  # noqa: BLE001 - the last word of a thread
            _log.error("the heartbeat has ended; this replica runs no chats any more", error=repr(error))


def _in(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Have another thread's loop make the call; a loop that has ended needs to know nothing any more."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)
