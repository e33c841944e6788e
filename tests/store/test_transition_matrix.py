"""Every transition on a chat in every state, on a real Postgres: allowed exactly where the table says."""

from collections.abc import Awaitable, Callable, Iterator

import msgspec
import psycopg
import pytest

from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import RUNNABLE, State
from chatd.core.transitions import TABLE, Transition
from chatd.minting import uuid7
from chatd.store.chat_hints import FREE_TOPIC, ChatHint, chat_topic
from chatd.store.transitions import Applied, Outcome
from chatd.testing.postgres import Database
from store.stored_change import assert_moment, assert_stored, read_row
from store.transition_driver import (
    DYNAMIC,
    ERROR,
    Chats,
    Prepared,
    Shape,
    answer,
    open_chats,
    prepare,
    result,
)
from store.world import NOW, add_chat

Answer = Outcome | list[Applied]
Call = Callable[[Chats, Prepared], Awaitable[Answer]]


def _queued(chat: Prepared) -> int:
    return (*chat.waiting, *chat.held, 0)[0]


def _last_queued(chat: Prepared) -> int:
    return (0, *chat.waiting, *chat.held)[-1]


def _editor(chat: Prepared) -> int:
    return (*chat.held, 0)[0]


async def _fork(on: Chats, chat: Prepared) -> Outcome:
    """Of a chat that was there before and that nobody will find."""
    source = await add_chat(on.sql, on.owner)
    await on.sql.give_up(chat_id=source.chat_id, error=ERROR)
    return await on.transitions.fork_chat(chat.id, source.chat_id, owner_id=on.owner.id)


async def _bind(on: Chats, chat: Prepared) -> Outcome:
    return await on.transitions.bind_workspace(chat.id, await on.workspace())


T = Transition
# Each way to call a transition that may lead somewhere else.
CALLS: dict[Transition, list[Call]] = {
    T.CREATE_CHAT: [
        lambda on, chat: on.transitions.create_chat(on.new_chat(id=chat.id), [on.user()], take=on.take()),
        lambda on, chat: on.transitions.create_chat(on.new_chat(id=chat.id), [on.user()]),
        _fork,
    ],
    T.SEND_MESSAGE: [
        lambda on, chat: on.transitions.send_message(chat.id, on.user("new")),
        lambda on, chat: on.transitions.send_message(chat.id, on.user("new"), interrupts=True, take=on.take()),
    ],
    T.EDIT_MESSAGE: [lambda on, chat: on.transitions.edit_message(chat.id, chat.first_message, on.user("other"))],
    T.INTERRUPT: [lambda on, chat: on.transitions.interrupt(chat.id)],
    T.REQUEST_COMPACTION: [lambda on, chat: on.transitions.request_compaction(chat.id)],
    T.COMPLETE_REQUIRES_ACTION: [lambda on, chat: on.transitions.complete_requires_action(chat.id, [result("c1")])],
    T.ARCHIVE: [lambda on, chat: on.transitions.archive(chat.id)],
    T.UNARCHIVE: [lambda on, chat: on.transitions.unarchive(chat.id)],
    T.BIND_WORKSPACE: [
        _bind,
        lambda on, chat: on.transitions.bind_workspace(chat.id, None),
    ],
    T.RECONCILE_INVALID: [lambda on, chat: on.transitions.reconcile_invalid(chat.id, error=ERROR)],
    T.DELETE_QUEUED: [
        lambda on, chat: on.transitions.delete_queued(chat.id, _queued(chat)),
        lambda on, chat: on.transitions.delete_queued(chat.id, _last_queued(chat)),
    ],
    T.PROMOTE_QUEUED: [
        lambda on, chat: on.transitions.promote_queued(chat.id, _queued(chat)),
        lambda on, chat: on.transitions.promote_queued(chat.id, _last_queued(chat)),
    ],
    T.REORDER_QUEUED: [
        lambda on, chat: on.transitions.reorder_queued(chat.id, [*chat.held, *reversed(chat.waiting)]),
    ],
    T.HOLD_QUEUED: [
        lambda on, chat: on.transitions.hold_queued(chat.id, _queued(chat), holder=chat.holder),
        lambda on, chat: on.transitions.hold_queued(chat.id, _last_queued(chat), holder=chat.holder),
    ],
    T.RELEASE_QUEUED: [lambda on, chat: on.transitions.release_queued(chat.id, _editor(chat), holder=chat.holder)],
    T.ACQUIRE: [lambda on, chat: on.transitions.acquire(on.replica_id, [uuid7(NOW)], error=ERROR)],
    T.ABANDON: [
        lambda on, chat: on.transitions.abandon(chat.id, chat.fence.runner_id),
    ],
    T.RECORD_ATTEMPT: [lambda on, chat: on.transitions.record_attempt(chat.fence)],
    T.RECORD_RETRY: [lambda on, chat: on.transitions.record_retry(chat.fence, retry='{"attempt": 1}')],
    T.SAVE_DRAFT: [lambda on, chat: on.transitions.save_draft(chat.fence, answer("draft"))],
    T.COMMIT_STEP: [
        lambda on, chat: on.transitions.commit_step(chat.fence, [answer("step")]),
        lambda on, chat: on.transitions.commit_step(chat.fence, [answer("last")], finish=True),
    ],
    T.ENTER_REQUIRES_ACTION: [lambda on, chat: on.transitions.enter_requires_action(chat.fence)],
    T.CANCEL_REQUIRES_ACTION: [lambda on, chat: on.transitions.cancel_requires_action(chat.fence, reason="late")],
    T.FINISH_TURN: [lambda on, chat: on.transitions.finish_turn(chat.fence)],
    T.FINISH_INTERRUPTION: [lambda on, chat: on.transitions.finish_interruption(chat.fence, [answer("so far")])],
    T.FINISH_ERROR: [lambda on, chat: on.transitions.finish_error(chat.fence, error=ERROR)],
    T.GIVE_UP: [lambda on, chat: on.transitions.give_up(chat.id, error=ERROR)],
}
# The owner reports: without an owner they are refused whatever the state is.
FENCED = {T.ABANDON, *(transition for transition in T if list(T).index(transition) > list(T).index(T.ABANDON))} - {
    T.GIVE_UP
}
NEEDS_QUEUED = {T.DELETE_QUEUED, T.PROMOTE_QUEUED, T.HOLD_QUEUED}


