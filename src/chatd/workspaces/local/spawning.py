"""Starts a keeper: a process that is nobody's child, with nothing of the server's in it."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import msgspec

import chatd
from chatd.clock import Clock
from chatd.workspaces.local.folder import WorkspaceFolder
from chatd.workspaces.local.keeper_options import KeeperOptions, Said
from chatd.workspaces.local.staging import ALONE
from chatd.workspaces.provisioner import BuildFailed, BuildLog

_START_SECONDS: Final = 60.0  # a sandbox and an agent take half a second; this is for a machine that swaps
_MOST_LOG_BYTES: Final = 1024 * 1024  # a keeper writes when it fails
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from chatd.workspaces.local.keeper import main; sys.exit(main())"
)
_ENVIRONMENT: Final = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


async def spawn_keeper(folder: WorkspaceFolder, options: KeeperOptions, log: BuildLog, clock: Clock) -> bool:
    """Whether the agent listens; False when another keeper has the workspace. Raises BuildFailed."""
    process = await _started(folder, options)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with clock.timeout(_START_SECONDS, timer="keeper start"):
            process.stdin.write(msgspec.json.encode(options))
            process.stdin.close()
            while line := await process.stdout.readline():
                said = msgspec.json.decode(line, type=Said)
                if said.note:
                    log("sandbox", said.note, level=said.level)
                if said.end:
                    return _ended(said)
    except TimeoutError:
        raise BuildFailed(f"The workspace did not start within {_START_SECONDS:g} seconds.", code="too_slow") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise BuildFailed("The workspace's keeper was not understood.", detail=str(error)) from error
    raise BuildFailed("The workspace's keeper ended at once.", detail=_end_of(folder.keeper_log), code="keeper_ended")


async def _started(folder: WorkspaceFolder, options: KeeperOptions) -> asyncio.subprocess.Process:
    words = _opened(folder.keeper_log)
    apart = options.bubblewrap is not None and options.account.switch
    try:
        return await asyncio.create_subprocess_exec(
            *(ALONE if apart else ()),
            *(sys.executable, "-I", "-c", _PROGRAM, str(Path(chatd.__file__).parents[1])),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=words,
            env=_ENVIRONMENT,
            cwd="/",  # no folder is kept busy
            start_new_session=True,  # no signal that is meant for the server's group
        )
    finally:
        os.close(words)


def _opened(log: Path) -> int:
    if log.exists() and log.stat().st_size > _MOST_LOG_BYTES:
        log.unlink()
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)


def _ended(said: Said) -> bool:
    if said.end == "failed":
        raise BuildFailed(said.message, detail=said.detail or None, code="start_failed")
    return said.end == "ready"


def _end_of(log: Path) -> str | None:
    try:
        return log.read_text("utf-8", "replace").strip()[-2000:] or None
    except OSError:
        return None
