"""A replica is killed before, inside and after each transition of a turn: nothing is lost, nothing comes twice.

The kill is a real SIGKILL of a real process. "Inside" means that the database has the statement and waits for a lock
that the test holds; whether it is carried out after the death is up to the database.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.core.lease import MOST_TAKEOVERS
from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import Status
from chatd.engine.owned import Owned
from chatd.store.transitions import Fence
from engine.deployment import (
    PATIENCE,
    Deployment,
    Script,
    answer,
    applied,
    connection_to,
    new_id,
    open_deployment,
    replica,
    result,
    said,
)
from engine.replica_process import COURSES, Plan, ReplicaProcess, fence_of, replica_process

POINTS = [
    ("tools", "send_message"),
    ("tools", "record_attempt"),
    ("tools", "save_draft"),
    ("tools", "commit_step"),
    ("tools", "finish"),
    ("stopped", "interrupt"),
    ("stopped", "finish_interruption"),
    ("asking", "enter_requires_action"),
    ("failing", "finish_error"),
]
# What each transition makes part of the history.
MARKS = {
    "send_message": ["question"],
    "commit_step": ["looking", "seen"],
    "commit_call": ["looking"],
    "finish": ["the end"],
    "finish_interruption": ["the end"],
    "finish_error": ["the end"],
}


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


class Successor:
    """Takes the chat over and brings the turn to its end from wherever it is."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self.takeovers: list[int] = []

    async def __call__(self, owned: Owned) -> None:
        do, state = self._deployment.transitions, await self._deployment.state(owned.chat_id)
        self.takeovers.append(state["takeovers"])
        fence = owned.fence
        match owned.status:
            case Status.INTERRUPTING:
                applied(await do.finish_interruption(fence, [answer("the end")]))
                return
            case Status.REQUIRES_ACTION:
                fence = fence_of(applied(await do.cancel_requires_action(fence, reason="Nobody answered.")))
            case _:
                pass
        if state["has_draft"]:  # its calls are settled, nobody is asked again
            draft = answer("looking", calls=["call-1"])
            fence = fence_of(applied(await do.commit_step(fence, [draft, result("call-1")])))
        elif state["has_open_calls"] and owned.status is Status.RUNNING:
            fence = fence_of(applied(await do.commit_step(fence, [result("call-1")])))
        applied(await do.commit_step(fence, [answer("the end")], finish=True))


@pytest.mark.behaviour("STATE-4")
@pytest.mark.parametrize("when", ["before", "inside", "after"])
@pytest.mark.parametrize(("course", "stop"), POINTS)
async def test_a_killed_replica_loses_and_doubles_nothing(deployment: Deployment, course: str, stop: str, when: str):
    chat, dead = await deployment.idle_chat(), new_id()
    plan = Plan(deployment.dsn, dead, chat, deployment.user_id, course, stop, when)
    async with replica_process(plan) as process:
        assert await process.line() == "at"
        if when == "inside":
            await kill_inside(deployment, process, chat)
        else:
            await process.kill()
    await until_gone(deployment)
    at_death = await deployment.state(chat)
    done = acknowledged(course, stop, when)
    marks = await marks_of(deployment, chat)
    assert [mark for step in done for mark in MARKS.get(step, []) if marks[mark] != 1] == []

    await deployment.silence(dead)
    successor = Successor(deployment)
    async with replica(deployment, Script(successor)) as two:
        if marks["question"] == 0:  # it was never accepted, so its sender sends it again
            applied(await deployment.transitions.send_message(chat, said("question", deployment.user_id)))
        await until_at_rest(deployment, chat)
        await two.settled()

    final, marks = await deployment.state(chat), await marks_of(deployment, chat)
    assert (final["status"], final["replica_id"]) == ("error" if at_death["status"] == "error" else "waiting", None)
    assert (final["has_draft"], final["queue_length"], final["held_length"]) == (False, 0, 0)
    assert marks["question"] == marks["the end"] == 1, marks
    assert max(marks.values()) == 1, marks
    assert successor.takeovers == ([1] if at_death["replica_id"] == dead else [] if done else [0])
    assert final["snapshot_version"] >= at_death["snapshot_version"]
    if at_death["runner_id"] is not None:
        assert await is_refused(deployment, chat, at_death)


