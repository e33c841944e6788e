"""A process is killed at each point of each transition: all of it happened or nothing, and the chat goes on.

The kill is a real SIGKILL of a real process. Points: before the call; while it waits for the chat; when it has written
something already, and the database carries it out after the death; the same, and the database has to undo it; after it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import RUNNABLE, State, Status, classify
from chatd.core.transitions import TABLE, Transition
from chatd.store.transitions import Applied, Fence
from chatd.testing.postgres import Database
from engine.caller_process import Caller, Plan, Source, call, caller_source
from store.test_transition_matrix import ready_for
from store.transition_driver import (
    ERROR,
    PATIENCE,
    Chats,
    Prepared,
    Shape,
    answer,
    applied,
    held_open,
    open_chats,
    shown,
    until_blocked,
)
from store.transition_programs import check_view
from store.world import new_id

T = Transition
FREE, BUSY, EDITED = Shape(owned=False), Shape(waiting=2), Shape(waiting=1, held=1)
START: dict[Transition, tuple[State, Shape]] = {
    T.CREATE_CHAT: (State.N, FREE),
    T.SEND_MESSAGE: (State.E1, Shape(waiting=2, owned=False)),
    T.EDIT_MESSAGE: (State.R1, EDITED),
    T.INTERRUPT: (State.A1, BUSY),
    T.REQUEST_COMPACTION: (State.W, FREE),
    T.COMPLETE_REQUIRES_ACTION: (State.A1, BUSY),
    T.ARCHIVE: (State.W, FREE),
    T.UNARCHIVE: (State.XW, FREE),
    T.BIND_WORKSPACE: (State.R1, BUSY),
    T.RECONCILE_INVALID: (State.INVALID, BUSY),
    T.DELETE_QUEUED: (State.R1, BUSY),
    T.PROMOTE_QUEUED: (State.E1, Shape(waiting=2, owned=False)),
    T.REORDER_QUEUED: (State.R1, BUSY),
    T.HOLD_QUEUED: (State.R1, BUSY),
    T.RELEASE_QUEUED: (State.W, Shape(held=2, owned=False)),
    T.ACQUIRE: (State.R0, FREE),
    T.ABANDON: (State.R1, BUSY),
    T.RECORD_ATTEMPT: (State.R0, Shape()),
    T.RECORD_RETRY: (State.R0, Shape()),
    T.SAVE_DRAFT: (State.R0, Shape()),
    T.COMMIT_STEP: (State.R1, BUSY),
    T.ENTER_REQUIRES_ACTION: (State.R1, BUSY),
    T.CANCEL_REQUIRES_ACTION: (State.A1, BUSY),
    T.FINISH_TURN: (State.R1, BUSY),
    T.FINISH_INTERRUPTION: (State.I1, BUSY),
    T.FINISH_ERROR: (State.R1, BUSY),
    T.GIVE_UP: (State.A1, BUSY),
}
WRITTEN = ("chats", "chat_state", "messages", "queued_messages", "chat_drafts")
_HANG_ON = """
    CREATE FUNCTION public.hang_on() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock_shared(7, 7); RETURN NULL; END'"""
_AFTER_WRITING = """
    CREATE TRIGGER hang_on AFTER INSERT OR UPDATE OR DELETE ON {}
    FOR EACH STATEMENT EXECUTE FUNCTION public.hang_on()"""


@pytest.fixture(scope="module")
def source() -> Iterator[Source]:
    with caller_source() as made:
        yield made


@asynccontextmanager
async def waiting_for_the_chat(chats: Chats, chat: Prepared, transition: Transition) -> AsyncIterator[Any]:
    """Whoever wants to change the chat waits until this transaction is over."""
    async with held_open(chats) as holder:
        if transition is T.CREATE_CHAT:
            await holder.execute(
                "INSERT INTO chats (id, organization_id, owner_id) VALUES ($1, $2, $3)",
                *(chat.id, chats.organization_id, chats.owner.id),
            )
        elif transition is T.ACQUIRE:  # which waits for no chat, but for the pool
            await holder.execute("SELECT pg_advisory_xact_lock(1667788908, 0)")
        else:
            await holder.execute("SELECT FROM chat_state WHERE chat_id = $1 FOR UPDATE", chat.id)
        yield holder


@asynccontextmanager
async def waiting_after_a_write(chats: Chats) -> AsyncIterator[Any]:
    """Whoever has written anything waits until this transaction is over."""
    async with held_open(chats) as holder:
        await holder.execute("SELECT pg_advisory_xact_lock(7, 7)")
        yield holder


