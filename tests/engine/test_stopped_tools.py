"""A turn is stopped while tools run, or while another's are being settled: each call gets the result that is true."""

import asyncio
from typing import Any

import pytest

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart, ToolCallPart
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.engine.tools.tool import AfterCrash, ToolCall, ToolOutput, Traits, said
from chatd.store.transitions import Fence, Take
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import chatting
from engine.deployment import applied, new_id
from engine.scripted_tools import ScriptedTool


@pytest.mark.behaviour("LOOP-6")
async def test_a_tool_that_is_stopped_has_not_given_up_by_itself(database: Any):
    begun = asyncio.Event()

    async def hang(call: ToolCall) -> ToolOutput:
        begun.set()
        await asyncio.Event().wait()
        return said("never")

    async with chatting(database.dsn, [Turn(Call("hang", "{}"))], tools=[ScriptedTool("hang", hang)]) as chats:
        chat = await chats.begin()
        await begun.wait()
        await chats.interrupt(chat)
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert shown[-1] == 'hang fails {"error": "The user interrupted this call."}'


@pytest.mark.behaviour("LOOP-6")
async def test_a_draft_that_is_being_settled_is_stored_when_the_turn_is_stopped(database: Any):
    settling = asyncio.Event()

    async def hang(call: ToolCall) -> ToolOutput:
        settling.set()
        await asyncio.Event().wait()
        return said("never")

    rerun = Traits(after_crash=AfterCrash.RERUN)
    tools = [ScriptedTool("hang", hang, rerun), ScriptedTool("look", traits=rerun)]
    async with chatting(database.dsn, [Turn(Say("Hello."))], tools=tools) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        dead, runner = new_id(), new_id()
        await chats.deployment.beat(dead)
        message = NewMessage(role=Role.USER, parts=(TextPart(text="work"),), created_by=chats.deployment.user_id)
        sent = applied(await chats.deployment.transitions.send_message(chat, message, take=Take(dead, runner)))
        calls = [ToolCallPart(tool_call_id=name, tool_name=name, args="{}") for name in ("hang", "look")]
        draft = NewMessage(role=Role.ASSISTANT, parts=(TextPart(text="I begin."), *calls))
        fence = Fence(chat, runner, sent.change.history_version)
        applied(await chats.deployment.transitions.save_draft(fence, draft))
        await chats.deployment.silence(dead)
        await chats.look_for_chats()
        await settling.wait()
        await chats.streamed(chat, "saw {}")
        await chats.interrupt(chat)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING
    assert shown[3:] == [
        "assistant: I begin.",
        "assistant calls hang {}",
        "assistant calls look {}",
        'look says {"output":"saw {}"}',
        'hang fails {"error": "The user interrupted this call."}',
    ]
