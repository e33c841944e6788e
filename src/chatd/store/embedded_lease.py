"""One server's lease on the embedded Postgres: connect to the keeper, or start one and connect."""

import asyncio
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from chatd.clock import Clock
from chatd.core.errors import StartRefused
from chatd.store.keeper.files import KeeperError
from chatd.store.keeper.leases import HOLD
from chatd.store.keeper.options import KeeperOptions
from chatd.store.keeper.paths import DataDirectory

_START_SECONDS = 180  # an earlier keeper that stops its Postgres on a slow disk is waited for
_LINE_BYTES = 65_536  # the longest line holds a few thousand characters of Postgres' log
_ATTEMPTS = 20  # a keeper that listens and is gone again each time will not stay the next time
_PAUSE = 0.05  # seconds between attempts, long enough for an ending keeper to remove its socket
_SAID_CHARACTERS = 2_000  # of a failed start: its sentences, or the end of a traceback
_LOOK_EVERY = 0.02  # seconds; stopping Postgres takes a few of these


class KeeperState(msgspec.Struct, frozen=True):
    """One line from the keeper."""

    state: str
    keeper_pid: int
    reason: str = ""
    socket_dir: str = ""
    port: int = 0
    postgres_pid: int = 0
    notes: tuple[str, ...] = ()


class Lease:
    """An open connection. The keeper counts it until it is closed or this process is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def descriptor(self) -> int:
        return self._writer.get_extra_info("socket").fileno()

    async def next_state(self) -> KeeperState | None:
        """The keeper's next line; None when it is gone."""
        try:
            line = await self._reader.readline()
        except (OSError, ValueError):  # ValueError: longer than any line of a keeper
            return None
        return msgspec.json.decode(line, type=KeeperState) if line.endswith(b"\n") else None

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return


async def take_lease(directory: DataDirectory, options: Callable[[], KeeperOptions], clock: Clock) -> Lease:
    """Join the keeper of this data directory; start one when nobody answers.

    Raises StartRefused when none can be started, or when the folder is another user's. `options` is only
    called to start one.
    """
    try:
        directory.check_owner()  # a foreign folder could hold anybody's socket
    except KeeperError as refusal:
        raise StartRefused(str(refusal)) from refusal
    for attempt in range(_ATTEMPTS):
        if attempt:
            await clock.sleep(_PAUSE, timer="embedded_postgres.connect")
        for starting in (True, False):
            try:
                return await _connect(directory)
            except (FileNotFoundError, NotADirectoryError, ConnectionError):
                if starting:
                    await asyncio.to_thread(_start_keeper, directory, options)
            except OSError as error:
                raise _unusable(directory, error) from error
    raise StartRefused(
        f"The keeper of the embedded Postgres ended {_ATTEMPTS} times before it could be reached.",
        detail=f"See {directory.keeper_log}.",
    )


async def join_lease(directory: DataDirectory) -> Lease | None:
    """A lease of a keeper that runs; None when none does. Raises StartRefused."""
    try:
        directory.check_owner()
        return await _connect(directory)
    except (FileNotFoundError, NotADirectoryError, ConnectionError):
        return None
    except KeeperError as refusal:
        raise StartRefused(str(refusal)) from refusal
    except OSError as error:
        raise _unusable(directory, error) from error


async def _connect(directory: DataDirectory) -> Lease:
    reader, writer = await asyncio.open_unix_connection(directory.keeper_address(), limit=_LINE_BYTES)
    writer.write(HOLD)
    return Lease(reader, writer)


def _unusable(directory: DataDirectory, error: OSError) -> StartRefused:
    return StartRefused(
        f"The keeper's socket in {directory.path} can't be used: {error}.",
        detail="Start chatd as the user who owns that folder, or choose another data directory.",
    )


def _start_keeper(directory: DataDirectory, options: Callable[[], KeeperOptions]) -> None:
    """Returns when a keeper listens, this one or another that was faster."""
    import chatd

    package_parent = str(Path(chatd.__file__).resolve().parent.parent)
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
    try:
        directory.create()
        done = subprocess.run(
            # -S, -P: site packages and the working directory are not needed, so they can't break or slow it.
            [sys.executable, "-S", "-P", "-m", "chatd.store.keeper", options().to_json()],
            # Nothing else of our environment, which may hold secrets.
            env={**kept, "PYTHONPATH": package_parent},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=_START_SECONDS,
            check=False,
        )
    except OSError as error:
        raise StartRefused(
            f"The keeper of the embedded Postgres can't be started: {error.strerror or error} ({error.filename}).",
            detail=f"Make {directory.path} usable for the user who starts chatd, or choose another data directory.",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StartRefused(
            f"An earlier keeper did not stop its Postgres within {_START_SECONDS} seconds.",
            detail=f"See {directory.keeper_log}.",
        ) from error
    if done.returncode != 0:
        raise StartRefused(f"The embedded Postgres does not run. {_why(done, directory)}")


def _why(done: subprocess.CompletedProcess[str], directory: DataDirectory) -> str:
    """What the keeper's start said, or what is known when it could not say anything."""
    if said := done.stderr.strip():
        return said[-_SAID_CHARACTERS:]
    if done.returncode < 0:
        return (
            f"The start of its keeper was ended by signal {-done.returncode}. See the system's log for what sent it "
            "(signal 9: maybe too little memory), and start again."
        )
    return f"Its keeper's start ended with code {done.returncode} and no reason. See {directory.keeper_log}."


async def wait_stopped(data_dir: Path, clock: Clock) -> None:
    """Until no keeper runs on this data directory, so that its files are at rest."""
    lock = DataDirectory.of(data_dir).lock
    while _is_locked(lock):
        await clock.sleep(_LOOK_EVERY, timer="embedded_postgres.stopped")


def _is_locked(lock: Path) -> bool:
    try:
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