async def killed(chats: Chats, chat: Prepared, transition: Transition, caller: Caller, when: str) -> None:
    match when:
        case "before":
            await caller.kill()
        case "after":
            caller.go_on()
            await caller.done()
            await caller.kill()
        case _:
            waiting = (
                waiting_for_the_chat(chats, chat, transition) if when == "inside" else waiting_after_a_write(chats)
            )
            async with waiting:
                caller.go_on()
                await until_blocked(chats)
                await caller.kill()
                if when == "undone":
                    await chats.sql._db.execute("SELECT pg_terminate_backend($1)", caller.backend)
                    await until_gone(chats, caller.backend)
    await until_gone(chats, caller.backend)


async def until_gone(chats: Chats, backend: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while await chats.sql._db.fetchval("SELECT true FROM pg_stat_activity WHERE pid = $1", backend):
            pass


def state_of(row: dict[str, Any]) -> State:
    return classify(Status(row["status"]), archived=row["archived"], queued=row["queue_length"] > 0)


def written(view: dict[str, Any]) -> set[str]:
    """Every text that a person or a model has written and that was accepted."""
    return {shown(row) for row in (*view["messages"], *view["queue"])}


async def brought_to_rest(chats: Chats, chat_id: UUID) -> None:
    """The replica is dead; another one takes the chat and ends all of its turns."""
    do, heir = chats.transitions, new_id()
    await chats.sql.expire_replica(id=chats.replica_id)
    await chats.beat(heir)
    (taken,) = await do.acquire(heir, [new_id(), new_id()], error=ERROR)
    assert taken.change.chat_id == chat_id
    while taken.fence is not None:
        match taken.change.status:
            case Status.INTERRUPTING:
                taken = applied(await do.finish_interruption(taken.fence, [answer("stopped")]))
            case Status.REQUIRES_ACTION:
                taken = applied(await do.cancel_requires_action(taken.fence, reason="Nobody answered."))
            case _:
                taken = applied(await do.finish_turn(taken.fence))
    await chats.beat(chats.replica_id)


@pytest.mark.behaviour("STATE-4")
@pytest.mark.parametrize("transition", T)
async def test_a_transition_whose_caller_is_killed_happened_or_did_not(
    transition: Transition, database: Database, source: Source
):
    start, shape = START[transition]
    async with open_chats(database.dsn, connections=3) as chats:
        await chats.sql._db.execute(_HANG_ON)
        for table in WRITTEN:
            await chats.sql._db.execute(_AFTER_WRITING.format(table))
        for when in ("before", "inside", "written", "undone", "after"):
            chat = await ready_for(chats, transition, start, shape)
            plan = Plan(
                chats.dsn, chats.owner.id, chats.organization_id, chats.model_id, chats.replica_id, chat, transition
            )
            before = await chats.whole(chat.id)

            await killed(chats, chat, transition, await source.start(plan), when)

            happened = await chats.whole(chat.id) != before
            assert happened or when in ("before", "inside", "undone"), when
            assert not happened or when in ("inside", "written", "after"), when
            if not happened:  # nothing is in the way of who tries again
                again = await call(chats, chat, transition)
                assert isinstance(again, Applied | list), (when, again)
            await _is_sound(chats, chat, before, transition)


async def _is_sound(chats: Chats, chat: Prepared, before: str, transition: Transition) -> None:
    """It happened once, as a whole, and the chat goes on without its dead owner."""
    view = await chats.look(chat.id)
    row, old = view["state"], msgspec.json.decode(before)["state"]
    check_view(view)
    assert row["snapshot_version"] == (old["snapshot_version"] if old else 0) + 1
    assert state_of(row) in TABLE[transition][state_of(old) if old else State.N]
    if state_of(row) in RUNNABLE:
        await brought_to_rest(chats, chat.id)
    end = await chats.look(chat.id)
    check_view(end)
    assert (end["state"]["replica_id"], state_of(end["state"]) in RUNNABLE) == (None, False)
    assert written(view) <= written(end)
    if row["runner_id"] is not None:
        late = Fence(chat.id, UUID(row["runner_id"]), end["state"]["history_version"])
        outcome = await chats.transitions.commit_step(late, [answer("too late")], finish=True)
        assert isinstance(outcome, Refused)
        assert outcome.reason is Refusal.NOT_OWNER


def test_every_transition_has_a_place_to_be_killed_at():
    assert set(START) == set(T)