def shapes(state: State) -> list[Shape]:
    if state is State.N:
        return [Shape()]
    if state is State.INVALID:
        return [Shape(), Shape(waiting=1), Shape(waiting=2, held=1, owned=False)]
    if state.endswith("1"):
        return [Shape(waiting=1), Shape(waiting=2), Shape(waiting=1, held=1), Shape(waiting=1, held=1, owned=False)]
    return [Shape(), Shape(held=2), Shape(held=1, owned=False)]


def expected(transition: Transition, state: State, shape: Shape) -> Refusal | None:
    """Why this must be refused; None when it must be applied."""
    if state is State.N:
        return None if transition is T.CREATE_CHAT else Refusal.NOT_FOUND
    if transition in FENCED and not shape.owned:
        return Refusal.NOT_OWNER
    if state not in TABLE[transition]:
        return Refusal.INVALID_STATE if state is State.INVALID else Refusal.NOT_ALLOWED
    if (transition in NEEDS_QUEUED and not shape.waiting + shape.held) or (
        transition is T.RELEASE_QUEUED and not shape.held
    ):
        return Refusal.QUEUED_NOT_FOUND
    return None


def pairs() -> Iterator[tuple[Transition, Call]]:
    return ((transition, call) for transition, calls in CALLS.items() for call in calls)


async def called(chats: Chats, chat: Prepared, transition: Transition, call: Call) -> Outcome:
    """What became of this chat; a batch that leaves it out did not take it."""
    answered = await call(chats, chat)
    if not isinstance(answered, list):
        return answered
    mine = [one for one in answered if one.change.chat_id == chat.id]
    assert len(mine) == len(answered) <= 1
    return mine[0] if mine else Refused(transition, Refusal.NOT_ALLOWED, State.N)


