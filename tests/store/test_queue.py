"""Messages that wait: their order, who holds them, and how they become part of the history."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from chatd.core.chat_limits import MOST_QUEUED
from chatd.core.errors import QueueFull
from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refusal
from chatd.core.reasoning import ReasoningEffort
from chatd.core.states import State
from chatd.testing.postgres import Database
from store.transition_driver import (
    Chats,
    Shape,
    answer,
    applied,
    open_chats,
    prepare,
    refused,
    shown,
)
from store.world import new_id


@pytest.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as opened:
        yield opened


@pytest.mark.behaviour("STATE-1")
async def test_messages_sent_to_a_busy_chat_wait_and_are_promoted_one_by_one_in_order(chats: Chats):
    chat = await prepare(chats, State.R1, Shape(waiting=2))

    first = applied(await chats.transitions.commit_step(chat.fence, [answer("one")], finish=True))

    assert first.state is State.R1
    assert first.change.generation_attempt == 1
    assert first.change.replica_id == chats.replica_id
    assert await chats.texts(chat.id) == ["first", "one", "queued 0"]
    assert await chats.queue(chat.id) == ["queued 1"]


@pytest.mark.behaviour("STATE-1")
async def test_a_message_that_waits_can_be_deleted(chats: Chats):
    chat = await prepare(chats, State.R1, Shape(waiting=2))

    applied(await chats.transitions.delete_queued(chat.id, chat.waiting[0]))

    assert await chats.queue(chat.id) == ["queued 1"]
    missing = refused(await chats.transitions.delete_queued(chat.id, chat.waiting[0]))
    assert missing.reason is Refusal.QUEUED_NOT_FOUND


@pytest.mark.behaviour("STATE-1")
@pytest.mark.parametrize("state", [State.R1, State.I1])
async def test_sending_now_moves_the_message_to_the_front_and_interrupts_without_inserting_it(
    chats: Chats, state: State
):
    chat = await prepare(chats, state, Shape(waiting=2))

    promoted = applied(await chats.transitions.promote_queued(chat.id, chat.waiting[1]))

    assert promoted.state is State.I1
    assert promoted.messages == ()
    assert await chats.queue(chat.id) == ["queued 1", "queued 0"]


@pytest.mark.behaviour("STATE-1")
async def test_sending_now_from_an_error_inserts_the_message_at_once(chats: Chats):
    chat = await prepare(chats, State.E1, Shape(waiting=2, owned=False))

    promoted = applied(await chats.transitions.promote_queued(chat.id, chat.waiting[1]))

    assert promoted.state is State.R1
    assert [added.queued_id for added in promoted.change.added or ()] == [chat.waiting[1]]
    assert await chats.texts(chat.id) == ["first", "queued 1"]


@pytest.mark.behaviour("STATE-1")
async def test_sending_the_head_now_moves_no_queue_version_and_an_unknown_id_is_not_found(chats: Chats):
    chat = await prepare(chats, State.I1, Shape(waiting=2))
    before = (await chats.look(chat.id))["state"]["queue_version"]

    promoted = applied(await chats.transitions.promote_queued(chat.id, chat.waiting[0]))

    assert promoted.change.queue_version == before
    assert refused(await chats.transitions.promote_queued(chat.id, 10**9)).reason is Refusal.QUEUED_NOT_FOUND


@pytest.mark.behaviour("STATE-1")
async def test_the_queue_can_be_ordered_anew_by_who_knows_all_of_it(chats: Chats):
    chat = await prepare(chats, State.R1, Shape(waiting=3))
    one, two, three = chat.waiting

    applied(await chats.transitions.reorder_queued(chat.id, [three, one, two]))

    assert await chats.queue(chat.id) == ["queued 2", "queued 0", "queued 1"]
    for wrong in ([one, two], [one, two, three, three], [one, two, 10**9], []):
        assert refused(await chats.transitions.reorder_queued(chat.id, wrong)).reason is Refusal.QUEUE_CHANGED


@pytest.mark.behaviour("STATE-1")
async def test_a_message_sent_with_interrupt_stops_the_chat_and_runs_when_it_has_stopped(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())

    sent = applied(await chats.transitions.send_message(chat.id, chats.user("now"), interrupts=True))
    stopped = applied(await chats.transitions.finish_interruption(chat.fence, [answer("so far")]))

    assert (sent.state, stopped.state) == (State.I1, State.R0)
    assert await chats.texts(chat.id) == ["first", "so far", "now"]


@pytest.mark.behaviour("STATE-1")
@pytest.mark.parametrize("state", [State.R1, State.E1])
async def test_the_twenty_first_message_is_refused_with_the_limit_and_changes_nothing(chats: Chats, state: State):
    chat = await prepare(chats, state, Shape(waiting=MOST_QUEUED - 1, held=1))
    before = await chats.whole(chat.id)

    full = refused(await chats.transitions.send_message(chat.id, chats.user("one more")))

    assert (full.reason, full.limit) == (Refusal.QUEUE_FULL, 20)
    error = full.error()
    assert isinstance(error, QueueFull)
    assert error.limit == 20
    assert await chats.whole(chat.id) == before


@pytest.mark.behaviour("STATE-1")
async def test_a_message_sent_after_an_error_waits_behind_the_oldest_which_runs(chats: Chats):
    chat = await prepare(chats, State.E1, Shape(waiting=1, owned=False))

    sent = applied(await chats.transitions.send_message(chat.id, chats.user("new")))

    assert sent.state is State.R1
    assert sent.change.last_error is None
    assert [message.id for message in sent.messages] == [added.id for added in sent.change.added or ()]
    assert await chats.texts(chat.id) == ["first", "queued 0"]
    assert await chats.queue(chat.id) == ["new"]


@pytest.mark.behaviour("STATE-1")
async def test_a_held_message_is_passed_over_when_the_turn_ends_and_released_with_new_content(chats: Chats):
    chat = await prepare(chats, State.R1, Shape(waiting=1, held=1))
    applied(await chats.transitions.hold_queued(chat.id, chat.waiting[0], holder=chat.holder))

    ended = applied(await chats.transitions.commit_step(chat.fence, [answer("one")], finish=True))
    released = applied(
        await chats.transitions.release_queued(
            chat.id, chat.waiting[0], holder=chat.holder, message=chats.user("edited"), take=chats.take()
        )
    )

    assert (ended.state, released.state) == (State.W, State.R0)
    assert released.change.generation_attempt == 1
    assert await chats.texts(chat.id) == ["first", "one", "edited"]
    assert await chats.queue(chat.id) == ["queued 1"]


@pytest.mark.behaviour("STATE-1")
async def test_only_the_editor_may_hold_longer_or_release(chats: Chats):
    chat = await prepare(chats, State.R0, Shape(held=1))
    (held,) = chat.held

    assert refused(await chats.transitions.hold_queued(chat.id, held, holder=new_id())).reason is Refusal.QUEUED_HELD
    assert refused(await chats.transitions.release_queued(chat.id, held, holder=new_id())).reason is Refusal.QUEUED_HELD
    applied(await chats.transitions.hold_queued(chat.id, held, holder=chat.holder))
    applied(await chats.transitions.release_queued(chat.id, held, holder=chat.holder))
    again = refused(await chats.transitions.release_queued(chat.id, held, holder=chat.holder))
    assert again.reason is Refusal.QUEUED_NOT_HELD


@pytest.mark.behaviour("STATE-1")
async def test_a_hold_whose_time_is_up_ends_and_on_an_idle_chat_the_message_is_sent(chats: Chats):
    idle = await prepare(chats, State.W, Shape(held=2, owned=False))
    patient = await prepare(chats, State.W, Shape(held=1, owned=False))
    await chats.raw("UPDATE queued_messages SET held_until = now() - interval '1 second' WHERE chat_id = $1", idle.id)

    released = await chats.transitions.release_overdue(most_chats=10)

    assert [one.change.chat_id for one in released] == [idle.id, idle.id]
    assert await chats.texts(idle.id) == ["first", "queued 0"]
    assert await chats.queue(idle.id) == ["queued 1"]
    assert (await chats.look(patient.id))["state"]["held_length"] == 1


@pytest.mark.behaviour("STATE-1")
async def test_an_order_that_is_the_same_moves_no_queue_version(chats: Chats):
    chat = await prepare(chats, State.R1, Shape(waiting=3))
    turn = applied(await chats.transitions.commit_step(chat.fence, [answer("one")], finish=True))

    same = applied(await chats.transitions.reorder_queued(chat.id, chat.waiting[1:]))

    assert same.change.queue_version == turn.change.queue_version


@pytest.mark.behaviour("STATE-1")
async def test_an_editor_may_choose_another_model_and_effort_and_what_is_not_named_stays(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    do, holder, first, second = chats.transitions, new_id(), new_id(), new_id()
    message = msgspec.structs.replace(chats.user("a"), model_config_id=first, reasoning_effort=ReasoningEffort.LOW)
    queued = applied(await do.send_message(chat.id, message)).change.queued_id or 0

    async def released(edited: NewMessage | None) -> tuple[str, str, str]:
        applied(await do.hold_queued(chat.id, queued, holder=holder))
        applied(await do.release_queued(chat.id, queued, holder=holder, message=edited))
        (row,) = (await chats.look(chat.id))["queue"]
        return shown(row), row["model_config_id"], row["reasoning_effort"]

    assert await released(None) == ("a", str(first), "low")
    assert await released(chats.user("b")) == ("b", str(first), "low")
    other = msgspec.structs.replace(chats.user("c"), model_config_id=second, reasoning_effort=ReasoningEffort.MAX)
    assert await released(other) == ("c", str(second), "max")

    ended = applied(await do.commit_step(chat.fence, [answer("one")], finish=True))
    assert (ended.change.last_model_config_id, ended.change.last_reasoning_effort) == (second, ReasoningEffort.MAX)


OVERDUE = "UPDATE queued_messages SET held_until = now() - interval '1 second' WHERE chat_id = $1"


@pytest.mark.behaviour("STATE-1")
async def test_overdue_holds_of_archived_chats_are_left_alone_until_they_are_opened(chats: Chats):
    chat = await prepare(chats, State.XE0, Shape(held=1, owned=False))
    await chats.raw(OVERDUE, chat.id)
    before = await chats.whole(chat.id)

    assert await chats.sql.release_overdue(most_chats=10) == []
    assert await chats.whole(chat.id) == before
    applied(await chats.transitions.unarchive(chat.id))
    (released,) = await chats.transitions.release_overdue(most_chats=10)
    assert released.state is State.E1


@pytest.mark.behaviour("STATE-1")
async def test_a_broken_chat_keeps_no_other_overdue_hold_from_ending(chats: Chats):
    broken = await prepare(chats, State.A0, Shape(held=1))
    await chats.raw("UPDATE chat_state SET requires_action_deadline_at = NULL WHERE chat_id = $1", broken.id)
    others = [await prepare(chats, State.R0, Shape(held=2)) for _ in range(2)]
    for chat in (broken, *others):
        await chats.raw(OVERDUE, chat.id)

    released = await chats.transitions.release_overdue(most_chats=10)

    assert sorted(one.change.chat_id for one in released) == sorted(chat.id for chat in others for _ in range(2))
    assert [await chats.queue(chat.id) for chat in others] == [["queued 0", "queued 1"]] * 2
    assert (await chats.look(broken.id))["state"]["held_length"] == 1


@pytest.mark.behaviour("STATE-1")
async def test_so_many_chats_at_once_have_their_overdue_holds_ended(chats: Chats):
    for _ in range(3):
        await chats.raw(OVERDUE, (await prepare(chats, State.R0, Shape(held=1))).id)

    assert [len(await chats.transitions.release_overdue(most_chats=2)) for _ in range(3)] == [2, 1, 0]


@pytest.mark.behaviour("STATE-1")
async def test_a_hold_that_still_runs_is_not_ended_by_the_sweeper(chats: Chats):
    chat = await prepare(chats, State.R0, Shape(held=2))
    await chats.raw(f"{OVERDUE} AND id = $2", chat.id, chat.held[1])

    (released,) = await chats.transitions.release_overdue(most_chats=10)
    early = await chats.sql.release_queued(
        chat_id=chat.id,
        only_owner=None,
        queued_id=chat.held[0],
        holder=None,  # pyright: ignore[reportArgumentType] - as the sweeper calls it
        message=None,
        file_ids=(),
        most_files=0,
        taker=None,
        taker_runner=None,
        root_capacity=None,
        child_capacity=None,
    )

    assert released.change.queued_id == chat.held[1]
    assert early is not None
    assert early.outcome == Refusal.QUEUED_NOT_HELD
    assert (await chats.look(chat.id))["state"]["held_length"] == 1
