"""`chatd serve --replicas N`: a parent that holds the listening socket and keeps N children serving it.

The socket is inherited, not bound again with SO_REUSEPORT: connections wait in one queue, so that a child
that is stopped or starting keeps none of them to itself.
"""

import asyncio
import ctypes
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.errors import StartRefused
from chatd.minting import uuid7
from chatd.observe.logs import get_logger
from chatd.server.serving import STOP_SIGNALS, socket_url

_log = get_logger("chatd.replicas")

SETTLED_SECONDS = 10.0  # a replica that lived this long started well: its death is an accident
FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 30.0  # a cause outside (the database is away) is noticed within half a minute of its end
GIVE_UP_AFTER = 5  # quick deaths in a row, of every replica: 7.5 s of trying
KILL_AFTER_SECONDS = 10.0  # beyond the drain time: a child that is still there then hangs
REFUSED = 1  # the exit code of a start that the operator has to do something about
_PR_SET_PDEATHSIG = 1  # from linux/prctl.h


class Seat(msgspec.Struct, frozen=True):
    """What a child is given, as arguments: its number, the inherited descriptors, who its parent is, its id."""

    index: int
    socket_fd: int
    ready_fd: int
    parent_pid: int
    replica_id: UUID


class Death(msgspec.Struct, frozen=True):
    """A child that ended without being told to. `exit_code` is negative when a signal killed it."""

    index: int
    pid: int
    exit_code: int
    lived_seconds: float
    replica_id: UUID


class ReplicaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`argv` builds a child's command line; `on_death` may free what the dead one held."""

    count: int
    argv: Callable[[Seat], Sequence[str]]
    drain_seconds: float
    on_death: Callable[[Death], Awaitable[None]] | None = None
    on_ready: Callable[[str], None] | None = None
    on_stop: Callable[[], None] | None = None


def restart_delay(quick_deaths: int) -> float:
    """Seconds to wait before a replica is started that has died quickly this many times in a row."""
    if quick_deaths == 0:
        return 0.0
    # The exponent is bounded: a replica may die quickly for days.
    return min(FIRST_DELAY_SECONDS * 2.0 ** min(quick_deaths - 1, 16), LONGEST_DELAY_SECONDS)


