"""Folds the events of one model call into the assistant's message, whole or cut short.

Parts stand in the order in which their blocks ended (calls, sources and results: in which they came). All deltas of one
block become one part.
"""

from collections.abc import Mapping

import msgspec

from chatd.core.model import (
    NO_METADATA,
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
    VendorError,
)
from chatd.core.parts import Part, ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.usage import Usage


class Answer(msgspec.Struct, frozen=True):
    """`finish` is None when the stream ended before its terminal event: then the answer is not whole."""

    parts: tuple[Part, ...]
    usage: Usage
    finish: FinishReason | None
    finish_detail: str = ""


class _Text:
    def __init__(self, started_at: str) -> None:
        self.started_at = started_at
        self.pieces: list[str] = []


class _Reasoning(_Text):
    pass


class _Call(_Text):
    def __init__(self, started: ToolCallStarted, started_at: str) -> None:
        super().__init__(started_at)
        self.started = started


class Accumulator:
    """Give it every event in order, with the time (ISO 8601, UTC) at which it came."""

    def __init__(self, protocol: ProtocolName) -> None:
        self._protocol = protocol
        self._open: dict[int, _Text] = {}
        self._parts: list[Part] = []
        self._usage = Usage()
        self._finish: FinishReason | None = None
        self._finish_detail = ""

    def add(self, event: ModelEvent, at: str) -> None:
        """Raises ValueError for a delta or an end of a block that is not open, and for a start of one that is: a bug
        of the protocol, which would lose what was said."""
        match event:
            case TextDelta(block, text) | ReasoningDelta(block, text) | ToolCallDelta(block, text):
                self._block(block).pieces.append(text)
            case TextStarted(block):
                self._begin(block, _Text(at))
            case ReasoningStarted(block):
                self._begin(block, _Reasoning(at))
            case ToolCallStarted(block):
                self._begin(block, _Call(event, at))
            case BlockEnded(block, metadata):
                self._end(block, at, self._metadata(metadata))
            case SourceFound(url, title, source_id):
                self._parts.append(SourcePart(url=url, title=title, source_id=source_id))
            case ProviderResult():
                self._parts.append(self._result(event, at))
            case UsageReported(usage):
                self._usage = usage
            case Finished(reason, detail):
                for block in tuple(self._open):  # a whole answer leaves nothing open, whatever the vendor forgot to say
                    self._end(block, at, NO_METADATA)
                self._finish, self._finish_detail = reason, detail
            case Ping() | VendorError():
                pass

    @property
    def usage(self) -> Usage:
        return self._usage

    def answer(self) -> Answer:
        """What has ended so far; all of it once the stream has finished."""
        return Answer(tuple(self._parts), self._usage, self._finish, self._finish_detail)

    def cut_short(self, at: str) -> Answer:
        """What there is when someone stops the stream: open texts count if there is anything in them, an open call if
        its arguments happen to be complete."""
        parts = list(self._parts)
        for block in self._open.values():
            if isinstance(block, _Call) and not _is_json("".join(block.pieces)):
                continue
            part = self._part(block, at, NO_METADATA)
            if not isinstance(part, TextPart | ReasoningPart) or part.text.strip():
                parts.append(part)
        return Answer(tuple(parts), self._usage, None)

    def _begin(self, number: int, block: _Text) -> None:
        if number in self._open:
            raise ValueError(f"block {number} is open already")
        self._open[number] = block

    def _end(self, number: int, at: str, metadata: Mapping[str, str]) -> None:
        ended = self._block(number)
        del self._open[number]
        self._parts.append(self._part(ended, at, metadata))

    def _block(self, number: int) -> _Text:
        found = self._open.get(number)
        if found is None:
            raise ValueError(f"block {number} is not open")
        return found

    def _metadata(self, metadata: str) -> Mapping[str, str]:
        return {str(self._protocol): metadata} if metadata else NO_METADATA

    def _part(self, block: _Text, at: str, metadata: Mapping[str, str]) -> Part:
        text = "".join(block.pieces)
        match block:
            case _Call():
                return ToolCallPart(
                    tool_call_id=block.started.tool_call_id,
                    tool_name=block.started.tool_name,
                    args=text,
                    provider_executed=block.started.provider_executed,
                    created_at=block.started_at,
                    provider_metadata=metadata,
                )
            case _Reasoning():
                return ReasoningPart(
                    text=text, created_at=block.started_at, completed_at=at, provider_metadata=metadata
                )
            case _:
                return TextPart(text=text, provider_metadata=metadata)

    def _result(self, event: ProviderResult, at: str) -> ToolResultPart:
        return ToolResultPart(
            tool_call_id=event.tool_call_id,
            tool_name=event.tool_name,
            result=event.result,
            is_error=event.is_error,
            provider_executed=True,
            created_at=at,
            provider_metadata=self._metadata(event.metadata),
        )


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True
