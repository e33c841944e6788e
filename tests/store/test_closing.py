"""A transition that would leave a chat as no chat can be raises, and nothing of it is stored."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from chatd.core.states import State
from chatd.testing.postgres import Database
from store.transition_driver import Chats, Shape, open_chats, prepare

CLOSE = """SELECT outcome FROM close_transition(
    jsonb_populate_record(open_transition('record_attempt', $1, NULL), $2::jsonb))"""


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as opened:
        yield opened


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize(
    "wrong",
    [
        {"landings": None},
        {"landings": ["W"]},
        {"status": "waiting"},
        {"archived": True},
        {"queue_length": -1},
        {"queue_length": 1},
        {"held_length": -1},
        {"snapshot_version": 99},
        {"history_version": 0},
        {"queue_version": 99},
        {"retry_version": 99},
        {"replica_id": None},
        {"runner_id": None},
        {"last_error": {"message": "It broke."}},
        {"requires_action_deadline_at": "2030-01-01"},
    ],
    ids=lambda wrong: "-".join(f"{name}-{value}" for name, value in wrong.items()),
)
async def test_what_does_not_fit_together_is_not_stored(chats: Chats, wrong: dict[str, Any]):
    chat = await prepare(chats, State.R0, Shape())
    before = await chats.whole(chat.id)

    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await chats.sql._db.fetchval(CLOSE, chat.id, msgspec.json.encode(wrong).decode())

    assert await chats.whole(chat.id) == before
    assert await chats.sql._db.fetchval(CLOSE, chat.id, "{}") == "applied"
