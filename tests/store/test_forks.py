"""Forks of chats in the database: a coherent copy of one snapshot, and the source as it was."""

import asyncio
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refusal
from chatd.core.parts import TextPart, UnknownPart
from chatd.core.roles import Role, Visibility
from chatd.core.states import State
from chatd.store.transitions import Applied, Repeated, SendKey
from chatd.testing.postgres import Database
from store.test_transition_matrix import shapes
from store.transition_driver import (
    DYNAMIC,
    LOCAL,
    Chats,
    answer,
    applied,
    fence,
    held_open,
    open_chats,
    prepare,
    refused,
    result,
    shown,
    until_blocked,
)
from store.transition_programs import check_view
from store.world import add_user, new_id


async def forked(chats: Chats, source: UUID, at: int | None = None) -> Applied:
    return applied(await chats.transitions.fork_chat(new_id(), source, owner_id=chats.owner.id, at_message=at))


async def prompt(chats: Chats, chat_id: UUID) -> list[Any]:
    rows = await chats.sql.list_prompt_messages(chat_id=chat_id)
    return [(row.role, row.visibility, row.content, row.model_config_id, row.input_tokens) for row in rows]


@pytest.mark.parametrize("state", [state for state in State if state is not State.N])
async def test_a_chat_in_any_state_can_be_forked_and_is_not_touched_by_it(state: State, database: Database):
    async with open_chats(database.dsn) as chats:
        for shape in shapes(state):
            chat = await prepare(chats, state, shape)
            before = await chats.whole(chat.id)

            made = await forked(chats, chat.id)

            assert await chats.whole(chat.id) == before
            view = await chats.look(made.change.chat_id)
            check_view(view)
            assert (made.state, view["state"]["status"], view["queue"], view["draft"]) == (State.W, "waiting", [], None)


async def test_a_file_that_can_not_be_read_hinders_no_fork(database: Database):
    async with open_chats(database.dsn) as chats:
        broken = UnknownPart('{"type": "file", "file_id": "nothing of ours"}')
        message = NewMessage(role=Role.USER, parts=(broken,), created_by=chats.owner.id)
        source = applied(await chats.transitions.create_chat(chats.new_chat(), [message])).change.chat_id
        await chats.sql.insert_file(
            id=(file := new_id()),
            organization_id=chats.organization_id,
            owner_id=chats.owner.id,
            name="a",
            media_type="text/plain",
            data=b"a",
            sha256=bytes(32),
        )
        connection = await asyncpg.connect(database.dsn)
        await connection.execute("INSERT INTO chat_files (chat_id, file_id) VALUES ($1, $2)", source, file)
        await connection.close()

        made = await forked(chats, source)

        assert await prompt(chats, made.change.chat_id) == await prompt(chats, source)


async def test_a_prompt_of_a_fork_is_what_it_was_in_the_source_after_every_message(database: Database):
    """Also with a summary in the history: it is there in forks after it, and not in those before."""
    async with open_chats(database.dsn) as chats:
        system = NewMessage(role=Role.SYSTEM, parts=(TextPart(text="be kind"),), visibility=Visibility.MODEL)
        made = applied(
            await chats.transitions.create_chat(chats.new_chat(), [system, chats.user("one")], take=chats.take())
        )
        id, now = made.change.chat_id, fence(made)
        boundary = NewMessage(
            role=Role.USER, parts=(TextPart(text="summary"),), visibility=Visibility.MODEL, compressed=True
        )
        told = NewMessage(role=Role.TOOL, parts=result("s").parts, compressed=True)
        call = NewMessage(
            role=Role.ASSISTANT, parts=answer(calls=[("s", LOCAL)]).parts, visibility=Visibility.USER, compressed=True
        )
        prompts: dict[int, list[Any]] = {made.messages[-1].id: await prompt(chats, id)}
        for rows in (
            [answer("two")],
            [boundary, call, told],
            [answer(calls=[("a", LOCAL)]), result("a")],
            [answer("six")],
        ):
            step = applied(await chats.transitions.commit_step(now, rows))
            now = fence(step)
            prompts |= {m.id: await prompt(chats, id) for m in step.messages if m.visibility is not Visibility.MODEL}

        for at, expected in prompts.items():
            fork = (await forked(chats, id, at)).change.chat_id
            assert await prompt(chats, fork) == expected, at


async def test_a_step_is_not_cut_in_two_and_open_calls_are_cancelled(database: Database):
    async with open_chats(database.dsn) as chats:
        made = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user("go")], take=chats.take()))
        id, now = made.change.chat_id, fence(made)
        rows = [answer(calls=[("a", LOCAL), ("b", LOCAL)]), result("a"), result("b")]
        step = applied(await chats.transitions.commit_step(now, rows))
        waiting = applied(await chats.transitions.commit_step(fence(step), [answer("x", calls=[("c", DYNAMIC)])]))
        whole = ["go", "call a, call b", "result a", "result b"]

        async def texts(at: int | None) -> list[str]:
            return await chats.texts((await forked(chats, id, at)).change.chat_id)

        assert [await texts(message.id) for message in step.messages] == [whole] * 3
        assert await texts(made.messages[0].id) == ["go"]
        assert await texts(waiting.messages[0].id) == [*whole, "x, call c", "result c"]
        assert await texts(None) == [*whole, "x, call c", "result c"]


