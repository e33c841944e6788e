"""One terminal: a program on a pseudo terminal, seen by any number of readers.

The program is held up while every reader lags far behind, as a real terminal would do; with nobody there it goes on.
"""

import asyncio
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Final

import msgspec

from chatd.agent.children import Child
from chatd.agent.system_processes import living, look_up
from chatd.agent.terminals.scrollback import KEPT_BYTES, Scrollback
from chatd.clock import Clock

END_SECONDS: Final = 5.0  # from the hangup to the kill
REST_SECONDS: Final = 1.0  # for output that still comes after the exit
INPUT_SECONDS: Final = 5.0  # for a program to read what is typed
_READ_BYTES: Final = 64 * 1024
_MOST_LAG: Final = KEPT_BYTES // 2


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What it was started with."""

    id: str
    command: str
    workdir: str
    started_at_unix: int


class Reader:
    """How far one who looks has come."""

    def __init__(self, terminal: "LiveTerminal", number: int) -> None:
        self.number = number
        self._terminal = terminal

    def take(self) -> tuple[int, bytes]:
        """How many bytes were lost, and the next ones; none when there are no more yet."""
        lost, chunk = self._terminal.scrollback.after(self.number)
        self.number += lost + len(chunk)
        self._terminal.read_on()
        return lost, chunk


class LiveTerminal:
    """`exit_code` is there once the program has ended and all its output is in."""

    def __init__(self, shape: Shape, child: Child, *, clock: Clock, detached: Callable[[], None]) -> None:
        self.shape = shape
        self.columns, self.rows = 0, 0
        self.exit_code: int | None = None
        self.scrollback = Scrollback()
        self._child = child
        self._leader = look_up(child.pid)
        self._clock = clock
        self._detached = detached
        self._readers: list[Reader] = []
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._is_reading = True
        self._is_over = False
        self._input_turn = asyncio.Lock()
        self._loop.add_reader(child.output, self._read)
        child.exited.add_done_callback(self._leader_exited)

    @property
    def attached(self) -> int:
        return len(self._readers)

    @contextmanager
    def reading(self) -> Generator[Reader]:
        reader = Reader(self, self.scrollback.beginning())
        self._readers.append(reader)
        try:
            yield reader
        finally:
            self._readers.remove(reader)
            self.read_on()
            if not self._readers:
                self._detached()

    async def wait_for_more(self, number: int) -> None:
        """Until there are bytes after this one, or the end."""
        while self.scrollback.total <= number and self.exit_code is None:
            await self._changed.wait()

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        if not self._is_over:
            with suppress(OSError):
                fcntl.ioctl(self._child.output, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def write(self, typed: bytes) -> int:
        """How many bytes were taken, within a while."""
        written = 0
        with suppress(TimeoutError):
            async with self._input_turn, self._clock.timeout(INPUT_SECONDS, timer="terminal input"):
                while written < len(typed) and not self._is_over:
                    try:
                        written += os.write(self._child.output, typed[written : written + _READ_BYTES])
                    except BlockingIOError:
                        await self._writable()
                    except OSError:
                        return written
        return written

    def hang_up(self) -> None:
        """End it and what is in its session; whoever is still there after a while is killed."""
        self._send(signal.SIGHUP, signal.SIGCONT)
        self._clock.after(END_SECONDS, lambda: self._send(signal.SIGKILL), timer="terminal end")

    def read_on(self) -> None:
        """Hold the program up while all lag behind, and let it go on else."""
        nearest = max((reader.number for reader in self._readers), default=self.scrollback.total)
        # What is left after the exit is little; who is slow loses it rather than to hold up the end.
        wanted = self._child.exited.done() or self.scrollback.total - nearest <= _MOST_LAG
        if not self._is_over and wanted != self._is_reading:
            self._is_reading = wanted
            if wanted:
                self._loop.add_reader(self._child.output, self._read)
            else:
                self._loop.remove_reader(self._child.output)

    def _read(self) -> None:
        output = bytearray()
        is_over = False
        while len(output) < _READ_BYTES and not is_over:  # the kernel gives 4 KiB at a time
            try:
                chunk = os.read(self._child.output, _READ_BYTES)
            except BlockingIOError:
                break
            except OSError:
                chunk = b""  # nobody has the other side any more
            output += chunk
            is_over = not chunk
        if output:
            self.scrollback.append(bytes(output))
            self._note_change()
            self.read_on()
        if is_over:
            self._close()

    def _leader_exited(self, _exited: asyncio.Future[int]) -> None:
        if self._is_over:
            self._finish()
        else:
            self.read_on()
            self._clock.after(REST_SECONDS, self._close, timer="terminal rest")

    def _close(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._loop.remove_reader(self._child.output)
            self._loop.remove_writer(self._child.output)
            os.close(self._child.output)
        if self._child.exited.done():
            self._finish()

    def _finish(self) -> None:
        if self.exit_code is None:
            code = self._child.exited.result()
            self.exit_code = code if code >= 0 else 128 - code
            self._note_change()
            if not self._readers:
                self._detached()

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _writable(self) -> None:
        free = asyncio.Event()
        self._loop.add_writer(self._child.output, free.set)
        try:
            await free.wait()
        finally:
            if not self._is_over:
                self._loop.remove_writer(self._child.output)

    def _send(self, *signals: signal.Signals) -> None:
        """To all of the session. Its number is not given again while anybody is in it."""
        leader = look_up(self._child.pid)
        if leader is not None and self._leader is not None and leader.start_ticks != self._leader.start_ticks:
            return  # the number was given to another after all
        members = [process.pid for process in living() if process.session == self._child.pid]
        for pid in members:
            for number in signals:
                with suppress(OSError):
                    os.kill(pid, number)
