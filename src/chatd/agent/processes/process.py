"""One command while this agent runs it: its output as it comes, its end, and what is sent to it."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final

from chatd.agent.children import Child
from chatd.agent.processes.head_tail import HeadTail, Kept
from chatd.agent.processes.keys import EndRecord, KeyRecord
from chatd.agent.system_processes import living
from chatd.clock import Clock
from chatd.core.errors import Conflict

PIPE_SECONDS: Final = 5.0  # for what a background child still says after the command's exit
STDIN_SECONDS: Final = 10.0  # for a process to read what it is sent
_READ_BYTES: Final = 64 * 1024  # what a pipe of Linux holds


class Process:
    """`version` grows with each change: more output, the exit. The output is final once `end` is there."""

    def __init__(
        self, id: str, record: KeyRecord, child: Child, *, clock: Clock, ended: Callable[[EndRecord], None]
    ) -> None:
        self.id = id
        self.record = record
        self.version = 0
        self.end: EndRecord | None = None
        self.ended_monotonic = 0.0
        self._child = child
        self._clock = clock
        self._told = ended
        self._output = HeadTail()
        self._stdin = child.stdin
        self._stdin_turn = asyncio.Lock()
        self._stdin_free = asyncio.Event()
        self._changed = asyncio.Event()
        self._exited = asyncio.Event()
        self._pipe_ended = False
        self._give_up: Callable[[], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(child.output, self._read)
        child.exited.add_done_callback(self._leader_exited)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_running(self) -> bool:
        return self.end is None

    def kept(self) -> Kept:
        return self._output.kept() if self.end is None else self.end.kept

    async def wait_for_exit(self) -> None:
        await self._exited.wait()

    async def wait_for_more(self, version: int) -> None:
        """Until there is something that was not there at that version, or nothing more can come."""
        while self.version <= version and self.end is None:
            await self._changed.wait()

    def send(self, number: signal.Signals) -> None:
        """To the whole group. Raises Conflict when nobody of it is left."""
        if self.end is None:
            if not self._child.exited.done():
                os.killpg(self.pid, number)  # the leader is not reaped: the group is surely ours
                return
            # The leader is gone, and only its children hold the pipe. A group keeps its number while it has a member.
            if any(process.group == self.pid for process in living()):
                os.killpg(self.pid, number)
                return
        raise Conflict("This process has ended; nothing was sent to it.")

    async def write(self, text: bytes) -> int:
        """How many bytes the process's input took, within a while."""
        written = 0
        try:
            async with self._stdin_turn, self._clock.timeout(STDIN_SECONDS, timer="stdin"):
                while written < len(text):
                    descriptor = self._open_stdin()
                    try:
                        written += os.write(descriptor, text[written : written + _READ_BYTES])
                    except BlockingIOError:
                        await self._writable(descriptor)
                    except BrokenPipeError:
                        self.close_stdin()
        except TimeoutError:
            pass
        except Conflict:
            if not written:
                raise
        return written

    @property
    def stdin_is_closed(self) -> bool:
        return self._stdin is None

    def close_stdin(self) -> None:
        if self._stdin is not None:
            self._loop.remove_writer(self._stdin)
            os.close(self._stdin)
            self._stdin = None
            self._stdin_free.set()

    def _open_stdin(self) -> int:
        if self._stdin is None:
            raise Conflict("The input of this process is closed.")
        return self._stdin

    async def _writable(self, descriptor: int) -> None:
        self._stdin_free.clear()
        self._loop.add_writer(descriptor, self._stdin_free.set)
        try:
            await self._stdin_free.wait()
        finally:
            if self._stdin == descriptor:
                self._loop.remove_writer(descriptor)

    def _read(self) -> None:
        try:
            output = os.read(self._child.output, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            output = b""
        if not output:
            self._loop.remove_reader(self._child.output)
            os.close(self._child.output)
            self._pipe_ended = True
            self._finish_when_over()
        elif self.end is None:  # else who holds the pipe goes on talking to nobody, and need not die of it
            self._output.append(output)
            self._note_change()

    def _leader_exited(self, _exited: asyncio.Future[int]) -> None:
        self.close_stdin()
        if not self._pipe_ended:
            self._give_up = self._clock.after(PIPE_SECONDS, self._finish, timer="pipe")
        self._finish_when_over()

    def _finish_when_over(self) -> None:
        if self._pipe_ended and self._child.exited.done():
            self._finish()

    def _finish(self) -> None:
        if self.end is not None:
            return
        if self._give_up is not None:
            self._give_up()
        code = self._child.exited.result()
        self._output.close()
        self.end = EndRecord(
            exit_code=code if code >= 0 else 128 - code,
            signal=None if code >= 0 else _signal_name(-code),
            exited_at_unix=int(self._clock.now().timestamp()),
            kept=self._output.kept(),
        )
        self._output = HeadTail()
        self.ended_monotonic = self._clock.monotonic()
        self._told(self.end)
        self._exited.set()
        self._note_change()

    def _note_change(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
