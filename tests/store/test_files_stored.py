"""Files as they are stored: content and metadata apart, and the sweep of those that no chat has."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from chatd.core.outcomes import Refusal, Refused
from chatd.store.store import SqlStore
from chatd.testing.postgres import Database
from store.transition_driver import Chats, applied, open_chats
from store.world import file_of, new_id

OLD = timedelta(hours=1)


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn, connections=2) as chats:
        yield chats


async def add_old_file(chats: Chats) -> dict[str, Any]:
    file = await file_of(chats.sql, chats.owner)
    await chats.sql.insert_file(**file)
    await chats.sql._db.execute("UPDATE files SET created_at = now() - interval '2 hours' WHERE id = $1", file["id"])
    return file


async def sweep(sql: SqlStore) -> int:
    async with sql.transaction() as tx:
        return await tx.delete_orphan_files(ids=await tx.lock_orphan_files(older_than=OLD, max_rows=10))


async def test_a_file_comes_back_whole_and_its_metadata_without_content(chats: Chats):
    file = await file_of(chats.sql, chats.owner, bytes(range(256)) * 100)
    await chats.sql.insert_file(**file)

    whole, brief = await chats.sql.get_file(id=file["id"]), await chats.sql.get_file_metadata(id=file["id"])

    assert whole is not None
    assert brief is not None
    assert (whole.data, whole.size, whole.sha256) == (file["data"], 25_600, file["sha256"])
    assert (brief.name, brief.size, brief.owner_id) == ("a.txt", 25_600, chats.owner.id)
    file |= {"id": new_id(), "sha256": b"short"}
    with pytest.raises(asyncpg.CheckViolationError):
        await chats.sql.insert_file(**file)


async def test_only_old_files_that_no_chat_has_are_swept(chats: Chats):
    orphan, linked = await add_old_file(chats), await add_old_file(chats)
    fresh = await file_of(chats.sql, chats.owner)
    await chats.sql.insert_file(**fresh)
    made = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()], file_ids=[linked["id"]]))

    assert await sweep(chats.sql) == 1

    assert await chats.sql.get_file(id=orphan["id"]) is None
    assert await chats.sql.get_file(id=fresh["id"]) is not None
    files = await chats.sql.list_chat_files(chat_id=made.change.chat_id)
    assert [file.id for file in files] == [linked["id"]]


async def test_a_file_that_is_sent_between_search_and_lock_stays(chats: Chats):
    file = await add_old_file(chats)

    async with chats.sql.transaction() as tx:
        found = await tx._db.fetch("SELECT id FROM files")  # as a search that has not locked yet
        made = await chats.transitions.create_chat(chats.new_chat(), [chats.user()], file_ids=[file["id"]])
        assert await tx.delete_orphan_files(ids=[row[0] for row in found]) == 0

    assert [row.id for row in await chats.sql.list_chat_files(chat_id=applied(made).change.chat_id)] == [file["id"]]


async def test_a_file_that_is_being_swept_can_not_be_sent(chats: Chats):
    file = await add_old_file(chats)

    assert await sweep(chats.sql) == 1
    outcome = await chats.transitions.create_chat(chats.new_chat(), [chats.user()], file_ids=[file["id"]])

    assert isinstance(outcome, Refused)
    assert outcome.reason is Refusal.FILE_NOT_FOUND


async def test_what_is_locked_by_someone_who_sends_it_is_skipped(chats: Chats):
    file = await add_old_file(chats)

    async with chats.sql.transaction() as sender:
        await sender._db.execute("SELECT FROM files WHERE id = $1 FOR KEY SHARE", file["id"])
        assert await sweep(chats.sql) == 0

    assert await sweep(chats.sql) == 1
