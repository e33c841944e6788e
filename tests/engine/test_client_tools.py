"""Tools that the client runs: the chat waits for their results, and not for ever."""

from typing import Any
from uuid import UUID

import msgspec

from chatd.core.messages import NewMessage
from chatd.core.parts import ToolResultPart
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.engine.tools.tool import Traits
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import applied
from engine.scripted_tools import ScriptedTool

ASK = msgspec.json.encode(
    [
        {"name": "ask", "description": "Ask the user.", "input_schema": {"type": "object"}},
        {"name": "look", "description": "Hides a tool of ours, or so it thinks."},
        {"name": "not a name", "description": "No vendor takes it."},
    ]
).decode()


async def answer(chats: Chatting, chat: UUID, name: str = "ask") -> None:
    stored = await chats.messages(chat)
    calls = [part for message in stored for part in message.parts if getattr(part, "tool_name", "") == name]
    result = ToolResultPart(tool_call_id=calls[-1].tool_call_id, tool_name=name, result='"blue"')  # type: ignore[union-attr]
    message = NewMessage(role=Role.TOOL, parts=(result,))
    applied(await chats.deployment.transitions.complete_requires_action(chat, [message]))


async def test_a_chat_waits_for_the_client_and_goes_on_with_its_result(database: Any):
    async with chatting(database.dsn, [Turn(Call("ask", "{}")), Turn(Say("Blue it is."))]) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        waiting = await chats.until(chat, Status.REQUIRES_ACTION)
        await answer(chats, chat)
        state = await chats.resting(chat)

        assert waiting["requires_action_deadline_at"] is not None
        assert state["status"] == Status.WAITING, state
        assert await chats.shown(chat) == [
            "user: hello",
            "assistant calls ask {}",
            'ask says "blue"',
            "assistant: Blue it is.",
        ]
        assert chats.vendor.asked[0].tool_names == ["ask", "look"]


async def test_tools_of_ours_run_first_and_a_name_of_ours_wins(database: Any):
    look = ScriptedTool("look")
    script = [Turn(Call("ask", "{}"), Call("look", "{}")), Turn(Say("Blue it is."))]
    async with chatting(database.dsn, script, tools=[look]) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        await chats.until(chat, Status.REQUIRES_ACTION)
        meanwhile = await chats.shown(chat)
        await answer(chats, chat)
        state = await chats.resting(chat)

        assert len(look.calls) == 1
        assert meanwhile == [
            "user: hello",
            "assistant calls ask {}",
            "assistant calls look {}",
            'look says {"output":"saw {}"}',
        ]
        assert state["status"] == Status.WAITING, state


async def test_a_client_that_does_not_answer_is_not_waited_for_for_ever(database: Any):
    async with chatting(database.dsn, [Turn(Call("ask", "{}")), Turn(Say("Never mind."))], starts_now=True) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        waiting = await chats.until(chat, Status.REQUIRES_ACTION)
        await chats.fake_clock.wait_for("requires action")
        left = (waiting["requires_action_deadline_at"] - chats.clock.now()).total_seconds()
        await chats.fake_clock.advance(left)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state
    assert shown[2].startswith("ask fails")
    assert "did not answer" in shown[2]
    assert shown[3] == "assistant: Never mind."


async def test_stopping_a_chat_that_waits_for_its_client_lets_it_go_on(database: Any):
    async with chatting(database.dsn, [Turn(Call("ask", "{}")), Turn(Say("Stopped."))]) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        await chats.until(chat, Status.REQUIRES_ACTION)
        await chats.interrupt(chat)
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING, state
        assert (await chats.shown(chat))[-1] == "assistant: Stopped."


async def test_an_exclusive_tool_beside_a_tool_of_the_client_runs_nothing(database: Any):
    advisor = ScriptedTool("advisor", traits=Traits(is_exclusive=True))
    script = [Turn(Call("advisor", "{}"), Call("ask", "{}")), Turn(Say("I see."))]
    async with chatting(database.dsn, script, tools=[advisor]) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state
    assert advisor.calls == []
    assert [line.partition(" ")[0] for line in shown if " fails " in line] == ["advisor", "ask"]


async def test_a_chat_that_waits_for_its_client_does_not_hold_up_a_replica_that_stops(database: Any):
    async with chatting(database.dsn, [Turn(Call("ask", "{}"))]) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        await chats.until(chat, Status.REQUIRES_ACTION)
        await chats.fake_clock.wait_for("requires action")
        await chats.worker.drain(60)  # the clock stands still
        state = await chats.deployment.state(chat)

    assert (state["status"], state["runner_id"]) == (Status.REQUIRES_ACTION, None)
