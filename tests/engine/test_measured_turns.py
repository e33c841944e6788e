"""What is counted of turns as they run."""

import asyncio
from collections.abc import Sequence
from typing import Any, Self

import pytest

from chatd.core.accumulate import Accumulator
from chatd.core.model import ModelEvent, ModelRequest
from chatd.core.states import Status
from chatd.core.usage import Usage
from chatd.engine import episodes
from chatd.engine.counting_meter import CountingMeter
from chatd.engine.meter import CallMeasure
from chatd.engine.models import ResolvedModel
from chatd.engine.tools.tool import ToolCall, ToolOutput, Traits, said
from chatd.observe.metrics import Metrics
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Delay, Drip, Refuse, Say, Silence, Think, Turn
from engine.chatting import chatting
from engine.measuring import Measured
from engine.scripted_tools import ScriptedTool
from engine.test_client_tools import ASK
from engine.test_compaction import FULL, SUMMARY, is_summary

SMALL = Usage(input_tokens=20, output_tokens=10, cache_read_tokens=4)  # at 1, 2 and 0.5 microdollars: 42


@pytest.mark.behaviour("SIDE-4")
async def test_calls_steps_tokens_cost_and_prompts_are_counted_by_model(database: Any):
    measured = Measured()
    script = [Turn(Call("look", "{}"), usage=SMALL), Turn(Say("Done."), usage=SMALL)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], meter=measured.meter) as chats:
        await chats.resting(await chats.begin())
        sizes = [int(asked.headers["content-length"]) for asked in chats.vendor.asked]

    assert measured.of_model("chatd_provider_calls_total", outcome="ok") == 2
    assert measured.of_model("chatd_provider_call_seconds_count") == 2
    assert measured.of_model("chatd_provider_first_token_seconds_count") == 2
    assert measured.of_model("chatd_steps_total") == 2
    assert measured.by("kind", "chatd_provider_tokens_total") == {"input": 40, "output": 20, "cache_read": 8}
    assert measured.of_model("chatd_provider_cost_microdollars_total") == 84
    # The system prompt, what there is to work with, and the user's message; then the answer and the result besides.
    assert measured.of_model("chatd_provider_prompt_messages_sum") == 3 + 5
    assert measured.of_model("chatd_provider_prompt_bytes_sum") == sum(sizes)


@pytest.mark.behaviour("SIDE-4")
async def test_the_time_until_an_answer_begins_is_told_apart_from_the_time_that_it_takes(database: Any):
    measured = Measured()
    script = [Turn(Think("Hm."), Say("Done."), faults=[Delay(3.0, before_event=0), Delay(4.0, before_event=5)])]
    async with chatting(database.dsn, script, meter=measured.meter) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("scripted vendor")
        await chats.fake_clock.advance(3)
        await chats.streamed(chat, "Hm.")
        await chats.fake_clock.wait_for("scripted vendor")
        await chats.fake_clock.advance(4)
        await chats.resting(chat)

    assert measured.of_model("chatd_provider_first_token_seconds_sum") == 3
    assert measured.of_model("chatd_provider_call_seconds_sum") == 7


@pytest.mark.behaviour("SIDE-4")
async def test_tools_are_counted_by_name_and_names_that_are_made_up_as_one(database: Any):
    async def long(_: ToolCall) -> ToolOutput:
        return said("x" * 100_000)

    async def broken(_: ToolCall) -> ToolOutput:
        raise RuntimeError("broken")

    async def slow(_: ToolCall) -> ToolOutput:
        await chats.clock.sleep(2.5, timer="slow tool")
        return said("é")

    measured = Measured()
    names = ("long", "broken", "slow", "made_up_1", "made_up_2")
    script = [Turn(*(Call(name, "{}") for name in names)), Turn(Say("Done."))]
    tools = [ScriptedTool("long", long), ScriptedTool("broken", broken), ScriptedTool("slow", slow)]
    async with chatting(database.dsn, script, tools=tools, meter=measured.meter) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("slow tool")
        await chats.fake_clock.advance(2.5)
        await chats.resting(chat)

    calls = measured.of_model
    assert calls("chatd_tool_calls_total", tool="long", outcome="ok") == 1
    assert calls("chatd_tool_calls_total", tool="broken", outcome="error") == 1
    assert calls("chatd_tool_calls_total", tool="slow", outcome="ok") == 1
    assert calls("chatd_tool_calls_total", tool="other", outcome="error") == 2
    assert set(measured.by("tool", "chatd_tool_calls_total")) == {"long", "broken", "slow", "other"}
    assert measured.by("tool", "chatd_tool_results_truncated_total") == {"long": 1}
    assert measured.value("chatd_tool_seconds_sum", tool="slow") == 2.5
    assert measured.value("chatd_tool_result_bytes_sum", tool="slow") == len('{"output":"é"}'.encode())
    assert 10_000 < (measured.value("chatd_tool_result_bytes_sum", tool="long") or 0) <= 16 * 1024


