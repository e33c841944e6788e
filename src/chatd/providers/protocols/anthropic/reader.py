"""Reads the stream of Anthropic's Messages API, on its own host and on others."""

from collections.abc import Mapping
from typing import Final

import msgspec

from chatd.core.model import (
    Finished,
    FinishReason,
    ModelEvent,
    Ping,
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
from chatd.core.usage import ImpossibleUsage, Usage
from chatd.providers.framing.event_stream import EXCEPTION
from chatd.providers.framing.wire_event import MOST_EVENT_BYTES, UnreadableStream, WireEvent
from chatd.providers.protocols.anthropic import events as wire
from chatd.providers.protocols.anthropic.blocks import (
    READ_ERRORS,
    OpenBlock,
    OpenCall,
    OpenRedacted,
    OpenText,
    OpenThinking,
    Skipped,
    ended,
)
from chatd.providers.protocols.bounds import LARGE_EVENT, check_large

_REASONS: Final[Mapping[str, FinishReason]] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "pause_turn": FinishReason.PAUSE,
    "refusal": FinishReason.CONTENT_FILTER,
}
_MOST_KEPT_BYTES: Final = MOST_EVENT_BYTES  # all that goes back besides text, of one answer: much less than one image
_MOST_OPEN_BLOCKS: Final = 1000  # the vendor has one open at a time


