"""How a compaction ends: told when it is stopped, tried again with growing waits, and asked for only once."""

from typing import Any

import msgspec
import pytest

from chatd.core.states import Status
from chatd.engine.episodes import Episode
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Refuse, Say, Silence, Turn
from engine.chatting import chatting
from engine.scripted_tools import ScriptedTool
from engine.test_compaction import FULL, SMALL, SUMMARY, asked_for_compaction, is_summary
from engine.test_retries import BUSY


@pytest.mark.behaviour("COMPACT-10")
async def test_readers_of_a_compaction_that_is_stopped_are_told(database: Any):
    def script(asked: Asked) -> Turn:
        quiet = [Silence(after_events=3)] if is_summary(asked) else []
        return Turn(Say("Done."), usage=FULL, faults=quiet)

    episodes: list[Episode] = []
    async with chatting(database.dsn, script) as chats:
        chats.parts.episodes.on_open(episodes.append)
        chat = await chats.begin()
        await chats.vendor.wait_asked(2)
        await chats.interrupt(chat)
        await chats.resting(chat)

    call, result = [msgspec.json.decode(event)["message_part"]["part"] for event in episodes[-1].after(0)]
    assert (call["tool_name"], result["tool_name"]) == ("chat_summarized", "chat_summarized")
    assert call["tool_call_id"] == result["tool_call_id"]
    assert result["is_error"]
    assert "interrupted" in result["result"]["error"]


@pytest.mark.behaviour("COMPACT-9")
async def test_a_turn_that_failed_goes_on_after_the_compaction_that_its_user_asked_for(database: Any):
    script = [
        Turn(Say("One."), usage=SMALL),
        Refuse(401, "no"),
        SUMMARY,
        Turn(Call("look", "{}"), usage=SMALL),
        Turn(Say("Two."), usage=SMALL),
    ]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin("one")
        await chats.resting(chat)
        await chats.send(chat, "two")
        await chats.resting(chat)
        state = await asked_for_compaction(chats, chat)
        shown = await chats.shown(chat)

    assert (state["status"], state["compaction_requested_at"]) == (Status.WAITING, None)
    assert shown[-1] == "assistant: Two."
    assert [is_summary(asked) for asked in chats.vendor.asked] == [False, False, True, False, False]


async def test_a_summary_is_asked_for_without_tools_to_call_and_with_the_prompt_of_the_step(database: Any):
    script = [Turn(Call("look", "{}"), usage=FULL), SUMMARY, Turn(Say("Done."), usage=SMALL)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        await chats.resting(await chats.begin())
        first, summary, _ = chats.vendor.asked

    assert summary.body["tool_choice"] == {"type": "none"}
    assert summary.tool_names == first.tool_names  # the same beginning: the cache holds
    assert summary.messages[: len(first.messages)][0]["role"] == first.messages[0]["role"]


async def test_the_waits_between_two_tries_of_a_summary_grow(database: Any):
    def script(asked: Asked) -> Turn | Refuse:
        return BUSY if is_summary(asked) else Turn(Say("Done."), usage=FULL)

    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        for wait in (1, 2, 4):
            await chats.fake_clock.wait_for("retry")
            before = len(chats.vendor.asked)
            await chats.fake_clock.advance(wait - 0.001)
            assert len(chats.vendor.asked) == before
            await chats.fake_clock.advance(0.001)
            await chats.vendor.wait_asked(before + 1)
        await chats.interrupt(chat)
        await chats.resting(chat)
