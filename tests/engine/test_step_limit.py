"""The bound on the steps of a turn: it counts through compactions, and its notice is for people."""

from typing import Any

import pytest

from chatd.core import turn
from chatd.core.states import Status
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import chatting
from engine.scripted_tools import ScriptedTool
from engine.test_compaction import FULL, SMALL, SUMMARY

STOPPED = "assistant: This turn was stopped after 3 steps. Send a message to let it go on."
LOOK = Turn(Call("look", "{}"), usage=SMALL)


@pytest.mark.behaviour("LOOP-13")
async def test_steps_before_a_compaction_count(database: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(turn, "MOST_STEPS", 3)
    script = [Turn(Call("look", "{}"), usage=FULL), SUMMARY, LOOK, LOOK]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state
    assert shown[-1] == STOPPED
    assert len(chats.vendor.asked) == 4


@pytest.mark.behaviour("LOOP-13")
async def test_the_model_does_not_see_the_notice_and_the_next_message_begins_anew(
    database: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(turn, "MOST_STEPS", 3)
    script = [LOOK, LOOK, LOOK, LOOK, Turn(Say("Done."), usage=SMALL)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        stopped = await chats.shown(chat)
        await chats.send(chat, "go on")
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert stopped[-1] == STOPPED
    assert shown[-1] == "assistant: Done."
    assert "was stopped" not in str([asked.messages for asked in chats.vendor.asked])
