"""An edit hides what follows, keeps what it cost, and leaves the old turn nothing to write."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refusal
from chatd.core.parts import TextPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role, Visibility
from chatd.core.states import State
from chatd.core.usage import Usage
from chatd.testing.postgres import Database
from store.stored_change import assert_stored
from store.transition_driver import (
    DYNAMIC,
    ERROR,
    LOCAL,
    Chats,
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


@pytest.mark.behaviour("STATE-2")
async def test_an_edit_hides_the_message_and_all_after_it_and_starts_a_turn_with_a_new_one(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    priced = NewMessage(
        role=Role.ASSISTANT,
        parts=(TextPart(text="answer"),),
        usage=Usage(input_tokens=7, output_tokens=3),
        cost_microdollars=11,
    )
    stepped = applied(await chats.transitions.commit_step(chat.fence, [priced], finish=True))
    sent = applied(await chats.transitions.send_message(chat.id, chats.user("second"), take=chats.take()))
    applied(await chats.transitions.send_message(chat.id, chats.user("waits")))

    edited = applied(await chats.transitions.edit_message(chat.id, chat.first_message, chats.user("other")))

    hidden = [chat.first_message, stepped.messages[0].id, sent.messages[0].id]
    assert edited.change.deleted_ids == hidden
    assert edited.state is State.R0
    assert edited.messages[0].id > max(hidden)
    found = await chats.look(chat.id)
    assert [message["id"] for message in found["messages"] if message["deleted"]] == hidden
    assert {message["revision"] for message in found["messages"] if message["deleted"]} == {
        edited.change.snapshot_version
    }
    assert [
        (message["input_tokens"], message["output_tokens"], message["cost_microdollars"])
        for message in found["messages"]
        if message["id"] == stepped.messages[0].id
    ] == [(7, 3, 11)]
    assert await chats.texts(chat.id) == ["other"]
    assert await chats.queue(chat.id) == []


@pytest.mark.behaviour("STATE-2")
async def test_an_edit_of_what_is_not_a_users_visible_message_is_refused_with_its_own_reason(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    other = await prepare(chats, State.R0, Shape())
    stepped = applied(await chats.transitions.commit_step(chat.fence, [answer("answer")]))
    edit = chats.transitions.edit_message

    of_answer = refused(await edit(chat.id, stepped.messages[0].id, chats.user()))
    of_other = refused(await edit(chat.id, other.first_message, chats.user()))
    applied(await edit(chat.id, chat.first_message, chats.user("other")))
    of_hidden = refused(await edit(chat.id, chat.first_message, chats.user()))

    assert of_answer.reason is Refusal.MESSAGE_NOT_USERS
    assert [of_other.reason, of_hidden.reason] == [Refusal.MESSAGE_NOT_FOUND] * 2


@pytest.mark.behaviour("STATE-2")
async def test_calls_that_are_the_last_ones_after_an_edit_get_results_first(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    stepped = applied(
        await chats.transitions.commit_step(chat.fence, [answer(calls=[("c1", LOCAL), ("c2", LOCAL)])], finish=True)
    )
    assert stepped.state is State.W
    sent = applied(await chats.transitions.send_message(chat.id, chats.user("second")))
    assert await chats.texts(chat.id) == ["first", "call c1, call c2", "result c1", "result c2", "second"]
    message = sent.messages[-1].id

    edited = applied(await chats.transitions.edit_message(chat.id, message, chats.user("other")))

    assert [message.role for message in edited.messages] == [Role.USER]
    assert await chats.texts(chat.id) == ["first", "call c1, call c2", "result c1", "result c2", "other"]


@pytest.mark.behaviour("LOOP-8")
async def test_no_later_write_of_the_edited_turn_is_accepted(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    applied(await chats.transitions.edit_message(chat.id, chat.first_message, chats.user("other")))
    before = await chats.whole(chat.id)
    do, old = chats.transitions, chat.fence

    outcomes = [
        await do.record_attempt(old),
        await do.record_retry(old, retry='"again"'),
        await do.save_draft(old, answer("draft")),
        await do.commit_step(old, [answer("stale")]),
        await do.commit_step(old, [answer("stale")], finish=True),
        await do.enter_requires_action(old),
        await do.cancel_requires_action(old, reason="late"),
        await do.finish_turn(old),
        await do.finish_interruption(old, [answer("stale")]),
        await do.finish_error(old, [answer("stale")], error=ERROR),
    ]

    assert {refused(outcome).reason for outcome in outcomes} == {Refusal.HISTORY_MOVED}
    assert await chats.whole(chat.id) == before


@pytest.mark.behaviour("STATE-2")
async def test_a_provider_answers_its_own_calls_so_they_never_get_a_result_from_us(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    applied(await chats.transitions.commit_step(chat.fence, [answer("found", provider=["p1"])], finish=True))

    sent = applied(await chats.transitions.send_message(chat.id, chats.user("second")))

    assert [message.role for message in sent.messages] == [Role.USER]


@pytest.mark.behaviour("STATE-8")
async def test_an_interrupted_or_broken_turn_without_rows_keeps_its_draft_with_results_for_its_calls(chats: Chats):
    draft = answer("half", calls=[("c1", LOCAL), ("c2", DYNAMIC)])
    kept = ["first", "half, call c1, call c2", "result c1", "result c2"]
    stopped, broken, given_up = [await prepare(chats, State.R0, Shape()) for _ in range(3)]
    for chat in (stopped, broken, given_up):
        applied(await chats.transitions.save_draft(chat.fence, draft))
    applied(await chats.transitions.interrupt(stopped.id))

    applied(await chats.transitions.finish_interruption(stopped.fence))
    applied(await chats.transitions.finish_error(broken.fence, error=ERROR))
    applied(await chats.transitions.give_up(given_up.id, error=ERROR))

    for chat in (stopped, broken, given_up):
        assert await chats.texts(chat.id) == kept
        assert (await chats.look(chat.id))["draft"] is None


@pytest.mark.behaviour("STATE-8")
async def test_a_committed_step_drops_the_draft_and_starts_the_next_attempt(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    await chats.transitions.record_attempt(chat.fence)
    applied(await chats.transitions.record_retry(chat.fence, retry='{"a": 1}'))
    same = applied(await chats.transitions.record_retry(chat.fence, retry='{"a": 1}'))
    drafted = applied(await chats.transitions.save_draft(chat.fence, answer(calls=[("c1", LOCAL)])))

    stepped = applied(
        await chats.transitions.commit_step(fence(drafted), [answer(calls=[("c1", LOCAL)]), result("c1", LOCAL)])
    )

    assert same.change.retry_version == same.change.snapshot_version - 1
    assert (stepped.change.has_draft, stepped.change.has_open_calls) == (False, False)
    assert (stepped.change.generation_attempt, stepped.change.retry_state) == (1, None)
    assert stepped.change.retry_version == stepped.change.history_version == stepped.change.snapshot_version
    assert {message.revision for message in stepped.messages} == {stepped.change.snapshot_version}


@pytest.mark.behaviour("STATE-2")
async def test_a_replacement_is_seen_by_whom_the_message_was_and_what_only_the_model_sees_is_not_edited(chats: Chats):
    hidden, shown = [
        msgspec.structs.replace(chats.user(f"for {who}"), visibility=who) for who in (Visibility.MODEL, Visibility.USER)
    ]
    made = applied(await chats.transitions.create_chat(chats.new_chat(), [hidden, shown], take=chats.take()))
    id = made.change.chat_id
    before = await chats.whole(id)

    of_hidden = refused(await chats.transitions.edit_message(id, made.messages[0].id, chats.user("other")))
    unchanged = await chats.whole(id)
    edited = applied(await chats.transitions.edit_message(id, made.messages[1].id, chats.user("other")))

    assert (of_hidden.reason, unchanged) == (Refusal.MESSAGE_NOT_FOUND, before)
    assert edited.messages[0].visibility is Visibility.USER
    assert [row["visibility"] for row in (await chats.look(id))["messages"]] == ["model", "user", "user"]


@pytest.mark.behaviour("STATE-2")
async def test_a_replacement_has_the_model_and_effort_of_the_message_unless_it_names_others(chats: Chats):
    first, second = new_id(), new_id()
    message = msgspec.structs.replace(chats.user(), model_config_id=first, reasoning_effort=ReasoningEffort.HIGH)
    made = applied(await chats.transitions.create_chat(chats.new_chat(), [message], take=chats.take()))
    id = made.change.chat_id

    kept = applied(await chats.transitions.edit_message(id, made.messages[0].id, chats.user("other")))
    other = msgspec.structs.replace(chats.user("third"), model_config_id=second, reasoning_effort=ReasoningEffort.LOW)
    named = applied(await chats.transitions.edit_message(id, kept.messages[0].id, other))

    assert [(row["model_config_id"], row["reasoning_effort"]) for row in (await chats.look(id))["messages"]] == [
        (str(first), "high"),
        (str(first), "high"),
        (str(second), "low"),
    ]
    assert (named.change.last_model_config_id, named.change.last_reasoning_effort) == (second, ReasoningEffort.LOW)


@pytest.mark.behaviour("STATE-8")
async def test_a_draft_that_is_stored_names_the_chats_model_and_results_that_nobody_gave_have_it(chats: Chats):
    model = new_id()
    draft = msgspec.structs.replace(
        answer("half", calls=[("c1", LOCAL)]), model_config_id=model, reasoning_effort=ReasoningEffort.MAX
    )
    stopped, broken, given_up = [await prepare(chats, State.R0, Shape()) for _ in range(3)]
    for chat in (stopped, broken, given_up):
        applied(await chats.transitions.save_draft(chat.fence, draft))
    applied(await chats.transitions.interrupt(stopped.id))

    ended = [
        applied(await chats.transitions.finish_interruption(stopped.fence)),
        applied(await chats.transitions.finish_error(broken.fence, error=ERROR)),
        applied(await chats.transitions.give_up(given_up.id, error=ERROR)),
    ]

    for each in ended:
        change, view = each.change, await chats.look(each.change.chat_id)
        assert (change.last_model_config_id, change.last_reasoning_effort) == (model, ReasoningEffort.MAX)
        assert [row["model_config_id"] for row in view["messages"]] == [None, str(model), str(model)]
        assert [message.model_config_id for message in each.messages] == [model, model]
        assert_stored(each, view)


async def test_an_edit_names_only_what_people_could_see(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    for_models = msgspec.structs.replace(chats.user("a reminder"), visibility=Visibility.MODEL)
    stepped = applied(await chats.transitions.commit_step(chat.fence, [for_models, answer("seen")], finish=True))

    edited = applied(await chats.transitions.edit_message(chat.id, chat.first_message, chats.user("other")))

    assert edited.change.deleted_ids == [chat.first_message, stepped.messages[1].id]
    assert [message["deleted"] for message in (await chats.look(chat.id))["messages"]] == [True, True, True, False]
