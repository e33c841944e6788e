"""A user's message never stands over a call without a result, however the calls and answers came."""

import msgspec
import pytest

from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refusal, Refused
from chatd.core.parts import FilePart
from chatd.core.roles import Role
from chatd.core.states import State
from chatd.testing.postgres import Database
from store.transition_driver import (
    DYNAMIC,
    ERROR,
    LOCAL,
    Shape,
    answer,
    applied,
    fence,
    open_chats,
    prepare,
    result,
)
from store.world import add_user, new_id


@pytest.mark.behaviour("STATE-8")
async def test_files_that_a_tool_made_do_not_hide_the_calls_that_still_wait(database: Database):
    async with open_chats(database.dsn) as chats:
        chat = await prepare(chats, State.R0, Shape())
        files = NewMessage(role=Role.ASSISTANT, parts=(FilePart(media_type="image/png", file_id=new_id()),))

        step = applied(
            await chats.transitions.commit_step(
                chat.fence, [answer(calls=[("c", LOCAL), ("d", DYNAMIC)]), files, result("c", LOCAL)]
            )
        )
        assert step.change.has_open_calls
        assert step.fence
        waiting = applied(await chats.transitions.enter_requires_action(step.fence))
        done = applied(await chats.transitions.complete_requires_action(chat.id, [result("d")]))

        assert (waiting.state, done.state) == (State.A0, State.R0)
        assert not done.change.has_open_calls


async def test_an_answer_over_an_open_call_leaves_it_to_be_closed_before_the_next_message(database: Database):
    async with open_chats(database.dsn) as chats:
        chat = await prepare(chats, State.R0, Shape())
        step = applied(await chats.transitions.commit_step(chat.fence, [answer(calls=[("c", LOCAL)])]))
        assert step.fence
        done = applied(await chats.transitions.commit_step(step.fence, [answer("went on")], finish=True))
        assert (done.state, done.change.has_open_calls) == (State.W, True)

        sent = applied(await chats.transitions.send_message(chat.id, chats.user("next")))

        assert [message.role for message in sent.messages] == [Role.TOOL, Role.USER]
        assert not sent.change.has_open_calls
        assert (await chats.texts(chat.id))[-3:] == ["went on", "result c", "next"]


async def test_an_id_that_is_taken_is_refused_whoever_has_it(database: Database):
    async with open_chats(database.dsn) as chats:
        chat = await prepare(chats, State.W, Shape(owned=False))
        stranger = await add_user(chats.sql, "nora")
        theirs = chats.new_chat(id=chat.id)

        mine = await chats.transitions.create_chat(theirs, [chats.user()])
        other = await chats.transitions.create_chat(
            type(theirs)(
                id=chat.id,
                organization_id=theirs.organization_id,
                owner_id=stranger.id,
                model_config_id=theirs.model_config_id,
                title="t",
            ),
            [chats.user()],
        )

        assert isinstance(mine, Refused)
        assert (mine.reason, mine.state) == (Refusal.NOT_ALLOWED, State.W)
        assert isinstance(other, Refused)
        assert (other.reason, other.state) == (Refusal.ID_TAKEN, State.N)


async def test_a_result_before_its_call_is_no_answer_to_it(database: Database):
    async with open_chats(database.dsn) as chats:
        chat = await prepare(chats, State.R0, Shape())

        step = applied(
            await chats.transitions.commit_step(chat.fence, [result("c", LOCAL), answer(calls=[("c", LOCAL)])])
        )
        assert step.change.has_open_calls
        assert step.fence
        applied(await chats.transitions.finish_turn(step.fence))
        applied(await chats.transitions.send_message(chat.id, chats.user("next")))

        assert (await chats.texts(chat.id))[-4:] == ["result c", "call c", "result c", "next"]


@pytest.mark.parametrize("way", ["sent", "error", "queue", "now", "edit", "late"])
async def test_a_result_that_nobody_gave_has_the_model_of_the_chat(database: Database, way: str):
    async with open_chats(database.dsn) as chats:
        do, model = chats.transitions, new_id()
        chat = await prepare(chats, State.R0, Shape())
        calling = msgspec.structs.replace(answer(calls=[("c", DYNAMIC)]), model_config_id=model)
        now = fence(await do.commit_step(chat.fence, [calling]))
        match way:
            case "sent":
                applied(await do.finish_turn(now))
                done = applied(await do.send_message(chat.id, chats.user("next")))
            case "error":
                done = applied(await do.finish_error(now, error=ERROR))
            case "queue":
                applied(await do.send_message(chat.id, chats.user("next")))
                done = applied(await do.finish_turn(now))
            case "now":
                queued = applied(await do.send_message(chat.id, chats.user("next"))).change.queued_id or 0
                applied(await do.enter_requires_action(now))
                done = applied(await do.promote_queued(chat.id, queued))
            case "edit":
                applied(await do.finish_turn(now))
                sent = applied(await do.send_message(chat.id, chats.user("next")))
                await chats.raw(
                    "UPDATE messages SET deleted = true, revision = revision + 1 WHERE id = $1", sent.messages[0].id
                )
                done = applied(await do.edit_message(chat.id, sent.messages[1].id, chats.user("other")))
            case _:
                done = applied(
                    await do.cancel_requires_action(fence(await do.enter_requires_action(now)), reason="late")
                )

        (made,) = [message for message in done.messages if message.role is Role.TOOL]
        rows = {row["id"]: row for row in (await chats.look(chat.id))["messages"]}
        assert (made.model_config_id, rows[made.id]["model_config_id"]) == (model, str(model))
        assert made.revision == rows[made.id]["revision"] == done.change.snapshot_version


async def test_a_result_that_was_hidden_is_no_answer(database: Database):
    async with open_chats(database.dsn) as chats:
        chat = await prepare(chats, State.R0, Shape())
        step = applied(
            await chats.transitions.commit_step(chat.fence, [answer(calls=[("c", LOCAL)]), result("c", LOCAL)])
        )
        hidden = step.messages[1].id
        await chats.raw("UPDATE messages SET deleted = true, revision = revision + 1 WHERE id = $1", hidden)

        found = await chats.sql._db.fetch("SELECT call ->> 'tool_call_id' AS id FROM open_calls($1)", chat.id)

        assert [row["id"] for row in found] == ["c"]
