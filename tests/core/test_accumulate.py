"""Events become one message: every delta of a block in one part, in the order in which blocks ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.accumulate import Accumulator
from chatd.core.model import (
    BlockEnded,
    Finished,
    FinishReason,
    ModelEvent,
    Ping,
    ProtocolName,
    ProviderResult,
    ReasoningDelta,
    ReasoningStarted,
    SourceFound,
    TextDelta,
    TextStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageReported,
)
from chatd.core.parts import ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.usage import Usage

P = ProtocolName.ANTHROPIC_MESSAGES


def fold(*events: ModelEvent) -> Accumulator:
    accumulator = Accumulator(P)
    for number, event in enumerate(events):
        accumulator.add(event, f"t{number}")
    return accumulator


def test_a_whole_answer_has_its_parts_usage_and_end():
    answer = fold(
        ReasoningStarted(0),
        ReasoningDelta(0, "hm"),
        ReasoningDelta(0, "m"),
        BlockEnded(0, '{"signature":"s"}'),
        Ping(),
        TextStarted(1),
        TextDelta(1, "Hello "),
        TextDelta(1, "you"),
        BlockEnded(1),
        ToolCallStarted(2, "c1", "look"),
        ToolCallDelta(2, '{"a":'),
        ToolCallDelta(2, "1.50}"),
        BlockEnded(2),
        UsageReported(Usage(output_tokens=3)),
        UsageReported(Usage(output_tokens=7)),
        Finished(FinishReason.TOOL_CALLS),
    ).answer()

    assert answer.parts == (
        ReasoningPart(text="hmm", created_at="t0", completed_at="t3", provider_metadata={P: '{"signature":"s"}'}),
        TextPart(text="Hello you"),
        ToolCallPart(tool_call_id="c1", tool_name="look", args='{"a":1.50}', created_at="t9"),
    )
    assert (answer.usage, answer.finish) == (Usage(output_tokens=7), FinishReason.TOOL_CALLS)


def test_what_the_vendor_ran_itself_stands_where_it_came():
    answer = fold(
        ToolCallStarted(0, "s1", "web_search", provider_executed=True),
        ToolCallDelta(0, "{}"),
        BlockEnded(0),
        ProviderResult("s1", "web_search", '["a"]', metadata='{"type":"web_search_tool_result"}'),
        SourceFound("https://example.com", "Example"),
    ).answer()

    call, result, source = answer.parts
    assert isinstance(call, ToolCallPart)
    assert call.provider_executed
    assert isinstance(result, ToolResultPart)
    assert (result.provider_executed, result.provider_metadata) == (True, {P: '{"type":"web_search_tool_result"}'})
    assert source == SourcePart(url="https://example.com", title="Example")


def test_blocks_that_run_beside_each_other_are_kept_apart():
    answer = fold(
        TextStarted(0),
        ToolCallStarted(1, "c", "t"),
        TextDelta(0, "a"),
        ToolCallDelta(1, "{}"),
        BlockEnded(1),
        BlockEnded(0),
    ).answer()

    assert [type(part) for part in answer.parts] == [ToolCallPart, TextPart]


@pytest.mark.behaviour("CONTENT-8")
def test_an_answer_that_is_cut_short_keeps_what_was_written_and_is_not_whole():
    cut = fold(
        TextStarted(0),
        TextDelta(0, "done"),
        BlockEnded(0),
        ReasoningStarted(1),
        ReasoningDelta(1, "I "),
        ReasoningDelta(1, "was"),
        ToolCallStarted(2, "complete", "t"),
        ToolCallDelta(2, "{}"),
        ToolCallStarted(3, "half", "t"),
        ToolCallDelta(3, '{"a":'),
        TextStarted(4),
        TextDelta(4, "  "),
    ).cut_short("now")

    assert cut.finish is None
    assert cut.parts == (
        TextPart(text="done"),
        ReasoningPart(text="I was", created_at="t3", completed_at="now"),
        ToolCallPart(tool_call_id="complete", tool_name="t", args="{}", created_at="t6"),
    )
    blank = fold(TextStarted(0), ReasoningStarted(1), ReasoningDelta(1, "\n"), TextDelta(0, ""))
    assert blank.cut_short("now").parts == ()


@pytest.mark.behaviour("CONTENT-8")
def test_blank_parts_that_came_whole_are_kept_as_they_came():
    blank = (TextPart(text=""), TextPart(text=" \n"), ReasoningPart(text=" ", created_at="t5", completed_at="t7"))
    folded = fold(
        TextStarted(0),
        BlockEnded(0),
        TextStarted(1),
        TextDelta(1, " \n"),
        BlockEnded(1),
        ReasoningStarted(2),
        ReasoningDelta(2, " "),
        BlockEnded(2),
        Finished(FinishReason.STOP),
    )

    assert folded.answer().parts == blank
    assert folded.cut_short("now").parts == blank


def test_a_vendors_call_that_is_cut_short_before_its_result_is_kept_without_one():
    cut = fold(
        ToolCallStarted(0, "s", "web_search", provider_executed=True),
        ToolCallDelta(0, "{}"),
        BlockEnded(0, '{"type":"server_tool_use"}'),
        ToolCallStarted(1, "half", "web_search", provider_executed=True),
        ToolCallDelta(1, '{"query"'),
    ).cut_short("now")

    assert [part.tool_call_id for part in cut.parts if isinstance(part, ToolCallPart)] == ["s"]
    assert len(cut.parts) == 1


def test_an_open_call_whose_arguments_never_came_is_not_kept():
    assert fold(ToolCallStarted(0, "c", "t")).cut_short("now").parts == ()


def test_a_whole_answer_leaves_nothing_behind_that_was_still_open():
    folded = fold(TextStarted(1), TextDelta(1, "a"), ReasoningStarted(0), Finished(FinishReason.STOP))

    assert folded.answer().parts == (TextPart(text="a"), ReasoningPart(text="", created_at="t2", completed_at="t3"))
    assert folded.cut_short("now").parts == folded.answer().parts


@pytest.mark.parametrize("again", [TextStarted(0), ReasoningStarted(0), ToolCallStarted(0, "c", "t")])
def test_a_second_start_of_a_block_is_refused(again: ModelEvent):
    with pytest.raises(ValueError, match="open already"):
        fold(TextStarted(0), TextDelta(0, "x"), again)


def test_a_block_may_begin_again_when_it_has_ended():
    folded = fold(TextStarted(0), BlockEnded(0), TextStarted(0), TextDelta(0, "b"), BlockEnded(0))

    assert folded.answer().parts == (TextPart(text=""), TextPart(text="b"))


@pytest.mark.parametrize("event", [TextDelta(0, "x"), BlockEnded(3)])
def test_a_delta_out_of_nowhere_is_refused(event: ModelEvent):
    with pytest.raises(ValueError, match="not open"):
        fold(event)


@given(st.lists(st.text(), max_size=8), st.data())
def test_the_cuts_between_deltas_do_not_matter(pieces: list[str], data: st.DataObject):
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    other = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def message(deltas: list[str]) -> object:
        return fold(TextStarted(0), *(TextDelta(0, delta) for delta in deltas), BlockEnded(0)).answer().parts

    assert message(pieces) == message(other)
