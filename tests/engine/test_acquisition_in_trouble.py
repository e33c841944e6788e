"""Chats that can't be taken keep nobody from taking others, and nobody takes what is not theirs to take."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.store.transitions import Take
from engine.deployment import PATIENCE, Deployment, connection_to, new_id, open_deployment
from engine.test_acquisition import acquire, chat_that_is, new_replica

ARCHIVED = "UPDATE chat_state SET archived = true WHERE chat_id = $1"


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


@asynccontextmanager
async def locked(deployment: Deployment, chat: UUID) -> AsyncIterator[None]:
    """Someone else has the chat locked, and whoever waits for it waits too long."""
    connection = await connection_to(deployment.dsn)
    try:
        async with connection.transaction(), asyncio.timeout(PATIENCE):
            await connection.execute("SELECT FROM chat_state WHERE chat_id = $1 FOR UPDATE", chat)
            yield
    finally:
        await connection.close()


async def owned_by(deployment: Deployment, owner: UUID, *, parent_id: UUID | None = None) -> UUID:
    return await deployment.new_chat(take=Take(owner, new_id()), parent_id=parent_id)


async def test_a_chat_that_runs_though_archived_is_never_taken_and_takes_no_place_in_a_batch(deployment: Deployment):
    dead, taker = await new_replica(deployment), await new_replica(deployment)
    strange = [await deployment.new_chat(), await owned_by(deployment, dead)]
    free, orphan = await deployment.new_chat(), await owned_by(deployment, dead)
    for chat in strange:
        await deployment.raw(ARCHIVED, chat)
    await deployment.silence(dead)

    assert sorted([*await acquire(deployment, taker, 1), *await acquire(deployment, taker, 1)]) == sorted(
        [free, orphan]
    )
    assert await acquire(deployment, taker) == []
    assert [await deployment.owner(chat) for chat in strange] == [None, dead]


@pytest.mark.parametrize("orphaned", [False, True])
async def test_a_broken_chat_keeps_no_other_from_being_taken(deployment: Deployment, orphaned: bool):
    dead, taker = await new_replica(deployment), await new_replica(deployment)
    broken = await chat_that_is(deployment, "requires_action")
    await deployment.raw("UPDATE chat_state SET requires_action_deadline_at = NULL WHERE chat_id = $1", broken)
    free, orphan = await deployment.new_chat(), await owned_by(deployment, dead)
    if orphaned:
        await deployment.raw("UPDATE chat_state SET replica_id = $2, runner_id = $2 WHERE chat_id = $1", broken, dead)
    await deployment.silence(dead)
    before = await deployment.state(broken)

    assert sorted(await acquire(deployment, taker)) == sorted([free, orphan])
    assert await deployment.state(broken) == before


async def test_a_taker_that_is_silent_itself_takes_over_nothing(deployment: Deployment):
    dead, taker = await new_replica(deployment), await new_replica(deployment)
    orphan = await owned_by(deployment, dead)
    await deployment.silence(dead, taker, seconds=11)

    assert await acquire(deployment, taker) == []
    await deployment.silence(taker, seconds=0)
    assert await acquire(deployment, taker) == [orphan]


@pytest.mark.parametrize("silent_for", [0.0, 11.0, -3600.0])
async def test_a_replica_does_not_take_over_its_own_chats(deployment: Deployment, silent_for: float):
    """Also when its own heartbeat is late, or from before the clock was set back."""
    taker = await new_replica(deployment)
    mine = await owned_by(deployment, taker)
    await deployment.silence(taker, seconds=silent_for)
    before = await deployment.state(mine)

    assert await acquire(deployment, taker) == []
    assert await deployment.state(mine) == before


async def test_a_pool_that_is_full_from_the_start_lets_chats_stop_and_wait(deployment: Deployment):
    taker = await new_replica(deployment)
    await owned_by(deployment, taker)
    stopping, waiting = [await chat_that_is(deployment, status) for status in ("interrupting", "requires_action")]
    await deployment.new_chat()

    assert await acquire(deployment, taker, root_capacity=1, child_capacity=0) == [stopping, waiting]


@pytest.mark.parametrize("orphaned", [False, True])
async def test_a_chat_that_is_locked_is_skipped_and_not_waited_for(deployment: Deployment, orphaned: bool):
    dead, taker = await new_replica(deployment), await new_replica(deployment)
    take = Take(dead, new_id()) if orphaned else None
    busy, other = await deployment.new_chat(take=take), await deployment.new_chat(take=take)
    await deployment.silence(dead)

    async with locked(deployment, busy):
        assert await acquire(deployment, taker) == [other]
    assert await acquire(deployment, taker) == [busy]


async def test_a_chat_that_is_locked_is_not_handed_over_and_not_waited_for(deployment: Deployment):
    leaver = await new_replica(deployment)
    busy, other = [await owned_by(deployment, leaver) for _ in range(2)]

    async with locked(deployment, busy):
        handed = await deployment.transitions.hand_over(leaver, most_chats=10)
        assert [one.change.chat_id for one in handed] == [other]
    assert await deployment.owner(busy) == leaver


async def test_so_many_chats_at_once_are_handed_over(deployment: Deployment):
    leaver = await new_replica(deployment)
    chats = {await owned_by(deployment, leaver) for _ in range(5)}

    batches = [await deployment.transitions.hand_over(leaver, most_chats=2) for _ in range(4)]

    assert [len(batch) for batch in batches] == [2, 2, 1, 0]
    assert {one.change.chat_id for batch in batches for one in batch} == chats


async def test_of_a_dead_replicas_chats_those_that_wait_longest_are_taken_first(deployment: Deployment):
    dead, taker = await new_replica(deployment), await new_replica(deployment)
    root = await deployment.idle_chat()
    chats = [await owned_by(deployment, dead) for _ in range(4)]
    children = [await owned_by(deployment, dead, parent_id=root) for _ in range(4)]
    await deployment.silence(dead)

    assert await acquire(deployment, taker, 2) == [chats[0], children[0]]
    assert await acquire(deployment, taker, 3) == [chats[1], children[1], chats[2]]


async def test_a_replica_that_was_silent_for_less_than_a_lease_keeps_its_chats(deployment: Deployment):
    late, taker = await new_replica(deployment), await new_replica(deployment)
    chat = await owned_by(deployment, late)
    await deployment.silence(late, seconds=8)
    assert await acquire(deployment, taker) == []

    await deployment.silence(late, seconds=10.1)
    assert await acquire(deployment, taker) == [chat]


# The clock of the database is set back by an hour: what was written before is from the future.

ON_BEFORE = "UPDATE replicas SET heartbeat_at = heartbeat_at + interval '1 hour' WHERE id = $1"
BORN_BEFORE = """
    UPDATE replicas SET heartbeat_at = heartbeat_at + interval '1 hour', beating_since = now() + interval '50 minutes'
    WHERE id = $1"""
_TIME_PASSES = (
    "UPDATE replicas SET heartbeat_at = heartbeat_at - $1::interval, beating_since = beating_since - $1::interval"
)


async def beat(deployment: Deployment, *replicas: UUID) -> None:
    for id in replicas:
        await deployment.sql.beat_replica(
            id=id, url="", host="test", pid=1, version="1", host_id=None, provisioners=None
        )


@pytest.mark.behaviour("STATE-4")
@pytest.mark.parametrize("before", [ON_BEFORE, BORN_BEFORE], ids=["on before", "born before"])
async def test_a_clock_that_was_set_back_lets_nobody_rob_the_living(deployment: Deployment, before: str):
    owner, taker = await new_replica(deployment), await new_replica(deployment)
    chat = await owned_by(deployment, owner)
    for id in (owner, taker):
        await deployment.pool.execute(before, id)

    assert await acquire(deployment, taker) == []
    await beat(deployment, taker)  # the owner's next beat is on its way
    assert await acquire(deployment, taker) == []
    for _ in range(5):
        await deployment.pool.execute(_TIME_PASSES, timedelta(seconds=3))
        await beat(deployment, owner, taker)
        assert await acquire(deployment, taker) == []
    assert (await deployment.owner(chat), (await deployment.state(chat))["takeovers"]) == (owner, 0)


@pytest.mark.behaviour("STATE-4")
@pytest.mark.parametrize("before", [ON_BEFORE, BORN_BEFORE], ids=["on before", "born before"])
async def test_a_clock_that_was_set_back_keeps_nobody_from_the_chats_of_the_dead(deployment: Deployment, before: str):
    dead, taker = await new_replica(deployment), await new_replica(deployment)
    chat = await owned_by(deployment, dead)
    for id in (dead, taker):
        await deployment.pool.execute(before, id)

    taken: list[UUID] = []
    for _ in range(5):  # five beats are more than a lease
        await beat(deployment, taker)
        taken += await acquire(deployment, taker)
        await deployment.pool.execute(_TIME_PASSES, timedelta(seconds=3))

    assert taken == [chat]
