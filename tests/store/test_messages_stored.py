"""What the database holds of messages: their version, roles, rows that are hidden, rows that nobody can read."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from chatd.core.messages import NewMessage, read_content, read_content_leniently
from chatd.core.parts import AnyPart, TextPart, UnknownPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role, Visibility
from chatd.store.queries import Message, MessageRow
from chatd.store.transitions import Applied
from chatd.testing.postgres import Database
from store.authorization_cases import FIRST_PAGE
from store.busy_scenario import Scenario
from store.large_world import load
from store.transition_driver import DYNAMIC, Chats, answer, applied, fence, open_chats, result

EVER: dict[str, Any] = {"since": datetime(2000, 1, 1, tzinfo=UTC), "until": datetime(2100, 1, 1, tzinfo=UTC)}
NOBODY = UUID(int=0)
MOST = 2**63 - 1
INSERT = """INSERT INTO messages (chat_id, revision, role, visibility, compressed, deleted, content_version, content)
    VALUES ($1, 1, 'user', 'both', false, false, $2, $3)"""


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as chats:
        yield chats


async def started(chats: Chats, *messages: NewMessage) -> Applied:
    return applied(await chats.transitions.create_chat(chats.new_chat(), messages or [chats.user()], take=chats.take()))


async def shown(chats: Chats, chat_id: UUID) -> list[Message]:
    """Oldest first, as people read."""
    return (await chats.sql.list_messages_page(chat_id=chat_id, before_id=None, after_id=None, max_rows=1000))[::-1]


async def stored(chats: Chats, chat_id: UUID) -> list[dict[str, Any]]:
    return (await chats.look(chat_id))["messages"]


def assistant(text: str = "", **fields: Any) -> NewMessage:
    return NewMessage(role=Role.ASSISTANT, parts=(TextPart(text=text),), **fields)


@pytest.mark.behaviour("CONTENT-1")
@pytest.mark.parametrize("table", ["messages", "queued_messages", "chat_drafts"])
async def test_an_insert_without_a_content_version_fails(chats: Chats, table: str):
    chat = (await started(chats)).change.chat_id
    columns = {
        "messages": "chat_id, revision, role, visibility, compressed, deleted, content",
        "queued_messages": "chat_id, position, created_by, content",
        "chat_drafts": "chat_id, content",
    }[table]
    values = {
        "messages": "1, 'user', 'both', false, false, '[]'",
        "queued_messages": "1, gen_random_uuid(), '[]'",
        "chat_drafts": "'[]'",
    }[table]

    with pytest.raises(asyncpg.NotNullViolationError, match="content_version"):
        await chats.raw(f"INSERT INTO {table} ({columns}) VALUES ($1, {values})", chat)  # noqa: S608
    assert (
        await chats.sql._db.fetchval(
            "SELECT column_default FROM information_schema.columns WHERE table_name = $1 AND column_name = $2",
            table,
            "content_version",
        )
        is None
    )


@pytest.mark.behaviour("CONTENT-1")
async def test_a_transition_without_a_content_version_fails(chats: Chats):
    now = fence(await started(chats))
    row: Any = MessageRow(Role.ASSISTANT, "[]", None)  # type: ignore[arg-type]

    for rows in ([row], [row, row]):
        with pytest.raises(asyncpg.NotNullViolationError):
            await chats.sql.commit_step(
                chat_id=now.chat_id,
                runner_id=now.runner_id,
                history_version=now.history_version,
                rows=rows,
                finish=False,
                compacted=False,
            )


@pytest.mark.behaviour("CONTENT-1")
async def test_every_path_writes_typed_parts_of_version_1(chats: Chats, database: Database):
    connection = await asyncpg.connect(database.dsn)
    world = await load(connection, chats=1000, each=1, long=0)
    before = await connection.fetchval("SELECT max(id) FROM messages")

    await Scenario.on(chats.sql, world).play()

    written = await connection.fetch("SELECT role, content_version, content FROM messages WHERE id > $1", before)
    await connection.close()
    assert {row["content_version"] for row in written} == {1}
    assert {row["role"] for row in written} == {"user", "assistant", "tool"}
    for row in written:
        parts = read_content(1, Role(row["role"]), row["content"])
        assert parts
        assert not any(isinstance(part, UnknownPart) for part in parts)


@pytest.mark.behaviour("CONTENT-4")
async def test_roles_are_the_same_enum_in_python_and_in_the_database(chats: Chats):
    labels = await chats.sql._db.fetch("SELECT unnest(enum_range(NULL::message_role))::text")
    assert [row[0] for row in labels] == [str(role) for role in Role]
    columns = await chats.sql._db.fetch(
        "SELECT table_name, udt_name FROM information_schema.columns"
        " WHERE column_name = 'role' AND table_schema = 'public' AND table_name LIKE '%message%'"
    )
    assert [tuple(row) for row in columns] == [("messages", "message_role")]


@pytest.mark.behaviour("CONTENT-4")
async def test_roles_come_back_as_the_enum_of_core(chats: Chats):
    system = NewMessage(role=Role.SYSTEM, parts=(TextPart(text="be kind"),), visibility=Visibility.MODEL)
    made = await started(chats, system, chats.user())
    step = applied(
        await chats.transitions.commit_step(
            fence(made), [answer(calls=[("c", DYNAMIC)]), result("c"), assistant(reasoning_effort=ReasoningEffort.LOW)]
        )
    )

    rows = await chats.sql.list_prompt_messages(chat_id=step.change.chat_id)

    assert [row.role for row in rows] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert {type(row.role) for row in rows} == {Role}
    assert {type(row.visibility) for row in rows} == {Visibility}
    assert rows[-1].reasoning_effort is ReasoningEffort.LOW
    sent = applied(await chats.transitions.send_message(step.change.chat_id, chats.user()))
    ended = applied(await chats.transitions.finish_turn(fence(sent)))
    assert [type(added.role) for added in ended.change.added or ()] == [Role]


@pytest.mark.behaviour("CONTENT-4")
async def test_the_database_refuses_an_unknown_role(chats: Chats):
    now = fence(await started(chats))
    robot: Any = "robot"

    with pytest.raises(asyncpg.InvalidTextRepresentationError, match="message_role"):
        await chats.sql.commit_step(
            chat_id=now.chat_id,
            runner_id=now.runner_id,
            history_version=now.history_version,
            rows=[MessageRow(robot, "[]", 1)],
            finish=False,
            compacted=False,
        )
    with pytest.raises(asyncpg.InvalidTextRepresentationError):
        await chats.raw("UPDATE messages SET role = 'robot' WHERE chat_id = $1", now.chat_id)


async def edited(chats: Chats) -> tuple[UUID, list[int], list[int]]:
    """A chat whose first message was edited after an answer; the ids that are hidden, and those that are not."""
    made = await started(chats)
    step = await chats.transitions.commit_step(
        fence(made), [assistant("first", cost_microdollars=7, runtime_ms=20)], finish=True
    )
    id = applied(step).change.chat_id
    again = applied(
        await chats.transitions.edit_message(id, made.messages[0].id, chats.user("again"), take=chats.take())
    )
    last = applied(await chats.transitions.commit_step(fence(again), [assistant("second", cost_microdollars=2)]))
    return id, list(again.change.deleted_ids or ()), [again.messages[0].id, last.messages[0].id]


@pytest.mark.behaviour("CONTENT-9")
async def test_an_edit_hides_rows_and_every_read_leaves_them_out(chats: Chats):
    id, hidden, left = await edited(chats)
    sql = chats.sql

    assert len(hidden) == 2
    assert [row["id"] for row in await stored(chats, id)] == sorted(hidden + left)
    assert [row.id for row in await shown(chats, id)] == left
    assert [row.id for row in await sql.list_messages_after(chat_id=id, after_id=0, max_rows=10)] == left
    assert [row.id for row in await sql.list_prompt_messages(chat_id=id)] == left
    for number in hidden:
        assert await sql.get_message(chat_id=id, id=number) is None
    # An answer that was hidden is nothing to read any more.
    await chats.transitions.edit_message(id, left[0], chats.user("once more"))
    assert not await sql.has_unread(chat_id=id)
    listed = await sql.list_chats(archived=False, **FIRST_PAGE)
    assert [chat.has_unread for chat in listed] == [False]


@pytest.mark.behaviour("CONTENT-9")
async def test_hidden_rows_keep_what_they_cost_and_sums_count_them(chats: Chats):
    id, _, _ = await edited(chats)

    [by_model] = await chats.sql.sum_cost_by_model(owner_id=chats.owner.id, **EVER)
    [by_chat] = await chats.sql.sum_cost_by_chat(owner_id=chats.owner.id, max_rows=5, **EVER)

    assert (by_model.cost_microdollars, by_model.answers, by_model.unpriced) == (9, 2, 0)
    assert (by_chat.root_chat_id, by_chat.cost_microdollars) == (id, 9)
    assert await chats.sql.sum_runtime_ms(owner_id=chats.owner.id, **EVER) == 20


@pytest.mark.behaviour("CONTENT-9")
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM messages WHERE chat_id = $1",
        "UPDATE messages SET content = '[]', deleted = true, revision = revision + 1 WHERE chat_id = $1",
        "UPDATE messages SET deleted = false, revision = revision + 1 WHERE chat_id = $1",
        "UPDATE messages SET id = id + 1000, deleted = true, revision = revision + 1 WHERE chat_id = $1",
    ],
)
async def test_the_database_refuses_to_delete_or_change_a_message(chats: Chats, statement: str):
    id = (await started(chats)).change.chat_id
    before = await stored(chats, id)

    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await chats.raw(statement, id)

    assert await stored(chats, id) == before


@pytest.mark.behaviour("CONTENT-9")
async def test_a_whole_chat_takes_its_messages_with_it(chats: Chats):
    id, _, _ = await edited(chats)
    other, _, _ = await edited(chats)

    await chats.raw("DELETE FROM chats WHERE id = $1", id)

    assert await stored(chats, id) == []
    assert len(await stored(chats, other)) == 4


@pytest.mark.behaviour("CONTENT-10")
async def test_an_unreadable_row_or_one_of_an_unknown_version_hides_nothing(chats: Chats):
    made = await started(chats, chats.user("before"))
    id = made.change.chat_id
    future, broken, odd = '[{"type": "text", "words": "new"}]', '{"no": "list"}', '[{"type": "hologram", "x": 1}]'
    for version, content in ((9, future), (1, broken), (1, odd)):
        await chats.raw(INSERT, id, version, content)
    await chats.transitions.commit_step(fence(made), [assistant("after")])

    rows = await shown(chats, id)
    contents: list[tuple[AnyPart, ...]] = [
        read_content_leniently(row.content_version, row.role, row.content) for row in rows
    ]

    assert [contents[0], contents[4]] == [(TextPart(text="before"),), (TextPart(text="after"),)]
    assert all(isinstance(part, UnknownPart) for content in contents[1:4] for part in content)
    # Kept as it is, also by a prompt, which leaves it out by itself.
    kept = [
        msgspec.json.decode(part.raw) for content in contents[1:4] for part in content if isinstance(part, UnknownPart)
    ]
    assert kept == [msgspec.json.decode(future), msgspec.json.decode(broken), msgspec.json.decode(odd)[0]]
    assert [row.id for row in await chats.sql.list_prompt_messages(chat_id=id)] == [row.id for row in rows]
