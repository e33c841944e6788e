"""What readers see of an answer while it comes: parts that carry pieces, and the fold of such parts into whole ones.

A preview part is a part of `core/parts` with a piece of its text, or a piece of a call's arguments (`args_delta`). It
is made for people: what only a vendor needs is not in it.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from chatd.core import compaction
from chatd.core.model import (
    BlockEnded,
    ModelEvent,
    ProviderResult,
    ReasoningDelta,
    ReasoningStarted,
    SourceFound,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from chatd.core.parts import Part, ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role


class CallPiece(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="tool-call"):
    """A piece of a call's arguments. The whole call follows as a ToolCallPart when they are complete."""

    tool_call_id: str
    tool_name: str
    args_delta: str
    provider_executed: bool = False
    created_at: str = ""


PreviewPart = Part | CallPiece


class Preview(msgspec.Struct, frozen=True):
    role: Role
    part: PreviewPart


class Previewer:
    """From the events of one answer to what readers see. Give it every event in order, with the time it came at."""

    def __init__(self) -> None:
        self._calls: dict[int, _OpenCall] = {}
        self._thoughts: dict[int, str] = {}  # when each began

    def previews(self, event: ModelEvent, at: str) -> Preview | None:
        match event:
            case TextDelta(_, text):
                return Preview(Role.ASSISTANT, TextPart(text=text))
            case ReasoningStarted(block):
                self._thoughts[block] = at
                return None
            case ReasoningDelta(block, text):
                return Preview(Role.ASSISTANT, ReasoningPart(text=text, created_at=self._thoughts.get(block, at)))
            case ToolCallStarted(block):
                self._calls[block] = _OpenCall(event, at)
                return self._piece(block, "")
            case ToolCallDelta(block, text):
                self._calls[block].pieces.append(text)
                return self._piece(block, text)
            case BlockEnded(block):
                open_call = self._calls.pop(block, None)
                return open_call and Preview(Role.ASSISTANT, open_call.whole())
            case SourceFound(url, title, source_id):
                return Preview(Role.ASSISTANT, SourcePart(url=url, title=title, source_id=source_id))
            case ProviderResult():
                result = ToolResultPart(
                    tool_call_id=event.tool_call_id,
                    tool_name=event.tool_name,
                    result=event.result,
                    is_error=event.is_error,
                    provider_executed=True,
                    created_at=at,
                )
                return Preview(Role.TOOL, result)
            case _:
                return None

    def _piece(self, block: int, text: str) -> Preview:
        call = self._calls[block]
        piece = CallPiece(
            tool_call_id=call.started.tool_call_id,
            tool_name=call.started.tool_name,
            args_delta=text,
            provider_executed=call.started.provider_executed,
            created_at=call.at,
        )
        return Preview(Role.ASSISTANT, piece)


class _OpenCall:
    def __init__(self, started: ToolCallStarted, at: str) -> None:
        self.started = started
        self.at = at
        self.pieces: list[str] = []

    def whole(self) -> ToolCallPart:
        return ToolCallPart(
            tool_call_id=self.started.tool_call_id,
            tool_name=self.started.tool_name,
            args="".join(self.pieces),
            provider_executed=self.started.provider_executed,
            created_at=self.at,
        )


def merged(previews: Iterable[Preview]) -> list[Preview]:
    """The same with neighbouring pieces joined: what a checkpoint keeps of a second's parts."""
    kept: list[Preview] = []
    texts: list[str] = []  # of the last one, joined when something else follows

    def close() -> None:
        if len(texts) > 1:
            kept[-1] = with_text(kept[-1], "".join(texts))
        texts.clear()

    for preview in previews:
        if not (kept and continues(kept[-1], preview)):
            close()
            kept.append(preview)
        if isinstance(preview.part, _PIECES):
            texts.append(text_of(preview))
    close()
    return kept


def cut_short(previews: Sequence[Preview], at: str) -> tuple[Part, ...]:
    """The parts of an interrupted answer, of which only its previews are left: as the accumulator would give them,
    without what is the vendor's own. Results of local tools are not among them: they have messages of their own. A
    compaction that was announced is none of the model's calls."""
    parts: list[Part] = []
    for preview in merged(previews):
        match preview.part:
            case CallPiece():
                pass  # its arguments never came whole
            case ReasoningPart(text=text) | TextPart(text=text) if not text.strip():
                pass
            case ReasoningPart() as thought:
                parts.append(msgspec.structs.replace(thought, completed_at=at))
            case ToolResultPart(provider_executed=False) | ToolCallPart(tool_name=compaction.TOOL_NAME):
                pass
            case part:
                parts.append(part)
    return tuple(parts)


_PIECES: Final = (TextPart, ReasoningPart, CallPiece)


def continues(last: Preview, preview: Preview) -> bool:
    """Whether it is the next piece of the same text."""
    match last.part, preview.part:
        case (TextPart(), TextPart()):
            return True
        case (ReasoningPart(created_at=one), ReasoningPart(created_at=other)):
            return one == other
        case (CallPiece(tool_call_id=one), CallPiece(tool_call_id=other)):
            return one == other
        case _:
            return False


def text_of(preview: Preview) -> str:
    """Of a piece; empty for a part that is whole."""
    part = preview.part
    if isinstance(part, CallPiece):
        return part.args_delta
    return part.text if isinstance(part, TextPart | ReasoningPart) else ""


def with_text(preview: Preview, text: str) -> Preview:
    """Of a piece."""
    part = preview.part
    field = "args_delta" if isinstance(part, CallPiece) else "text"
    return Preview(preview.role, msgspec.structs.replace(part, **{field: text}))
