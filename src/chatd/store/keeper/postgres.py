"""The Postgres process: its command line, its start, one question to it, its log."""

import errno
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

from chatd.store.keeper.child import end_with_parent
from chatd.store.keeper.cluster import NAME, Cluster
from chatd.store.keeper.files import KeeperError, open_own
from chatd.store.keeper.paths import PORT, DataDirectory, postgres_socket
from chatd.store.keeper.process import PostmasterPid, ProcessIdentity, identify, postgres_processes
from chatd.store.keeper.waiting import wait_until

_LOG_BYTES = 10_000_000  # weeks of normal operation; one older file of this size is kept
_TAIL_BYTES = 4_000  # of the log, for the reason of a failure
_TAIL_LINES = 6
_ANSWER_BYTES = 2_048  # an error message of Postgres is shorter
_PROTOCOL = 196_608  # 3.0: major version in the upper 16 bits
_SHARED_MEMORY_LEFT = "pre-existing shared memory block"


class Answer(Enum):
    ACCEPTS = "accepts connections"
    NOT_YET = "alive, but starting or stopping"
    NONE = "no answer"


class Question:
    """A startup message on a fresh connection, as pg_isready sends it. Never blocks; closed by `close()`.

    While Postgres' queue is full `asked` is False, and each look at `answer()` tries again to get into it.
    """

    def __init__(self, sockets: Path) -> None:
        self._address = str(postgres_socket(sockets))
        self._answer: Answer | None = None
        self.asked = False
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.setblocking(False)

    def _put(self) -> None:
        text = b"".join(word.encode() + b"\0" for word in ("user", NAME, "database", NAME)) + b"\0"
        try:
            self.socket.connect(self._address)
            self.socket.send(struct.pack("!ii", len(text) + 8, _PROTOCOL) + text)
            self.asked = True
        except BlockingIOError:  # a busy Postgres is no dead one
            return
        except OSError:  # not there, or nobody listens
            self._answer = Answer.NONE

    def answer(self) -> Answer | None:
        """None as long as it is open."""
        if not self.asked and self._answer is None:
            self._put()
        if self.asked and self._answer is None:
            try:
                said = self.socket.recv(_ANSWER_BYTES)
            except BlockingIOError:
                return None
            except OSError:
                said = b""
            # Another error than "cannot connect now" (too many connections) comes from a working server.
            refused = said.startswith(b"E") and b"C57P03\0" in said
            self._answer = Answer.NONE if not said else Answer.NOT_YET if refused else Answer.ACCEPTS
        return self._answer

    def close(self) -> None:
        self.socket.close()


