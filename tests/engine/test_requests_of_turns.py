"""What a turn asks of its model, as the model's configuration says."""

from typing import Any

import msgspec

from chatd.core.states import Status
from chatd.core.system_texts import DEFAULT_PROMPT
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import Chatting, chatting
from engine.scripted_tools import ScriptedTool
from engine.test_compaction import FULL, SMALL, SUMMARY
from engine.test_compaction_settings import model_for_compactions

HEAD = DEFAULT_PROMPT[:40]


async def options(chats: Chatting, **values: Any) -> None:
    """Of the model of all chats, before it is used."""
    await chats.deployment.pool.execute("UPDATE model_configs SET options = $1", msgspec.json.encode(values).decode())


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
        await options(chats, reasoning_effort={"default": "high", "max": "high"})
        await model_for_compactions(chats, context_limit=1000, enabled=True)
        chat = await chats.begin()
        state = await chats.resting(chat)
        stored = await chats.messages(chat)
        first, summary, last = [asked.body for asked in chats.vendor.asked]

    assert state["status"] == Status.WAITING, state
    assert "thinking" in first
    assert "thinking" in last
    assert "thinking" not in summary
    assert stored[1].reasoning_effort == "high"
