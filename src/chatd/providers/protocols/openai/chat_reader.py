"""Reads the stream of Chat Completions and of everything compatible.

The protocol has no ends of blocks: a text or reasoning ends when something else begins, a call when the answer ends.
`[DONE]` finishes an answer, and so does a good end of the bytes after a finish reason. An error within the stream
finishes none, whatever came before it.
"""

from collections import deque
from typing import Final

import msgspec

from chatd.core.model import (
    BlockEnded,
    Finished,
    FinishReason,
    ModelEvent,
    Ping,
    ReasoningDelta,
    ReasoningStarted,
    TextDelta,
    TextStarted,
    UsageReported,
    VendorError,
)
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.bounds import LARGE_EVENT, check_blocks, check_large
from chatd.providers.protocols.openai.chat_calls import OpenCall, StreamedCalls
from chatd.providers.protocols.openai.chat_chunks import (
    CHUNK,
    NOTHING,
    CallDelta,
    Choice,
    Chunk,
    ContentPiece,
    Delta,
    ReasoningDetail,
    given,
)
from chatd.providers.protocols.openai.chat_details import StreamedDetails
from chatd.providers.protocols.openai.chat_metadata import ChatMetadata, ReasoningField
from chatd.providers.protocols.openai.chat_sources import StreamedSources
from chatd.providers.protocols.openai.errors import vendor_error
from chatd.providers.protocols.openai.usage import read_usage

_FINISHES: Final = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "eos_token": FinishReason.STOP,  # Hugging Face's server
    "stop_sequence": FinishReason.STOP,  # likewise
    "end_turn": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,  # Mistral
    "model_context_window_exceeded": FinishReason.LENGTH,  # Z.ai
    "content_filter": FinishReason.CONTENT_FILTER,
    "sensitive": FinishReason.CONTENT_FILTER,  # Z.ai
}
# Finish reasons that say that the answer is not whole: OpenRouter, vLLM, DeepSeek, Z.ai.
_FAILURES: Final = frozenset({"error", "abort", "insufficient_system_resource", "network_error"})
_DETAIL_CHARACTERS: Final = 2000  # of a refusal, for people; the whole of it is in the text


class _Block:
    """A text, reasoning or call in the order of its beginning. `done` waits for those before it."""

    __slots__ = ("call", "details", "done", "field", "number")

    def __init__(self, number: int, call: OpenCall | None = None) -> None:
        self.number = number
        self.call = call
        self.done = False
        self.field: ReasoningField | None = None
        self.details: StreamedDetails | None = None


