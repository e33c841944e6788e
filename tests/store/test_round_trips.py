"""How many statements the database sees: a transition is one, whatever it carries."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.usage import Usage
from chatd.store.transitions import Applied, NewChat, Outcome, Take, Transitions
from chatd.testing.postgres import Database
from chatd.testing.statements import Statements
from store.silent_hints import SilentHints
from store.world import World, new_id, open_sql, populate

REPLICA = UUID(int=7)


@pytest_asyncio.fixture
async def world(database: Database, statements: Statements) -> AsyncIterator[World]:
    async with open_sql(database.dsn) as sql:
        yield await populate(sql)


def said(text: str, role: Role = Role.USER, created_by: UUID | None = None) -> NewMessage:
    usage = Usage() if role is Role.USER else Usage(output_tokens=3)
    return NewMessage(role=role, parts=(TextPart(text=text),), created_by=created_by, usage=usage)


def step(calls: int) -> list[NewMessage]:
    """An answer that calls so many tools, and their results."""
    answer = tuple(ToolCallPart(tool_call_id=f"c{n}", tool_name="look", args="{}") for n in range(calls))
    results = [
        NewMessage(role=Role.TOOL, parts=(ToolResultPart(tool_call_id=f"c{n}", tool_name="look", result="{}"),))
        for n in range(calls)
    ]
    return [NewMessage(role=Role.ASSISTANT, parts=answer), *results]


def applied(outcome: Outcome) -> Applied:
    assert isinstance(outcome, Applied), outcome
    return outcome


async def running_chat(world: World, transitions: Transitions) -> Applied:
    organization = await world.sql.get_default_organization()
    chat = NewChat(
        id=new_id(),
        organization_id=organization.id,
        owner_id=world.member.id,
        model_config_id=UUID(int=9),
        title="t",
    )
    take = Take(REPLICA, new_id())
    return applied(await transitions.create_chat(chat, [said("hello", created_by=world.member.id)], take=take))


async def test_a_plain_turn_is_two_statements(world: World, statements: Statements):
    transitions = Transitions(world.sql, SilentHints())
    chat = await running_chat(world, transitions)
    assert chat.fence
    await transitions.commit_step(chat.fence, [said("hi", Role.ASSISTANT)], finish=True)
    before = await statements.count()

    sent = applied(
        await transitions.send_message(
            chat.change.chat_id, said("more", created_by=world.member.id), take=Take(REPLICA, new_id())
        )
    )
    after_send = await statements.count()
    assert sent.fence
    done = applied(await transitions.commit_step(sent.fence, [said("done", Role.ASSISTANT)], finish=True))

    assert after_send - before == 1
    assert await statements.count() - after_send == 1
    assert (sent.change.generation_attempt, done.state) == (1, "W")


async def test_finishing_with_a_queue_promotes_its_head_in_the_same_statement(world: World, statements: Statements):
    transitions = Transitions(world.sql, SilentHints())
    chat = await running_chat(world, transitions)
    await transitions.send_message(chat.change.chat_id, said("next", created_by=world.member.id))
    assert chat.fence
    before = await statements.count()

    done = applied(await transitions.commit_step(chat.fence, [said("done", Role.ASSISTANT)], finish=True))

    assert await statements.count() - before == 1
    assert (done.state, done.change.generation_attempt) == ("R0", 1)
    assert [message.role for message in done.messages] == [Role.ASSISTANT, Role.USER]


@pytest.mark.parametrize("calls", [1, 20, 100])
async def test_a_step_is_one_statement_however_many_tools_it_ran(world: World, statements: Statements, calls: int):
    transitions = Transitions(world.sql, SilentHints())
    chat = await running_chat(world, transitions)
    assert chat.fence
    drafted = applied(await transitions.save_draft(chat.fence, step(calls)[0]))
    before = await statements.count()

    done = applied(await transitions.commit_step(chat.fence, step(calls)))

    assert await statements.count() - before == 1
    assert drafted.change.has_draft
    assert not done.change.has_draft
    assert not done.change.has_open_calls
    assert [message.role for message in done.messages] == [Role.ASSISTANT] + [Role.TOOL] * calls
    assert [message.id for message in done.messages] == sorted(message.id for message in done.messages)


async def test_a_refused_transition_is_one_statement_and_writes_nothing(world: World, statements: Statements):
    transitions = Transitions(world.sql, SilentHints())
    chat = await running_chat(world, transitions)
    before = await statements.count()

    await transitions.archive(chat.change.chat_id)

    assert await statements.count() - before == 1
    state = (await world.sql.list_chat_versions(chat_ids=[chat.change.chat_id]))[0]
    assert state.snapshot_version == chat.change.snapshot_version