async def test_calls_that_were_refused_for_their_company_are_counted(database: Any):
    measured = Measured()
    alone, other = ScriptedTool("alone", traits=Traits(is_exclusive=True)), ScriptedTool("look")
    script = [Turn(Call("alone", "{}"), Call("look", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[alone, other], meter=measured.meter) as chats:
        await chats.resting(await chats.begin())

    assert measured.by("tool", "chatd_tool_calls_total") == {"alone": 1, "look": 1}
    assert measured.of_model("chatd_tool_calls_total", tool="look", outcome="error") == 1


@pytest.mark.behaviour("SIDE-4")
async def test_failed_calls_and_retries_are_counted_by_the_kind_of_failure(database: Any):
    measured = Measured()
    script = [
        Refuse(429, "Slow down.", headers={"retry-after": "7"}),
        Refuse(529, "Overloaded.", type="overloaded_error"),
        Refuse(401, "Who are you?", type="authentication_error"),
    ]
    async with chatting(database.dsn, script, meter=measured.meter) as chats:
        chat = await chats.begin()
        for seconds in (7, 2):
            await chats.fake_clock.wait_for("retry")
            await chats.fake_clock.advance(seconds)
        state = await chats.resting(chat)

    assert state["status"] == Status.ERROR
    assert measured.by("outcome", "chatd_provider_calls_total") == {"rate_limit": 1, "overloaded": 1, "auth": 1}
    assert measured.by("kind", "chatd_provider_retries_total") == {"rate_limit": 1, "overloaded": 1}
    assert measured.of_model("chatd_steps_total") == 0


@pytest.mark.behaviour("SIDE-4")
async def test_a_call_that_is_stopped_is_cancelled_and_what_it_used_is_counted(database: Any):
    measured = Measured()
    script = [Turn(Say("One, ", "two"), usage=SMALL, faults=[Silence(after_events=4)])]
    async with chatting(database.dsn, script, meter=measured.meter) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        await chats.interrupt(chat)
        await chats.resting(chat)

    assert measured.by("outcome", "chatd_provider_calls_total") == {"cancelled": 1}
    assert measured.of_model("chatd_provider_tokens_total", kind="input") == 20  # told with the first event
    assert measured.of_model("chatd_steps_total") == 0


async def test_a_tool_that_is_stopped_is_cancelled(database: Any):
    async def forever(_: ToolCall) -> ToolOutput:
        await asyncio.Event().wait()
        raise AssertionError

    measured = Measured()
    tool = ScriptedTool("wait", forever)
    async with chatting(database.dsn, [Turn(Call("wait", "{}"))], tools=[tool], meter=measured.meter) as chats:
        chat = await chats.begin()
        await tool.started.wait()
        await chats.interrupt(chat)
        await chats.resting(chat)

    assert measured.by("outcome", "chatd_tool_calls_total") == {"cancelled": 1}
    assert measured.value("chatd_tool_result_bytes_count", tool="wait") == 0


@pytest.mark.behaviour("SIDE-4")
async def test_a_compaction_is_counted_and_so_are_its_calls(database: Any):
    measured = Measured()
    script = [Turn(Say("Done."), usage=FULL), SUMMARY, Turn(Say("Yes."), usage=SMALL)]
    async with chatting(database.dsn, script, meter=measured.meter) as chats:
        await chats.resting(await chats.begin())

    assert measured.by("result", "chatd_compactions_total") == {"success": 1}
    assert measured.by("outcome", "chatd_provider_calls_total") == {"ok": 3}
    assert measured.of_model("chatd_steps_total") == 2


async def test_a_compaction_that_fails_is_an_error_and_its_retries_are_counted(database: Any):
    measured = Measured()
    busy = Refuse(529, "Overloaded.", type="overloaded_error")
    script = [Turn(Say("Done."), usage=FULL), busy, Turn(Say("   "))]
    async with chatting(database.dsn, script, meter=measured.meter) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        await chats.resting(chat)

    assert measured.by("result", "chatd_compactions_total") == {"error": 1}
    assert measured.by("kind", "chatd_provider_retries_total") == {"overloaded": 1}


async def test_a_compaction_that_brings_nothing_is_an_error(database: Any):
    measured = Measured()
    still_full = Turn(Call("look", "{}"), usage=Usage(input_tokens=720, output_tokens=10))
    script = [Turn(Call("look", "{}"), usage=FULL), SUMMARY, still_full]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], meter=measured.meter) as chats:
        await chats.resting(await chats.begin())

    assert measured.by("result", "chatd_compactions_total") == {"success": 1, "error": 1}


