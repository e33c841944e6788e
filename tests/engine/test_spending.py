"""A user whose limit is spent begins nothing new; what was admitted before runs."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.core.access import OPERATOR, Person
from chatd.core.access import Role as UserRole
from chatd.core.errors import UsageLimitReached
from chatd.core.spend import Period
from chatd.core.states import Status
from chatd.core.usage import Usage
from chatd.engine.spending import Spending
from chatd.server.versions import Versions
from chatd.store.actor import acting_as
from chatd.store.store import Store
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Hold, Say, Turn
from engine.chatting import chatting
from engine.counting import Counting
from engine.deployment import Deployment, new_id, open_deployment

USED = Usage(input_tokens=100, output_tokens=50)  # 200 microdollars at the prices of `chatting`


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


async def limit(store: Store, microdollars: int, user_id: UUID | None = None) -> None:
    with acting_as(OPERATOR):
        await store.upsert_usage_limit(user_id=user_id, group_id=None, period=Period.MONTH, microdollars=microdollars)


@pytest.mark.behaviour("COST-4")
async def test_without_any_limit_a_check_asks_once_and_with_one_every_time(deployment: Deployment):
    counting: Any = Counting(deployment.guarded)
    clock = FakeClock()
    spending, versions = Spending(counting, clock), Versions(deployment.guarded, deployment.hints, clock)
    versions.on_change("usage_limits", spending.forget)
    await versions.poll()
    sam = new_id()

    # A token that may only write to chats is checked too: the check does not act as who is checked.
    with acting_as(Person(sam, UserRole.MEMBER, "sam", frozenset({"chat:*"}))):
        for _ in range(3):
            await spending.check(sam)
        assert counting.asked == {"has_usage_limits": 1}

        await limit(deployment.guarded, 0)
        await limit(deployment.guarded, 1000, deployment.user_id)
        await versions.poll()
        counting.asked.clear()
        for _ in range(3):
            await spending.check(deployment.user_id)
        with pytest.raises(UsageLimitReached) as refused:
            await spending.check(sam)

    assert counting.asked == {"has_usage_limits": 1, "list_spending": 4}
    assert refused.value.kind == "usage_limit"
    assert refused.value.resets_at == Period.MONTH.reset(clock.now())


async def test_what_was_read_before_a_limit_was_set_does_not_outlive_it(deployment: Deployment):
    reading, go = asyncio.Event(), asyncio.Event()

    class Slow(Counting):
        async def has_usage_limits(self) -> bool:
            found = await deployment.guarded.has_usage_limits()
            reading.set()
            await go.wait()
            return found

    slow: Any = Slow(deployment.guarded)
    spending = Spending(slow, FakeClock())
    async with asyncio.TaskGroup() as tasks:
        checking = tasks.create_task(spending.check(deployment.user_id))
        await reading.wait()
        await limit(deployment.guarded, 0)
        spending.forget()
        go.set()
        await checking

    with pytest.raises(UsageLimitReached):
        await spending.check(deployment.user_id)


@pytest.mark.behaviour("STATE-3")
@pytest.mark.parametrize("interrupts", [False, True], ids=["by the end of the turn", "by an interrupt"])
async def test_a_queued_message_is_promoted_whatever_was_spent_meanwhile(database: Any, interrupts: bool):
    go = asyncio.Event()
    script = [
        Turn(Say("One, ", "two, ", "three"), usage=USED, faults=[Hold(go, before_event=5)]),
        Turn(Say("Second."), usage=USED),
    ]
    async with chatting(database.dsn, script) as chats:
        store, user_id = chats.parts.store, chats.deployment.user_id
        spending = Spending(store, chats.clock)
        await limit(store, 150)
        await spending.check(user_id)
        chat = await chats.begin("first")
        await chats.streamed(chat, "two, ")
        await spending.check(user_id)  # admitted: nothing is spent yet
        queued = await chats.send(chat, "second", interrupts=interrupts)
        if not interrupts:
            await limit(store, 0)  # and lowered after it was admitted
        go.set()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)
        with pytest.raises(UsageLimitReached) as refused:
            await spending.check(user_id)

    assert queued.change.queued_id is not None
    assert state["status"] == Status.WAITING, state
    assert shown[-2:] == ["user: second", "assistant: Second."]
    assert refused.value.spent_microdollars >= 200


@pytest.mark.behaviour("COST-4")
@pytest.mark.parametrize("period", list(Period))
async def test_what_was_spent_counts_from_the_beginning_of_each_limits_own_period(database: Any, period: Period):
    async with chatting(database.dsn, [Turn(Say("One."), usage=USED)]) as chats:
        store, user_id = chats.parts.store, chats.deployment.user_id
        await chats.resting(await chats.begin())
        with acting_as(OPERATOR):
            await store.upsert_usage_limit(user_id=user_id, group_id=None, period=period, microdollars=200)
        spent_at = await chats.deployment.pool.fetchval("SELECT max(created_at) FROM messages")

        async def is_refused(days: int) -> bool:
            try:
                await Spending(store, FakeClock(spent_at + timedelta(days=days))).check(user_id)
            except UsageLimitReached as refused:
                return refused.period is period
            return False

        later = range(32)
        refused = [await is_refused(days) for days in later]

    assert refused == [period.start(spent_at + timedelta(days=days)) <= spent_at for days in later]
