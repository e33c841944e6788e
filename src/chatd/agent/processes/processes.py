"""The commands of a workspace: each started at most once, found by its chat, and forgotten in time."""

import asyncio
import errno
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec

from chatd.agent.caller import Caller
from chatd.agent.cgroups import Cgroups
from chatd.agent.children import Child, Children
from chatd.agent.processes.environment import check_asked, environment
from chatd.agent.processes.keys import EndRecord, KeyRecord, Keys, process_id
from chatd.agent.processes.past import PastProcess
from chatd.agent.processes.process import Process
from chatd.agent.refusals import KeyReused, Refused
from chatd.clock import Clock
from chatd.core.errors import InvalidRequest, NotFound
from chatd.wire.agent.health import STOPPING
from chatd.wire.agent.processes import StartProcess

MOST_RUNNING: Final = 1000  # of one workspace at a time; each has two descriptors and up to 32 KiB of output
LISTED: Final = 10  # newest ones; a model needs no more, and old ones can be asked for by id
KEPT_SECONDS: Final = 300.0  # after its exit; whoever wants the output asks sooner
REAP_SECONDS: Final = 15.0  # between two looks for what can be forgotten
_MOST_KEY_CHARACTERS: Final = 200
_MOST_COMMAND_BYTES: Final = 131_071  # one argument of a program, on Linux

