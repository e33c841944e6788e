"""Messages of a batch as they are stored: their order, what zero means, the model of the chat, costs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role
from chatd.core.usage import Usage
from chatd.store.queries import Message
from chatd.store.transitions import Applied
from chatd.testing.postgres import Database
from store.transition_driver import ERROR, Chats, answer, applied, fence, open_chats, result
from store.world import new_id

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


@pytest.mark.behaviour("STORE-4")
async def test_ids_follow_the_order_of_the_batch(chats: Chats):
    made = await started(chats)
    batch = [result(f"call {at}", "look") for at in range(100)]

    step = applied(await chats.transitions.commit_step(fence(made), [answer("go"), *batch]))

    ids = list(step.change.inserted_ids or ())
    assert ids == sorted(ids)
    assert (await chats.texts(step.change.chat_id))[1:] == ["go", *(f"result call {at}" for at in range(100))]
    assert [message.id for message in step.messages] == ids


ZEROS: dict[str, Any] = {
    "created_by": NOBODY,
    "model_config_id": NOBODY,
    "usage": Usage(
        input_tokens=0,
        output_tokens=0,
        total_tokens=0,
        reasoning_tokens=0,
        cache_creation_tokens=0,
        cache_read_tokens=0,
    ),
    "context_limit": 0,
    "cost_microdollars": 0,
    "runtime_ms": 0,
}
NULLED = (
    *("created_by", "model_config_id", "input_tokens", "output_tokens", "total_tokens", "reasoning_tokens"),
    *("cache_creation_tokens", "cache_read_tokens", "context_limit", "runtime_ms"),
)


async def _one(chats: Chats, made: Applied) -> None:
    await chats.transitions.commit_step(fence(made), [assistant(**ZEROS)])


async def _last(chats: Chats, made: Applied) -> None:
    await chats.transitions.commit_step(fence(made), [assistant(**ZEROS)], finish=True)


async def _batch(chats: Chats, made: Applied) -> None:
    await chats.transitions.commit_step(fence(made), [assistant(**ZEROS), assistant(**ZEROS)])


async def _interrupted(chats: Chats, made: Applied) -> None:
    await chats.transitions.interrupt(made.change.chat_id)
    await chats.transitions.finish_interruption(fence(made), [assistant(**ZEROS)])


async def _draft(chats: Chats, made: Applied) -> None:
    now = fence(await chats.transitions.save_draft(fence(made), assistant(**ZEROS)))
    await chats.transitions.finish_error(now, error=ERROR)


@pytest.mark.behaviour("STORE-4")
@pytest.mark.parametrize("path", [_one, _last, _batch, _interrupted, _draft])
async def test_zero_is_not_known_but_for_the_cost(chats: Chats, path: Callable[[Chats, Applied], Awaitable[None]]):
    made = await started(chats)

    await path(chats, made)

    rows = [row for row in await stored(chats, made.change.chat_id) if row["role"] == "assistant"]
    assert rows
    for row in rows:
        assert [name for name in NULLED if row[name] is not None] == []
        assert row["cost_microdollars"] == 0
    assert (await chats.look(made.change.chat_id))["state"]["last_model_config_id"] == str(chats.model_id)


def _unknown_model(chats: Chats) -> NewMessage:
    return msgspec.structs.replace(chats.user("no model"), model_config_id=NOBODY)


async def _sent(chats: Chats, made: Applied) -> None:
    await chats.transitions.finish_turn(fence(made))
    await chats.transitions.send_message(made.change.chat_id, _unknown_model(chats))


async def _queued(chats: Chats, made: Applied) -> None:
    await chats.transitions.send_message(made.change.chat_id, _unknown_model(chats))
    await chats.transitions.finish_turn(fence(made))


async def _replaced(chats: Chats, made: Applied) -> None:
    await chats.transitions.edit_message(made.change.chat_id, made.messages[0].id, _unknown_model(chats))


async def _released(chats: Chats, made: Applied) -> None:
    do, id, holder = chats.transitions, made.change.chat_id, new_id()
    queued = applied(await do.send_message(id, chats.user())).change.queued_id or 0
    await do.hold_queued(id, queued, holder=holder)
    await do.release_queued(id, queued, holder=holder, message=_unknown_model(chats))
    await do.finish_turn(fence(made))


@pytest.mark.behaviour("STORE-4")
@pytest.mark.parametrize("path", [_sent, _queued, _replaced, _released])
async def test_a_users_message_without_a_model_leaves_that_of_the_chat(
    chats: Chats, path: Callable[[Chats, Applied], Awaitable[None]]
):
    made = await started(chats)

    await path(chats, made)

    look = await chats.look(made.change.chat_id)
    assert look["messages"][-1]["content"][0]["text"] == "no model"
    assert look["messages"][-1]["model_config_id"] is None
    assert look["state"]["last_model_config_id"] == str(chats.model_id)


@pytest.mark.behaviour("STORE-4")
async def test_the_model_of_a_chat_is_the_last_one_named_in_a_batch(chats: Chats):
    first, second = new_id(), new_id()
    made = await started(chats)

    async def after(*models: UUID | None) -> UUID:
        nonlocal made
        rows = [assistant(model_config_id=model) for model in models]
        made = applied(await chats.transitions.commit_step(fence(made), rows))
        state = await chats.sql.get_chat_state(chat_id=made.change.chat_id)
        assert state is not None
        assert state.last_model_config_id == made.change.last_model_config_id
        return state.last_model_config_id

    assert await after(first, None, second) == second
    assert await after(None, first, None) == first
    assert await after(second, first, NOBODY) == first
    assert await after(None, None, NOBODY) == first


@pytest.mark.behaviour("COST-1")
async def test_costs_are_whole_microdollars_with_null_for_unknown_and_zero_for_free(chats: Chats):
    costs = [None, 0, 1, MOST]
    made = await started(chats)

    await chats.transitions.commit_step(fence(made), [assistant(cost_microdollars=cost) for cost in costs])

    assert [row.cost_microdollars for row in (await shown(chats, made.change.chat_id))[1:]] == costs
    kind = await chats.sql._db.fetchval(
        "SELECT data_type FROM information_schema.columns WHERE table_name = 'messages' AND column_name = $1",
        "cost_microdollars",
    )
    assert kind == "bigint"


@pytest.mark.behaviour("COST-1")
async def test_sums_of_costs_are_exact_and_unknown_ones_are_counted_apart(chats: Chats):
    dear, free = new_id(), new_id()
    made = await started(chats)
    rows = [
        assistant(model_config_id=dear, cost_microdollars=MOST),
        assistant(model_config_id=dear, cost_microdollars=MOST),
        assistant(model_config_id=dear),
        assistant(model_config_id=free, cost_microdollars=0),
    ]
    await chats.transitions.commit_step(fence(made), rows)

    sums = await chats.sql.sum_cost_by_model(owner_id=chats.owner.id, **EVER)

    assert [(row.model_config_id, row.cost_microdollars, row.answers, row.unpriced) for row in sums] == [
        (dear, Decimal(2 * MOST), 3, 1),
        (free, Decimal(0), 1, 0),
    ]
    earlier: dict[str, Any] = {"since": EVER["since"], "until": EVER["since"]}
    assert await chats.sql.sum_cost_by_model(owner_id=chats.owner.id, **earlier) == []
    assert await chats.sql.sum_cost_by_model(owner_id=new_id(), **EVER) == []


@pytest.mark.behaviour("STORE-4")
async def test_a_second_draft_replaces_all_of_the_first(chats: Chats):
    def draft(text: str, base: int, effort: ReasoningEffort) -> NewMessage:
        usage = Usage(
            input_tokens=base + 1,
            output_tokens=base + 9,
            total_tokens=base + 3,
            reasoning_tokens=base + 4,
            cache_creation_tokens=base + 5,
            cache_read_tokens=base + 6,
        )
        return assistant(
            text,
            model_config_id=UUID(int=base + 1),
            reasoning_effort=effort,
            usage=usage,
            context_limit=base + 7,
            cost_microdollars=base + 8,
            runtime_ms=base + 2,
        )

    first, second = draft("one", 100, ReasoningEffort.LOW), draft("two", 200, ReasoningEffort.HIGH)
    twice, once = await started(chats), await started(chats)
    drafts: list[dict[str, Any]] = []
    for made, given in ((twice, [first, second]), (once, [second])):
        for each in given:
            applied(await chats.transitions.save_draft(fence(made), each))
        drafts.append((await chats.look(made.change.chat_id))["draft"])

    own = ("chat_id", "created_at")
    assert [{name: value for name, value in row.items() if name not in own} for row in drafts] == [
        {name: value for name, value in drafts[1].items() if name not in own}
    ] * 2
    assert (drafts[0]["cost_microdollars"], drafts[0]["reasoning_effort"]) == (208, "high")
    assert drafts[0]["created_at"] > (await chats.look(twice.change.chat_id))["state"]["updated_at"]