class Postgres:
    """At most one Postgres process, child of this one. `start` first clears what an earlier keeper left."""

    def __init__(self, directory: DataDirectory, cluster: Cluster, settings: Mapping[str, str]) -> None:
        self._directory = directory
        self._cluster = cluster
        self._settings = {**_own_settings(cluster), **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def sockets(self) -> Path:
        return self._cluster.sockets

    @property
    def notes(self) -> tuple[str, ...]:
        return self._cluster.notes

    def start(self, *, left_within: float) -> None:
        """Start it. Raises KeeperError when another Postgres uses the files."""
        self._clear_left_behind(left_within)
        self.bound_log()
        log = open_own(self._cluster.home.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        record = open_own(self._directory.running, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self._log_start = os.fstat(log).st_size

        def write_record() -> None:
            # By the child itself: from its first moment a later keeper can tell that it is ours.
            if (mine := identify(os.getpid())) is not None:
                os.write(record, mine.to_json().encode())

        data, account = self._cluster.home.data, self._cluster.account
        command: list[str | Path] = [self._cluster.programs / "postgres", "-D", data]
        for name, value in self._settings.items():
            command += ["-c", f"{name}={value}"]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C"},
                # SIGINT is Postgres' fast shutdown. One thread: running Python after fork is safe.
                preexec_fn=end_with_parent(  # noqa: PLW1509
                    signal.SIGINT, also=write_record if sys.platform == "linux" else None
                ),
                user=account.user,
                group=account.group,
                extra_groups=account.groups,
            )
            if sys.platform != "linux":
                write = identify(self._process.pid)
                os.write(record, write.to_json().encode() if write else b"")
        finally:
            os.close(log)
            os.close(record)

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll() if self._process else 0

    def send(self, sent: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(sent)

    def forget(self) -> None:
        """It has ended: a later keeper need not look for it."""
        self._process = None
        self._directory.running.unlink(missing_ok=True)

    def last_words(self) -> str:
        """The end of what it logged since its last start."""
        try:
            with os.fdopen(open_own(self._cluster.home.log, os.O_RDONLY), "rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_start if self._log_start <= size else 0, size - _TAIL_BYTES))
                lines = log.read(_TAIL_BYTES).decode(errors="replace").splitlines()
        except (KeeperError, OSError) as error:
            return f"(no log: {error})"
        return "\n".join(lines[-_TAIL_LINES:])

    def was_hindered_by_the_dying(self) -> bool:
        """Backends of a killed Postgres still hold its shared memory; that passes."""
        return _SHARED_MEMORY_LEFT in self.last_words()

    def bound_log(self) -> None:
        """Keep the log and one older one. Postgres goes on writing to the same file, which is emptied."""
        path = self._cluster.home.log
        if not path.exists() or path.stat().st_size <= _LOG_BYTES:
            return
        with os.fdopen(open_own(path, os.O_RDWR), "rb+") as log:
            older = open_own(path.with_suffix(".log.1"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(older, "wb") as copy:
                shutil.copyfileobj(log, copy)
            log.truncate(0)

    def _clear_left_behind(self, within: float) -> None:
        """Stop the orphan of a killed keeper, never anybody else's Postgres; drop a stale postmaster.pid."""
        data = self._cluster.home.data
        orphan = ProcessIdentity.read(self._directory.running)
        told = PostmasterPid.read(data)
        ours = orphan is not None and told is not None and orphan.pid == told.pid and orphan.alive()
        if told is not None and told.alive(data) and not ours:
            raise KeeperError(
                f"The data directory {data} is in use by process {told.pid}, a Postgres that chatd did "
                "not start. Stop that Postgres, or choose another data directory."
            )
        if orphan is not None:
            for sent in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
                if orphan.alive():
                    _kill(orphan.pid, sent)
                    wait_until(lambda: not orphan.alive(), limit=within)
        # Backends leave by themselves when they see that their postmaster is gone, unless they are stuck.
        if not wait_until(lambda: not postgres_processes(data), limit=within):
            for pid in postgres_processes(data):
                _kill(pid, signal.SIGKILL)
            wait_until(lambda: not postgres_processes(data), limit=within)
        if told is None or not told.alive(data):
            # Postgres itself would take a zombie, or any program with that number, for a running server.
            socket_file = postgres_socket(self.sockets)
            for stale in (data / "postmaster.pid", socket_file, Path(f"{socket_file}.lock")):
                stale.unlink(missing_ok=True)


def _own_settings(cluster: Cluster) -> dict[str, str]:
    settings = {
        "listen_addresses": "",  # no TCP
        "unix_socket_directories": _quoted(cluster.sockets),
        "unix_socket_permissions": "0700",
        "port": str(PORT),
        "max_connections": "200",  # a few replicas with their pools, and tools
        "shared_buffers": "256MB",  # the working set of a small installation; the rest is the system's cache
        "jit": "off",  # short queries: compiling takes longer than running
        "timezone": "UTC",
        "log_timezone": "UTC",
        "logging_collector": "off",
        "log_line_prefix": "%m [%p] %q%d ",
        "log_error_verbosity": "terse",  # the detail of a violated constraint is the row, maybe private
        "cluster_name": "chatd",
    }
    library = cluster.programs.parent / "lib"
    places = [library / "pg_stat_statements", library / "postgresql" / "pg_stat_statements"]
    if any(place.with_suffix(ending).exists() for place in places for ending in (".so", ".dylib")):
        settings["shared_preload_libraries"] = "pg_stat_statements"
    return settings


def _quoted(folder: Path) -> str:
    """The setting is a list: names with commas or spaces need quotes."""
    return '"{}"'.format(str(folder).replace('"', '""'))


def _kill(pid: int, sent: signal.Signals) -> None:
    try:
        os.kill(pid, sent)
    except OSError as error:
        if error.errno != errno.ESRCH:
            raise
