"""Stopping a chat: whatever was seen of the step is stored, however and whenever it was stopped."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from chatd.core.parts import ReasoningPart, TextPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.engine.tools.tool import ToolCall, ToolOutput
from chatd.store.transitions import Fence, Outcome, Transitions
from chatd.testing.vendors.script import Call, Cut, Hold, Refuse, Say, Silence, Think, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import said
from engine.scripted_tools import ScriptedTool
from engine.test_turns import VENDORS

INTERRUPTED = "look fails "


async def stopped(chats: Chatting, chat: UUID) -> dict[str, Any]:
    await chats.interrupt(chat)
    return await chats.resting(chat)


@pytest.mark.behaviour("LOOP-5")
@pytest.mark.parametrize("kind", VENDORS)
async def test_what_was_streamed_is_kept_when_the_vendor_falls_silent(database: Any, kind: ProviderKind):
    # Vendors need a different number of events until the first word is out: after 30 it is, and the last one is not.
    script = [Turn(Think("Hm, let me see."), Say("One, ", *["more, "] * 50), faults=[Silence(after_events=30)])]
    async with chatting(database.dsn, script, kind=kind) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        state = await stopped(chats, chat)
        answer = (await chats.messages(chat))[1]
        await chats.vendor.wait_hung_up()

    assert state["status"] == Status.WAITING
    assert answer.role is Role.ASSISTANT
    texts = [part.text for part in answer.parts if isinstance(part, TextPart)]
    assert len(texts) == 1  # all deltas of a block are one part
    assert texts[0].startswith("One, ")
    if kind is not ProviderKind.OPENAI:  # whose thoughts are summaries, which come in an order of their own
        assert isinstance(answer.parts[0], ReasoningPart)


@pytest.mark.behaviour("LOOP-5")
@pytest.mark.parametrize("fault", [Cut(after_events=6), Cut(after_events=6, reset=True)], ids=["clean end", "reset"])
async def test_what_was_streamed_is_kept_when_the_vendor_ends_the_stream_at_that_moment(database: Any, fault: Cut):
    """The stream ends by itself right before the user stops it: the next attempt must not throw away what was seen."""
    go = asyncio.Event()
    script = [
        Turn(Say("One, ", "two, ", "three"), faults=[Hold(go, before_event=5), fault]),
        Refuse(500, "never asked"),
    ]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "two, ")
        await chats.interrupt(chat)
        go.set()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING
    assert shown == ["user: hello", "assistant: One, two, "]


@pytest.mark.behaviour("LOOP-5")
async def test_a_call_that_was_complete_is_kept_and_half_a_call_is_not(database: Any):
    look = ScriptedTool("look")
    script = [
        Turn(
            Say("I look."),
            Call("look", '{"path": "a"}'),
            Call("look", '{"path": ', '"b"', "}"),
            faults=[Silence(after_events=10)],
        ),
        Turn(Say("Fine.")),
    ]
    async with chatting(database.dsn, script, tools=[look]) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, '\\"path\\": ')
        await stopped(chats, chat)
        kept = await chats.shown(chat)
        await chats.send(chat, "go on")
        state = await chats.resting(chat)

    assert kept[:3] == ["user: hello", "assistant: I look.", 'assistant calls look {"path": "a"}']
    assert kept[3].startswith(INTERRUPTED)
    assert len(kept) == 4
    assert look.calls == []
    assert state["status"] == Status.WAITING, state


@pytest.mark.behaviour("LOOP-6")
async def test_calls_results_and_what_did_not_finish_are_kept_when_tools_are_stopped(database: Any):
    async def for_ever(call: ToolCall) -> ToolOutput:
        await asyncio.Event().wait()
        raise AssertionError

    quick, slow = ScriptedTool("quick"), ScriptedTool("look", for_ever)
    script = [
        Turn(Think("Hm."), Say("I look."), Call("look", "{}"), Call("quick", "{}")),
        Turn(Say("Fine.")),
    ]
    async with chatting(database.dsn, script, tools=[quick, slow]) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, '"tool_name":"quick","result"')
        state = await stopped(chats, chat)
        kept = await chats.shown(chat)
        await chats.send(chat, "go on")
        after = await chats.resting(chat)

    assert state["status"] == Status.WAITING
    assert kept[:5] == [
        "user: hello",
        "assistant: ReasoningPart",
        "assistant: I look.",
        "assistant calls look {}",
        "assistant calls quick {}",
    ]
    assert sorted(line.split(" ")[0] for line in kept[5:]) == ["look", "quick"]
    assert any(line.startswith(INTERRUPTED) for line in kept)
    assert 'quick says {"output":"saw {}"}' in kept
    assert after["status"] == Status.WAITING, after


@pytest.mark.behaviour("LOOP-7")
async def test_an_interrupt_between_the_last_check_and_the_commit_still_stores_the_step(
    database: Any, monkeypatch: pytest.MonkeyPatch
):
    committed = Transitions.commit_step
    async with chatting(database.dsn, [Turn(Say("Whole."))]) as chats:

        async def too_late(self: Transitions, fence: Fence, *args: Any, **options: Any) -> Outcome:
            """The user is quicker than the statement."""
            monkeypatch.setattr(Transitions, "commit_step", committed)
            await chats.interrupt(fence.chat_id)
            return await committed(self, fence, *args, **options)

        monkeypatch.setattr(Transitions, "commit_step", too_late)
        chat = await chats.begin()
        state = await chats.resting(chat)
        stored = await chats.messages(chat)

        assert state["status"] == Status.WAITING
        assert await chats.shown(chat) == ["user: hello", "assistant: Whole."]
        assert stored[1].usage.output_tokens
        assert stored[1].cost_microdollars


async def test_stopping_while_a_retry_is_waited_for_ends_the_wait(database: Any):
    async with chatting(database.dsn, [Refuse(529, "Overloaded.", type="overloaded_error")]) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        state = await stopped(chats, chat)

        assert state["status"] == Status.WAITING
        assert state["retry_state"] is None
        assert await chats.shown(chat) == ["user: hello"]


async def test_a_message_that_interrupts_is_answered_after_what_was_there_is_stored(database: Any):
    script = [Turn(Say("One, ", "two"), faults=[Silence(after_events=4)]), Turn(Say("Yes?"))]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        await chats.send(chat, "stop", interrupts=True)
        await chats.resting(chat)

        assert await chats.shown(chat) == ["user: hello", "assistant: One, ", "user: stop", "assistant: Yes?"]


async def test_an_interrupt_before_the_first_word_stores_nothing(database: Any):
    async with chatting(database.dsn, [Turn(Say("Never."), faults=[Silence()])]) as chats:
        chat = await chats.begin()
        await chats.vendor.wait_asked()
        state = await stopped(chats, chat)

        assert state["status"] == Status.WAITING
        assert await chats.shown(chat) == ["user: hello"]


async def test_an_edit_while_the_model_speaks_forgets_what_it_said(database: Any):
    script = [Turn(Say("One, ", "two"), faults=[Silence(after_events=4)]), Turn(Say("Better."))]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin("wrong")
        await chats.streamed(chat, "One, ")
        first = (await chats.messages(chat))[0]
        await chats.deployment.transitions.edit_message(chat, first.id, said("right", chats.deployment.user_id))
        await chats.resting(chat)

        assert await chats.shown(chat) == ["user: right", "assistant: Better."]


async def test_an_edit_and_an_interrupt_in_one_breath_store_nothing_of_what_was_said_before_the_edit(database: Any):
    """The runner hears of both at once: what it has in flight answers a message that is gone."""
    script = [Turn(Say("One, ", "two"), faults=[Silence(after_events=4)])]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin("wrong")
        await chats.streamed(chat, "One, ")
        first = (await chats.messages(chat))[0]
        hints: Any = chats.deployment.hints
        hints.lost = True
        await chats.deployment.transitions.edit_message(chat, first.id, said("right", chats.deployment.user_id))
        await chats.interrupt(chat)
        hints.lost = False
        hints.deliver(hints.published[-1])
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING, state
        assert await chats.shown(chat) == ["user: right"]
