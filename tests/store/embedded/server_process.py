"""A server as a process of its own: joins the embedded Postgres, tells its pids, leaves when its input ends.

Runs with the standard library, asyncpg left out, so that it starts quickly.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

import chatd
from chatd.clock import SystemClock
from chatd.store.embedded import embedded_postgres

LIMIT = 60.0  # seconds; a start takes about one


class Told(msgspec.Struct, frozen=True):
    """What a server process prints when Postgres is ready."""

    keeper_pid: int
    postgres_pid: int
    dsn: str
    notes: tuple[str, ...]
    forked_pid: int = 0


class ServerProcess:
    def __init__(self, process: asyncio.subprocess.Process, told: Told) -> None:
        self.process = process
        self.told = told

    async def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        await self._end()
        assert self.process.returncode == 0

    async def kill(self) -> None:
        self.process.kill()
        await self._end()

    async def _end(self) -> None:
        async with SystemClock().timeout(LIMIT, timer="test"):
            await self.process.wait()


@asynccontextmanager
async def server_process(
    data_dir: Path, *, forking: bool = False, python: str = sys.executable, user: str | None = None
) -> AsyncGenerator[ServerProcess]:
    """Start one and wait until it is ready; killed at the end unless it has left."""
    found = [str(Path(module.__file__ or "").parent.parent) for module in (chatd, msgspec)]
    options: dict[str, Any] = {} if user is None else {"user": user, "group": "nogroup", "extra_groups": []}
    process = await asyncio.create_subprocess_exec(
        python,
        __file__,
        str(data_dir),
        "fork" if forking else "",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(found)},
        cwd="/",
        **options,
    )
    try:
        assert process.stdout is not None
        async with SystemClock().timeout(LIMIT, timer="test"):
            line = await process.stdout.readline()
        assert line, "the server process ended without becoming ready"
        yield ServerProcess(process, msgspec.json.decode(line, type=Told))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _serve(data_dir: Path, *, forking: bool) -> None:
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings={"fsync": "off"}) as postgres:
        forked = os.fork() if forking else 0
        if forking and forked == 0:
            # Lets go of everything that is not under test: only the lease may be held by mistake.
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nothing, descriptor)
            signal.pause()
        told = Told(postgres.keeper_pid, postgres.postgres_pid, postgres.dsn, postgres.notes, forked)
        sys.stdout.write(json.dumps(msgspec.to_builtins(told)) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), forking=sys.argv[2] == "fork"))
