"""What a transition stores is what a reader gets back, and an odd row never hides the rest."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatd.core.messages import Message, NewMessage, Role, Visibility
from chatd.core.parts import Part, TextPart, UnknownPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.usage import Usage
from chatd.store.stored_messages import read_message
from chatd.store.transitions import Applied, NewChat, Take, Transitions
from chatd.testing.postgres import Database
from core.part_strategies import PARTS
from store.silent_hints import SilentHints
from store.world import World, new_id, open_sql, populate

MODEL = UUID(int=9)


@pytest_asyncio.fixture
async def world(database: Database) -> AsyncIterator[World]:
    async with open_sql(database.dsn) as sql:
        yield await populate(sql)


async def create(world: World, *messages: NewMessage) -> Applied:
    organization = await world.sql.get_default_organization()
    chat = NewChat(
        id=new_id(), organization_id=organization.id, owner_id=world.member.id, model_config_id=MODEL, title="t"
    )
    made = await Transitions(world.sql, SilentHints()).create_chat(chat, messages, take=Take(new_id(), new_id()))
    assert isinstance(made, Applied)
    return made


async def stored(world: World, chat_id: UUID) -> list[Message]:
    rows = await world.sql.list_messages_page(chat_id=chat_id, before_id=None, after_id=None, max_rows=100)
    return [read_message(row) for row in reversed(rows)]


@pytest.mark.behaviour("CONTENT-1")
async def test_a_reader_gets_exactly_what_the_transition_said_it_stored(world: World):
    made = await create(
        world,
        NewMessage(role=Role.SYSTEM, parts=(TextPart(text="be kind"),)),
        NewMessage(role=Role.USER, parts=(TextPart(text="hello"),), created_by=world.member.id),
        NewMessage(
            role=Role.ASSISTANT,
            parts=(TextPart(text="hi"),),
            visibility=Visibility.USER,
            compressed=True,
            model_config_id=MODEL,
            reasoning_effort=ReasoningEffort.HIGH,
            usage=Usage(
                input_tokens=1,
                output_tokens=5,
                reasoning_tokens=2,
                cache_creation_tokens=3,
                cache_read_tokens=4,
                total_tokens=13,
            ),
            context_limit=200_000,
            cost_microdollars=0,
            runtime_ms=12,
        ),
    )

    assert await stored(world, made.change.chat_id) == list(made.messages)


@pytest.mark.behaviour("CONTENT-7")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(parts=st.lists(PARTS, min_size=1, max_size=3).map(tuple))
async def test_any_content_survives_a_transition(world: World, parts: tuple[Part, ...]):
    made = await create(world, NewMessage(role=Role.ASSISTANT, parts=parts))

    assert made.messages[0].parts == parts
    assert await stored(world, made.change.chat_id) == list(made.messages)


@pytest.mark.behaviour("CONTENT-3", "CONTENT-10")
async def test_a_row_of_any_version_is_read_beside_its_neighbours(world: World, database: Database):
    made = await create(world, NewMessage(role=Role.USER, parts=(TextPart(text="new"),), created_by=world.member.id))
    other = await asyncpg.connect(database.dsn)
    async with other.transaction():
        await other.execute("SELECT set_config('chatd.transition', 'import', true)")
        await other.executemany(
            """INSERT INTO messages (
                chat_id, revision, role, visibility, compressed, deleted, content_version, content, reasoning_tokens
            ) VALUES ($1, 1, 'user', 'both', false, false, $2, $3, $4)""",
            [
                (made.change.chat_id, 0, '"plain"', None),
                (made.change.chat_id, 0, '[{"type": "text", "data": {"text": "in an envelope"}}]', None),
                (made.change.chat_id, 1, '{"not": "a list"}', None),
                (made.change.chat_id, 99, '["from the future"]', None),
                (made.change.chat_id, 1, '[{"type": "text", "text": "odd counts"}]', -5),
            ],
        )
    await other.close()

    parts = [message.parts for message in await stored(world, made.change.chat_id)]

    assert parts[0] == (TextPart(text="new"),)
    assert parts[1] == (TextPart(text="plain"),)
    assert parts[2] == (TextPart(text="in an envelope"),)
    assert parts[3] == (UnknownPart('{"not": "a list"}'),)
    assert parts[4] == (UnknownPart('["from the future"]'),)
    assert parts[5] == (TextPart(text="odd counts"),)
