"""The only one who starts processes, and who reaps them: its own, and orphans that come to it.

Nothing else in the agent may start one (no asyncio subprocess): their ends would be taken here.
"""

import asyncio
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36  # linux/prctl.h


class Child:
    """A process of ours. `output` is the read end of both its streams, `stdin` the write end of its input.

    `errors` is that of its standard error, where it was asked to be apart. Whoever started it closes them.
    """

    def __init__(
        self, popen: subprocess.Popen[bytes], output: int, stdin: int | None = None, errors: int | None = None
    ) -> None:
        self._popen = popen  # kept, for its destructor complains about children that nobody waited for
        self.pid = popen.pid
        self.output = output
        self.stdin = stdin
        self.errors = errors
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def ended(self, code: int) -> None:
        self._popen.returncode = code
        if not self.exited.done():
            self.exited.set_result(code)


class Children:
    """While `reaping`, every child's end is noticed. Orphaned descendants come to the agent and are reaped too."""

    def __init__(self) -> None:
        self._running: dict[int, Child] = {}

    @contextmanager
    def reaping(self) -> Generator[None]:
        _adopt_orphans()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGCHLD)

    def start(self, command: Sequence[str], *, env: Mapping[str, str], workdir: Path, stdin: bool) -> Child:
        """In a group of its own, with one pipe for both streams. Raises OSError when it did not start."""
        read_end, write_end = os.pipe()
        try:
            popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                env=dict(env),
                cwd=workdir,
                process_group=0,
                bufsize=0,
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        descriptor = None
        if popen.stdin is not None:
            descriptor = os.dup(popen.stdin.fileno())
            popen.stdin.close()
            os.set_blocking(descriptor, False)
        os.set_blocking(read_end, False)
        child = Child(popen, read_end, descriptor)
        self._running[child.pid] = child
        return child

    def start_apart(self, command: Sequence[str | bytes], *, env: Mapping[str, str], workdir: bytes) -> Child:
        """As `start`, without an input, and with a pipe for each of the two streams."""
        output, output_end = os.pipe()
        errors, errors_end = os.pipe()
        try:
            popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output_end,
                stderr=errors_end,
                env=dict(env),
                cwd=workdir,
                process_group=0,
            )
        except BaseException:
            os.close(output)
            os.close(errors)
            raise
        finally:
            os.close(output_end)
            os.close(errors_end)
        os.set_blocking(output, False)
        os.set_blocking(errors, False)
        child = Child(popen, output, errors=errors)
        self._running[child.pid] = child
        return child

    def start_on_terminal(
        self, command: Callable[[str], Sequence[str]], *, env: Mapping[str, str], workdir: Path
    ) -> Child:
        """In a session of its own, on a new pseudo terminal; `output` is its other side, to read and to write.

        `command` is given the name of the terminal, and has to open it: so it becomes that of the session.
        """
        ours, theirs = os.openpty()
        try:
            popen = subprocess.Popen(
                command(os.ttyname(theirs)),
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env=dict(env),
                cwd=workdir,
                start_new_session=True,
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(ours, False)
        child = Child(popen, ours)
        self._running[child.pid] = child
        return child

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if (child := self._running.pop(pid, None)) is not None:
                child.ended(os.waitstatus_to_exitcode(status))


def _adopt_orphans() -> None:
    """A daemon that a command left behind becomes our child instead of the system's, so that it can be found."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return  # not Linux: daemons are found by their environment only
