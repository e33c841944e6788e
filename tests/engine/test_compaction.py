"""A history that grows too long is summarised, and the work goes on from there."""

from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.core.access import WORKER
from chatd.core.compaction import INSTRUCTIONS, LEAD_IN
from chatd.core.messages import Message
from chatd.core.model import FinishReason
from chatd.core.outcomes import Refusal, Refused
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role, Visibility
from chatd.core.states import Status
from chatd.core.usage import Usage
from chatd.store.actor import acting_as
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Refuse, Say, Silence, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import applied
from engine.scripted_tools import ScriptedTool

SMALL = Usage(input_tokens=20, output_tokens=10)
FULL = Usage(input_tokens=650, output_tokens=50)  # with 1000 tokens and 70 %
SUMMARY = Turn(Say("We were counting."), usage=SMALL)


def is_summary(asked: Asked) -> bool:
    return "context compaction" in asked.last_text


def compacted(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.compressed]


async def asked_for_compaction(chats: Chatting, chat: UUID) -> dict[str, Any]:
    requested = await chats.deployment.transitions.request_compaction(chat, take=chats.worker.new_take())
    chats.worker.adopt(applied(requested))
    return await chats.resting(chat)


@pytest.mark.behaviour("COMPACT-1", "COMPACT-2", "COMPACT-8")
async def test_a_step_that_fills_the_context_is_followed_by_a_summary_and_the_work_goes_on(database: Any):
    script = [Turn(Call("look", "{}"), usage=FULL), SUMMARY, Turn(Say("Done."), usage=SMALL)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin("count", system="Be brief.")
        state = await chats.resting(chat)
        stored = await chats.messages(chat)
        first, summary, after = chats.vendor.asked

    assert state["status"] == Status.WAITING, state
    assert [is_summary(asked) for asked in (first, summary, after)] == [False, True, False]
    # The loop goes on from the summary, with the system prompt in place again.
    assert [message["role"] for message in after.messages] == ["user"]
    assert after.last_text == f"{LEAD_IN}\n\nWe were counting."
    assert after.body["system"] == first.body["system"]
    assert after.tool_names == ["look"]
    # One batch: the hidden summary, and the call and result that people see.
    rows = compacted(stored)
    assert [(row.role, row.visibility) for row in rows] == [
        (Role.USER, Visibility.MODEL),
        (Role.ASSISTANT, Visibility.USER),
        (Role.TOOL, Visibility.BOTH),
    ]
    assert len({row.revision for row in rows}) == 1
    call, result = rows[1].parts[0], rows[2].parts[0]
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert call.tool_name == result.tool_name == "chat_summarized"
    assert call.tool_call_id == result.tool_call_id
    assert msgspec.json.decode(call.args) == {"source": "automatic", "threshold_percent": 70}
    assert msgspec.json.decode(result.result) == {
        "summary": "We were counting.",
        "source": "automatic",
        "threshold_percent": 70,
        "usage_percent": 70.0,
        "context_tokens": 700,
        "context_limit_tokens": 1000,
    }
    assert rows[1].cost_microdollars  # a summary is paid for too
    # People still see all of it.
    assert [row.role for row in stored if row.visibility is not Visibility.MODEL and not row.compressed] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]


@pytest.mark.behaviour("COMPACT-3")
async def test_a_last_answer_that_fills_the_context_is_followed_by_a_summary_and_another_answer(database: Any):
    script = [Turn(Say("Halfway."), usage=FULL), SUMMARY, Turn(Say("And done."), usage=SMALL)]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        texts = [line for line in await chats.shown(chat) if line.startswith("assistant: ")]

    assert state["status"] == Status.WAITING, state
    assert texts == ["assistant: Halfway.", "assistant: And done."]
    assert len(chats.vendor.asked) == 3