async def test_a_fork_is_all_of_one_moment_while_the_source_is_edited(database: Database):
    """Whatever comes between its statements: an edit that commits in the middle is in it whole or not at all."""
    async with open_chats(database.dsn, connections=3) as chats:
        made = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user("one")], take=chats.take()))
        id, now = made.change.chat_id, fence(made)
        for number in range(30):
            now = fence(await chats.transitions.commit_step(now, [answer(f"a{number}")]))

        async def edit() -> None:
            first = made.messages[0].id
            for number in range(20):
                edited = applied(await chats.transitions.edit_message(id, first, chats.user(f"edit {number}")))
                first = edited.messages[-1].id
                step = fence(edited)
                for more in range(5):
                    step = fence(await chats.transitions.commit_step(step, [answer(f"e{number}.{more}")]))

        async def fork() -> list[list[str]]:
            found: list[list[str]] = []
            while not editing.done():
                found.append(await chats.texts((await forked(chats, id)).change.chat_id))
            return found

        async with asyncio.TaskGroup() as group:
            editing = group.create_task(edit())
            forking = group.create_task(fork())

        begins = ["one", *(f"edit {number}" for number in range(20))]
        follow = [[f"a{number}" for number in range(30)], *([f"e{n}.{more}" for more in range(5)] for n in range(20))]
        whole = dict(zip(begins, follow, strict=True))
        assert forking.result()
        for head, *rest in forking.result():
            assert rest == whole[head][: len(rest)], head


async def test_an_edit_in_the_middle_of_a_fork_is_not_in_it(database: Database):
    """The fork waits for someone who is about to take its id, after it has looked at its source."""
    async with open_chats(database.dsn, connections=3) as chats, held_open(chats) as other:
        made = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user("one")], take=chats.take()))
        id, fork = made.change.chat_id, new_id()
        applied(await chats.transitions.commit_step(fence(made), [answer("two")]))
        await other.execute(
            "INSERT INTO chats (id, organization_id, owner_id) SELECT $1, organization_id, owner_id FROM chats", fork
        )
        async with asyncio.TaskGroup() as group:
            forking = group.create_task(chats.transitions.fork_chat(fork, id, owner_id=chats.owner.id))
            await until_blocked(chats)
            edited = await chats.transitions.edit_message(id, made.messages[0].id, chats.user("other"))
            applied(await chats.transitions.commit_step(fence(edited), [answer("more")]))
            await other.execute("ROLLBACK")

        applied(forking.result())
        assert await chats.texts(fork) == ["one", "two"]
        assert await chats.texts(id) == ["other", "more"]


async def test_a_fork_does_not_wait_for_its_source(database: Database):
    async with open_chats(database.dsn, connections=2) as chats, held_open(chats) as other:
        made = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user("one")]))
        await other.execute("SELECT FROM chat_state WHERE chat_id = $1 FOR UPDATE", made.change.chat_id)

        fork = await asyncio.wait_for(forked(chats, made.change.chat_id), 30)

        assert await chats.texts(fork.change.chat_id) == ["one"]


async def test_what_can_not_be_forked_is_refused_and_leaves_nothing(database: Database):
    async with open_chats(database.dsn) as chats:
        system = NewMessage(role=Role.SYSTEM, parts=(TextPart(text="s"),), visibility=Visibility.MODEL)
        first = [system, chats.user("one")]
        made = applied(await chats.transitions.create_chat(chats.new_chat(), first, take=chats.take()))
        id = made.change.chat_id
        other = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user("other")]))
        edited = applied(await chats.transitions.edit_message(id, made.messages[1].id, chats.user("two")))
        stranger = await add_user(chats.sql, "sam")
        wrong = (made.messages[0].id, made.messages[1].id, other.messages[0].id, 2**60, 0)
        do = chats.transitions

        for at in wrong:
            refusal = refused(await do.fork_chat(new_id(), id, owner_id=chats.owner.id, at_message=at))
            assert (refusal.reason, refusal.state, refusal.subject) == (Refusal.MESSAGE_NOT_FOUND, State.N, str(at))
        assert refused(await do.fork_chat(new_id(), new_id(), owner_id=chats.owner.id)).reason is Refusal.NOT_FOUND
        taken = await do.fork_chat(other.change.chat_id, id, owner_id=stranger.id)
        assert refused(taken).reason is Refusal.ID_TAKEN
        seen = await chats.sql.fork_chat(
            chat_id=new_id(), owner_id=stranger.id, source_id=id, only_owner=stranger.id, at_message=None, title=None
        )
        assert seen is None
        assert await chats.sql._db.fetchval("SELECT count(*) FROM chats") == 2
        assert [shown(m) for m in (await chats.look(id))["messages"] if not m["deleted"]] == ["s", "two"]
        assert edited.change.chat_id == id


async def test_keys_of_messages_are_the_source_s_alone(database: Database):
    async with open_chats(database.dsn) as chats:
        made = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user("one")], take=chats.take()))
        applied(await chats.transitions.finish_turn(fence(made)))
        key = SendKey(new_id(), new_id())
        sent = await chats.transitions.send_once(made.change.chat_id, chats.user("two"), key)
        assert not isinstance(sent, Repeated)

        fork = (await forked(chats, made.change.chat_id)).change.chat_id
        again = await chats.transitions.send_once(fork, chats.user("two again"), key, take=chats.take())

        assert isinstance(again, Applied)
        assert await chats.texts(fork) == ["one", "two", "two again"]
