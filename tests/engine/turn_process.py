"""A replica as a process of its own that runs a real turn and stops at a named point, to be killed there.

As a script it is that replica. It writes `at` when it has come to its point and then waits for its end; `done` when the
chat rests.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import SystemClock
from chatd.core.model import ToolSpec
from chatd.core.outcomes import Refused
from chatd.engine.runner import ChatRunner
from chatd.engine.tools.tool import AfterCrash, Tool, ToolCall, ToolContext, ToolOutput, Traits, said
from chatd.engine.tools.workspace.entries import workspace_entries
from chatd.engine.worker import Worker, WorkerOptions
from chatd.providers.transport import open_transport
from chatd.store.heartbeat import ReplicaRow, beating, dial
from chatd.store.keeper.child import end_with_parent
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.store import SqlStore
from chatd.store.transitions import Transitions
from engine.chatting import engine_parts, guarded
from engine.deployment import LocalHints
from engine.deployment import said as user_said
from engine.replica_process import ReplicaProcess, held, say
from engine.with_agents import FolderResolver

# The transitions that a turn makes by itself.
STOPPED_AT = (
    "record_attempt",
    "save_draft",
    "commit_step",
    "record_retry",
    "enter_requires_action",
    "finish_interruption",
)


class Plan(msgspec.Struct, frozen=True):
    """`stop` is a point: "before save_draft 2", "after commit_step 1", "in start". Without `checkpoints` it dies before
    its first one. With an `agent`, whose folder it is, the tools are those of workspaces."""

    dsn: str
    replica_id: UUID
    chat_id: UUID
    user_id: UUID
    ledger: str
    stop: str = ""
    checkpoints: bool = True
    agent: str = ""


class Points:
    """Where a turn comes by. It goes on with the next line that `commands` has, or never."""

    def __init__(self, stop: str, commands: asyncio.StreamReader | None = None) -> None:
        self._stop = stop
        self._commands = commands

    async def pass_by(self, point: str) -> None:
        if point == self._stop:
            say("at")
            if self._commands is None or not await self._commands.readline():
                await asyncio.Event().wait()


class Ledger:
    """What tools have really done, in a file that outlives their process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def enter(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")

    def lines(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []


class LedgerTool:
    """Writes down what it does. After a crash it does as its kind says."""

    def __init__(self, name: str, after_crash: AfterCrash, ledger: Ledger, points: Points) -> None:
        self.spec = ToolSpec(name, f"The tool {name}.", '{"type":"object"}')
        self.traits = Traits(after_crash=after_crash)
        self._ledger = ledger
        self._points = points

    async def run(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        self._ledger.enter(f"{call.name} {call.key}")
        await self._points.pass_by(f"in {call.name}")
        return said(f"{call.name} is done")

    async def settle(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        if f"{call.name} {call.key}" in self._ledger.lines():
            return said(f"{call.name} is done")
        return await self.run(call, context)


def ledger_tools(ledger: Ledger, stop: str = "") -> list[LedgerTool]:
    """One of each kind."""
    points = Points(stop)
    return [
        LedgerTool("look", AfterCrash.RERUN, ledger, points),
        LedgerTool("start", AfterCrash.KEYED, ledger, points),
        LedgerTool("edit", AfterCrash.UNKNOWN_OUTCOME, ledger, points),
    ]


def stopping(transitions: Transitions, points: Points) -> Transitions:
    """The same transitions, which pass by a point before and after each."""
    counts: Counter[str] = Counter()

    def around(name: str, transition: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def passing(*args: Any, **options: Any) -> Any:
            counts[name] += 1
            await points.pass_by(f"before {name} {counts[name]}")
            outcome = await transition(*args, **options)
            if isinstance(outcome, Refused):
                say(f"refused {name}")
            await points.pass_by(f"after {name} {counts[name]}")
            return outcome

        return passing

    for name in STOPPED_AT:
        setattr(transitions, name, around(name, getattr(transitions, name)))
    return transitions


@asynccontextmanager
async def turn_process(plan: Plan) -> AsyncIterator[ReplicaProcess]:
    tests = Path(__file__).parents[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        msgspec.json.encode(plan).decode(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(tests.parent / "src")])},
        preexec_fn=end_with_parent(),
    )
    try:
        yield ReplicaProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _main(plan: Plan) -> None:
    clock, hints, schema = SystemClock(), LocalHints(), shipped_functions().schema
    row = ReplicaRow(plan.replica_id, "", "test", os.getpid(), "1")
    async with (
        open_pool(plan.dsn, function_schema=schema, size=4) as pool,
        open_transport() as transport,
        beating(lambda: dial(plan.dsn, row, function_schema=schema), clock=clock, thread_clock=clock) as lease,
    ):
        await held(lease)
        store = guarded(SqlStore(pool))
        commands = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
        transitions = stopping(Transitions(store, hints), Points(plan.stop, commands))
        tools: list[Tool] = [*ledger_tools(Ledger(Path(plan.ledger)), plan.stop)]
        workspaces = None
        if plan.agent:
            tools, workspaces = [entry.tool for entry in workspace_entries(store)], FolderResolver(Path(plan.agent))
        parts = engine_parts(store, transitions, hints, transport, clock, tools, plan.replica_id, workspaces=workspaces)
        worker = Worker(
            store,
            transitions,
            hints,
            lease,
            run=ChatRunner(parts),
            clock=clock,
            options=WorkerOptions(replica_id=plan.replica_id),
        )
        beside_it = {"worker": worker.run(), "watch": parts.watch.run()}
        if plan.checkpoints:
            beside_it["checkpoints"] = parts.checkpoints.run()
        async with beside(beside_it):
            await clock.sleep(0, timer="worker")  # it has begun
            message = user_said("work", plan.user_id)
            client = Transitions(SqlStore(pool), hints)
            sent = await client.send_message(plan.chat_id, message, take=worker.new_take())
            worker.adopt(sent)  # type: ignore[arg-type]
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(msgspec.json.decode(sys.argv[1], type=Plan)))
