"""What a user has spent against which limits, in one query."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio

from chatd.core.access import OwnedBy
from chatd.core.spend import Period
from chatd.core.states import State
from chatd.store.queries import InsertGroupMembersItem, UserRole
from store.authorization_cases import SIDE_COST
from store.test_transition_matrix import called, expected, pairs, ready_for, shapes
from store.transition_driver import ERROR, open_chats
from store.world import MODEL, World, add_chat, add_user, new_id, open_sql, populate

pytestmark = pytest.mark.behaviour("COST-4")

NOW = datetime(2026, 2, 25, 15, 30, tzinfo=UTC)
STARTS = {f"{period}_start": period.start(NOW) for period in Period}
HOUR = timedelta(hours=1)


@pytest_asyncio.fixture
async def world(database: Any) -> AsyncIterator[World]:
    async with open_sql(database.dsn) as sql:
        yield await populate(sql)


async def paid(world: World, chat_id: UUID, at: datetime, microdollars: int | None, *, deleted: bool = False) -> None:
    """An answer of that time, in a chat that has rested since."""
    db = world.sql._db
    async with db.transaction():
        await db.execute("SELECT set_config('chatd.transition', 'test', true)")
        await db.execute(
            """INSERT INTO messages (chat_id, created_at, revision, role, visibility, compressed, deleted,
                content_version, content, cost_microdollars)
            VALUES ($1, $2, 1, 'assistant', 'both', false, $3, 1, '[]', $4)""",
            *(chat_id, at, deleted, microdollars),
        )
        await db.execute(
            "UPDATE chat_state SET status = 'waiting', updated_at = $2 WHERE chat_id = $1", chat_id, at + HOUR
        )


async def limit(world: World, microdollars: int | None, period: Period = Period.DAY, **of: UUID) -> None:
    subject = {"user_id": None, "group_id": None, **of}
    await world.sql.upsert_usage_limit(period=period, microdollars=microdollars, **subject)


async def spending(world: World, user_id: UUID | None = None) -> list[tuple[Any, ...]]:
    rows = await world.sql.list_spending(user_id=user_id or world.member.id, **STARTS)
    return [(row.is_own, row.group_id, row.period, row.microdollars, row.spent_microdollars) for row in rows]


async def test_all_limits_of_a_user_come_with_what_was_spent_in_their_periods(world: World):
    chat, child = world.chat.chat_id, (await add_chat(world.sql, world.member, parent=world.chat.chat_id)).chat_id
    others = (await add_chat(world.sql, world.stranger)).chat_id
    day, week, month = STARTS.values()
    await paid(world, chat, month - timedelta(microseconds=1), 1_000_000)
    await paid(world, chat, month, 100)
    await paid(world, child, week, 20)
    await paid(world, chat, week - timedelta(microseconds=1), 1000)
    await paid(world, child, day, 3, deleted=True)
    await paid(world, child, day + HOUR, None)
    await paid(world, others, day + HOUR, 5_000_000)
    unrelated = await world.sql.insert_group(id=new_id(), name="unrelated", display_name="")
    for period in Period:
        await limit(world, 7, period)
    await limit(world, 8, Period.WEEK, group_id=world.group.id)
    await limit(world, None, group_id=world.group.id)
    await limit(world, 9, Period.MONTH, user_id=world.member.id)
    await limit(world, 1, group_id=unrelated.id)
    await limit(world, 1, user_id=world.stranger.id)

    group = world.group.id
    assert await spending(world) == [
        (True, None, "month", 9, 1123),
        (False, group, "day", None, 3),
        (False, group, "week", 8, 23),
        (False, None, "day", 7, 3),
        (False, None, "week", 7, 23),
        (False, None, "month", 7, 1123),
    ]


async def paid_beside(world: World, chat_id: UUID, owner_id: UUID, at: datetime, microdollars: int | None) -> None:
    """A title of that time."""
    await world.sql._db.execute(
        """INSERT INTO side_costs (chat_id, owner_id, created_at, kind, model_config_id, cost_microdollars)
        VALUES ($1, $2, $3, 'title', $4, $5)""",
        *(chat_id, owner_id, at, MODEL, microdollars),
    )


async def test_what_was_made_beside_the_turns_counts_by_period_model_and_chat(world: World):
    chat, owner = world.chat.chat_id, world.member.id
    child = (await add_chat(world.sql, world.member, parent=chat)).chat_id
    others = (await add_chat(world.sql, world.stranger)).chat_id
    day = STARTS["day_start"]
    await paid(world, chat, day, 100)
    await paid_beside(world, chat, owner, day - timedelta(microseconds=1), 1000)
    await paid_beside(world, chat, owner, day, 20)
    await paid_beside(world, child, owner, day + HOUR, 3)
    await paid_beside(world, child, owner, day + HOUR, None)
    await paid_beside(world, others, world.stranger.id, day + HOUR, 5_000_000)
    await limit(world, 7)
    since: dict[str, Any] = {"owner_id": owner, "since": day, "until": day + 2 * HOUR}
    by_model = await world.sql.sum_cost_by_model(**since, authorize=OwnedBy(owner))
    by_chat = await world.sql.sum_cost_by_chat(**since, max_rows=5, authorize=OwnedBy(owner))
    not_theirs = await world.sql.sum_cost_by_chat(**since, max_rows=5, authorize=OwnedBy(world.stranger.id))

    assert await spending(world) == [(False, None, "day", 7, 123)]
    assert [(row.model_config_id, row.cost_microdollars, row.answers, row.unpriced) for row in by_model] == [
        (None, 100, 1, 0),
        (MODEL, 23, 3, 1),
    ]
    assert [(row.root_chat_id, row.cost_microdollars, row.answers, row.unpriced) for row in by_chat] == [
        (chat, 123, 4, 1)
    ]
    assert not_theirs == []


async def test_nothing_is_stored_for_a_chat_that_is_gone_and_costs_go_with_their_chat(world: World):
    stored = await world.sql.insert_side_cost(chat_id=world.chat.chat_id, **SIDE_COST)
    gone = await world.sql.insert_side_cost(chat_id=new_id(), **SIDE_COST)
    db = world.sql._db
    before = await db.fetchval("SELECT count(*) FROM side_costs WHERE owner_id = $1", world.member.id)
    await db.execute("DELETE FROM chats WHERE id = $1", world.chat.chat_id)

    assert (stored is None, gone is None, before) == (False, True, 1)
    assert await db.fetchval("SELECT count(*) FROM side_costs") == 0


async def test_an_old_chat_that_runs_again_counts_while_it_runs(world: World):
    await limit(world, 7)
    await paid(world, world.chat.chat_id, NOW, 5)
    db = world.sql._db
    async with db.transaction():
        await db.execute("SELECT set_config('chatd.transition', 'test', true)")
        await db.execute("UPDATE chat_state SET status = 'running', updated_at = $1", NOW - timedelta(days=40))

    assert await spending(world) == [(False, None, "day", 7, 5)]


async def test_nobody_is_limited_until_someone_is_and_each_change_moves_the_version(world: World):
    async def version() -> int:
        return next(row.version for row in await world.sql.list_versions() if row.area == "usage_limits")

    sql, member = world.sql, world.member.id
    versions = [await version()]
    assert not await sql.has_usage_limits()
    assert await spending(world) == []
    for amount in (5, 6):
        await limit(world, amount, user_id=member)
        versions.append(await version())
    assert await sql.has_usage_limits()
    assert [(row.user_id, row.microdollars) for row in await sql.list_usage_limits()] == [(member, 6)]
    assert await sql.delete_usage_limit(user_id=None, group_id=None, period=Period.DAY) == 0
    assert await sql.delete_usage_limit(user_id=member, group_id=None, period=Period.DAY) == 1
    versions.append(await version())
    await limit(world, 5, group_id=world.group.id)
    await sql.delete_group(id=world.group.id)
    versions.append(await version())

    assert not await sql.has_usage_limits()
    assert versions == sorted(set(versions))


async def test_there_is_one_limit_of_each_period_for_everyone_and_none_below_nothing(world: World):
    await limit(world, 5)
    await limit(world, 6)
    assert len(await world.sql.list_usage_limits()) == 1

    with pytest.raises(asyncpg.CheckViolationError):
        await limit(world, -1)
    with pytest.raises(asyncpg.CheckViolationError):
        await limit(world, 1, user_id=world.member.id, group_id=world.group.id)


async def test_a_limit_follows_who_is_in_the_group(world: World):
    newcomer = await add_user(world.sql, "nina", UserRole.MEMBER)
    await limit(world, 5, group_id=world.group.id)

    before = await spending(world, newcomer.id)
    await world.sql.insert_group_members(group_id=world.group.id, items=[InsertGroupMembersItem(newcomer.id)])

    assert before == []
    assert await spending(world, newcomer.id) == [(False, world.group.id, "day", 5, 0)]


async def test_the_sum_is_that_of_the_costs_by_model(world: World):
    for days in reversed(range(40)):
        await paid(world, world.chat.chat_id, NOW - timedelta(days=days), 10**days % 997, deleted=days % 3 == 0)
    await limit(world, 5, Period.MONTH)

    by_model = await world.sql.sum_cost_by_model(
        owner_id=world.member.id, since=Period.MONTH.start(NOW), until=NOW + HOUR, authorize=OwnedBy(world.member.id)
    )
    (found,) = await spending(world)
    assert found[-1] == sum(row.cost_microdollars for row in by_model)


@pytest.mark.parametrize(
    "state", [State.N, State.W, State.E0, State.E1, State.R0, State.R1, State.I0, State.I1, State.A1]
)
async def test_a_chat_that_rests_was_not_written_to_since(database: Any, state: State):
    """What lets a sum leave out all chats that came to rest before the period."""
    newer = """SELECT count(*) FROM chat_state s JOIN messages m ON m.chat_id = s.chat_id
        WHERE s.status IN ('waiting', 'error') AND m.created_at > s.updated_at"""
    async with open_chats(database.dsn) as chats:
        shape = shapes(state)[0]
        for transition, call in pairs():
            if expected(transition, state, shape) is None:
                chat = await ready_for(chats, transition, state, shape)
                await called(chats, chat, transition, call)
                assert await chats.sql._db.fetchval(newer) == 0, (transition, state)
                await chats.transitions.give_up(chat.id, error=ERROR)  # nobody else shall acquire it
                assert await chats.sql._db.fetchval(newer) == 0, (transition, state)