@pytest.fixture
def stored_version(database: Database) -> Iterator[Callable[[str], object]]:
    """What another connection sees of a chat at the moment of a hint."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:

        def look(topic: str) -> object:
            row = connection.execute(
                "SELECT snapshot_version FROM chat_state WHERE 'chat:' || chat_id = %s", [topic]
            ).fetchone()
            return row and row[0]

        yield look


async def _refuses(chats: Chats, chat: Prepared, state: State, transition: Transition, call: Call, why: Refusal):
    before = await chats.whole(chat.id)
    chats.hints.forget()

    outcome = await called(chats, chat, transition, call)

    assert isinstance(outcome, Refused), (transition, state, outcome)
    if transition is not T.ACQUIRE:  # which says only what it took
        assert (outcome.transition, outcome.reason, outcome.state) == (transition, why, state)
    assert await chats.whole(chat.id) == before
    assert chats.hints.published == []


async def _applies(chats: Chats, chat: Prepared, state: State, transition: Transition, call: Call) -> State:
    before = None if state is State.N else (await chats.look(chat.id))["state"]
    chats.hints.forget()

    outcome = await called(chats, chat, transition, call)

    assert isinstance(outcome, Applied), (transition, state, outcome)
    view = await chats.look(chat.id)
    after = view["state"]
    assert_stored(outcome, view)
    assert_moment(before and read_row(before), outcome)
    assert (outcome.change.transition, outcome.change.state_before) == (transition, state)
    assert after["snapshot_version"] == (before["snapshot_version"] if before else 0) + 1
    assert outcome.change.snapshot_version == after["snapshot_version"]
    told = [(chat_topic(chat.id), ChatHint.of(outcome.change, owner_id=outcome.change.owner_id).encode())]
    if outcome.state in RUNNABLE and after["replica_id"] is None:
        told.append((FREE_TOPIC, b""))
    assert chats.hints.published == told
    assert chats.hints.seen[0] == after["snapshot_version"], "the hint came before the commit"
    if outcome.state in RUNNABLE:  # nobody else shall find it
        await chats.transitions.give_up(chat.id, error=ERROR)
    return outcome.state


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize("state", State)
async def test_a_transition_is_allowed_exactly_where_the_table_says_and_leads_where_it_says(
    state: State, database: Database, stored_version: Callable[[str], object]
):
    reached: dict[Transition, set[State]] = {}
    async with open_chats(database.dsn) as chats:
        chats.hints.look = stored_version
        for shape in shapes(state):
            chat = await prepare(chats, state, shape)
            for transition, call in pairs():
                why = expected(transition, state, shape)
                if why is not None:
                    await _refuses(chats, chat, state, transition, call, why)
            await chats.transitions.give_up(chat.id, error=ERROR)  # nobody shall acquire it
            for transition, call in pairs():
                if expected(transition, state, shape) is None:
                    chat = await ready_for(chats, transition, state, shape)
                    reached.setdefault(transition, set()).add(await _applies(chats, chat, state, transition, call))

    assert reached == {t: set(cells[state]) for t, cells in TABLE.items() if state in cells}


async def ready_for(chats: Chats, transition: Transition, state: State, shape: Shape) -> Prepared:
    # There must be something to summarise.
    chat = await prepare(chats, state, msgspec.structs.replace(shape, answered=transition is T.REQUEST_COMPACTION))
    if transition is T.ENTER_REQUIRES_ACTION:
        stepped = await chats.transitions.commit_step(chat.fence, [answer(calls=[("c1", DYNAMIC)])])
        assert isinstance(stepped, Applied)
        assert stepped.fence is not None
        return Prepared(chat.id, stepped.fence, chat.first_message, chat.waiting, chat.held)
    if transition is T.ACQUIRE and shape.owned:
        await chats.transitions.abandon(chat.id, chat.fence.runner_id)
    return chat


@pytest.mark.behaviour("STATE-1")
async def test_a_held_message_that_waits_alone_can_be_sent_now(database: Database):
    async with open_chats(database.dsn) as chats:
        chat = await prepare(chats, State.W, Shape(held=1, owned=False))

        outcome = await chats.transitions.promote_queued(chat.id, chat.held[0])

        assert isinstance(outcome, Applied)
        assert await chats.texts(chat.id) == ["first", "queued 0"]
