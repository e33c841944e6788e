"""The terminals of a workspace: started, found, and ended when nobody needs them any more."""

import errno
import os
import pwd
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chatd.agent.cgroups import Cgroups
from chatd.agent.children import Child, Children
from chatd.agent.processes.environment import attended, check_asked
from chatd.agent.processes.processes import Surroundings
from chatd.agent.refusals import Refused
from chatd.agent.terminals.terminal import END_SECONDS, LiveTerminal, Shape
from chatd.clock import Clock
from chatd.core.errors import InvalidRequest, NotFound
from chatd.minting import uuid7
from chatd.wire.agent.health import STOPPING
from chatd.wire.agent.terminal import StartTerminal

MOST_TERMINALS: Final = 16  # each keeps up to 256 KiB, and has a shell
IDLE_SECONDS: Final = 600.0  # with nobody attached: a page that is loaded anew is back at once
ENDED_SECONDS: Final = 60.0  # kept after the end, for who comes back to see how it ended
MOST_ENDED: Final = 16  # of those; the oldest go first
MOST_CELLS: Final = 1000  # columns, and rows
_MOST_COMMAND_BYTES: Final = 65_536


class TerminalSet:
    def __init__(self, children: Children, cgroups: Cgroups, surroundings: Surroundings, clock: Clock) -> None:
        self._children = children
        self._cgroups = cgroups
        self._surroundings = surroundings
        self._clock = clock
        self._terminals: dict[str, LiveTerminal] = {}
        self._timers: dict[str, Callable[[], None]] = {}
        self._closed = False

    def all(self) -> list[LiveTerminal]:
        return list(self._terminals.values())

    def find(self, id: str) -> LiveTerminal:
        found = self._terminals.get(id)
        if found is None:
            raise NotFound("This terminal")
        return found

    def start(self, asked: StartTerminal) -> LiveTerminal:
        """Raises InvalidRequest and Refused."""
        if asked.id is not None and (known := self._terminals.get(str(asked.id))) is not None:
            return known
        check_size(asked.columns, asked.rows)
        check_asked(asked.env)
        if self._closed:
            raise Refused("The agent is stopping; nothing was started.", status=503, kind=STOPPING)
        if sum(one.exit_code is None for one in self._terminals.values()) >= MOST_TERMINALS:
            said = f"{MOST_TERMINALS} terminals are open already, which is the most. Close one."
            raise Refused(said, status=429, kind="too_many_terminals")
        workdir = self._workdir(asked.workdir)
        command = _command(asked.command)
        id = str(asked.id or uuid7(self._clock.now()))
        child = self._spawn(id, asked, command, workdir)
        shape = Shape(
            id=id,
            command=asked.command or shlex.join(command),
            workdir=str(workdir),
            started_at_unix=int(self._clock.now().timestamp()),
        )
        terminal = LiveTerminal(shape, child, clock=self._clock, detached=lambda: self._nobody_there(id))
        terminal.resize(asked.columns, asked.rows)
        self._terminals[id] = terminal
        ended = [one for one in self.all() if one.exit_code is not None]
        for one in ended[: max(0, len(ended) - MOST_ENDED)]:
            self.end(one)
        self._nobody_there(id)
        return terminal

    def attached(self, terminal: LiveTerminal) -> None:
        """Somebody looks at it: it does not end by itself."""
        self._timers.pop(terminal.shape.id, lambda: None)()

    def end(self, terminal: LiveTerminal) -> None:
        """Hang up, and forget it."""
        id = terminal.shape.id
        self._timers.pop(id, lambda: None)()
        self._terminals.pop(id, None)
        if terminal.exit_code is None:
            terminal.hang_up()
        self._clock.after(2 * END_SECONDS, lambda: self._cgroups.leave(id), timer="terminal group")

    def close(self) -> None:
        """All hang up, and none is started any more. Shells take no notice of a mere SIGTERM."""
        self._closed = True
        for terminal in self.all():
            if terminal.exit_code is None:
                terminal.hang_up()

    def _nobody_there(self, id: str) -> None:
        """It ends after a while, unless somebody comes."""
        terminal = self._terminals.get(id)
        if terminal is None or terminal.attached:
            return
        seconds = IDLE_SECONDS if terminal.exit_code is None else ENDED_SECONDS
        self._timers.pop(id, lambda: None)()
        self._timers[id] = self._clock.after(seconds, lambda: self.end(terminal), timer="terminal idle")

    def _spawn(self, id: str, asked: StartTerminal, command: list[str], workdir: Path) -> Child:
        surroundings = self._surroundings
        env = attended(
            surroundings.inherited, asked.env, home=surroundings.home, workspace_id=surroundings.workspace_id
        )
        try:
            return self._children.start_on_terminal(
                lambda tty: self._cgroups.joining(id, f"exec {shlex.join(command)} <{tty} >{tty} 2>&1"),
                env=env,
                workdir=workdir,
            )
        except OSError as error:
            detail = "Install a POSIX shell and try again." if error.errno == errno.ENOENT else None
            said = f"The terminal could not be started: {error.strerror}."
            raise Refused(said, status=500, detail=detail) from error

    def _workdir(self, asked: str | None) -> Path:
        if asked is not None and ("\0" in asked or not asked.startswith("/")):
            raise InvalidRequest("The working directory must be an absolute path without NUL.")
        workdir = self._surroundings.workdir if asked is None else Path(asked)
        try:
            usable = workdir.is_dir() and os.access(workdir, os.X_OK)
        except (OSError, ValueError):
            usable = False
        if not usable:
            raise InvalidRequest("The working directory does not exist, or may not be entered.")
        return workdir


def check_size(columns: int, rows: int) -> None:
    if not (1 <= columns <= MOST_CELLS and 1 <= rows <= MOST_CELLS):
        raise InvalidRequest(f"Columns and rows must be from 1 to {MOST_CELLS}.")


def _command(asked: str | None) -> list[str]:
    if asked is None:
        return [_shell(), "-l"]
    if not asked.strip() or "\0" in asked or len(asked.encode("utf-8", "replace")) > _MOST_COMMAND_BYTES:
        raise InvalidRequest("The command is empty, too long, or has a NUL in it.")
    try:
        os.fsencode(asked)
    except UnicodeEncodeError as error:
        raise InvalidRequest("The command has half a character in it.") from error
    return ["sh", "-c", asked]


def _shell() -> str:
    """The user's own; else bash, else sh."""
    try:
        own = pwd.getpwuid(os.geteuid()).pw_shell
    except KeyError:
        own = ""
    refusing = own.endswith(("/nologin", "/false"))
    for shell in ([] if refusing else [own]) + ["/bin/bash", "/usr/bin/bash"]:
        if shell and os.access(shell, os.X_OK):
            return shell
    return "sh"
