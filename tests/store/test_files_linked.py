"""A message names files of the chat's owner, at most fifty to a chat, all or none."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from chatd.core.chat_limits import MOST_FILES
from chatd.core.errors import InvalidRequest
from chatd.core.outcomes import Refusal
from chatd.core.states import State
from chatd.testing.postgres import Database
from store.transition_driver import (
    Chats,
    Shape,
    applied,
    held_open,
    open_chats,
    prepare,
    refused,
    until_blocked,
)
from store.world import add_user, new_id


@pytest.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as opened:
        yield opened


async def files(chats: Chats, count: int, *, owner: UUID | None = None) -> list[UUID]:
    ids = [new_id() for _ in range(count)]
    await chats.sql._db.execute(
        "INSERT INTO files (id, organization_id, owner_id, name, media_type, size, sha256, data)"
        " SELECT id, $2, $3, 'a.txt', 'text/plain', 0, sha256(''), '' FROM unnest($1::uuid[]) AS id",
        ids,
        chats.organization_id,
        owner or chats.owner.id,
    )
    return ids


@pytest.mark.behaviour("STATE-8")
async def test_a_chat_has_at_most_fifty_files_and_those_it_has_cost_nothing(chats: Chats):
    chat = await prepare(chats, State.W, Shape(owned=False))
    send = chats.transitions.send_message
    many = await files(chats, MOST_FILES + 1)

    applied(await send(chat.id, chats.user("a"), file_ids=many[:MOST_FILES]))
    applied(await send(chat.id, chats.user("b"), file_ids=many[:MOST_FILES]))
    before = await chats.whole(chat.id)
    full = refused(await send(chat.id, chats.user("c"), file_ids=[many[0], many[-1]]))

    assert (full.reason, full.limit) == (Refusal.TOO_MANY_FILES, 50)
    assert isinstance(full.error(), InvalidRequest)
    assert await chats.whole(chat.id) == before
    assert len((await chats.look(chat.id))["files"]) == MOST_FILES


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize("kind", ["send", "edit", "release", "create"])
async def test_a_message_with_a_file_that_is_not_the_owners_changes_nothing(chats: Chats, kind: str):
    stranger = await add_user(chats.sql, "sam")
    (mine,) = await files(chats, 1)
    (foreign,) = await files(chats, 1, owner=stranger.id)
    chat = await prepare(chats, State.W, Shape(held=1, owned=False))
    before = await chats.whole(chat.id)
    given = [mine, foreign]
    do = chats.transitions

    match kind:
        case "send":
            outcome = await do.send_message(chat.id, chats.user(), file_ids=given)
        case "edit":
            outcome = await do.edit_message(chat.id, chat.first_message, chats.user(), file_ids=given)
        case "release":
            outcome = await do.release_queued(chat.id, chat.held[0], holder=chat.holder, file_ids=given)
        case _:
            outcome = await do.create_chat(chats.new_chat(), [chats.user()], file_ids=given)

    assert (refused(outcome).reason, refused(outcome).subject) == (Refusal.FILE_NOT_FOUND, str(foreign))
    assert await chats.whole(chat.id) == before
    assert await chats.sql._db.fetchval("SELECT count(*) FROM chats") == 1


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize("kind", ["send", "edit", "release", "create"])
async def test_every_way_to_name_a_file_ties_it_to_the_chat(chats: Chats, kind: str):
    (mine,) = await files(chats, 1)
    chat = await prepare(chats, State.W, Shape(held=1, owned=False))
    do = chats.transitions

    match kind:
        case "send":
            outcome = await do.send_message(chat.id, chats.user(), file_ids=[mine])
        case "edit":
            outcome = await do.edit_message(chat.id, chat.first_message, chats.user(), file_ids=[mine])
        case "release":
            outcome = await do.release_queued(chat.id, chat.held[0], holder=chat.holder, file_ids=[mine])
        case _:
            outcome = await do.create_chat(chats.new_chat(), [chats.user()], file_ids=[mine])

    assert (await chats.look(applied(outcome).change.chat_id))["files"] == [str(mine)]


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize("swept", [True, False])
async def test_a_file_that_is_being_swept_away_is_waited_for_and_then_there_or_not(database: Database, swept: bool):
    async with open_chats(database.dsn, connections=3) as chats, asyncio.TaskGroup() as group:
        chat = await prepare(chats, State.W, Shape(owned=False))
        (mine,) = await files(chats, 1)
        before = await chats.whole(chat.id)
        async with held_open(chats) as sweeper:
            await sweeper.execute("DELETE FROM files WHERE id = $1", mine)
            sending = group.create_task(chats.transitions.send_message(chat.id, chats.user("a"), file_ids=[mine]))
            await until_blocked(chats)
            await sweeper.execute("COMMIT" if swept else "ROLLBACK")

        outcome = await sending
        if swept:
            assert (refused(outcome).reason, refused(outcome).subject) == (Refusal.FILE_NOT_FOUND, str(mine))
            assert await chats.whole(chat.id) == before
        else:
            applied(outcome)
            assert (await chats.look(chat.id))["files"] == [str(mine)]