def take_seat(seat: Seat) -> socket.socket:
    """In the child: the inherited socket. From here on the parent's death is a SIGTERM (on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != seat.parent_pid:
        # It died before the line above; nobody would ever tell us.
        raise StartRefused("The parent of this replica has ended.")
    return socket.socket(fileno=seat.socket_fd)


def announce_ready(seat: Seat) -> None:
    """In the child, once it serves: tell the parent."""
    os.write(seat.ready_fd, b"ready")
    os.close(seat.ready_fd)


async def keep_replicas(sock: socket.socket, *, clock: Clock, options: ReplicaOptions) -> int:
    """Keep `count` children serving `sock` until SIGTERM or SIGINT; the exit code.

    The first signal closes the parent's socket and drains every child; the second is passed on, and cuts
    requests off. Raises StartRefused when no replica can be kept alive.
    """
    nursery = _Nursery(sock, clock, options)
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, nursery.stop)
    try:
        async with asyncio.TaskGroup() as tasks:
            for index in range(options.count):
                tasks.create_task(nursery.keep(index), name=f"replica {index}")
            tasks.create_task(nursery.kill_late_ones(), name="replica stop")
    except BaseExceptionGroup as group:
        refused, rest = group.split(StartRefused)
        if refused is None or rest is not None:
            raise
        raise refused.exceptions[0] from None
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
        sock.close()
    return nursery.exit_code


class _Nursery:
    """The children and what the parent knows of them."""

    def __init__(self, sock: socket.socket, clock: Clock, options: ReplicaOptions) -> None:
        self.exit_code = 0
        self._socket = sock
        self._url = socket_url(sock)
        self._clock = clock
        self._options = options
        self._children: dict[int, asyncio.subprocess.Process] = {}
        self._quick_deaths = [0] * options.count
        self._stopping = asyncio.Event()
        self._all_gone = asyncio.Event()
        self._ready: set[int] = set()
        self._ever_ready = False
        self._all_announced = False
        self._left = options.count

    def stop(self) -> None:
        """A stop signal: close our socket first, else connections would wait in it for nobody."""
        # Another one than the first: of two that are the same, a child that is busy would get one.
        passed_on = signal.SIGINT if self._stopping.is_set() else signal.SIGTERM
        if self._options.on_stop is not None and not self._stopping.is_set():
            self._options.on_stop()
        self._stopping.set()
        self._socket.close()
        for child in self._children.values():
            _tell(child, passed_on)

    async def keep(self, index: int) -> None:
        """Keep one seat taken until told to stop."""
        try:
            while not self._stopping.is_set():
                death = await self._live_once(index)
                if self._stopping.is_set():
                    return
                await self._mourn(death)
                await self._wait_to_restart(restart_delay(self._quick_deaths[index]))
        finally:
            self._left -= 1
            if self._left == 0:
                self._all_gone.set()

    async def kill_late_ones(self) -> None:
        """After a stop: nothing may outlive the drain time by much."""
        await self._stopping.wait()
        try:
            async with self._clock.timeout(self._options.drain_seconds + KILL_AFTER_SECONDS, timer="replica stop"):
                await self._all_gone.wait()
        except TimeoutError:
            self.exit_code = 1
            for index, child in list(self._children.items()):
                _log.error("a replica did not stop and is killed", replica=index, pid=child.pid)
                _tell(child, signal.SIGKILL)

    async def _live_once(self, index: int) -> Death:
        """Start a child and wait for its end."""
        ready, ready_fd = os.pipe()
        started = self._clock.monotonic()
        loop = asyncio.get_running_loop()
        try:
            seat = Seat(index, self._socket.fileno(), ready_fd, os.getpid(), uuid7(self._clock.now()))
            # Its own session: Ctrl-C reaches only the parent, which passes it on once.
            child = await asyncio.create_subprocess_exec(
                *self._options.argv(seat),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(seat.socket_fd, seat.ready_fd),
                start_new_session=True,
            )
        except BaseException:
            os.close(ready)
            raise
        finally:
            os.close(ready_fd)
        self._children[index] = child
        loop.add_reader(ready, self._heard, index, ready)
        try:
            if self._stopping.is_set():
                _tell(child, signal.SIGTERM)
            code = await child.wait()
        except asyncio.CancelledError:
            # The parent gives up: children are not left behind.
            _tell(child, signal.SIGKILL)
            await child.wait()
            raise
        finally:
            del self._children[index]
            loop.remove_reader(ready)
            os.close(ready)
        self._note_ready(index, False)
        return Death(index, child.pid, code, self._clock.monotonic() - started, seat.replica_id)

    def _heard(self, index: int, ready: int) -> None:
        asyncio.get_running_loop().remove_reader(ready)
        if os.read(ready, 16):  # nothing is read when the child ended before it was ready
            self._note_ready(index, True)

    def _note_ready(self, index: int, is_ready: bool) -> None:
        if not is_ready:
            self._ready.discard(index)
            return
        self._ready.add(index)
        self._ever_ready = True
        if len(self._ready) == self._options.count and not self._all_announced:
            self._all_announced = True
            if self._options.on_ready is not None:
                self._options.on_ready(self._url)

    async def _mourn(self, death: Death) -> None:
        """Note a death. Raises StartRefused when there is no sense in trying again."""
        _log.error(
            "a replica died",
            replica=death.index,
            pid=death.pid,
            exit_code=death.exit_code,
            lived_seconds=round(death.lived_seconds, 3),
        )
        if self._options.on_death is not None:
            try:
                await self._options.on_death(death)
            except Exception as error:  # noqa: BLE001  what the dead one held expires by itself later
                _log.error("cleaning up after a replica failed", replica=death.index, exc_info=error)
        if death.exit_code == REFUSED and not self._ever_ready:
            raise StartRefused("The replicas did not start.", detail="The log of the first one says why.")
        quick = death.lived_seconds < SETTLED_SECONDS
        self._quick_deaths[death.index] = self._quick_deaths[death.index] + 1 if quick else 0
        if all(deaths >= GIVE_UP_AFTER for deaths in self._quick_deaths):
            raise StartRefused(
                f"Every replica died {GIVE_UP_AFTER} times in a row soon after its start.",
                detail=f"The last one ended with exit code {death.exit_code}; its log says why.",
            )

    async def _wait_to_restart(self, seconds: float) -> None:
        """Sleep, unless told to stop meanwhile."""
        if seconds <= 0:
            return
        try:
            async with self._clock.timeout(seconds, timer="replica restart"):
                await self._stopping.wait()
        except TimeoutError:
            pass


def _tell(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it has just ended by itself
        child.send_signal(number)
