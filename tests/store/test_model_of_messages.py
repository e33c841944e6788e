"""Which model a message leaves its chat with: the one it names, else the chat's; the default, when that is gone."""

from collections.abc import AsyncIterator
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio

from chatd.core.states import State
from chatd.testing.postgres import Database
from store.transition_driver import Chats, Shape, applied, open_chats, prepare
from store.world import add_model, add_provider, new_id


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as chats:
        yield chats


async def add_default(chats: Chats) -> UUID:
    """And take away what the chats of these tests have."""
    await chats.sql.delete_model_config(id=chats.model_id)
    return await add_model(chats.sql, await add_provider(chats.sql))


async def model_of(chats: Chats, chat: UUID) -> UUID:
    return UUID((await chats.look(chat))["state"]["last_model_config_id"])


@pytest.mark.parametrize(("state", "shape"), [(State.W, Shape()), (State.W, Shape(held=1)), (State.E0, Shape())])
async def test_a_message_that_names_no_model_takes_the_default_when_the_chats_is_gone(
    chats: Chats, state: State, shape: Shape
):
    default = await add_default(chats)
    chat = await prepare(chats, state, msgspec.structs.replace(shape, owned=False))

    sent = applied(await chats.transitions.send_message(chat.id, chats.user("new")))

    assert sent.change.last_model_config_id == await model_of(chats, chat.id) == default
    assert sent.messages[-1].model_config_id is None, "the message named none"


async def test_a_message_that_waits_leaves_the_chat_with_its_model(chats: Chats):
    await add_default(chats)
    chat = await prepare(chats, State.R0, Shape())

    applied(await chats.transitions.send_message(chat.id, chats.user("new")))

    assert await model_of(chats, chat.id) == chats.model_id


async def test_a_model_that_can_be_used_is_kept_whatever_the_default_is(chats: Chats):
    await add_default(chats)
    provider = await add_provider(chats.sql, name="other")
    own = await add_model(chats.sql, provider)
    chat = await prepare(chats, State.W, Shape(owned=False))
    await chats.raw("UPDATE chat_state SET last_model_config_id = $2 WHERE chat_id = $1", chat.id, own)

    applied(await chats.transitions.send_message(chat.id, chats.user("new")))

    assert await model_of(chats, chat.id) == own


async def test_an_edit_takes_the_default_when_the_model_of_the_message_is_gone(chats: Chats):
    default = await add_default(chats)
    chat = await prepare(chats, State.W, Shape(owned=False))

    applied(await chats.transitions.edit_message(chat.id, chat.first_message, chats.user("other")))

    assert await model_of(chats, chat.id) == default


async def test_without_a_default_the_chat_keeps_what_it_has(chats: Chats):
    chat = await prepare(chats, State.W, Shape(owned=False))

    applied(await chats.transitions.send_message(chat.id, chats.user("new")))

    assert await model_of(chats, chat.id) == chats.model_id


async def test_a_model_that_is_named_is_taken(chats: Chats):
    await add_default(chats)
    named = new_id()
    chat = await prepare(chats, State.W, Shape(owned=False))
    message = msgspec.structs.replace(chats.user("new"), model_config_id=named)

    applied(await chats.transitions.send_message(chat.id, message))

    assert await model_of(chats, chat.id) == named