class AnthropicReader:
    def __init__(self) -> None:
        self._blocks: dict[int, OpenBlock] = {}
        self._names: dict[str, str] = {}  # of the vendor's own calls, by id
        self._sources: set[str] = set()
        self._kept = 0
        self._usage: dict[str, int] = {}
        self._reason = FinishReason.OTHER
        self._detail = ""
        self._over = False  # finished or failed; what comes after that means nothing

    def read(self, event: WireEvent) -> list[ModelEvent]:
        if self._over:
            return []
        if event.name.startswith(EXCEPTION):
            return [self._exception(event)]
        if len(event.data) > LARGE_EVENT:
            check_large(event.data)
        try:
            came: wire.Event = wire.EVENT.decode(event.data)
        except msgspec.ValidationError as error:
            return self._unexpected(event.data, error)
        except READ_ERRORS as error:
            raise _unreadable(error) from error
        if isinstance(came, wire.PieceCame):  # apart from the rest, as nearly all are, at half the cost of a pattern
            return self._piece(came.index, came.delta)
        match came:
            case wire.BlockBegan(index, block):
                return self._begin(index, _utf_8(block))
            case wire.BlockStopped(index):
                return self._stop(index)
            case wire.Pinged():
                return [Ping()]
            case wire.MessageBegan(message):
                return self._count(message.usage)
            case wire.MessageChanged(delta, usage):
                if delta.stop_reason is not None:
                    self._reason = _REASONS.get(delta.stop_reason, FinishReason.OTHER)
                    details = delta.stop_details
                    told = (details.explanation or details.category or "") if details else ""
                    self._detail = told or (delta.stop_reason if self._reason is FinishReason.OTHER else "")
                return self._count(usage)
            case wire.MessageStopped():
                last = [event for index in tuple(self._blocks) for event in self._stop(index)]
                self._over = True
                return [*last, Finished(self._reason, self._detail)]
            case wire.Failed(error):
                return [self._failure(error)]

    def end(self) -> list[ModelEvent]:
        """Nothing: only `message_stop` says that an answer is whole."""
        return []

    def _piece(self, index: int, piece: wire.Piece) -> list[ModelEvent]:
        block = self._blocks.get(index)
        if isinstance(piece, wire.TextPiece) and isinstance(block, OpenText):
            return [TextDelta(index, piece.text)] if piece.text else []
        if isinstance(piece, wire.InputPiece) and isinstance(block, OpenCall):
            return self._input(index, block, piece.partial_json)
        if isinstance(piece, wire.ThinkingPiece) and isinstance(block, OpenThinking):
            return [ReasoningDelta(index, piece.thinking)] if piece.thinking else []
        if isinstance(piece, wire.SignaturePiece) and isinstance(block, OpenThinking):
            self._keep(piece.signature)
            block.signatures.append(piece.signature)
            return []
        if isinstance(piece, wire.CitationPiece) and isinstance(block, OpenText):
            return self._cite(block, _utf_8(piece.citation))
        if isinstance(block, Skipped):
            return []
        raise UnreadableStream(f"A piece came for block {index}, which is not open or of another type.")

    def _input(self, index: int, call: OpenCall, text: str) -> list[ModelEvent]:
        if not text:
            return []
        call.has_pieces = True
        if call.is_vendors:
            self._keep(text)
            call.pieces.append(text)
        return [ToolCallDelta(index, text)]

    def _begin(self, index: int, raw: bytes) -> list[ModelEvent]:
        if index in self._blocks or len(self._blocks) >= _MOST_OPEN_BLOCKS:
            raise UnreadableStream(f"Block {index} began twice, or too many blocks are open.")
        try:
            block = wire.BLOCK.decode(raw)
        except READ_ERRORS as error:
            if _is_known_block(raw):
                raise _unreadable(error) from error
            self._blocks[index] = Skipped()
            return []
        match block.type:
            case "text":
                self._blocks[index] = text = OpenText()
                cited = [event for citation in block.citations or () for event in self._cite(text, bytes(citation))]
                said: list[ModelEvent] = [TextDelta(index, block.text)] if block.text else []
                return [TextStarted(index), *cited, *said]
            case "thinking":
                self._keep(block.signature or "")
                self._blocks[index] = OpenThinking(block.signature or "")
                thought: list[ModelEvent] = [ReasoningDelta(index, block.thinking)] if block.thinking else []
                return [ReasoningStarted(index), *thought]
            case "redacted_thinking":
                self._keep(block.data)
                self._blocks[index] = OpenRedacted(block.data)
                return [ReasoningStarted(index)]
            case kind if kind == "tool_use" or kind.endswith("_tool_use"):
                return self._begin_call(index, block, raw)
            case kind if kind.endswith("_tool_result"):
                self._blocks[index] = Skipped()
                return self._result(block, raw)
            case _:
                self._blocks[index] = Skipped()
                return []

    def _begin_call(self, index: int, block: wire.Block, raw: bytes) -> list[ModelEvent]:
        if not block.id or not block.name:
            raise UnreadableStream(f"The call in block {index} has no id or no name.")
        is_vendors = block.type != "tool_use"
        self._keep(raw)
        if is_vendors:
            self._names[block.id] = block.name
        self._blocks[index] = OpenCall(wire.FIELDS.decode(raw), is_vendors=is_vendors)
        return [ToolCallStarted(index, block.id, block.name, is_vendors)]

    def _stop(self, index: int) -> list[ModelEvent]:
        block = self._blocks.pop(index, None)
        if block is None:
            raise UnreadableStream(f"Block {index} ended but was not open.")
        return ended(index, block)

    def _cite(self, block: OpenText, citation: bytes) -> list[ModelEvent]:
        self._keep(citation)
        block.citations.append(citation)
        try:
            found = wire.CITATION.decode(citation)
        except READ_ERRORS:
            return []
        return self._source(found.url, found.title)

    def _source(self, url: str | None, title: str | None) -> list[ModelEvent]:
        """Once per answer, however often it was found and cited."""
        if not url or url in self._sources:
            return []
        self._keep(url)
        self._sources.add(url)
        return [SourceFound(url, title or "")]

    def _result(self, block: wire.Block, raw: bytes) -> list[ModelEvent]:
        name = self._names.get(block.tool_use_id) or block.type.removesuffix("_tool_result")
        shown, hits = bytes(block.content), ()
        if block.type == "web_search_tool_result":
            try:
                hits = wire.SEARCH_HITS.decode(shown)
                shown = msgspec.json.encode(hits)
            except READ_ERRORS:
                hits = ()  # an error, which is an object and not a list
        is_error = block.is_error or _type_of(bytes(block.content)).endswith("_error")
        result = ProviderResult(
            block.tool_use_id, name, shown.decode() or "{}", is_error=is_error, metadata=raw.decode()
        )
        return [result, *(event for hit in hits for event in self._source(hit.url, hit.title))]

    def _count(self, usage: wire.WireUsage | None) -> list[ModelEvent]:
        if usage is None:
            return []
        details = usage.output_tokens_details
        counted = {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_creation_tokens": usage.cache_creation_input_tokens,
            "cache_read_tokens": usage.cache_read_input_tokens,
            "reasoning_tokens": details.thinking_tokens if details else None,
        }
        self._usage |= {kind: tokens for kind, tokens in counted.items() if tokens is not None}
        try:
            return [UsageReported(Usage(**self._usage))]
        except ImpossibleUsage:
            return [UsageReported(Usage())]  # an answer is worth more than its count, which is unknown then

    def _unexpected(self, data: bytes, error: msgspec.ValidationError) -> list[ModelEvent]:
        """An event of a type that we do not know is skipped; a known one that has other fields can't be read."""
        if not _is_new(data):
            raise _unreadable(error) from error
        try:
            return [self._failure(wire.ERROR_ONLY.decode(data).error)]
        except READ_ERRORS:
            return []

    def _failure(self, error: wire.ErrorBody) -> VendorError:
        self._over = True
        return VendorError(error.message or error.type or "", error_type=error.type or "")

    def _exception(self, event: WireEvent) -> VendorError:
        self._over = True
        name = event.name.removeprefix(EXCEPTION)
        try:
            told = wire.AMAZON_EXCEPTION.decode(event.data)
        except READ_ERRORS:
            told = wire.AmazonException()
        text = told.message or told.original_message or name
        return VendorError(text, error_type=name, status_code=told.original_status_code)

    def _keep(self, kept: bytes | str) -> None:
        self._kept += len(kept)
        if self._kept > _MOST_KEPT_BYTES:
            raise UnreadableStream(f"An answer has more than {_MOST_KEPT_BYTES} bytes beside its text.")


def _utf_8(raw: msgspec.Raw) -> bytes:
    """JSON that was stepped over, which the decoder does not look into this closely."""
    checked = bytes(raw)
    try:
        checked.decode()
    except UnicodeDecodeError as error:
        raise _unreadable(error) from error
    return checked


def _type_of(raw: bytes) -> str:
    try:
        return wire.TYPE_ONLY.decode(raw).type
    except READ_ERRORS:
        return ""


def _is_new(data: bytes) -> bool:
    try:
        kind = wire.TYPE_ONLY.decode(data).type
        if kind == "content_block_delta":
            return wire.DELTA_ONLY.decode(data).delta.type not in wire.PIECE_TYPES
    except READ_ERRORS:
        return False
    return kind not in wire.EVENT_TYPES


def _is_known_block(raw: bytes) -> bool:
    kind = _type_of(raw)
    known = ("", "text", "thinking", "redacted_thinking", "tool_use")
    return kind in known or kind.endswith(("_tool_use", "_tool_result"))


def _unreadable(error: Exception) -> UnreadableStream:
    return UnreadableStream(f"An event can't be read: {error}")
