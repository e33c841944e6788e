"""What is known of a user's browsers: for a while, and never older than a change that was told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from chatd.core.secret import Secret
from chatd.push.subscriptions import KNOWN_SECONDS, Subscriptions
from chatd.store.store import SqlStore
from chatd.testing.fake_clock import FakeClock
from store.authorization_cases import CIPHER
from store.world import World, new_id, open_sql, populate


class Watched:
    """Of a store the one query, counted, and held between the answer of the database and its arrival if it is to."""

    def __init__(self, sql: SqlStore) -> None:
        self._sql = sql
        self.reads = 0
        self.holds: list[asyncio.Event] = []
        self.is_read = asyncio.Event()

    async def list_push_subscriptions(self, *, user_id: UUID, max_rows: int) -> Any:
        self.reads += 1
        rows = await self._sql.list_push_subscriptions(user_id=user_id, max_rows=max_rows)
        self.is_read.set()
        if self.holds:
            await self.holds.pop(0).wait()
        return rows


class Known:
    def __init__(self, world: World) -> None:
        self.world = world
        self.clock = FakeClock()
        self.store = Watched(world.sql)
        self.subscriptions = Subscriptions(self.store, self.clock)  # pyright: ignore[reportArgumentType]

    async def subscribe(self, number: int) -> None:
        await self.world.sql.upsert_push_subscription(
            id=new_id(),
            endpoint_hash=bytes([number]) * 32,
            endpoint=CIPHER.encrypt(Secret(f"https://push.example.com/{number}")),
            p256dh=bytes(65),
            auth=CIPHER.encrypt(Secret("a")),
            user_id=self.world.member.id,
            token_id=self.world.token.id,
        )

    async def count(self) -> int:
        return len(await self.subscriptions.of(self.world.member.id))


@asynccontextmanager
async def knowing(database: Any) -> AsyncIterator[Known]:
    async with open_sql(database.dsn) as sql:
        yield Known(await populate(sql))


async def test_browsers_are_read_once_and_again_when_their_time_is_up(database: Any):
    async with knowing(database) as known:
        assert await known.count() == 0
        await known.subscribe(1)
        assert await known.count() == 0
        assert known.store.reads == 1
        await known.clock.advance(KNOWN_SECONDS)

        assert known.subscriptions.known(known.world.member.id) is None
        assert await known.count() == 1
        assert known.store.reads == 2


async def test_a_change_that_is_told_ends_what_is_known(database: Any):
    async with knowing(database) as known:
        assert await known.count() == 0
        await known.subscribe(1)
        known.subscriptions.forget()

        assert await known.count() == 1


@pytest.mark.behaviour("SIDE-2")
async def test_a_change_during_a_read_is_not_overwritten_by_the_older_answer(database: Any):
    async with knowing(database) as known, asyncio.TaskGroup() as tasks:
        hold = asyncio.Event()
        known.store.holds = [hold]
        reading = tasks.create_task(known.count())
        await known.store.is_read.wait()
        await known.subscribe(1)
        known.subscriptions.forget()
        newer = await known.count()
        hold.set()

        assert (newer, await reading, await known.count()) == (1, 1, 1)
        assert known.store.reads == 2


@pytest.mark.behaviour("SIDE-2")
async def test_an_older_answer_that_arrives_first_is_asked_for_again(database: Any):
    async with knowing(database) as known, asyncio.TaskGroup() as tasks:
        hold = asyncio.Event()
        known.store.holds = [hold]
        reading = tasks.create_task(known.count())
        await known.store.is_read.wait()
        await known.subscribe(1)
        known.subscriptions.forget()
        hold.set()

        assert await reading == 1
        assert known.store.reads == 2


async def test_what_changes_all_the_time_is_used_and_not_kept(database: Any):
    async with knowing(database) as known:
        read = known.store.list_push_subscriptions

        async def changing(**asked: Any) -> Any:
            rows = await read(**asked)
            known.subscriptions.forget()
            return rows

        known.store.list_push_subscriptions = changing
        await known.subscribe(1)

        assert await known.count() == 1
        assert known.store.reads == 3
        assert known.subscriptions.known(known.world.member.id) is None
