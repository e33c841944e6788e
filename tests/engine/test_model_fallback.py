"""A chat goes on with the default model when its own was deleted or switched off, from the next step on."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from chatd.core.access import OPERATOR
from chatd.core.states import Status
from chatd.engine.tools.tool import ToolCall, ToolOutput, said
from chatd.store.actor import acting_as
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import new_id
from engine.scripted_tools import ScriptedTool

ANOTHER = """
    INSERT INTO model_configs (id, provider_id, model, context_limit)
    SELECT $1, provider_id, model, 100000 FROM model_configs WHERE id = $2"""


async def switched_off(chats: Chatting) -> None:
    await chats.deployment.pool.execute("UPDATE model_configs SET enabled = false WHERE id = $1", chats.model_id)


async def with_its_provider(chats: Chatting) -> None:
    """Whose models are another's by then."""
    await chats.deployment.pool.execute(
        "WITH twin AS (INSERT INTO providers (id, name, kind, base_url, api_key)"
        " SELECT gen_random_uuid(), 'twin', kind, base_url, api_key FROM providers RETURNING id)"
        " UPDATE model_configs m SET provider_id = twin.id FROM twin WHERE m.id <> $1",
        chats.model_id,
    )
    await chats.deployment.pool.execute("UPDATE providers SET enabled = false WHERE name = 'scripted'")


async def deleted(chats: Chatting) -> None:
    with acting_as(OPERATOR):
        await chats.parts.store.delete_model_config(id=chats.model_id)


Gone = Callable[[Chatting], Awaitable[None]]
GONE = pytest.mark.parametrize("gone", [switched_off, with_its_provider, deleted])


async def another_model(chats: Chatting) -> UUID:
    id = new_id()
    await chats.deployment.pool.execute(ANOTHER, id, chats.model_id)
    return id


def forget(chats: Chatting) -> None:
    """What a replica does when it hears that models have changed."""
    chats.parts.preparing._models.forget()


async def models_of_answers(chats: Chatting, chat: UUID) -> list[UUID | None]:
    return [message.model_config_id for message in await chats.messages(chat) if message.role == "assistant"]


@GONE
async def test_the_next_message_is_answered_by_the_default(database: Any, gone: Gone):
    async with chatting(database.dsn, [Turn(Say("one")), Turn(Say("two"))]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        other = await another_model(chats)
        await gone(chats)
        forget(chats)
        sent = await chats.send(chat, "go on")
        rested = await chats.resting(chat)
        answers = await models_of_answers(chats, chat)

    assert rested["status"] == Status.WAITING, rested
    assert sent.change.last_model_config_id == other, "it is the chat's model from the message on"
    assert answers == [chats.model_id, other]


@GONE
async def test_the_next_step_of_a_turn_is_made_by_the_default(database: Any, gone: Gone):
    async with chatting(
        database.dsn, [Turn(Call("look", "{}")), Turn(Say("done"))], tools=[look := ScriptedTool("look")]
    ) as chats:
        other = await another_model(chats)

        async def lose_the_model(call: ToolCall) -> ToolOutput:
            await gone(chats)
            forget(chats)
            return said("looked")

        look._act = lose_the_model
        chat = await chats.begin()
        rested = await chats.resting(chat)
        answers = await models_of_answers(chats, chat)

    assert rested["status"] == Status.WAITING, rested
    assert answers == [chats.model_id, other]
    assert rested["last_model_config_id"] == other


@GONE
async def test_without_another_model_the_turn_says_what_is_missing(database: Any, gone: Gone):
    async with chatting(database.dsn, [Turn(Say("one"))]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        await gone(chats)
        forget(chats)
        sent = await chats.send(chat, "go on")
        rested = await chats.resting(chat)

    assert sent.change.last_model_config_id == chats.model_id
    assert rested["status"] == Status.ERROR
    assert "config" in rested["last_error"]


async def test_a_model_that_was_changed_in_another_way_stays_the_turns_own(database: Any):
    async with chatting(
        database.dsn, [Turn(Call("look", "{}")), Turn(Say("done"))], tools=[look := ScriptedTool("look")]
    ) as chats:
        await another_model(chats)

        async def rename(call: ToolCall) -> ToolOutput:
            await chats.deployment.pool.execute("UPDATE model_configs SET display_name = 'x'")
            forget(chats)
            return said("looked")

        look._act = rename
        chat = await chats.begin()
        await chats.resting(chat)
        answers = await models_of_answers(chats, chat)

    assert answers == [chats.model_id, chats.model_id]
