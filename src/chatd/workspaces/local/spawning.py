"""Starts a keeper: a process that is nobody's child, with nothing of the server's in it."""

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

import msgspec

from chatd.clock import Clock
from chatd.workspaces.local.ending import kill_all
from chatd.workspaces.local.folder import WorkspaceFolder
from chatd.workspaces.local.installation import direct
from chatd.workspaces.local.keeper_options import KeeperOptions, Said
from chatd.workspaces.local.staging import ALONE
from chatd.workspaces.provisioner import BuildFailed, BuildLog

_START_SECONDS: Final = 60.0  # a sandbox and an agent take half a second; this is for a machine that swaps
_HELD_SECONDS: Final = 10.0  # for a keeper to hold its workspace: some tenths of one, unless the machine swaps
_MOST_LOG_BYTES: Final = 1024 * 1024  # a keeper writes when it fails
_PROGRAM: Final = """
import sys
sys.path[:0] = sys.argv.pop(1).split(":")
from chatd.workspaces.local.keeper import main
sys.exit(main())
"""
_ENVIRONMENT: Final = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


async def spawn_keeper(folder: WorkspaceFolder, options: KeeperOptions, log: BuildLog, clock: Clock) -> bool:
    """Whether the agent listens; False when another keeper has the workspace. Raises BuildFailed."""
    launch = _Launch(folder, options)
    try:
        async with clock.timeout(_START_SECONDS, timer="keeper start"):
            end = await _heard(await _launched(launch, clock), log)
    except TimeoutError:
        await kill_all(folder, options.workspace_id, clock)
        raise BuildFailed(f"The workspace did not start within {_START_SECONDS:g} seconds.", code="too_slow") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise BuildFailed("The workspace's keeper was not understood.", detail=str(error)) from error
    finally:
        launch.leave()
    if end is None:
        detail = _end_of(folder.keeper_log)
        raise BuildFailed("The workspace's keeper ended at once.", detail=detail, code="keeper_ended")
    if end.end == "failed":
        raise BuildFailed(end.message, detail=end.detail or None, code="start_failed")
    return end.end == "ready"


async def _launched(launch: "_Launch", clock: Clock) -> IO[bytes]:
    """What the keeper will say. Who is cancelled waits for the keeper to hold the workspace first: what a server ends
    when it stops must be found by then, and a thread would go on and start it afterwards."""
    running = asyncio.get_running_loop().run_in_executor(None, launch.run)
    running.add_done_callback(lambda done: done.cancelled() or done.exception())  # it may be that nobody asks
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with suppress(TimeoutError):
            async with clock.timeout(_HELD_SECONDS, timer="keeper held"):
                await asyncio.wait([running])
        raise


class _Launch:
    """What starts a keeper, in a thread. A thread is not stopped with who waits for it, so that it cleans up after
    itself once that one has left."""

    def __init__(self, folder: WorkspaceFolder, options: KeeperOptions) -> None:
        self._folder = folder
        self._options = options
        self._turn = threading.Lock()
        self._is_left = False
        self._said: IO[bytes] | None = None

    def run(self) -> IO[bytes]:
        """What the keeper will say."""
        process = _started(self._folder, self._options)
        assert process.stdout is not None
        try:
            _tell(process, self._options)
        finally:
            process.wait()  # for what was started: the keeper leaves it once it holds the workspace
            with self._turn:
                self._said = process.stdout
                if self._is_left:
                    self._said.close()
        return process.stdout

    def leave(self) -> None:
        """Nobody listens any more; whether there is a keeper, who comes next will see."""
        with self._turn:
            self._is_left = True
            if self._said is not None:
                self._said.close()


async def _heard(words: IO[bytes], log: BuildLog) -> Said | None:
    """How the start has ended, as the keeper says it; None when it ended without. It is silent from then on."""
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, words)
    end: Said | None = None
    try:
        while line := await reader.readline():
            said = msgspec.json.decode(line, type=Said)
            if said.note:
                log("sandbox", said.note, level=said.level)
            end = said if said.end else end
    finally:
        transport.close()
    return end


def _started(folder: WorkspaceFolder, options: KeeperOptions) -> "subprocess.Popen[bytes]":
    """Not by the event loop: uvloop leaves descriptors open in what it starts, and then nobody hears the end of it."""
    words = _opened(folder.keeper_log)
    apart = options.bubblewrap is not None and options.account.switch
    try:
        return subprocess.Popen(
            [*(ALONE if apart else ()), sys.executable, "-I", "-c", _PROGRAM, ":".join(direct().path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            env=_ENVIRONMENT,
            cwd="/",  # no folder is kept busy
            start_new_session=True,  # no signal that is meant for the server's group
        )
    finally:
        os.close(words)


def _tell(process: "subprocess.Popen[bytes]", options: KeeperOptions) -> None:
    assert process.stdin is not None
    with process.stdin as told:
        told.write(msgspec.json.encode(options))


def _opened(log: Path) -> int:
    if log.exists() and log.stat().st_size > _MOST_LOG_BYTES:
        log.unlink()
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)


def _end_of(log: Path) -> str | None:
    try:
        return log.read_text("utf-8", "replace").strip()[-2000:] or None
    except OSError:
        return None
