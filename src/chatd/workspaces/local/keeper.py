"""The process outside of a sandbox that starts it, gives it a way out, and is its life: one per running workspace.

It is nobody's child and outlives the server. Bubblewrap dies with it, and with bubblewrap the first process of the
sandbox, and with that one everything inside. `python -m chatd.workspaces.local.keeper` reads its options from standard
input, says on standard output how the start goes, and is silent from then on.
"""

import asyncio
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec

from chatd.agent.system_processes import boot_id, look_up
from chatd.background import beside
from chatd.clock import Clock, SystemClock
from chatd.core.workspaces.egress import parse_rule
from chatd.workspaces.local.egress import EgressProxy
from chatd.workspaces.local.folder import KeeperRecord, WorkspaceFolder
from chatd.workspaces.local.keeper_options import KeeperOptions, Said
from chatd.workspaces.local.last_words import LastWords
from chatd.workspaces.local.launching import NotLaunched, agents_groups, launch_confined, launch_directly, marked
from chatd.workspaces.local.limits import Groups, Limits, make_groups
from chatd.workspaces.local.sandbox import EGRESS_SOCKET
from chatd.workspaces.local.staging import StagingFailed

_LOCK_SECONDS: Final = 2.0  # who only looks whether it is held has it for a moment
_GONE_SECONDS: Final = 10.0  # for the kernel to take away what was killed, on a busy machine
_LOOK_SECONDS: Final = 0.02
_WORDS_SECONDS: Final = 2.0  # for the last words of an agent that has ended: they are in a pipe already
_MOST_ERRORS: Final = 20  # of one kind or another: who reads them needs no more
_OLD_KERNEL: Final = (5, 14)  # before it the limit of processes counted all of a user, outside too


def main() -> int:
    keeper = Keeper(msgspec.json.decode(sys.stdin.buffer.read(), type=KeeperOptions), SystemClock())
    os.umask(0o077)
    # First of all: once we have left who started us, whoever looks finds that the workspace is kept.
    lock = asyncio.run(keeper.hold())
    if lock is None:
        _say(Said(end="held"))
        return 0
    if os.fork() > 0:
        os._exit(0)  # who started us has nothing to wait for
    _allow_many_files()
    asyncio.run(keeper.run(lock))
    return 0


class FirstErrors:
    """Errors that nobody waits for, into the keeper's log: the first ones only, as the sandbox may bring them about."""

    def __init__(self) -> None:
        self._left = _MOST_ERRORS

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if self._left > 0:
            self._left -= 1
            loop.default_exception_handler(context)


