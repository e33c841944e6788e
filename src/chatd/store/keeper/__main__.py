"""The keeper as a process: detached, alone on its data directory, gone when its Postgres has stopped.

`python -m chatd.store.keeper OPTIONS` returns as soon as somebody listens on the data directory's keeper
socket: a new keeper that it left behind as a process of its own, or the one that was there already.
"""

import fcntl
import os
import socket
import sys
import traceback
from pathlib import Path

from chatd.store.keeper.files import KeeperError, open_own, reason_of
from chatd.store.keeper.options import KeeperOptions
from chatd.store.keeper.paths import DataDirectory
from chatd.store.keeper.waiting import wait_until
from chatd.store.keeper.watch import Keeper, log

_LOG_BYTES = 1_000_000  # the keeper writes a line per change of state


def _acquire(directory: DataDirectory, within: float) -> int | None:
    """The lock's descriptor, kept open as long as this process lives; None when another keeper listens."""
    handle = -1

    def decided() -> bool:
        nonlocal handle
        handle = open_own(directory.lock, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), directory.lock.stat()):
                return True
        except (BlockingIOError, FileNotFoundError):
            pass
        os.close(handle)
        handle = -1
        return _somebody_listens(directory)

    if not wait_until(decided, limit=within):
        raise KeeperError(
            f"Another keeper holds {directory.lock} but does not answer. See {directory.keeper_log}; "
            "if it is stuck, end it."
        )
    return handle if handle >= 0 else None


def _somebody_listens(directory: DataDirectory) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(directory.keeper_address())
        except BlockingIOError:  # its queue is full: others are waiting for it too
            return True
        except OSError:
            return False
        return True


def _detach(directory: DataDirectory) -> None:
    """A session of our own, no folder in use, everything we print in the log."""
    os.setsid()
    os.chdir("/")
    os.umask(0o077)
    log = open_own(directory.keeper_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if os.fstat(log).st_size > _LOG_BYTES:
        os.ftruncate(log, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(nothing)
    os.close(log)


def main(arguments: list[str]) -> int:
    options = KeeperOptions.from_json(arguments[1])
    directory = DataDirectory(Path(options.data_dir))
    reader, writer = os.pipe()
    if os.fork() > 0:
        os.close(writer)
        with os.fdopen(reader) as report:
            said = report.read()
        if said == "listening":
            return 0
        sys.stderr.write(said or f"The keeper ended at once; see {directory.keeper_log}.")
        return 1
    os.close(reader)

    def report_once(text: str) -> None:
        nonlocal writer
        if writer >= 0:
            os.write(writer, text.encode())
            os.close(writer)
            writer = -1

    limits = options.limits
    try:
        directory.check_owner()
        _detach(directory)
    except (KeeperError, OSError) as refusal:  # there is no log yet
        report_once(reason_of(refusal))
        return 1
    try:
        # An earlier keeper that is stopping its Postgres ends within this time.
        lock = _acquire(directory, limits.stop_within + 3 * limits.quit_within)
        if lock is not None:
            Keeper(directory, options).run(lambda: report_once("listening"))
        report_once("listening")
    except (KeeperError, OSError) as refusal:
        log(reason_of(refusal))
        report_once(reason_of(refusal))
        return 1
    except Exception:
        log(traceback.format_exc())
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
