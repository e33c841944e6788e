"""Many turns at once on one replica, each with a vendor that takes its time: none fails, is lost or is doubled."""

import asyncio
import os
from collections import Counter
from typing import Any

import pytest

from chatd.background import beside
from chatd.clock import SystemClock
from chatd.core.provider_kind import ProviderKind
from chatd.core.states import Status
from chatd.engine.runner import ChatRunner
from chatd.engine.worker import Worker, WorkerOptions
from chatd.providers.transport import open_transport
from chatd.store.chat_hints import read_hint
from chatd.store.heartbeat import ReplicaRow, beating, dial
from chatd.store.hints import Gap, Hint
from chatd.store.migrate import shipped_functions
from chatd.store.transitions import Transitions
from chatd.testing.postgres import Database
from chatd.testing.vendors.script import Delay, Say, Turn
from chatd.testing.vendors.server import vendor_server
from engine.chatting import MODEL, Chatting, engine_parts, guarded, scripted_model
from engine.deployment import new_id, open_deployment
from engine.replica_process import held

WORDS = tuple(f"word{number} " for number in range(20))


@pytest.mark.parametrize(
    ("turns", "pause"),
    [
        pytest.param(100, 0.05),
        pytest.param(150, 0.05, marks=pytest.mark.long),
        pytest.param(2000, 1.0, marks=pytest.mark.long),
    ],
)
async def test_all_of_many_turns_at_once_end_well(database: Database, turns: int, pause: float):
    clock, schema, replica_id = SystemClock(), shipped_functions().schema, new_id()
    row = ReplicaRow(replica_id, "", "test", os.getpid(), "1")
    slowly = Turn(Say(*WORDS), faults=[Delay(pause, before_event=None)])
    async with (
        vendor_server(lambda _: slowly, clock=clock, models=[MODEL]) as vendor,
        open_transport() as transport,
        open_deployment(database.dsn) as made,
        beating(lambda: dial(database.dsn, row, function_schema=schema), clock=clock, thread_clock=clock) as lease,
    ):
        await held(lease)
        store = guarded(made.sql)
        model_id = await scripted_model(store, vendor.url, ProviderKind.OPENAI_COMPAT)
        transitions = Transitions(store, made.hints)
        parts = engine_parts(store, transitions, made.hints, transport, clock, [], replica_id)
        options = WorkerOptions(replica_id=replica_id)
        worker = Worker(store, transitions, made.hints, lease, run=ChatRunner(parts), clock=clock, options=options)
        running = {"worker": worker.run(), "watch": parts.watch.run(), "checkpoints": parts.checkpoints.run()}
        ends: Counter[Status] = Counter()
        over = asyncio.Event()

        def receive(what: Hint | Gap) -> None:
            hint = read_hint(what.payload) if isinstance(what, Hint) else None
            if hint is not None and hint.runner_id is None and hint.status is not Status.RUNNING:
                ends[hint.status] += 1
                if ends.total() == turns:
                    over.set()

        made.hints.subscribe("chat:*", receive)
        async with beside(running):
            await clock.sleep(0, timer="worker")  # it has begun
            chats = Chatting(made, vendor, worker, parts, model_id, replica_id)
            async with asyncio.TaskGroup() as tasks:
                begun = [tasks.create_task(chats.begin(f"question {number}")) for number in range(turns)]
            await vendor.wait_asked(turns)
            streaming = len(worker.running)
            await over.wait()

        stored = await made.pool.fetch(
            """SELECT s.status, s.takeovers, m.content FROM chat_state s JOIN messages m ON m.chat_id = s.chat_id
            WHERE m.role = 'assistant'"""
        )

    assert ends == {Status.WAITING: turns}
    assert streaming == len({task.result() for task in begun}) == turns
    assert [(row["status"], row["takeovers"]) for row in stored] == [("waiting", 0)] * turns
    assert all("".join(WORDS).strip() in text(row["content"]) for row in stored)


def text(content: Any) -> str:
    return content if isinstance(content, str) else str(content)
