"""A user's message never stands over a call without a result, however the calls and answers came."""

import pytest

from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refusal, Refused
from chatd.core.parts import FilePart
from chatd.core.roles import Role
from chatd.core.states import State
from chatd.testing.postgres import Database
from store.transition_driver import DYNAMIC, LOCAL, Shape, answer, applied, open_chats, prepare, result
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