Found = Process | PastProcess


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how commands run."""

    home: Path
    workdir: Path
    workspace_id: str
    inherited: Mapping[str, str]


class Processes:
    """Those that this agent started in memory, those of its predecessors from their keys."""

    def __init__(
        self,
        keys: Keys,
        children: Children,
        cgroups: Cgroups,
        surroundings: Surroundings,
        clock: Clock,
        *,
        exited: Callable[[Caller, str | None], None] = lambda caller, workdir: None,
    ) -> None:
        """`exited` is told who ran a command that has ended, and the working directory that was asked for."""
        self._keys = keys
        self._children = children
        self._cgroups = cgroups
        self._surroundings = surroundings
        self._clock = clock
        self._started: dict[str, Process] = {}
        self._starting: dict[str, asyncio.Event] = {}
        self._begun = clock.monotonic()
        self._closed = False
        self._exited = exited

    @property
    def running(self) -> int:
        return len(self._starting) + sum(process.is_running for process in self._started.values())

    @property
    def known(self) -> int:
        return len(self._started)

    @property
    def is_closed(self) -> bool:
        """Nothing is started any more."""
        return self._closed

    def close(self) -> None:
        """Nothing is started any more."""
        self._closed = True

    async def start(self, caller: Caller, asked: StartProcess) -> tuple[Found, bool]:
        """The process of this key, and whether it was started just now.

        The key is on disk before the process is there. When it is refused, nothing ran and the key is free again.
        """
        self._check(asked)
        id = process_id(caller.chat_id, asked.key)
        while (other := self._starting.get(id)) is not None:
            await other.wait()
        if (found := self._find(id)) is not None:
            return _same(found, asked), False
        if self._closed:
            raise Refused("The agent is stopping; nothing was started.", status=503, kind=STOPPING)
        if self.running >= MOST_RUNNING:
            raise Refused(f"{MOST_RUNNING} processes run already, which is the most.", status=429)
        workdir = self._workdir(asked.workdir)
        self._starting[id] = asyncio.Event()
        try:
            return await self._claim_and_spawn(id, caller, asked, workdir)
        finally:
            self._starting.pop(id).set()

    async def _claim_and_spawn(self, id: str, caller: Caller, asked: StartProcess, workdir: Path) -> tuple[Found, bool]:
        record = KeyRecord(
            chat_id=caller.chat_id,
            key=asked.key,
            command=asked.command,
            workdir=str(workdir),
            background=asked.background,
            started_at=self._clock.now().timestamp(),
        )
        await asyncio.to_thread(self._keys.claim, id, record)
        try:
            if self._closed:
                raise Refused("The agent is stopping; nothing was started.", status=503, kind=STOPPING)
            child = self._spawn(id, caller, asked, workdir)
        except BaseException:
            self._keys.give_back(id)
            raise

        def ended(end: EndRecord) -> None:
            try:
                self._keys.note_end(id, end)
            except OSError as error:  # a full disk: it is still known here, for as long as this agent lives
                print(f"the end of {id} could not be written: {error}", file=sys.stderr)  # noqa: T201  the log
            self._exited(caller, asked.workdir)

        process = Process(id, record, child, clock=self._clock, ended=ended)
        self._started[id] = process
        self._keys.note_spawn(id, child.pid)
        return process, True

    def _spawn(self, id: str, caller: Caller, asked: StartProcess, workdir: Path) -> Child:
        surroundings = self._surroundings
        env = environment(
            surroundings.inherited,
            asked.env,
            home=surroundings.home,
            workspace_id=surroundings.workspace_id,
            chat_id=caller.chat_id,
        )
        try:
            command = self._cgroups.joining(id, asked.command)
            return self._children.start(command, env=env, workdir=workdir, stdin=asked.stdin)
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise InvalidRequest(
                    "The command and its environment are too long to start.", detail="Write the command to a file."
                ) from error
            if error.errno == errno.ENOENT and workdir.is_dir():
                raise Refused(
                    "There is no `sh` in this workspace.", status=500, detail="Install a POSIX shell and try again."
                ) from error
            raise Refused(f"The command could not be started: {error.strerror}.", status=500) from error

    def find(self, caller: Caller, id: str) -> Found:
        """Raises NotFound, for a process of another chat too."""
        found = self._find(id)
        if found is None or not _may_see(caller, found):
            raise NotFound("This process")
        return found

    def listed(self, caller: Caller) -> list[Found]:
        """Running ones first, then the newest, and not more than one can look at."""
        past = [PastProcess(self._keys, id, key) for id in self._past_ids() if (key := self._keys.key(id)) is not None]
        seen = [found for found in (*self._started.values(), *past) if _may_see(caller, found)]
        seen.sort(key=lambda found: (found.is_running, found.record.started_at), reverse=True)
        return seen[:LISTED]

    def acknowledge(self, caller: Caller, id: str) -> None:
        """The server has committed what this process was started for. Once it has ended, it may be forgotten."""
        self._keys.acknowledge(self.find(caller, id).id)

    def acknowledge_all(self, chat_id: UUID, *, keep: str) -> None:
        """As `acknowledge`, for all of the chat whose keys do not begin so. Who comes late makes up for what was
        missed."""
        for id in self._keys.ids():
            record = found.record if (found := self._started.get(id)) is not None else self._keys.key(id)
            if record is None or record.chat_id != chat_id or record.key.startswith(keep):
                continue
            if not self._keys.is_acknowledged(id):
                self._keys.acknowledge(id)

    async def reap(self) -> None:
        """Forget, for ever: what was acknowledged, some time after its end. Never what was not."""
        while True:
            await self._clock.sleep(REAP_SECONDS, timer="reap")
            now = self._clock.monotonic()
            for id, process in list(self._started.items()):
                if not process.is_running and now - process.ended_monotonic >= KEPT_SECONDS:
                    self._cgroups.leave(id)
                    del self._started[id]  # its end is on disk, for as long as it is not acknowledged
                    self._forget_acknowledged(id)
            if now - self._begun >= KEPT_SECONDS:
                for id in self._past_ids():
                    self._forget_acknowledged(id)

    def _forget_acknowledged(self, id: str) -> None:
        if self._keys.is_acknowledged(id) and ((ran := self._keys.ran(id)) is None or not ran.is_alive):
            self._keys.forget(id)

    def _past_ids(self) -> list[str]:
        return [id for id in self._keys.ids() if id not in self._started and id not in self._starting]

    def _find(self, id: str) -> Found | None:
        if (process := self._started.get(id)) is not None:
            return process
        key = None if id in self._starting else self._keys.key(id)
        return None if key is None else PastProcess(self._keys, id, key)

    def _check(self, asked: StartProcess) -> None:
        if not asked.key or len(asked.key) > _MOST_KEY_CHARACTERS:
            raise InvalidRequest(f"The key must have 1 to {_MOST_KEY_CHARACTERS} characters.")
        if not asked.command.strip():
            raise InvalidRequest("The command is empty.")
        if "\0" in asked.command:
            raise InvalidRequest("The command has a NUL character in it, which no shell takes.")
        if len(_encoded(asked.command, "The command")) > _MOST_COMMAND_BYTES:
            raise InvalidRequest(
                f"The command is longer than {_MOST_COMMAND_BYTES} bytes.", detail="Write it to a file and run that."
            )
        check_asked(asked.env)
        for value in asked.env.values():
            _encoded(value, "The environment")

    def _workdir(self, asked: str | None) -> Path:
        if asked is not None and ("\0" in asked or not asked.startswith("/")):
            raise InvalidRequest("The working directory must be an absolute path without NUL.")
        workdir = self._surroundings.workdir if asked is None else Path(asked)
        _encoded(str(workdir), "The working directory")
        try:
            if not workdir.is_dir():
                raise InvalidRequest(f"The working directory {workdir} does not exist, or is no directory.")
        except OSError as error:
            raise InvalidRequest(f"The working directory {workdir} can't be used: {error.strerror}.") from error
        if not os.access(workdir, os.X_OK):
            raise InvalidRequest(f"The working directory {workdir} may not be entered.")
        return workdir


def _encoded(text: str, what: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError as error:
        raise InvalidRequest(f"{what} has half a character in it.") from error


def _may_see(caller: Caller, found: Found) -> bool:
    """Who asks outside of any chat sees all, and what was started outside of any is everybody's."""
    return caller.chat_id is None or found.record.chat_id is None or caller.chat_id == found.record.chat_id


def _same(found: Found, asked: StartProcess) -> Found:
    if found.record.command not in (asked.command, ""):  # nothing is left of one that a crash of the machine cut off
        raise KeyReused("This key was used for another command; nothing was started.")
    return found
