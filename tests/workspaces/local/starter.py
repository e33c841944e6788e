"""Starts a workspace and is killed at a point of its choice, as a server can be: starter.py POINT ROOT ID TOKEN."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from chatd.clock import SystemClock
from chatd.core.secret import Secret
from chatd.workspaces.local import provisioner, spawning
from chatd.workspaces.local.provisioner import LocalProvisioner
from chatd.workspaces.provisioner import WorkspaceSpec


def die(*_: object, **__: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


async def half_made(folder: Any, *_: object, **__: object) -> bool:
    folder.home.rmdir()  # as if it had come no further
    return die()


async def told(folder: Any, options: Any, *_: object, **__: object) -> bool:
    """The keeper has its options, and nobody hears how it goes on."""
    process = spawning._started(folder, options)
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(options))
    process.stdin.flush()
    return die()


async def untold(folder: Any, options: Any, *_: object, **__: object) -> bool:
    """The keeper is there, but was told only a part of its options."""
    process = spawning._started(folder, options)
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(options)[:20])
    process.stdin.flush()
    return die()


async def main(point: str, root: str, id: str, token: str) -> None:
    if point in ("half_made", "told", "untold"):
        provisioner.spawn_keeper = {"half_made": half_made, "told": told, "untold": untold}[point]
    spec = WorkspaceSpec(
        workspace_id=UUID(id),
        name="Trial workspace",
        owner_id=UUID(int=1),
        owner_name="ada",
        config="{}",
        parameters={},
        token=Secret(token),
    )

    def log(stage: str, line: str, *, level: str = "info") -> None:
        sys.stderr.write(f"{stage}: {line}\n")

    address = await LocalProvisioner(Path(root), host_id="h", clock=SystemClock()).start(spec, log)
    print(address, flush=True)  # noqa: T201
    if point == "started":
        die()


asyncio.run(main(*sys.argv[1:]))
