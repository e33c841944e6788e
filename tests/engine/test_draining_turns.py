"""A replica that stops lets go of a chat between two steps; a chat that changed hands is a new attempt once."""

import asyncio
from typing import Any

from chatd.core.states import Status
from chatd.engine.tools.tool import ToolCall, ToolOutput, said
from chatd.store.transitions import NewChat
from chatd.testing.vendors.script import Call, Hold, Say, Turn
from engine.chatting import chatting
from engine.deployment import PATIENCE, applied, new_id
from engine.deployment import said as message
from engine.scripted_tools import ScriptedTool


async def test_the_step_under_way_is_finished_and_the_next_one_left_to_another(database: Any):
    go = asyncio.Event()

    async def slowly(call: ToolCall) -> ToolOutput:
        await go.wait()
        return said("done")

    look = ScriptedTool("look", slowly)
    async with chatting(database.dsn, [Turn(Call("look", "{}")), Turn(Say("Never."))], tools=[look]) as chats:
        chat = await chats.begin()
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
            await look.started.wait()
            draining = tasks.create_task(chats.worker.drain(60))
            await chats.fake_clock.wait_for("drain")
            go.set()
            await draining
        state = await chats.deployment.state(chat)
        shown = await chats.shown(chat)

    assert shown == ["user: hello", "assistant calls look {}", 'look says {"output":"done"}']
    assert (state["status"], state["runner_id"]) == (Status.RUNNING, None)
    assert len(chats.vendor.asked) == 1


async def test_only_the_first_turn_after_a_chat_was_acquired_is_a_further_attempt(database: Any):
    go = asyncio.Event()
    script = [Turn(Say("One."), faults=[Hold(go)]), Turn(Say("Two."))]
    async with chatting(database.dsn, script) as chats:
        made = NewChat(
            id=new_id(),
            organization_id=chats.deployment.organization_id,
            owner_id=chats.deployment.user_id,
            model_config_id=chats.model_id,
            title="A chat",
        )
        # Nobody takes it with the message: the worker acquires it.
        applied(await chats.deployment.transitions.create_chat(made, [message("one", chats.deployment.user_id)]))
        await chats.vendor.wait_asked()
        await chats.send(made.id, "two")  # waits, and is the same runner's next turn
        go.set()
        await chats.resting(made.id)
        shown = await chats.shown(made.id)

    assert shown == ["user: one", "assistant: One.", "user: two", "assistant: Two."]
    assert [attempt for _, attempt in chats.attempts] == [1, 1]
