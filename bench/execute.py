"""What it costs to run a command by the tool `execute`, over a bare subprocess: time, requests, CPU of both sides."""

import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

from bench.processes import Measured, started
from chatd.agent.place import Place
from chatd.clock import SystemClock
from chatd.core.secret import Secret
from chatd.engine.tools.tool import ToolCall, ToolContext
from chatd.engine.tools.workspace.execute import execute_tool
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.resolving import Resolved

COMMANDS = 200
ROUNDS = 3
SOME_ID = UUID("01900000-0000-7000-8000-000000000001")


class _Fixed:
    def __init__(self, resolved: Resolved) -> None:
        self._resolved = resolved

    async def resolve(self, chat_id: UUID) -> Resolved:
        return self._resolved

    async def recover(self, failed: Resolved) -> Resolved:
        return self._resolved

    def used(self, workspace_id: UUID) -> None:
        pass


async def _bare() -> None:
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", "echo hello", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    assert (await process.communicate())[0] == b"hello\n"


async def _timed(run: Callable[[], Awaitable[None]]) -> list[float]:
    loop, times = asyncio.get_running_loop(), list[float]()
    for _ in range(COMMANDS):
        begun = loop.time()
        await run()
        times.append((loop.time() - begun) * 1000)
    return times


def _own_cpu() -> float:
    used = os.times()
    return used.user + used.system


async def main() -> None:
    clock, tool, calls = SystemClock(), execute_tool(), iter(range(10**9))
    with tempfile.TemporaryDirectory(prefix="chatd-bench-", dir=os.getcwd()) as scratch:  # noqa: PTH109
        folder = Path(scratch) / "agent"
        command = [sys.executable, "-m", "chatd.agent", "--foreground", "--dir", str(folder), "--home", scratch]
        async with started(*command, ready=r"^(unix:\S+|tcp:\S+)") as agent:
            token: Secret = Place(folder).token()
            resolved = Resolved(
                workspace_id=SOME_ID, name="bench", address=agent.url, token=token, template_name="bench"
            )
            workspace = TurnWorkspace(_Fixed(resolved), clock, chat_id=SOME_ID, ancestors=(), epoch=1)

            async def execute() -> None:
                context = ToolContext(
                    chat_id=SOME_ID,
                    runner_id=SOME_ID,
                    owner_id=SOME_ID,
                    organization_id=SOME_ID,
                    clock=clock,
                    progress=lambda text: None,
                    if_cut=lambda output: None,
                    workspace=workspace,
                    budget=100_000,
                )
                key = f"bench:{next(calls)}"
                output = await tool.run(ToolCall(key, "id", "execute", '{"command":"echo hello"}'), context)
                assert '"output":"hello\\n"' in output.result

            await execute()
            bare, tooled, ours, theirs = list[float](), list[float](), list[float](), list[float]()
            before = await _requests(agent, token)
            for _ in range(ROUNDS):
                bare += await _timed(_bare)
                at, agents = _own_cpu(), agent.cpu_seconds()
                tooled += await _timed(execute)
                ours.append((_own_cpu() - at) / COMMANDS * 1000)
                theirs.append((agent.cpu_seconds() - agents) / COMMANDS * 1000)
            asked = (await _requests(agent, token) - before - 1) / (ROUNDS * COMMANDS)
            await workspace.close()
    one, other = statistics.median(bare), statistics.median(tooled)
    print(f"a bare subprocess         {one:7.2f} ms")
    print(f"execute                   {other:7.2f} ms, {other / one:.1f} x; {other - one:.2f} ms more")
    print(f"requests per command      {asked:7.2f}")
    print(
        f"CPU per command           {statistics.median(ours):7.2f} ms server, {statistics.median(theirs):.2f} ms agent"
    )


async def _requests(agent: Measured, token: Secret) -> int:
    client = agent_client(agent.url, token, SystemClock())
    try:
        return (await client.health()).requests
    finally:
        await client.close()