@pytest.mark.behaviour("COMPACT-3")
async def test_an_answer_that_fits_after_a_compaction_between_tools_ends_the_turn(database: Any):
    script = [
        Turn(Call("look", "{}"), usage=FULL),
        SUMMARY,
        Turn(Call("look", "{}"), usage=SMALL),
        Turn(Say("Done."), usage=SMALL),
    ]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)

    assert chats.vendor.unplayed == 0
    assert len(chats.vendor.asked) == 4


@pytest.mark.behaviour("COMPACT-4")
async def test_at_most_three_last_answers_are_followed_by_a_compaction(database: Any):
    # Each prompt fits, but each answer is so long that the next one would not.
    long_answer = Usage(input_tokens=100, output_tokens=650)

    def script(asked: Asked) -> Turn:
        return SUMMARY if is_summary(asked) else Turn(Say("More."), usage=long_answer)

    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        rows = compacted(await chats.messages(chat))

    assert state["status"] == Status.WAITING
    assert len(rows) == 3 * 3
    assert sum(is_summary(asked) for asked in chats.vendor.asked) == 3
    assert len(chats.vendor.asked) == 7


@pytest.mark.behaviour("COMPACT-4")
async def test_a_compaction_that_brings_nothing_ends_the_turn_with_a_clear_error(database: Any):
    still_full = Usage(input_tokens=720, output_tokens=10)
    script = [Turn(Call("look", "{}"), usage=FULL), SUMMARY, Turn(Call("look", "{}"), usage=still_full)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)

    error = msgspec.json.decode(state["last_error"])
    assert (state["status"], error["kind"]) == (Status.ERROR, "config")
    assert "does not fit" in error["message"]
    assert "720 of the 1000 tokens" in error["message"]


@pytest.mark.behaviour("COMPACT-5")
def test_what_the_summary_is_asked_for_and_how_it_is_handed_over():
    for word in ("goal", "Decisions", "state of the work", "in progress", "remains", "exact action", "under way"):
        assert word in INSTRUCTIONS
    assert "context compaction" in INSTRUCTIONS
    assert LEAD_IN == (
        "This is a summary of the earlier conversation, whose messages are no longer shown to you. You, the assistant, "
        "were at work when the context was compacted. Continue that work from where the summary ends."
    )


@pytest.mark.behaviour("COMPACT-6")
async def test_people_see_that_a_summary_is_made_before_the_model_is_asked_for_it(database: Any):
    def script(asked: Asked) -> Turn:
        if not is_summary(asked):
            return Turn(Say("Done."), usage=SMALL if any("summary" in str(m) for m in asked.messages) else FULL)
        episode = chats.parts.episodes.current(chat)
        assert episode is not None
        seen.append([msgspec.json.decode(part)["message_part"] for part in episode.after(0)])
        episodes.append(episode)
        return SUMMARY

    seen: list[list[dict[str, Any]]] = []
    episodes: list[Any] = []
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        stored = compacted(await chats.messages(chat))

    assert len(seen) == 1
    (announced,) = seen[0]
    assert (announced["role"], announced["part"]["type"], announced["part"]["tool_name"]) == (
        "assistant",
        "tool-call",
        "chat_summarized",
    )
    parts = [msgspec.json.decode(part)["message_part"] for part in episodes[0].after(0)]
    assert [(part["role"], part["part"]["type"]) for part in parts] == [
        ("assistant", "tool-call"),
        ("tool", "tool-result"),
    ]
    call = stored[1].parts[0]
    assert isinstance(call, ToolCallPart)
    assert {part["part"]["tool_call_id"] for part in parts} == {call.tool_call_id}
    # Then the rows, in order, and the status with what follows them.
    assert [row.role for row in stored] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert [row.id for row in stored] == sorted(row.id for row in stored)


