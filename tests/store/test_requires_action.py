"""A chat that waits for its client: what it waits for, and how the wait ends."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from chatd.core.errors import InvalidRequest
from chatd.core.outcomes import Refusal
from chatd.core.roles import Visibility
from chatd.core.states import State
from chatd.store.transitions import ACTION_SECONDS, Applied, Fence
from chatd.testing.postgres import Database
from store.transition_driver import (
    DYNAMIC,
    ERROR,
    LOCAL,
    Chats,
    Prepared,
    Shape,
    answer,
    applied,
    fence,
    open_chats,
    prepare,
    refused,
    result,
)
from store.world import new_id


@pytest.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as opened:
        yield opened


async def waiting(chats: Chats) -> tuple[Prepared, Fence]:
    """A chat whose client has two calls to answer, while one of ours is still open."""
    chat = await prepare(chats, State.R0, Shape())
    calls = [("c1", DYNAMIC), ("mine", LOCAL), ("c2", DYNAMIC)]
    stepped = fence(await chats.transitions.commit_step(chat.fence, [answer(calls=calls)]))
    return chat, fence(await chats.transitions.enter_requires_action(stepped))


@pytest.mark.behaviour("STATE-8")
async def test_a_chat_waits_only_for_a_call_that_the_client_runs_and_by_the_databases_time(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    local = fence(await chats.transitions.commit_step(chat.fence, [answer(calls=[("mine", LOCAL)])]))

    nothing = refused(await chats.transitions.enter_requires_action(local))
    _, there = await waiting(chats)

    assert nothing.reason is Refusal.NOTHING_TO_WAIT_FOR
    seconds = await chats.sql._db.fetchval(
        "SELECT extract(epoch FROM requires_action_deadline_at - updated_at)::float FROM chat_state WHERE chat_id = $1",
        there.chat_id,
    )
    assert seconds == ACTION_SECONDS


@pytest.mark.behaviour("STATE-8")
async def test_results_are_taken_when_there_is_one_of_each_call_and_of_nothing_else(chats: Chats):
    chat, _ = await waiting(chats)
    complete = chats.transitions.complete_requires_action
    before = await chats.whole(chat.id)

    repeated = refused(await complete(chat.id, [result("c1"), result("c1")]))
    missing = refused(await complete(chat.id, [result("c1"), result("other")]))
    unexpected = refused(await complete(chat.id, [result("c1"), result("c2"), result("mine")]))
    unchanged = await chats.whole(chat.id)
    done = applied(await complete(chat.id, [result("c2"), result("c1")]))

    assert [(each.reason, each.subject) for each in (repeated, missing, unexpected)] == [
        (Refusal.RESULT_REPEATED, "c1"),
        (Refusal.RESULT_MISSING, "c2"),
        (Refusal.RESULT_UNEXPECTED, "mine"),
    ]
    assert isinstance(missing.error(), InvalidRequest)
    assert unchanged == before
    assert done.state is State.R0
    assert done.change.has_open_calls, "ours is still open"
    assert (await chats.texts(chat.id))[-2:] == ["result c2", "result c1"]


@pytest.mark.behaviour("STATE-8")
async def test_a_client_that_is_late_or_a_user_who_stops_it_cancels_its_calls_only(chats: Chats):
    late, current = await waiting(chats)
    stopped, _ = await waiting(chats)

    timed_out = applied(await chats.transitions.cancel_requires_action(current, reason="Nobody answered in time."))
    interrupted = applied(await chats.transitions.interrupt(stopped.id))

    for chat, outcome in ((late, timed_out), (stopped, interrupted)):
        assert outcome.state is State.R0
        assert outcome.change.requires_action_deadline_at is None
        assert (await chats.texts(chat.id))[-2:] == ["result c1", "result c2"]
    stored = (await chats.look(late.id))["messages"][-1]["content"][0]
    assert (stored["result"], stored["is_error"]) == ('{"error": "Nobody answered in time."}', True)


@pytest.mark.behaviour("STATE-1")
async def test_a_message_that_interrupts_the_wait_is_queued_behind_the_cancelled_calls(chats: Chats):
    chat, _ = await waiting(chats)

    sent = applied(await chats.transitions.send_message(chat.id, chats.user("never mind"), interrupts=True))

    assert sent.state is State.R1
    assert [message.parts[0].tool_call_id for message in sent.messages] == ["c1", "c2"]  # pyright: ignore
    assert await chats.queue(chat.id) == ["never mind"]


@pytest.mark.behaviour("STATE-1")
async def test_a_message_sent_now_ends_the_wait_and_closes_every_call(chats: Chats):
    chat, _ = await waiting(chats)
    queued = applied(await chats.transitions.send_message(chat.id, chats.user("next"))).change.queued_id

    applied(await chats.transitions.promote_queued(chat.id, queued or 0))

    assert (await chats.texts(chat.id))[-4:] == ["result c1", "result mine", "result c2", "next"]


@pytest.mark.behaviour("STATE-4")
async def test_another_runner_is_told_that_the_chat_is_not_its_own(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    foreign = Fence(chat.id, new_id(), chat.fence.history_version)

    for outcome in (
        await chats.transitions.commit_step(foreign, [answer("x")]),
        await chats.transitions.commit_step(foreign, [answer("x")], finish=True),
        await chats.transitions.abandon(chat.id, foreign.runner_id),
    ):
        assert refused(outcome).reason is Refusal.NOT_OWNER
    assert await chats.texts(chat.id) == ["first"]


@pytest.mark.behaviour("STATE-8")
async def test_the_wish_for_a_compaction_survives_owners_and_the_queue_and_ends_with_its_commit(chats: Chats):
    chat = await prepare(chats, State.W, Shape(owned=False, answered=True))
    asked = applied(await chats.transitions.request_compaction(chat.id, take=chats.take()))
    applied(await chats.transitions.abandon(chat.id, fence(asked).runner_id))
    (taken,) = await chats.transitions.acquire(chats.replica_id, [new_id()], error="{}")
    sent = applied(await chats.transitions.send_message(chat.id, chats.user("waits")))

    stepped = applied(await chats.transitions.commit_step(fence(taken), [answer("summary")], compacted=True))

    assert asked.change.history_version == asked.change.snapshot_version
    assert asked.messages == ()
    assert taken.change.compaction_requested_at == sent.change.compaction_requested_at is not None
    assert stepped.change.compaction_requested_at is None


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize(
    ("finish", "compacted", "kept"), [(False, False, True), (False, True, False), (True, False, False)]
)
@pytest.mark.parametrize("waiting", [0, 1])
async def test_a_step_ends_the_wish_for_a_compaction_only_if_it_was_the_compaction_or_the_last_one(
    chats: Chats, finish: bool, compacted: bool, kept: bool, waiting: int
):
    chat = await prepare(chats, State.W, Shape(owned=False, answered=True))
    asked = fence(await chats.transitions.request_compaction(chat.id, take=chats.take()))
    for _ in range(waiting):
        applied(await chats.transitions.send_message(chat.id, chats.user("waits")))

    stepped = applied(await chats.transitions.commit_step(asked, [answer("step")], finish=finish, compacted=compacted))

    stored = (await chats.look(chat.id))["state"]["compaction_requested_at"]
    assert (stored is not None, stepped.change.compaction_requested_at is not None) == (kept, kept)


@pytest.mark.behaviour("STATE-4")
@pytest.mark.parametrize("state", [State.R0, State.R1])
async def test_an_error_without_a_fence_ends_only_a_chat_that_nobody_runs(chats: Chats, state: State):
    waiting = int(state is State.R1)
    owned = await prepare(chats, state, Shape(waiting=waiting))
    free = await prepare(chats, state, Shape(waiting=waiting, owned=False))
    before = await chats.whole(owned.id)

    of_owned = refused(await chats.transitions.finish_error(owned.id, error=ERROR))
    of_free = applied(await chats.transitions.finish_error(free.id, error=ERROR))

    assert (of_owned.reason, await chats.whole(owned.id)) == (Refusal.NOT_OWNER, before)
    assert of_free.change.status == "error"


@pytest.mark.behaviour("STATE-4")
async def test_no_runner_writes_to_a_chat_that_nobody_runs(chats: Chats):
    chat = await prepare(chats, State.R0, Shape(owned=False))
    before = await chats.whole(chat.id)

    for outcome in (
        await chats.transitions.commit_step(chat.fence, [answer("x")]),
        await chats.transitions.commit_step(chat.fence, [answer("x")], finish=True),
        await chats.transitions.record_attempt(chat.fence),
        await chats.transitions.finish_turn(chat.fence),
        await chats.transitions.finish_error(chat.fence, error=ERROR),
    ):
        assert refused(outcome).reason is Refusal.NOT_OWNER
    assert await chats.whole(chat.id) == before


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize("state", [State.W, State.E0, State.E1])
async def test_a_compaction_needs_an_answer_since_the_last_summary(chats: Chats, state: State):
    shape = Shape(owned=False, waiting=int(state is State.E1))
    silent = await prepare(chats, state, shape)
    spoken = await prepare(chats, state, msgspec.structs.replace(shape, answered=True))
    summed = await prepare(chats, State.R0, Shape(answered=True))
    summary = msgspec.structs.replace(chats.user("so far"), visibility=Visibility.MODEL, compressed=True)
    applied(await chats.transitions.commit_step(summed.fence, [summary], finish=True))
    before = await chats.look(silent.id)

    outcomes = [await chats.transitions.request_compaction(chat.id) for chat in (silent, summed)]
    asked = await chats.transitions.request_compaction(spoken.id)

    assert [refused(outcome).reason for outcome in outcomes] == [Refusal.NOTHING_TO_SUMMARISE] * 2
    assert isinstance(asked, Applied)
    assert await chats.look(silent.id) == before
