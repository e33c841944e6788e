"""A replica as a process of its own whose turn can be stopped at any point and killed. As a script, it is that replica.

It has a real heartbeat and a real worker. It writes `at` when it has come to the point where it was told to stop, then
waits: for a line before a transition that is to be interrupted, else for its end.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import SystemClock
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart, ToolCallPart
from chatd.core.roles import Role
from chatd.engine.owned import Owned
from chatd.engine.worker import Worker, WorkerOptions
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.heartbeat import Lease, ReplicaRow, beating, dial
from chatd.store.keeper.child import end_with_parent
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.store import SqlStore
from chatd.store.transitions import Applied, Fence, Outcome, Transitions
from engine.deployment import LocalHints, answer, applied, result, said

LIMIT = 60.0  # real seconds for anything that a child does

# A turn, as the transitions that it is made of. `finish` is a commit_step that ends the turn.
COURSES: dict[str, tuple[str, ...]] = {
    "tools": ("send_message", "record_attempt", "save_draft", "commit_step", "finish"),
    "stopped": ("send_message", "interrupt", "finish_interruption"),
    "asking": ("send_message", "commit_call", "enter_requires_action"),
    "failing": ("send_message", "finish_error"),
    "deadly": (),
}


class Plan(msgspec.Struct, frozen=True):
    """`stop` is a transition of the course; `when` is before, inside or after."""

    dsn: str
    replica_id: UUID
    chat_id: UUID
    user_id: UUID
    course: str
    stop: str = ""
    when: str = ""


class ReplicaProcess:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> str:
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT):
            line = await self.process.stdout.readline()
        assert line, "the replica ended before it came to its point"
        return line.decode().strip()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")

    async def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        assert await self.ended() == -signal.SIGKILL

    async def ended(self) -> int:
        async with asyncio.timeout(LIMIT):
            return await self.process.wait()


@asynccontextmanager
async def replica_process(plan: Plan) -> AsyncIterator[ReplicaProcess]:
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


class Course:
    """Does one transition after the other, and stops where it was told to."""

    def __init__(self, plan: Plan, transitions: Transitions, commands: asyncio.StreamReader) -> None:
        self._plan = plan
        self._transitions = transitions
        self._commands = commands

    async def step(self, name: str, transition: Callable[[], Awaitable[Outcome]]) -> Applied:
        stops = name == self._plan.stop
        if stops and self._plan.when in ("before", "inside"):
            say("at")
            await self._commands.readline()
        done = applied(await transition())
        if stops and self._plan.when == "after":
            say("at")
            await asyncio.Event().wait()
        return done

    async def run(self, owned: Owned) -> None:
        """The runner of this replica."""
        do, fence = self._transitions, owned.fence
        match self._plan.course:
            case "tools":
                await self.step("record_attempt", lambda: do.record_attempt(fence))
                draft = answer("looking", calls=["call-1"])
                await self.step("save_draft", lambda: do.save_draft(fence, draft))
                done = await self.step("commit_step", lambda: do.commit_step(fence, [draft, result("call-1")]))
                after = fence_of(done)
                await self.step("finish", lambda: do.commit_step(after, [answer("the end")], finish=True))
            case "stopped":
                await self.step("interrupt", lambda: do.interrupt(owned.chat_id))
                await self.step("finish_interruption", lambda: do.finish_interruption(fence, [answer("the end")]))
            case "asking":
                done = await self.step("commit_call", lambda: do.commit_step(fence, [asking()]))
                after = fence_of(done)
                await self.step("enter_requires_action", lambda: do.enter_requires_action(after))
            case "failing":
                error = '{"kind": "generic", "message": "It failed.", "retryable": false}'
                rows = [answer("the end")]
                await self.step("finish_error", lambda: do.finish_error(fence, rows, error=error))
            case "deadly":
                os.kill(os.getpid(), signal.SIGKILL)
            case other:
                raise ValueError(other)


def asking() -> NewMessage:
    """An answer that calls a tool of the client."""
    call = ToolCallPart(tool_call_id="call-1", tool_name="ask", args="{}")
    return NewMessage(role=Role.ASSISTANT, parts=(TextPart(text="looking"), call))


def fence_of(done: Applied) -> Fence:
    assert done.fence is not None
    return done.fence


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


async def held(lease: Lease) -> None:
    held = asyncio.Event()
    lease.on_change(lambda won: held.set() if won else None)
    if not lease.held:
        await held.wait()


async def _main(plan: Plan) -> None:
    clock, hints, schema = SystemClock(), LocalHints(), shipped_functions().schema
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    row = ReplicaRow(plan.replica_id, "", "test", os.getpid(), "1")
    async with (
        open_pool(plan.dsn, function_schema=schema, size=4) as pool,
        beating(lambda: dial(plan.dsn, row, function_schema=schema), clock=clock, thread_clock=clock) as lease,
    ):
        await held(lease)
        own = Course(plan, Transitions(SqlStore(pool), hints), commands)
        store = AuthorizedStore(SqlStore(pool), RoleAuthorizer())
        worker = Worker(
            store,
            Transitions(store, hints),
            hints,
            lease,
            run=own.run,
            clock=clock,
            options=WorkerOptions(replica_id=plan.replica_id),
        )
        async with beside({"worker": worker.run()}):
            await clock.sleep(0, timer="worker")  # it has begun
            if plan.course == "deadly":
                say("at")
            else:
                take, message = worker.new_take(), said("question", plan.user_id)
                client = Transitions(SqlStore(pool), hints)
                worker.adopt(
                    await own.step("send_message", lambda: client.send_message(plan.chat_id, message, take=take))
                )
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(msgspec.json.decode(sys.argv[1], type=Plan)))
