"""A vendor that pauses within an answer: what it had said is part of the answer, however that ends."""

from typing import Any

from chatd.core.model import FinishReason
from chatd.core.parts import TextPart
from chatd.core.roles import Visibility
from chatd.core.states import Status
from chatd.core.usage import Usage
from chatd.engine import step
from chatd.testing.vendors.script import Say, Silence, Think, Turn
from engine.chatting import chatting

PAUSED = Turn(Say("First, "), finish=FinishReason.PAUSE, usage=Usage(input_tokens=20, output_tokens=10))


async def test_a_pause_before_the_interrupt_is_kept_with_what_came_after_it(database: Any):
    script = [PAUSED, Turn(Say("then ", *["and "] * 20), faults=[Silence(after_events=6)])]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "then ")
        await chats.interrupt(chat)
        await chats.resting(chat)
        answer = (await chats.messages(chat))[1]

    first, then = [part.text for part in answer.parts if isinstance(part, TextPart)]
    assert first == "First, "
    assert then.startswith("then ")
    assert (answer.usage.output_tokens or 0) >= 10


async def test_after_a_pause_the_vendor_is_asked_with_what_it_has_said(database: Any):
    async with chatting(database.dsn, [PAUSED, Turn(Say("then."))]) as chats:
        await chats.resting(await chats.begin("hello"))
        first, second = [asked.messages for asked in chats.vendor.asked]

    assert [message["role"] for message in first] == ["user"]
    assert [message["role"] for message in second][:2] == ["user", "assistant"]
    assert "First, " in str(second[1])


async def test_a_pause_is_no_answer_to_a_filter_that_strikes_after_it(database: Any):
    """What was said before the pause is an answer: only thoughts are none."""
    struck = Turn(Think("Hm."), finish=FinishReason.CONTENT_FILTER)
    async with chatting(database.dsn, [PAUSED, struck]) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state
    assert "assistant: First, " in shown


async def test_a_vendor_that_never_stops_pausing_is_given_up_and_what_it_said_is_kept(database: Any):
    async with chatting(database.dsn, [PAUSED] * (step.MOST_PAUSES + 1)) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.ERROR
    assert "paused too often" in state["last_error"]
    assert len(chats.vendor.asked) == step.MOST_PAUSES
    assert shown == ["user: hello", *["assistant: First, "] * step.MOST_PAUSES]


async def test_an_answer_of_nothing_is_for_the_model_alone(database: Any):
    async with chatting(database.dsn, [Turn()]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        answer = (await chats.messages(chat))[1]

    assert (answer.parts, answer.visibility) == ((), Visibility.MODEL)