class ChatReader:
    def __init__(self) -> None:
        self._over = False
        self._blocks = 0
        self._order: deque[_Block] = deque()
        self._text: _Block | None = None
        self._reasoning: _Block | None = None
        self._detailed: _Block | None = None  # the newest with details, until it has ended
        self._calls = StreamedCalls()
        self._reason: str | None = None
        self._refusal: list[str] = []
        self._sources = StreamedSources()

    def read(self, event: WireEvent) -> list[ModelEvent]:
        data = event.data
        if self._over:
            return []
        if len(data) > LARGE_EVENT:
            check_large(data)
        if data.startswith(b"[DONE]"):
            return [] if self._reason is None and self._blocks == 0 else self._finish()
        try:
            chunk = CHUNK.decode(data)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise UnreadableStream(f"A chunk can't be read: {error}") from error
        events: list[ModelEvent] = []
        choice = _first(chunk.choices)
        if choice is not None:
            if chunk.id and not self._calls.completion_id:
                self._calls.completion_id = str(chunk.id)
            if choice.delta is not None:
                self._delta(choice.delta, events)
            if choice.finish_reason:
                self._reason = choice.finish_reason.lower()  # some gateways say it loud
        self._read_usage(chunk, choice, events)
        if chunk.citations is not NOTHING or chunk.search_results is not NOTHING:
            self._sources.listed(chunk, events)
        failure = _failure(event, chunk, choice)
        if failure is not None:
            self._over = True
            events.append(failure)
        return events or [Ping()]

    def end(self) -> list[ModelEvent]:
        return [] if self._over or self._reason is None else self._finish()

    # Deltas

    def _delta(self, delta: Delta, events: list[ModelEvent]) -> None:
        if delta.reasoning_content:
            self._add_reasoning("reasoning_content", delta.reasoning_content, events)
        elif delta.reasoning:
            self._add_reasoning("reasoning", delta.reasoning, events)
        if delta.reasoning_details:
            if not events:
                for detail in delta.reasoning_details:
                    if said := detail.text or detail.summary:
                        self._add_reasoning("reasoning", said, events)
            self._add_details(delta.reasoning_details, events)
        content = delta.content
        if content:
            if isinstance(content, str):
                self._add_text(content, events)
            else:
                self._add_pieces(content, events)
        if delta.refusal:
            self._refusal.append(delta.refusal)
            self._add_text(delta.refusal, events)
        if delta.tool_calls:
            for piece in delta.tool_calls:
                self._add_call(piece, events)
        elif delta.function_call is not None:
            self._add_call(CallDelta(index=0, function=delta.function_call), events)
        if delta.annotations:
            self._sources.annotated(delta.annotations, events)

    def _add_text(self, text: str, events: list[ModelEvent]) -> None:
        block = self._text
        if block is None:
            self._close_spoken(events)
            block = self._text = self._open()
            events.append(TextStarted(block.number))
        events.append(TextDelta(block.number, text))

    def _add_pieces(self, pieces: list[ContentPiece], events: list[ModelEvent]) -> None:
        for piece in pieces:
            if piece.text:
                self._add_text(piece.text, events)
            for thought in piece.thinking or ():
                if thought.text:
                    self._add_reasoning(None, thought.text, events)

    def _add_reasoning(self, field: ReasoningField | None, text: str, events: list[ModelEvent]) -> None:
        block = self._reasoning_block(events)
        block.field = field
        events.append(ReasoningDelta(block.number, text))

    def _reasoning_block(self, events: list[ModelEvent]) -> _Block:
        if self._reasoning is None:
            self._close_spoken(events)
            self._reasoning = self._open()
            events.append(ReasoningStarted(self._reasoning.number))
        return self._reasoning

    def _add_details(self, details: list[ReasoningDetail], events: list[ModelEvent]) -> None:
        block = self._reasoning or self._detailed
        if block is None:
            # Ciphertext may come alone and late: it is a block of its own, and a text that is open goes on.
            block = self._open()
            block.done = True
            events.append(ReasoningStarted(block.number))
        self._detailed = block
        block.details = block.details or StreamedDetails()
        block.details.add(details)

    def _add_call(self, piece: CallDelta, events: list[ModelEvent]) -> None:
        call = self._calls.find(piece)
        if call is None:
            self._close_spoken(events)
            self._calls.start_newest(events)
            block = self._open()
            call = block.call = self._calls.begin(piece, block.number)
        self._calls.grow(call, piece, events)

    # Blocks

    def _open(self) -> _Block:
        block = _Block(self._blocks)
        self._blocks += 1
        check_blocks(self._blocks)
        self._order.append(block)
        return block

    def _close_spoken(self, events: list[ModelEvent]) -> None:
        """Text and reasoning end when something else begins."""
        for block in (self._text, self._reasoning):
            if block is not None:
                block.done = True
        self._text = self._reasoning = None
        self._release(events)

    def _release(self, events: list[ModelEvent]) -> None:
        while self._order and self._order[0].done:
            block = self._order.popleft()
            if block is self._detailed:
                self._detailed = None
            events.append(BlockEnded(block.number, _metadata(block)))

    # The end

    def _read_usage(self, chunk: Chunk, choice: Choice | None, events: list[ModelEvent]) -> None:
        if given(chunk.usage):
            raw = chunk.usage
        elif choice is not None and given(choice.usage):
            raw = choice.usage
        elif chunk.x_groq is not None and given(chunk.x_groq.usage):
            raw = chunk.x_groq.usage
        else:
            return
        if (usage := read_usage(raw)) is not None:
            events.append(UsageReported(usage))

    def _finish(self) -> list[ModelEvent]:
        self._over = True
        if self._reason in _FAILURES:
            return [VendorError(text=f"The vendor ended the answer with: {self._reason}.", error_code=self._reason)]
        events: list[ModelEvent] = []
        self._calls.start_newest(events)
        for block in self._order:
            block.done = True
        self._release(events)
        events.append(self._finished())
        return events

    def _finished(self) -> Finished:
        refusal = "".join(self._refusal)[:_DETAIL_CHARACTERS]
        reason = _FINISHES.get(self._reason or "", FinishReason.OTHER)
        if reason in (FinishReason.STOP, FinishReason.TOOL_CALLS) or (self._reason is None and self._calls.count):
            # Many servers say `stop` for calls, and some say `tool_calls` for none.
            if self._calls.count:
                return Finished(FinishReason.TOOL_CALLS)
            return Finished(FinishReason.CONTENT_FILTER, refusal) if refusal else Finished(FinishReason.STOP)
        if reason is FinishReason.OTHER:
            return Finished(reason, (self._reason or "")[:_DETAIL_CHARACTERS])
        return Finished(reason, refusal)


def _first(choices: list[Choice] | None) -> Choice | None:
    if not choices:
        return None
    return choices[0] if not choices[0].index else next((choice for choice in choices if not choice.index), None)


def _failure(event: WireEvent, chunk: Chunk, choice: Choice | None) -> VendorError | None:
    if given(chunk.error):
        return vendor_error(chunk.error)
    if choice is not None and given(choice.error):
        return vendor_error(choice.error)
    if chunk.x_groq is not None and given(chunk.x_groq.error):
        return vendor_error(chunk.x_groq.error)
    if event.name == "error" or chunk.object == "error":  # vLLM: the fields of the error stand beside its object
        return vendor_error(event.data)
    return None


def _metadata(block: _Block) -> str:
    details = () if block.details is None else block.details.kept()
    extra = NOTHING if block.call is None else block.call.extra
    if block.field is None and not details and not given(extra):
        return ""
    return ChatMetadata(field=block.field, details=details, extra_content=extra).text()
