"""The `chatd` command at a terminal of its own: what is typed, and what is on the screen."""

import asyncio
import fcntl
import os
import pty
import re
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from chatd.store.keeper.child import end_with_parent
from cli.running import VENDORS, WAIT_SECONDS

INTERRUPT = "\x03"
END = "\x04"
COLUMNS = 80


class Terminal:
    def __init__(self, master: int, process: asyncio.subprocess.Process) -> None:
        self._master = master
        self._process = process
        self.screen = ""
        self._seen = 0

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    async def until(self, text: str) -> str:
        """Until this is on the screen, behind what was waited for before; gives what came with it."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while (place := self.screen.find(text, self._seen)) < 0:
                    assert await self._read(), f"{text!r} never came: {self.screen!r}"
        except TimeoutError:
            raise AssertionError(f"{text!r} has not come: {self.screen!r}") from None
        begin, self._seen = self._seen, place + len(text)
        return self.screen[begin : self._seen]

    @property
    def plain(self) -> str:
        """Without styles, and without what was taken away again."""
        return _shown(self.screen)

    async def ended(self) -> int:
        async with asyncio.timeout(WAIT_SECONDS):
            while await self._read():
                pass
            return await self._process.wait()

    async def _read(self) -> bool:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._master, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._master)
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # nobody has the other side any more
            return False
        self.screen += piece.decode(errors="replace")
        return bool(piece)


@asynccontextmanager
async def terminal(*arguments: str, cwd: Path, **environ: str) -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, COLUMNS))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CHATD_", *VENDORS))}
    clean.pop("NO_COLOR", None)
    bound = end_with_parent()

    def own_the_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal
        bound()

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chatd", *arguments),
        cwd=cwd,
        env={**clean, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environ},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=own_the_terminal,
    )
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(master)


def _shown(screen: str) -> str:
    """What a terminal shows of it, as far as `chatd chat` makes use of one."""
    lines, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[\d*[A-Za-z]|.", screen, re.DOTALL):
        match token[-1] if token.startswith("\x1b") else token:
            case "\r":
                column = 0
            case "\n":
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            case "A" if len(token) > 1:
                row -= int(token[2:-1])
            case "D" if len(token) > 1:
                column -= int(token[2:-1])
            case "K" if len(token) > 1:
                lines[row] = lines[row][:column]
            case "J" if len(token) > 1:
                lines[row:] = [lines[row][:column]]
            case _ if len(token) > 1:
                assert token.endswith("m"), f"{token!r} is not among what is used"
            case char:
                lines[row] = lines[row][:column].ljust(column) + char + lines[row][column + 1 :]
                column += 1
    return "\n".join(line.rstrip() for line in lines)
