"""What a turn asks of its model, as the model's configuration says."""

from typing import Any
from uuid import UUID

import msgspec

from chatd.core.reasoning import ReasoningEffort
from chatd.core.states import Status
from chatd.core.system_texts import DEFAULT_PROMPT
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import Chatting, chatting
from engine.scripted_tools import ScriptedTool
from engine.test_compaction import FULL, SMALL, SUMMARY
from engine.test_compaction_settings import model_for_compactions

HEAD = DEFAULT_PROMPT[:40]


async def options(chats: Chatting, model_id: UUID | None = None, **values: Any) -> None:
    """Of one model or of all, before it is used."""
    statement = "UPDATE model_configs SET options = $1 WHERE $2::uuid IS NULL OR id = $2"
    await chats.deployment.pool.execute(statement, msgspec.json.encode(values).decode(), model_id)


async def test_a_model_without_tools_is_told_of_none(database: Any):
    async with chatting(database.dsn, [Turn(Say("Done."))], tools=[ScriptedTool("look")]) as chats:
        await options(chats, capabilities={"tools": False})
        await chats.resting(await chats.begin())

    assert chats.vendor.asked[0].tool_names == []


async def test_a_chat_without_a_system_message_of_its_own_gets_the_deployments(database: Any):
    async with chatting(database.dsn, [Turn(Say("One.")), Turn(Say("Two."))]) as chats:
        await chats.resting(await chats.begin())
        await chats.resting(await chats.begin(system="Be brief."))
        plain, own = [str(asked.body.get("system", "")) for asked in chats.vendor.asked]

    assert HEAD in plain
    assert "Be brief." in own
    assert HEAD not in own


async def test_the_effort_of_the_chat_is_not_that_of_the_model_that_summarises(database: Any):
    script = [Turn(Call("look", "{}"), usage=FULL), SUMMARY, Turn(Say("Done."), usage=SMALL)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        await model_for_compactions(chats, context_limit=1000, enabled=True)
        await options(chats, reasoning_effort={"default": "low", "max": "high"})
        await options(chats, chats.model_id, reasoning_effort={"default": "high", "max": "high"})
        chat = await chats.begin()
        state = await chats.resting(chat)
        stored = await chats.messages(chat)
        first, summary, last = [asked.body for asked in chats.vendor.asked]

    assert state["status"] == Status.WAITING, state
    assert first["output_config"] == last["output_config"] == {"effort": "high"}
    assert summary["output_config"] == {"effort": "low"}
    assert stored[1].reasoning_effort is ReasoningEffort.HIGH
