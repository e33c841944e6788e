"""Who gets which chat: one owner each, the urgent first, roots and children in turn, never more than fit."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.clock import SystemClock
from chatd.store.hints import postgres_hints
from chatd.store.transitions import Fence, Take
from engine.deployment import (
    Deployment,
    answer,
    applied,
    new_id,
    open_deployment,
    replica,
    said,
)
from engine.replica_process import asking


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


async def acquire(
    deployment: Deployment,
    taker: UUID,
    most: int = 10,
    *,
    root_capacity: int | None = None,
    child_capacity: int | None = None,
) -> list[UUID]:
    taken = await deployment.transitions.acquire(
        taker,
        [new_id() for _ in range(most)],
        error='{"kind": "gave_up"}',
        root_capacity=root_capacity,
        child_capacity=child_capacity,
    )
    return [one.change.chat_id for one in taken]


async def new_replica(deployment: Deployment, *, beating_for: float = 60.0) -> UUID:
    id = new_id()
    await deployment.beat(id, beating_for=beating_for)
    return id


async def chat_that_is(deployment: Deployment, status: str) -> UUID:
    """A chat of that status without an owner."""
    take = Take(new_id(), new_id())
    chat = await deployment.new_chat(take=take)
    do = deployment.transitions
    if status == "interrupting":
        applied(await do.interrupt(chat))
    elif status == "requires_action":
        state = await deployment.state(chat)
        fence = Fence(chat, take.runner_id, state["history_version"])
        done = applied(await do.commit_step(fence, [asking()]))
        assert done.fence is not None
        applied(await do.enter_requires_action(done.fence))
    applied(await do.abandon(chat, take.runner_id))
    return chat


@pytest.mark.behaviour("STATE-4")
async def test_two_workers_that_race_for_the_same_chats_own_each_once(deployment: Deployment):
    chats = [await deployment.new_chat() for _ in range(60)]
    takers = [await new_replica(deployment) for _ in range(4)]

    taken = await asyncio.gather(*(acquire(deployment, taker, 20) for taker in takers * 2))

    assert max(Counter(chat for batch in taken for chat in batch).values()) == 1
    left = await acquire(deployment, takers[0], 60)
    assert {chat for batch in taken for chat in batch} | set(left) == set(chats)


@pytest.mark.behaviour("STATE-4")
async def test_two_workers_that_race_for_a_dead_ones_chats_own_each_once(deployment: Deployment):
    dead = await new_replica(deployment)
    chats = [await deployment.new_chat() for _ in range(40)]
    assert len(await acquire(deployment, dead, 40)) == 40
    await deployment.silence(dead)
    takers = [await new_replica(deployment) for _ in range(4)]

    taken = await asyncio.gather(*(acquire(deployment, taker, 40) for taker in takers))

    assert Counter(chat for batch in taken for chat in batch) == Counter(chats)
    assert {(await deployment.state(chat))["takeovers"] for chat in chats} == {1}


async def test_stopping_comes_before_waiting_for_a_client_before_generating(deployment: Deployment):
    order = [await chat_that_is(deployment, status) for status in ("running", "requires_action", "interrupting")]
    taker = await new_replica(deployment)

    assert await acquire(deployment, taker) == order[::-1]


async def test_roots_and_children_are_taken_in_turn_and_the_longest_waiting_first(deployment: Deployment):
    root = await deployment.idle_chat()
    roots = [await deployment.new_chat() for _ in range(4)]
    children = [await deployment.new_chat(parent_id=root) for _ in range(2)]

    taken = await acquire(deployment, await new_replica(deployment))

    assert taken == [roots[0], children[0], roots[1], children[1], roots[2], roots[3]]


@pytest.mark.behaviour("STATE-5")
async def test_a_batch_bounds_what_is_taken_at_once(deployment: Deployment):
    chats = [await deployment.new_chat() for _ in range(5)]

    assert await acquire(deployment, await new_replica(deployment), 2) == chats[:2]


async def test_capacities_are_never_exceeded_by_concurrent_takers(deployment: Deployment):
    root = await deployment.idle_chat()
    for _ in range(30):
        await deployment.new_chat()
        await deployment.new_chat(parent_id=root)
    idle = [await deployment.idle_chat() for _ in range(6)]
    takers = [await new_replica(deployment) for _ in range(6)]

    async def send(chat: UUID, taker: UUID) -> None:
        take = Take(taker, new_id(), 7, 3)
        applied(await deployment.transitions.send_message(chat, said("more", deployment.user_id), take=take))

    await asyncio.gather(
        *(acquire(deployment, taker, 5, root_capacity=7, child_capacity=3) for taker in takers * 2),
        *(send(chat, taker) for chat, taker in zip(idle, takers, strict=True)),
    )

    rows = await deployment.pool.fetch(
        "SELECT is_child, count(*) FROM chat_state WHERE replica_id IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    assert [tuple(row) for row in rows] == [(False, 7), (True, 3)]


async def test_a_full_pool_stops_neither_the_other_one_nor_chats_that_need_no_slot(deployment: Deployment):
    root = await deployment.idle_chat()
    roots = [await deployment.new_chat() for _ in range(3)]
    child = await deployment.new_chat(parent_id=root)
    stopping = await chat_that_is(deployment, "interrupting")
    taker = await new_replica(deployment)

    taken = await acquire(deployment, taker, root_capacity=1, child_capacity=1)
    assert taken == [stopping, roots[0], child]
    assert await acquire(deployment, taker, root_capacity=1, child_capacity=1) == []

    state = await deployment.state(roots[0])
    fence = Fence(roots[0], state["runner_id"], state["history_version"])
    applied(await deployment.transitions.commit_step(fence, [answer("done")], finish=True))
    assert await acquire(deployment, taker, root_capacity=1, child_capacity=1) == [roots[1]]


async def test_the_chats_of_a_silent_replica_count_for_no_pool(deployment: Deployment):
    dead, taker = await new_replica(deployment), await new_replica(deployment, beating_for=0)
    first = await deployment.new_chat()
    assert await acquire(deployment, dead, root_capacity=1) == [first]
    free = await deployment.new_chat()
    assert await acquire(deployment, taker, root_capacity=1) == []

    await deployment.silence(dead)
    assert await acquire(deployment, taker, root_capacity=1) == [free]


async def test_roots_of_a_dead_replica_that_find_no_slot_do_not_hide_its_children(deployment: Deployment):
    dead, taker = await new_replica(deployment), await new_replica(deployment)
    idle = await deployment.idle_chat()
    running = await deployment.new_chat()
    assert await acquire(deployment, taker, root_capacity=1) == [running]
    for _ in range(3):
        await deployment.new_chat(take=Take(dead, new_id()))
    child = await deployment.new_chat(parent_id=idle, take=Take(dead, new_id()))
    await deployment.silence(dead)

    assert await acquire(deployment, taker, 2, root_capacity=1, child_capacity=5) == [child]


async def test_a_taker_must_have_been_beating_for_a_lease_itself(deployment: Deployment):
    owner, young = await new_replica(deployment), await new_replica(deployment, beating_for=9)
    chat = await deployment.new_chat()
    await acquire(deployment, owner)
    await deployment.silence(owner)

    assert await acquire(deployment, young) == []
    assert await acquire(deployment, new_id()) == []  # one that never beat
    await deployment.beat(young, beating_for=11)
    assert await acquire(deployment, young) == [chat]


@pytest.mark.parametrize("end", ["expired", "deleted"])
async def test_a_death_that_was_seen_frees_the_chats_at_once(deployment: Deployment, end: str):
    owner, taker = await new_replica(deployment), await new_replica(deployment)
    chat = await deployment.new_chat()
    await acquire(deployment, owner)
    assert await acquire(deployment, taker) == []
    if end == "expired":
        await deployment.sql.expire_replica(id=owner)
    else:
        await deployment.sql.delete_replica(id=owner)

    assert await acquire(deployment, taker) == [chat]


@pytest.mark.behaviour("STATE-4")
async def test_after_the_database_was_away_for_longer_than_a_lease_nobody_steals_a_living_ones_chats(
    deployment: Deployment,
):
    """Everyone looks silent then. Whoever beats first must not take what the others are about to go on with."""
    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(replica(deployment)) for _ in range(2)]
        owners = {await deployment.new_chat(take=Take(each.id, new_id())): each.id for each in (one, two) * 2}
        chats = list(owners)
        for each in (one, two):
            await each.pass_time(2)
            assert len(each.script.running) == 2
            each.lease.change(False)
            await each.script.until_running()
        await deployment.silence(one.id, two.id)

        await deployment.sql.beat_replica(
            id=one.id, url="", host="test", pid=1, version="1", host_id=None, provisioners=None
        )
        one.lease.change(True)
        await one.pass_time(9)
        assert {chat: await deployment.owner(chat) for chat in chats} == owners

        await deployment.sql.beat_replica(
            id=two.id, url="", host="test", pid=1, version="1", host_id=None, provisioners=None
        )
        two.lease.change(True)
        await two.pass_time(2)
        await one.pass_time(2)
        assert {chat: await deployment.owner(chat) for chat in chats} == owners
        assert set(one.script.running) | set(two.script.running) == set(chats)
        assert {(await deployment.state(chat))["takeovers"] for chat in chats} == {0}


async def test_a_free_chat_is_taken_after_a_hint_of_another_process(database: Any):
    clock = SystemClock()
    async with (
        postgres_hints(lambda: database.dsn, clock=clock) as there,
        postgres_hints(lambda: database.dsn, clock=clock) as here,
        open_deployment(database.dsn, here) as deployment,
        replica(deployment) as one,
    ):
        await here.wait_connected()
        await there.wait_connected()
        await one.settled()
        deployment.transitions._hints = there
        chat = await deployment.new_chat()
        await one.script.until_running(chat)

        assert one.clock.monotonic() == 0


async def test_who_hands_over_tells_the_others(deployment: Deployment):
    chat = await deployment.new_chat()
    async with replica(deployment) as one:
        await one.script.until_running(chat)
        async with replica(deployment, beating_for=0) as two:
            await one.worker.drain(0)
            await two.script.until_running(chat)

            assert two.clock.monotonic() == 0