class Keeper:
    def __init__(self, options: KeeperOptions, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self._folder = WorkspaceFolder(Path(options.root), UUID(options.workspace_id))
        self._groups = Groups(())
        self._told_to_stop = asyncio.Event()

    async def hold(self) -> int | None:
        """The lock of the workspace; None when another keeper has it."""
        until = self._clock.monotonic() + _LOCK_SECONDS
        while (lock := self._folder.hold()) is None and self._clock.monotonic() < until:
            await self._clock.sleep(_LOOK_SECONDS, timer="keeper lock")
        return lock

    async def run(self, lock: int) -> None:
        """Until the agent has ended, or we are told to stop. Nothing of the workspace runs afterwards."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_stop.set)
        loop.set_exception_handler(FirstErrors())
        try:
            await self._keep()
        except NotLaunched as failed:
            _say(Said(end="failed", message=str(failed)))
        except (OSError, StagingFailed) as failed:
            _say(Said(end="failed", message=f"The workspace's sandbox can't be made: {failed}."))
        finally:
            await self._end_all()
            self._folder.forget_keeper()
            os.close(lock)

    async def _keep(self) -> None:
        options, folder = self._options, self._folder
        await self._clear_leftovers()
        self._note_down()
        self._groups = self._limited()
        self._note_down()
        folder.put_token(options.token, options.account.owner)
        folder.forget_agent_socket()
        proxy = await self._proxy()
        try:
            await self._watch(await self._launch())
        finally:
            if proxy is not None:
                proxy.close()

    async def _launch(self) -> asyncio.subprocess.Process:
        options = self._options
        if options.bubblewrap is None:
            return await launch_directly(options, self._folder, self._groups)
        return await launch_confined(
            options,
            self._folder,
            options.bubblewrap,
            self._groups,
            most_processes=self._most_processes_inside(self._groups),
            started=self._note_down,
        )

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        words = LastWords(self._folder.agent_log)
        async with beside({"stop": self._kill_when_told(process)}), asyncio.TaskGroup() as reading:
            hearing = reading.create_task(words.follow(process.stderr), name="agent's log")
            if (address := await _address(process.stdout)) and self._linked(address):
                _say(Said(end="ready"))
                reading.create_task(_drop(process.stdout), name="agent's output")
                await process.wait()
            else:
                _kill(process)
                await process.wait()
                self._groups.kill()
                with suppress(TimeoutError):
                    async with self._clock.timeout(_WORDS_SECONDS, timer="agent's last words"):
                        await asyncio.wait([hearing])
                _say(Said(end="failed", message="The workspace's agent did not start.", detail=words.last()))
            self._groups.kill()  # what still holds the pipes that are read

    def _linked(self, address: str) -> bool:
        if self._options.bubblewrap is not None:
            return self._folder.link_socket()
        return self._folder.name_socket(Path(address.removeprefix("unix:")))

    async def _kill_when_told(self, process: asyncio.subprocess.Process) -> None:
        await self._told_to_stop.wait()
        _kill(process)

    def _note_down(self, inner: int = 0) -> None:
        """Who we are, and what we have started, for those who have to end it."""
        me, found = look_up(os.getpid()), look_up(inner) if inner else None
        self._folder.write_record(
            KeeperRecord(
                pid=os.getpid(),
                start_ticks=me.start_ticks if me is not None else 0,
                boot_id=boot_id(),
                inner_pid=inner if found is not None else 0,
                inner_start_ticks=found.start_ticks if found is not None else 0,
                groups=tuple(str(path) for path in self._groups.folders),
                confined=self._options.bubblewrap is not None,
            )
        )

    async def _clear_leftovers(self) -> None:
        """Of a keeper that was killed: a sandbox is gone with it, but not what ran without one."""
        record = self._folder.record()
        if record is not None and record.is_of_this_boot:
            self._groups = Groups(Path(path) for path in record.groups)
        await self._end_all()

    async def _end_all(self) -> None:
        until = self._clock.monotonic() + _GONE_SECONDS
        while self._clock.monotonic() < until:
            left: list[int] = []
            if self._options.bubblewrap is None:
                left = marked(self._options.workspace_id)
                inner = agents_groups(self._folder, self._options.workspace_id)
                inner.kill()
                inner.remove()
            self._groups.kill()
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if self._groups.remove() and not left:
                return
            await self._clock.sleep(_LOOK_SECONDS, timer="keeper end")

    def _limited(self) -> Groups:
        config = self._options.config
        limits = Limits(memory_mb=config.memory_mb, processes=config.processes, cpus=config.cpus)
        groups = make_groups(f"chatd-{self._options.workspace_id}", limits)
        missing = {name: words for name, words in limits.wanted.items() if name not in groups.enforced}
        if self._most_processes_inside(groups):
            del missing["pids"]
        if missing:
            words = ", ".join(missing.values())
            _say(Said(note=f"Not limited, as control groups can't be made here: {words}.", level="warning"))
        return groups

    def _most_processes_inside(self, groups: Groups) -> int:
        """The limit to set inside: where there is none by control groups, and where it counts the sandbox alone."""
        if self._options.bubblewrap is None or "pids" in groups.enforced or _kernel() < _OLD_KERNEL:
            return 0
        return self._options.config.processes or 0

    async def _proxy(self) -> asyncio.Server | None:
        config = self._options.config
        if config.network != "allow_list" or self._options.bubblewrap is None:
            return None
        rules = [parse_rule(entry) for entry in config.allow]
        proxy = EgressProxy(rules, self._options.private_networks, self._clock)
        return await proxy.serve(self._folder.egress / Path(EGRESS_SOCKET).name)


def _allow_many_files() -> None:
    """Each connection through the proxy takes two descriptors, and 1024 is the common limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _say(said: Said) -> None:
    """To who waits for the start; a server that was killed meanwhile does not hear it."""
    with suppress(OSError):
        sys.stdout.buffer.write(msgspec.json.encode(said) + b"\n")
        sys.stdout.buffer.flush()
    if said.end:
        _fall_silent()


def _fall_silent() -> None:
    """Who waits for the start sees the end of our words."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()) or 0)


async def _address(output: asyncio.StreamReader) -> str:
    """What the agent says once it listens; empty when it ended without a word."""
    try:
        return (await output.readline()).decode("utf-8", "surrogateescape").strip()
    except ValueError:  # a line without an end is no address
        return ""


async def _drop(output: asyncio.StreamReader) -> None:
    while await output.read(4096):
        pass


def _kill(process: asyncio.subprocess.Process) -> None:
    """The agent, or bubblewrap, with which the sandbox ends."""
    with suppress(ProcessLookupError):
        process.kill()


if __name__ == "__main__":
    sys.exit(main())