@pytest.mark.behaviour("COMPACT-7")
@pytest.mark.parametrize(
    ("usage", "threshold"),
    [
        (Usage(input_tokens=649, output_tokens=50), 70),
        (Usage(input_tokens=990, output_tokens=10), 100),  # 100 means: not by itself
        (Usage(), 0),
    ],
)
async def test_below_the_threshold_nothing_is_announced_and_nothing_called(database: Any, usage: Usage, threshold: int):
    script = [Turn(Call("look", "{}"), usage=usage), Turn(Say("Done."), usage=usage)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], threshold=threshold) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        rows = compacted(await chats.messages(chat))

    assert rows == []
    assert len(chats.vendor.asked) == 2


@pytest.mark.behaviour("COMPACT-9")
async def test_a_user_can_ask_for_a_compaction_of_a_chat_that_rests(database: Any):
    async with chatting(database.dsn, [Turn(Say("Hi."), usage=SMALL), SUMMARY, Turn(Say("Yes."))]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        state = await asked_for_compaction(chats, chat)
        rows = compacted(await chats.messages(chat))
        again = await chats.deployment.transitions.request_compaction(chat)
        await chats.send(chat, "there?")
        await chats.resting(chat)

    assert state["status"] == Status.WAITING
    assert isinstance(again, Refused)
    assert again.reason is Refusal.NOTHING_TO_SUMMARISE
    assert state["compaction_requested_at"] is None
    call = rows[1].parts[0]
    assert isinstance(call, ToolCallPart)
    assert msgspec.json.decode(call.args)["source"] == "manual"
    # Nothing was answered, and nobody was asked the second time.
    assert len(chats.vendor.asked) == 3
    assert [message["role"] for message in chats.vendor.asked[-1].messages] == ["user"]


@pytest.mark.behaviour("COMPACT-9")
async def test_a_compaction_leads_out_of_an_error_of_a_context_that_is_over_full(database: Any):
    too_long = Refuse(400, "prompt is too long: 1200 tokens > 1000 maximum", type="invalid_request_error")
    script = [
        Turn(Say("One."), usage=SMALL),
        Turn(Say("Two."), usage=SMALL),
        too_long,  # the third message, and the summary of all three
        too_long,
        SUMMARY,  # of the newer half
        Turn(Say("Three."), usage=SMALL),
    ]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin("one")
        await chats.resting(chat)
        await chats.send(chat, "two")
        await chats.resting(chat)
        await chats.send(chat, "three")
        state = await chats.resting(chat)
        last = (await chats.shown(chat))[-1]

    assert state["status"] == Status.WAITING, state
    assert last == "assistant: Three."
    assert "left out here" in str(chats.vendor.asked[-2].messages[0])


@pytest.mark.behaviour("COMPACT-10")
async def test_a_summary_that_does_not_come_in_time_is_told_and_ends_the_turn(database: Any):
    def script(asked: Asked) -> Turn:
        if not is_summary(asked):
            return Turn(Say("Done."), usage=FULL)
        episodes.append(chats.parts.episodes.current(chat))
        return Turn(Say("We "), faults=[Silence(after_events=3)])

    episodes: list[Any] = []
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("summary")
        await chats.vendor.wait_asked(2)
        await chats.fake_clock.advance(90)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    error = msgspec.json.decode(state["last_error"])
    assert (state["status"], error["kind"]) == (Status.ERROR, "timeout")
    assert "90 seconds" in error["message"]
    told = msgspec.json.decode(episodes[0].after(0)[-1])["message_part"]["part"]
    assert (told["type"], told["is_error"]) == ("tool-result", True)
    assert shown == ["user: hello", "assistant: Done."]  # the answer itself is kept


@pytest.mark.behaviour("COMPACT-10")
async def test_a_summary_that_fails_is_tried_again_and_an_empty_one_is_an_error(database: Any):
    script = [
        Turn(Say("Done."), usage=FULL),
        Refuse(529, "Overloaded.", type="overloaded_error"),
        Turn(Say("   "), usage=SMALL),
    ]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        state = await chats.resting(chat)

    assert state["status"] == Status.ERROR
    assert "came back empty" in state["last_error"]


async def test_stopping_a_compaction_keeps_the_answer_before_it(database: Any):
    def script(asked: Asked) -> Turn:
        quiet = [Silence(after_events=3)] if is_summary(asked) else []
        return Turn(Say("Done."), usage=FULL, faults=quiet)

    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.vendor.wait_asked(2)
        await chats.interrupt(chat)
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING
        assert await chats.shown(chat) == ["user: hello", "assistant: Done."]


async def test_the_prompt_after_a_compaction_is_the_one_that_is_read_from_the_database(database: Any):
    script = [Turn(Call("look", "{}"), usage=FULL), SUMMARY, Turn(Say("Done."), usage=SMALL), Turn(Say("Yes."))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin(system="Be brief.")
        await chats.resting(chat)
        state = await chats.deployment.state(chat)
        with acting_as(WORKER):
            kept = await chats.parts.histories.load(chat, state["history_version"])
            chats.parts.histories.forget(chat)
            read = await chats.parts.histories.load(chat, state["history_version"])

    assert kept == read
    assert [message.role for message in read] == [Role.SYSTEM, Role.USER, Role.ASSISTANT]
    assert isinstance(read[1].parts[0], TextPart)


@pytest.mark.behaviour("LOOP-6", "COMPACT-6")
async def test_stopping_a_compaction_that_lasts_leaves_no_call_of_it_to_the_model(database: Any):
    def script(asked: Asked) -> Turn:
        quiet = [Silence(after_events=3)] if is_summary(asked) else []
        return Turn(Say("Done."), usage=FULL, faults=quiet)

    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.vendor.wait_asked(2)
        assert await chats.parts.checkpoints.flush()
        await chats.interrupt(chat)
        await chats.resting(chat)
        stored = await chats.messages(chat)

    for_model = [part for row in stored if row.visibility is not Visibility.USER for part in row.parts]
    assert [type(part) for part in for_model] == [TextPart, TextPart]


@pytest.mark.behaviour("COMPACT-4")
async def test_a_long_message_after_a_compaction_is_compacted_too(database: Any):
    script = [
        Turn(Say("Hi."), usage=SMALL),
        SUMMARY,
        Turn(Say("Read it."), usage=Usage(input_tokens=720, output_tokens=5)),
        SUMMARY,
        Turn(Say("Go on."), usage=SMALL),
    ]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        await asked_for_compaction(chats, chat)
        await chats.send(chat, "a whole book")
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state["last_error"]
    assert shown[-1] == "assistant: Go on."


@pytest.mark.behaviour("COMPACT-7")
async def test_pauses_of_the_vendor_do_not_make_the_context_look_full(database: Any):
    used = Usage(input_tokens=250, output_tokens=10)
    paused = Turn(Say("a"), finish=FinishReason.PAUSE, usage=used)
    async with chatting(database.dsn, [paused, paused, Turn(Say("b"), usage=used)]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        answer = (await chats.messages(chat))[-1]

    assert len(chats.vendor.asked) == 3
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (250, 30)
    assert answer.cost_microdollars == 3 * (250 + 2 * 10)


@pytest.mark.behaviour("COMPACT-4")
async def test_a_low_threshold_compacts_early_and_does_not_stop_the_work_while_there_is_room(database: Any):
    used = Usage(input_tokens=120, output_tokens=10)
    script = [Turn(Call("look", "{}"), usage=used), SUMMARY, Turn(Call("look", "{}"), usage=used), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], threshold=5) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state["last_error"]
    assert shown[-1] == "assistant: Done."


async def test_a_compaction_after_a_turn_that_was_stopped_at_its_limit_ends_with_it(
    database: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chatd.core.turn.MOST_STEPS", 1)
    async with chatting(
        database.dsn, [Turn(Call("look", "{}"), usage=SMALL), SUMMARY], tools=[ScriptedTool("look")]
    ) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        await asked_for_compaction(chats, chat)
        shown = await chats.shown(chat)

    assert sum("was stopped after" in line for line in shown) == 1
    assert len(chats.vendor.asked) == 2
