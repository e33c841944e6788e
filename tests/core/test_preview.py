"""What readers see of an answer folds into what is stored when it is cut, whatever the pieces."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.accumulate import Accumulator
from chatd.core.model import (
    BlockEnded,
    ModelEvent,
    ProtocolName,
    ProviderResult,
    ReasoningDelta,
    ReasoningStarted,
    SourceFound,
    TextDelta,
    TextStarted,
    ToolCallDelta,
    ToolCallStarted,
)
from chatd.core.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.preview import CallPiece, Preview, Previewer, cut_short, merged
from chatd.core.roles import Role

THEN, NOW = "2030-01-01T00:00:00.000000Z", "2030-01-01T00:00:09.000000Z"
PIECES = st.lists(st.text(alphabet="ab \n", min_size=1, max_size=4), min_size=1, max_size=4)


@st.composite
def blocks(draw: st.DrawFn) -> list[ModelEvent]:
    """Blocks one after the other, the last one possibly still open."""
    events: list[ModelEvent] = []
    count = draw(st.integers(1, 6))
    last = ""
    for block in range(count):
        # Two texts in a row are one to a reader, so that there are none here.
        kind = draw(st.sampled_from([kind for kind in ("text", "think", "call", "source", "result") if kind != last]))
        last = kind
        match kind:
            case "text":
                events += [TextStarted(block), *(TextDelta(block, piece) for piece in draw(PIECES))]
            case "think":
                events += [ReasoningStarted(block), *(ReasoningDelta(block, piece) for piece in draw(PIECES))]
            case "call":
                events += [
                    ToolCallStarted(block, f"c{block}", "look"),
                    ToolCallDelta(block, '{"a":'),
                    ToolCallDelta(block, "1}"),
                ]
            case "source":
                events.append(SourceFound("https://example.com", "Example"))
            case _:
                events.append(ProviderResult(f"c{block}", "search", "{}"))
        if kind in ("text", "think", "call") and (block < count - 1 or draw(st.booleans())):
            events.append(BlockEnded(block))
    return events


def without_open_call(parts: tuple[Part, ...], events: list[ModelEvent]) -> list[Part]:
    """An open call is kept by who has its pieces, if they happen to be whole; a reader waits for its end."""
    ended = {event.block for event in events if isinstance(event, BlockEnded)}
    open_calls = {
        event.tool_call_id for event in events if isinstance(event, ToolCallStarted) and event.block not in ended
    }
    return [part for part in parts if not (isinstance(part, ToolCallPart) and part.tool_call_id in open_calls)]


def visible(parts: list[Part]) -> list[Part]:
    """Blank texts are stored as they came but are nothing to see."""
    return [part for part in parts if not isinstance(part, TextPart | ReasoningPart) or part.text.strip()]


@given(blocks(), st.integers(1, 5))
def test_what_was_shown_is_what_would_have_been_stored(events: list[ModelEvent], chunk: int):
    accumulator, previewer = Accumulator(ProtocolName.ANTHROPIC_MESSAGES), Previewer()
    shown: list[Preview] = []
    for event in events:
        accumulator.add(event, THEN)
        if preview := previewer.previews(event, THEN):
            shown.append(preview)
    # As checkpoints have it: joined in ranges, then all together.
    ranges = [merged(shown[start : start + chunk]) for start in range(0, len(shown), chunk)]
    parts = list(cut_short([preview for one in ranges for preview in one], NOW))

    expected = visible(without_open_call(accumulator.cut_short(NOW).parts, events))
    when = {"completed_at": NOW}
    timed = [msgspec.structs.replace(part, **when) if isinstance(part, ReasoningPart) else part for part in expected]
    assert parts == timed


def test_neighbouring_pieces_are_joined_and_others_are_not():
    def piece(call: str, text: str) -> Preview:
        return Preview(Role.ASSISTANT, CallPiece(tool_call_id=call, tool_name="look", args_delta=text))

    def said(text: str) -> Preview:
        return Preview(Role.ASSISTANT, TextPart(text=text))

    given_ = [said("a"), said("b"), piece("1", "{"), piece("1", "}"), piece("2", "{"), said("c")]

    assert merged(given_) == [said("ab"), piece("1", "{}"), piece("2", "{"), said("c")]
    assert cut_short(given_, NOW) == (TextPart(text="ab"), TextPart(text="c"))


def test_thoughts_that_began_apart_stay_apart():
    def thought(text: str, at: str) -> Preview:
        return Preview(Role.ASSISTANT, ReasoningPart(text=text, created_at=at))

    shown = [thought("a", "1"), thought("b", "1"), thought("c", "2")]

    assert merged(shown) == [thought("ab", "1"), thought("c", "2")]
    assert [part.text for part in cut_short(shown, NOW) if isinstance(part, ReasoningPart)] == ["ab", "c"]


def test_what_is_left_of_an_interrupted_answer_has_no_blank_texts_and_no_results_of_ours():
    blank = Preview(Role.ASSISTANT, TextPart(text=" \n"))
    ours, theirs = [
        ToolResultPart(tool_call_id="c", tool_name="look", result="{}", provider_executed=by_vendor)
        for by_vendor in (False, True)
    ]

    assert cut_short([blank, Preview(Role.TOOL, ours), Preview(Role.TOOL, theirs)], NOW) == (theirs,)
