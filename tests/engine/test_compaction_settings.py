"""Who summarises, from when on, and when a summary would be of no use."""

from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.core.access import MODEL_KEEPER
from chatd.core.states import Status
from chatd.core.turn_settings import ModelContext
from chatd.core.usage import Usage
from chatd.store.actor import acting_as
from chatd.testing.vendors.script import Call, Refuse, Say, Turn
from engine.chatting import CONTEXT, MODEL, Chatting, chatting
from engine.deployment import new_id
from engine.scripted_tools import ScriptedTool
from engine.test_compaction import SMALL, SUMMARY, compacted

HALF = Usage(input_tokens=390, output_tokens=10)  # of 1000 tokens 40 %


async def model_for_compactions(chats: Chatting, *, context_limit: int, enabled: bool) -> UUID:
    """Another configured model of the same provider, which the deployment has set for summaries."""
    provider_id = await chats.deployment.pool.fetchval("SELECT provider_id FROM model_configs")
    model_id = new_id()
    with acting_as(MODEL_KEEPER):
        await chats.parts.store.insert_model_config(
            id=model_id,
            provider_id=provider_id,
            model=MODEL,
            display_name="",
            enabled=enabled,
            context_limit=context_limit,
            compression_threshold=99,
            options="{}",
            input_price=None,
            output_price=None,
            cache_read_price=None,
            cache_write_price=None,
        )
    value = msgspec.json.encode({"model_config_id": model_id}).decode()
    await chats.deployment.sql.upsert_site_setting(key=ModelContext.COMPACTION.key, value=value)
    return model_id


@pytest.mark.parametrize("enabled", [True, False])
async def test_the_model_that_is_set_for_compactions_summarises_what_fits_it_unless_it_is_switched_off(
    database: Any, enabled: bool
):
    """The smaller window of the two counts, and the threshold of the chat's own model."""
    script = [Turn(Call("look", "{}"), usage=HALF), SUMMARY, Turn(Say("Done."), usage=SMALL)]
    if not enabled:
        del script[1]  # 40 % of the chat's own window are not much
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        other = await model_for_compactions(chats, context_limit=500, enabled=enabled)
        chat = await chats.begin()
        state = await chats.resting(chat)
        rows = compacted(await chats.messages(chat))
        after = await chats.deployment.pool.fetchval(
            "SELECT model_config_id FROM messages WHERE chat_id = $1 ORDER BY id DESC LIMIT 1", chat
        )

    assert state["status"] == Status.WAITING, state
    assert [row.model_config_id for row in rows] == ([None, other, None] if enabled else [])
    assert after == chats.model_id


async def test_a_users_own_threshold_counts_and_not_the_models(database: Any):
    script = [Turn(Call("look", "{}"), usage=HALF), SUMMARY, Turn(Say("Done."), usage=SMALL)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        await chats.deployment.sql.upsert_compaction_threshold(
            user_id=chats.deployment.user_id, model_config_id=chats.model_id, threshold_percent=40
        )
        chat = await chats.begin()
        await chats.resting(chat)
        rows = compacted(await chats.messages(chat))

    assert len(rows) == 3
    assert len(chats.vendor.asked) == 3


async def test_a_first_message_that_is_too_long_is_an_error_and_not_summarised(database: Any):
    too_long = Refuse(400, f"prompt is too long: 1200 tokens > {CONTEXT} maximum", type="invalid_request_error")
    async with chatting(database.dsn, [too_long]) as chats:
        chat = await chats.begin("a whole book")
        state = await chats.resting(chat)

    assert state["status"] == Status.ERROR
    assert len(chats.vendor.asked) == 1