def acknowledged(course: str, stop: str, when: str) -> list[str]:
    """The transitions whose answer the process had before it died."""
    steps = COURSES[course]
    return list(steps[: steps.index(stop) + (1 if when == "after" else 0)])


async def kill_inside(deployment: Deployment, process: ReplicaProcess, chat: UUID) -> None:
    """Kill the process while the database carries its statement out."""
    holder = await connection_to(deployment.dsn)
    try:
        async with holder.transaction():
            await holder.execute("SELECT FROM chat_state WHERE chat_id = $1 FOR UPDATE", chat)
            process.go_on()
            blocked = await until_blocked(deployment, holder.get_server_pid())
            await process.kill()
        await until_backend_gone(deployment, blocked)
    finally:
        await holder.close()


async def until_blocked(deployment: Deployment, holder: int) -> int:
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await deployment.pool.fetchval(
                "SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", holder
            )
            if found is not None:
                return found


async def until_backend_gone(deployment: Deployment, pid: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while await deployment.pool.fetchval("SELECT true FROM pg_stat_activity WHERE pid = $1", pid):
            pass


async def until_gone(deployment: Deployment) -> None:
    """Until the database has noticed that the process is dead: a beat that was under way has arrived by then."""
    async with asyncio.timeout(PATIENCE):
        while await deployment.pool.fetchval(
            "SELECT true FROM pg_stat_activity"
            " WHERE application_name = 'chatd heartbeat' AND datname = current_database()"
        ):
            pass


async def until_at_rest(deployment: Deployment, chat: UUID) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await deployment.state(chat))["status"] not in ("waiting", "error"):
            pass


async def marks_of(deployment: Deployment, chat: UUID) -> Counter[str]:
    texts = await deployment.texts(chat)
    return Counter({mark: sum(mark in text for text in texts) for mark in ("question", "looking", "seen", "the end")})


async def is_refused(deployment: Deployment, chat: UUID, at_death: dict[str, Any]) -> bool:
    """Whatever the dead runner might still send is not taken."""
    state = await deployment.state(chat)
    fence = Fence(chat, at_death["runner_id"], state["history_version"])
    outcome = await deployment.transitions.commit_step(fence, [answer("too late")], finish=True)
    return isinstance(outcome, Refused) and outcome.reason is Refusal.NOT_OWNER


@pytest.mark.behaviour("STATE-4")
@pytest.mark.behaviour("STATE-12")
async def test_a_turn_that_kills_every_process_is_given_up_in_the_end(deployment: Deployment):
    chat = await deployment.new_chat("question")
    for death in range(MOST_TAKEOVERS + 1):  # also of who was only to store what there is
        id = new_id()
        async with replica_process(Plan(deployment.dsn, id, chat, deployment.user_id, "deadly")) as process:
            await let_take(deployment, id, process)
            assert await process.ended() == -9
        await until_gone(deployment)
        state = await deployment.state(chat)
        assert (state["replica_id"], state["takeovers"]) == (id, death)
        await deployment.silence(id)

    async with replica(deployment) as last:
        state = await deployment.state(chat)
        assert (state["status"], state["replica_id"], last.script.started) == ("error", None, [])
    assert (await marks_of(deployment, chat))["question"] == 1


async def let_take(deployment: Deployment, id: UUID, process: ReplicaProcess) -> None:
    """Let the process look as if it had been beating for long; it takes the chat within a second, and dies of it."""
    assert await process.line() == "at"
    await deployment.pool.execute("UPDATE replicas SET beating_since = now() - interval '1 minute' WHERE id = $1", id)


@pytest.mark.behaviour("STATE-4")
async def test_a_replica_that_is_alive_keeps_its_chats_while_others_die(deployment: Deployment):
    chat, living = await deployment.idle_chat(), new_id()
    plan = Plan(deployment.dsn, living, chat, deployment.user_id, "asking", "commit_call", "after")
    async with replica_process(plan) as process:
        assert await process.line() == "at"
        async with replica(deployment) as two:
            await two.pass_time(3)
            assert two.script.started == []
        assert await deployment.owner(chat) == living
        await process.kill()
    await until_gone(deployment)
