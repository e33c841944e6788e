"""Processes that make one call on a chat and can be killed at any point of it. As a script, what they are forked from.

Forked, because a new interpreter for each would take longer than all else that these tests do.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import msgspec

from chatd.core.transitions import Transition
from chatd.store.keeper.child import end_with_parent
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.store import SqlStore
from chatd.store.transitions import Transitions
from store.test_transition_matrix import CALLS, Answer
from store.transition_driver import ERROR, Chats, Prepared, RecordingHints
from store.world import new_id

LIMIT = 60.0  # real seconds for anything that a process does
MOST_BYTES = 65536  # of one line: a pipe takes it as a whole


class Plan(msgspec.Struct, frozen=True):
    dsn: str
    owner_id: UUID
    organization_id: UUID
    model_id: UUID
    replica_id: UUID
    chat: Prepared
    transition: Transition


async def call(chats: Chats, chat: Prepared, transition: Transition) -> Answer:
    """The transition, the first way to call it; who acquires asks for room, as servers do."""
    if transition is Transition.ACQUIRE:
        return await chats.transitions.acquire(chats.replica_id, [new_id()], error=ERROR, root_capacity=100)
    if transition is Transition.BIND_WORKSPACE:  # to none: the other way makes one first
        return await chats.transitions.bind_workspace(chat.id, None)
    return await CALLS[transition][0](chats, chat)


class Caller:
    """One process. It has said that it is ready; `go_on` makes it call."""

    def __init__(self, source: "Source", pid: int, backend: int) -> None:
        self._source = source
        self.pid = pid
        self.backend = backend

    def go_on(self) -> None:
        self._source.write(b"go")

    async def done(self) -> None:
        assert await self._source.line() == "done"

    async def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        assert await self._source.line() == f"ended {signal.SIGKILL}"


class Source:
    """What callers are forked from, one after the other."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    async def start(self, plan: Plan) -> Caller:
        self.write(msgspec.json.encode(plan))
        pid, backend = (await self.line()).split()
        return Caller(self, int(pid), int(backend))

    def write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        assert len(line) < MOST_BYTES
        self._process.stdin.write(line + b"\n")

    async def line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(LIMIT):
            line = await asyncio.to_thread(self._process.stdout.readline)
        assert line, "the process ended before it came to its point"
        return line.decode().strip()


@contextmanager
def caller_source() -> Iterator[Source]:
    tests = Path(__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, __file__],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(tests.parent / "src")])},
        preexec_fn=end_with_parent(signal.SIGKILL),  # noqa: PLW1509 - before any thread starts
    )
    with process:
        try:
            yield Source(process)
        finally:
            process.kill()


def _say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


async def _main(plan: Plan) -> None:
    async with open_pool(plan.dsn, function_schema=shipped_functions().schema, size=1) as pool:
        sql, hints = SqlStore(pool), RecordingHints()
        owner = await sql.get_user_by_id(id=plan.owner_id)
        chats = Chats(
            plan.dsn,
            sql,
            Transitions(sql, hints),
            hints,
            owner,
            plan.organization_id,
            plan.model_id,
            plan.replica_id,
        )
        _say(f"{os.getpid()} {await pool.fetchval('SELECT pg_backend_pid()')}")
        os.read(0, MOST_BYTES)
        await call(chats, plan.chat, plan.transition)
        _say("done")
        os.read(0, MOST_BYTES)


def _fork_each() -> None:
    while line := os.read(0, MOST_BYTES):
        dies_too = end_with_parent(signal.SIGKILL)
        child = os.fork()
        if child == 0:
            dies_too()
            asyncio.run(_main(msgspec.json.decode(line, type=Plan)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        _say(f"ended {-os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    _fork_each()
