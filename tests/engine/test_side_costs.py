"""Titles, labels and summaries are paid for by the chat's owner, to the microdollar, and fail nothing."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from chatd.core import titles
from chatd.core.access import OPERATOR
from chatd.core.errors import UsageLimitReached
from chatd.core.spend import Period
from chatd.core.usage import Usage
from chatd.engine.counting_meter import CountingMeter
from chatd.engine.spending import Spending
from chatd.observe.metrics import Metrics
from chatd.store.actor import acting_as
from chatd.testing.vendors.script import Cut, Delay, Refuse, Say, Turn
from engine.around_turns import Around, Script, around_turns
from engine.deployment import PATIENCE
from engine.test_titles import ASKED, FALLBACK
from engine.test_turn_ends import LONG

USED = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=3)
PRICE = 100 + 2 * 20 + 2  # at the prices of `chatting`, rounded up from 141.5
BEGUN = 100 + 2 * 1 + 2  # what Anthropic has counted when an answer begins
TITLE = Turn(Say("Fix login redirect"), usage=USED)
FREE = Usage(input_tokens=0, output_tokens=0)


async def limit(around: Around, microdollars: int) -> Spending:
    store = around.chats.parts.store
    with acting_as(OPERATOR):
        await store.upsert_usage_limit(user_id=None, group_id=None, period=Period.MONTH, microdollars=microdollars)
    return Spending(store, around.chats.clock)


async def costs(around: Around) -> list[tuple[str, int | None]]:
    return [(row["kind"], row["cost_microdollars"]) for row in await around.paid()]


@pytest.mark.behaviour("COST-1")
async def test_each_kind_is_stored_with_its_tokens_and_its_cost_and_no_message(database: Any):
    label, summary = Turn(Say("Fixed login"), usage=USED), Turn(Say("The login was fixed."), usage=USED)
    script = Script(title=TITLE, label=label, summary=summary, turn=Turn(Say(LONG), usage=FREE))
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED)
        await around.until_made()
        await around.ended(chat)
        await around.until_made(3)
        rows = await around.paid()
        messages = await around.chats.messages(chat)

    assert sorted(row["kind"] for row in rows) == ["label", "summary", "title"]
    for row in rows:
        assert (row["chat_id"], row["owner_id"]) == (chat, around.chats.deployment.user_id)
        assert row["model_config_id"] == around.chats.model_id
        assert (row["input_tokens"], row["output_tokens"], row["cache_read_tokens"]) == (100, 20, 3)
        assert row["cost_microdollars"] == PRICE
    assert [message.cost_microdollars for message in messages] == [None, 0]


@pytest.mark.behaviour("COST-4")
async def test_what_was_made_beside_turns_counts_into_the_owners_limit(database: Any):
    script = Script(title=TITLE, turn=Turn(Say("Done it."), usage=FREE))
    async with around_turns(database.dsn, script) as around:
        spending, owner = await limit(around, PRICE), around.chats.deployment.user_id
        await spending.check(owner)
        await around.begin(ASKED)
        await around.until_made()
        with pytest.raises(UsageLimitReached) as refused:
            await spending.check(owner)

    assert refused.value.spent_microdollars == PRICE


async def test_an_answer_that_is_no_title_was_paid_for_too(database: Any):
    script = Script(title=Turn(Say("One\nTwo"), usage=USED))
    async with around_turns(database.dsn, script) as around:
        await around.begin(ASKED)
        await around.idle()

        assert await costs(around) == [("title", PRICE)]


async def test_each_attempt_counts_for_what_its_vendor_has_counted(database: Any):
    cut = Turn(Say("Fix login redirect"), usage=USED, faults=[Cut(after_events=2, reset=True)])
    script = Script(title=[cut, Refuse(529, "Overloaded"), TITLE])
    async with around_turns(database.dsn, script) as around:
        await around.begin(ASKED)
        for seconds in (1, 2):
            await around.chats.fake_clock.wait_for("side retry")
            await around.chats.fake_clock.advance(seconds)
        await around.until_made()

        assert await costs(around) == [("title", BEGUN), ("title", PRICE)]


async def test_what_was_counted_of_an_answer_that_comes_too_late_is_stored(database: Any):
    slow = Turn(Say("Fix ", "login redirect"), usage=USED, faults=[Delay(1000, before_event=4)])
    metrics = Metrics()

    def begun() -> float:
        return sum(
            sample.value
            for metric in metrics.registry.collect()
            for sample in metric.samples
            if sample.name == "chatd_provider_first_token_seconds_count"
        )

    async with around_turns(
        database.dsn, Script(title=slow), meter=lambda clock: CountingMeter(metrics.engine, clock.monotonic)
    ) as around:
        chat = await around.begin(ASKED)
        await around.chats.resting(chat)
        async with asyncio.timeout(PATIENCE):
            while begun() < 2:  # the turn's answer, and the title's
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)
        await around.chats.fake_clock.advance(titles.SECONDS)
        await around.idle()

        assert await costs(around) == [("title", BEGUN)]
        assert (await around.row(chat))["title"] == FALLBACK


async def test_a_cost_that_is_being_stored_is_stored_although_the_time_is_over(database: Any):
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    async with around_turns(database.dsn, Script(title=TITLE)) as around:
        pool = around.chats.deployment.pool
        async with pool.acquire() as connection:
            async with connection.transaction():
                await connection.execute("LOCK side_costs")
                chat = await around.begin(ASKED)
                await around.chats.resting(chat)
                async with asyncio.timeout(PATIENCE):
                    while not await connection.fetchval(waits):
                        pass
                await around.chats.fake_clock.advance(titles.SECONDS)
            await around.idle()

        assert await costs(around) == [("title", PRICE)]
        assert (await around.row(chat))["title"] == FALLBACK


@pytest.mark.behaviour("COST-1")
async def test_a_cost_that_is_not_known_is_not_nothing(database: Any):
    async with around_turns(database.dsn, Script(title=TITLE)) as around:
        await around.chats.deployment.pool.execute("UPDATE model_configs SET cache_read_price = NULL")
        await around.begin(ASKED)
        await around.until_made()

        assert await costs(around) == [("title", None)]


async def test_a_title_that_someone_asked_for_is_paid_for_whatever_they_may(database: Any):
    script = Script(title=TITLE)
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED, title="Mine")
        await around.chats.resting(chat)
        await around.propose(chat)

        assert await costs(around) == [("title", PRICE)]


async def test_a_title_is_made_although_its_cost_can_not_be_stored(database: Any):
    async with around_turns(database.dsn, Script(title=TITLE)) as around:
        await around.chats.deployment.pool.execute("ALTER TABLE side_costs RENAME TO elsewhere")
        with capture_logs() as logs:
            chat = await around.begin(ASKED)
            await around.until_made()

        assert (await around.row(chat))["title"] == "Fix login redirect"
    [line] = [line for line in logs if line["event"] == "the cost of a side job can't be stored"]
    assert (UUID(line["chat_id"]), line["cost_microdollars"]) == (chat, PRICE)