def silent_summary(asked: Asked) -> Turn:
    return Turn(Say("Done."), usage=FULL, faults=[Silence(after_events=3)] if is_summary(asked) else [])


async def test_a_compaction_that_takes_too_long_is_a_timeout(database: Any):
    measured = Measured()
    async with chatting(database.dsn, silent_summary, meter=measured.meter) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("summary")
        await chats.vendor.wait_asked(2)
        await chats.fake_clock.advance(90)
        await chats.resting(chat)

    assert measured.by("result", "chatd_compactions_total") == {"timeout": 1}


async def test_a_compaction_that_is_stopped_is_not_counted(database: Any):
    measured = Measured()
    async with chatting(database.dsn, silent_summary, meter=measured.meter) as chats:
        chat = await chats.begin()
        await chats.vendor.wait_asked(2)
        await chats.interrupt(chat)
        await chats.resting(chat)

    assert measured.by("result", "chatd_compactions_total") == {}


@pytest.mark.behaviour("SIDE-4")
async def test_live_parts_that_find_no_room_are_counted(database: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(episodes, "MOST_BYTES", 1000)
    measured = Measured()
    script = [Turn(Say(*["a" * 300] * 8), Call("look", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], meter=measured.meter) as chats:
        dropped: list[episodes.Episode] = []
        chats.parts.episodes.on_open(dropped.append)
        await chats.resting(await chats.begin())

    lost = sum(episode.dropped for episode in dropped)
    assert lost >= 6
    assert measured.value("chatd_stream_parts_dropped_total") == lost


async def test_chats_are_counted_by_what_they_do(database: Any):
    def states() -> dict[str, float]:
        return measured.by("state", "chatd_chats")

    measured = Measured()
    script = [Turn(Call("ask", "{}")), Turn(Say("One, ", "two"), faults=[Silence(after_events=4)])]
    async with chatting(database.dsn, script, meter=measured.meter) as chats:
        waiting = await chats.begin(dynamic_tools=ASK)
        await chats.until(waiting, Status.REQUIRES_ACTION)
        streaming = await chats.begin()
        await chats.streamed(streaming, "One, ")
        both = states()
        await chats.interrupt(streaming)
        await chats.resting(streaming)
        one = states()

    assert both == {"generating": 1, "waiting": 1}
    assert one["generating"] == 0


class Overheard:
    """A call that notes how often it is told of events."""

    def __init__(self, inner: CallMeasure, told: list[int]) -> None:
        self.waits = inner.waits
        self._inner = inner
        self._told = told

    def sent(self, size: int) -> None:
        self._inner.sent(size)

    def heard(self, events: Sequence[ModelEvent]) -> None:
        self._told.append(len(events))
        self._inner.heard(events)
        self.waits = self._inner.waits

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, kind: Any, error: BaseException | None, traceback: Any, /) -> None:
        await self._inner.__aexit__(kind, error, traceback)


async def test_nothing_is_told_for_the_chunks_of_an_answer_once_it_has_begun(database: Any):
    told: list[int] = []

    class Meter(CountingMeter):
        def call(self, model: ResolvedModel, request: ModelRequest, accumulator: Accumulator) -> CallMeasure:
            return Overheard(super().call(model, request, accumulator), told)

    async with chatting(
        database.dsn,
        [Turn(Say(*["word "] * 200), faults=[Drip(400)])],
        meter=lambda clock: Meter(Metrics().engine, clock.monotonic),
    ) as chats:
        await chats.resting(await chats.begin())

    assert 1 <= len(told) <= 3
