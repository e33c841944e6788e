"""Turns as spans: who was asked, for how long, with what outcome, and never what was written."""

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chatd.core.provider_kind import ProviderKind
from chatd.core.usage import Usage
from chatd.engine.meter import NO_METER
from chatd.engine.tools.tool import ToolCall, ToolOutput
from chatd.engine.traced_meter import TracedMeter
from chatd.observe.traces import OtelTracer, SpanKind
from chatd.testing.vendors.script import Call, Delay, Refuse, Say, Silence, Think, Turn
from engine.chatting import MODEL, chatting
from engine.measuring import RecordingTracer
from engine.scripted_tools import ScriptedTool
from engine.test_compaction import FULL, SUMMARY

USAGE = Usage(input_tokens=20, output_tokens=10, cache_read_tokens=4)
TURN, CHAT, LOOK = "invoke_agent chatd", f"chat {MODEL}", "execute_tool look"


@pytest.mark.behaviour("SIDE-4")
async def test_a_turn_is_a_span_with_its_calls_and_tools_in_it(database: Any):
    tracer = RecordingTracer()
    script = [Turn(Call("look", '{"path":"mine"}'), usage=USAGE), Turn(Say("Done."), usage=USAGE)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], meter=tracer.meter) as chats:
        chat = await chats.begin("my question")
        await chats.resting(chat)

    assert tracer.tree() == [TURN, f"{TURN} > {CHAT}", f"{TURN} > {LOOK}", f"{TURN} > {CHAT}"]
    assert all(span.is_over and span.failed is None for span in tracer.spans)
    turn, call, tool, _ = tracer.spans
    model = {"gen_ai.provider.name": "anthropic", "gen_ai.request.model": MODEL}
    assert (turn.kind, call.kind, tool.kind) == (SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL)
    assert turn.attributes == model | {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "chatd",
        "gen_ai.conversation.id": str(chat),
    }
    assert call.attributes == model | {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.stream": True,
        "gen_ai.request.max_tokens": call.attributes["gen_ai.request.max_tokens"],
        "gen_ai.response.time_to_first_chunk": 0.0,
        "gen_ai.usage.input_tokens": 24,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.usage.reasoning.output_tokens": 0,
    }
    assert tool.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
    }


@pytest.mark.parametrize(
    ("kind", "name"), [(ProviderKind.OPENAI, "openai"), (ProviderKind.GOOGLE, "gcp.gemini")], ids=str
)
async def test_providers_have_the_names_of_the_conventions(database: Any, kind: ProviderKind, name: str):
    tracer = RecordingTracer()
    async with chatting(database.dsn, [Turn(Say("Done."))], kind=kind, meter=tracer.meter) as chats:
        await chats.resting(await chats.begin())

    assert [span.attributes["gen_ai.provider.name"] for span in tracer.spans] == [name, name]


async def test_the_call_for_a_summary_is_in_the_span_of_its_compaction(database: Any):
    tracer = RecordingTracer()
    script = [Turn(Say("Done."), usage=FULL), SUMMARY, Turn(Say("Yes."), usage=USAGE)]
    async with chatting(database.dsn, script, meter=tracer.meter) as chats:
        await chats.resting(await chats.begin())

    turn_call, compaction = f"{TURN} > {CHAT}", f"{TURN} > compaction"
    assert tracer.tree() == [TURN, turn_call, compaction, f"compaction > {CHAT}", turn_call]


async def test_failures_are_told_by_their_kind(database: Any):
    async def broken(_: ToolCall) -> ToolOutput:
        raise RuntimeError("a secret of the tool's")

    tracer = RecordingTracer()
    script = [
        Refuse(429, "words of the vendor's", headers={"retry-after": "1"}),
        Turn(Call("look", "{}"), Call("no_such_tool", "{}")),
        Refuse(401, "words of the vendor's", type="authentication_error"),
    ]
    tools = [ScriptedTool("look", broken)]
    async with chatting(database.dsn, script, tools=tools, meter=tracer.meter) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        await chats.resting(chat)

    assert [(span.name, span.failed) for span in tracer.spans] == [
        (TURN, "auth"),
        (CHAT, "rate_limit"),
        (CHAT, None),
        (LOOK, "tool_error"),
        ("execute_tool other", "tool_error"),
        (CHAT, "auth"),
    ]
    assert "words" not in tracer.written()
    assert "secret" not in tracer.written()


async def test_being_stopped_is_no_failure(database: Any):
    tracer = RecordingTracer()
    script = [Turn(Say("One, ", "two"), usage=USAGE, faults=[Delay(2.0), Silence(after_events=4)])]
    async with chatting(database.dsn, script, meter=tracer.meter) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("scripted vendor")
        await chats.fake_clock.advance(2)
        await chats.streamed(chat, "One, ")
        await chats.interrupt(chat)
        await chats.resting(chat)

    turn, call = tracer.spans
    assert all(span.failed is None and span.attributes["chatd.cancelled"] for span in (turn, call))
    assert call.attributes["gen_ai.response.time_to_first_chunk"] == 2.0
    assert call.attributes["gen_ai.usage.input_tokens"] == 24


@pytest.mark.behaviour("SIDE-4")
async def test_no_span_holds_what_anybody_wrote(database: Any):
    tracer = RecordingTracer()
    script = [Turn(Think("thoughts"), Say("an answer"), Call("look", '{"path":"a file"}')), Turn(Say("the end"))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], meter=tracer.meter) as chats:
        chat = await chats.begin("a question", system="instructions")
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert shown[-1] == "assistant: the end"
    written = tracer.written()
    for text in ("thoughts", "an answer", "a file", "the end", "a question", "instructions", "saw", "A chat"):
        assert text not in written


async def test_opentelemetry_gets_the_same_tree(database: Any):
    kept, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = OtelTracer(provider.get_tracer("test"))
    silent = Turn(Say("One, ", "two"), faults=[Silence(after_events=4)])
    script = [Turn(Call("look", "{}"), Call("look", "{}")), Turn(Say("Done."), usage=FULL), SUMMARY, silent]
    async with chatting(
        database.dsn,
        script,
        tools=[ScriptedTool("look")],
        meter=lambda clock: TracedMeter(NO_METER, tracer, clock.monotonic),
    ) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        await chats.interrupt(chat)
        await chats.resting(chat)

    finished: list[Any] = list(kept.get_finished_spans())
    spans = sorted(finished, key=lambda span: span.start_time)
    names = {span.context.span_id: span.name for span in spans}
    tree = [f"{names[span.parent.span_id]} > {span.name}" if span.parent else span.name for span in spans]
    in_turn = [f"{TURN} > {name}" for name in (CHAT, LOOK, LOOK, CHAT, "compaction")]
    assert tree == [TURN, *in_turn, f"compaction > {CHAT}", f"{TURN} > {CHAT}"]
    assert {span.context.trace_id for span in spans} == {spans[0].context.trace_id}
    assert not any(span.events for span in spans)
