"""Reads the stream of Gemini's API.

Texts of one kind are one block until the kind changes or a signature comes, which ends the block: the vendor signs the
last piece of a text. There is no terminal event: an answer is whole if a finish reason came and the bytes ended well.

Most calls have no id. Theirs is `call_<response id>_<n>`, where n counts the calls of this answer: the same bytes give
the same ids, and another answer has another response id. Without one it is `call_<n>`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from chatd.core.model import (
    BlockEnded,
    Finished,
    FinishReason,
    ModelEvent,
    Ping,
    ProviderResult,
    ReasoningDelta,
    ReasoningStarted,
    TextDelta,
    TextStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageReported,
)
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.bounds import LARGE_EVENT, check_blocks, check_large
from chatd.providers.protocols.google import events as wire
from chatd.providers.protocols.google.errors import BAD_CALLS, bad_call, vendor_error
from chatd.providers.protocols.google.grounding import GROUNDED_TOOLS, Grounding
from chatd.providers.protocols.google.metadata import PartMetadata
from chatd.providers.protocols.google.usage import read_usage

_REASONS: Final[Mapping[str, FinishReason]] = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "CONTINUATION": FinishReason.LENGTH,  # of one request; it has more to say
    "SAFETY": FinishReason.CONTENT_FILTER,
    "RECITATION": FinishReason.CONTENT_FILTER,
    "BLOCKLIST": FinishReason.CONTENT_FILTER,
    "PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "SPII": FinishReason.CONTENT_FILTER,
    "MODEL_ARMOR": FinishReason.CONTENT_FILTER,
    "IMAGE_SAFETY": FinishReason.CONTENT_FILTER,
    "IMAGE_PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "IMAGE_RECITATION": FinishReason.CONTENT_FILTER,
}
_NOT_FINISHED: Final = frozenset(("", "FINISH_REASON_UNSPECIFIED"))
_NOT_BLOCKED: Final = frozenset(("", "BLOCKED_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED"))
_TOOL_NAMES: Final[Mapping[str, str]] = {"GOOGLE_SEARCH_WEB": "google_search", "GOOGLE_SEARCH_IMAGE": "google_search"}
_CODE_EXECUTION: Final = "code_execution"
_INLINE_DATA: Final = "inline_data"
_OUTCOME_OK: Final = "OUTCOME_OK"
_NOT_IN_IDS: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_RESPONSE_ID: Final = 40  # twice what the vendor sends; with its number an id stays below 64 characters
_MOST_UNANSWERED: Final = 1000  # calls of the vendor's own without a result; it answers one after the other


class GoogleReader:
    def __init__(self) -> None:
        self._open: int | None = None  # the text or thought that the next piece may belong to
        self._open_is_thought = False
        self._blocks = 0
        self._response_id = ""
        self._minted = 0
        self._has_calls = False
        self._unanswered: dict[str, str] = {}  # the vendor's own calls: names by id
        self._ran: set[str] = set()  # names of the vendor's own tools that it told of as calls
        self._grounding = Grounding()
        self._last_usage = b""
        self._finish: Finished | None = None
        self._over = False  # finished or failed; what comes after that means nothing

    def read(self, event: WireEvent) -> list[ModelEvent]:
        if self._over or event.data == b"[DONE]":  # some gateways say it
            return []
        if len(event.data) > LARGE_EVENT:
            check_large(event.data)
        try:
            events = list(self._chunk(wire.CHUNK.decode(event.data)))
        except wire.READ_ERRORS as error:
            raise UnreadableStream(f"What Google sent can't be read: {error}") from error
        return events or [Ping()]

    def end(self) -> list[ModelEvent]:
        if self._over or self._finish is None:
            return []
        self._over = True
        events: list[ModelEvent] = []
        for run in self._grounding.runs():
            if run.tool_name not in self._ran:
                call_id = self._mint()
                events += self._vendor_call(call_id, run.tool_name, run.args, "")
                self._unanswered.pop(call_id)
                events.append(ProviderResult(call_id, run.tool_name, run.result, is_error=run.is_error))
        events += self._close()
        events += [ProviderResult(call_id, name, "{}") for call_id, name in self._unanswered.items()]
        return [*events, *self._grounding.sources(), self._finish]

    def _chunk(self, chunk: wire.Chunk) -> Iterator[ModelEvent]:
        if chunk.error is not None:
            self._over = True
            yield vendor_error(chunk.error)
            return
        if chunk.response_id and not self._response_id:
            self._response_id = _NOT_IN_IDS.sub("_", chunk.response_id[:_LONGEST_RESPONSE_ID])
        candidate = next((one for one in chunk.candidates or () if not one.index), None)
        if candidate is not None:
            for part in (candidate.content.parts if candidate.content else None) or ():
                yield from self._part(part)
            self._grounding.add(candidate)
        if wire.is_given(chunk.usage_metadata) and (counts := bytes(chunk.usage_metadata)) != self._last_usage:
            self._last_usage = counts
            if (usage := read_usage(self._last_usage)) is not None:
                yield UsageReported(usage)
        feedback = chunk.prompt_feedback
        if feedback is not None and (reason := feedback.block_reason or "") not in _NOT_BLOCKED:
            self._finish = Finished(FinishReason.CONTENT_FILTER, feedback.block_reason_message or reason)
        if candidate is not None and (reason := candidate.finish_reason or "") not in _NOT_FINISHED:
            yield from self._stop(reason, candidate.finish_message or "")

    def _stop(self, reason: str, message: str) -> Iterator[ModelEvent]:
        if reason in BAD_CALLS:
            self._over = True
            yield bad_call(reason, message)
            return
        finish = _REASONS.get(reason, FinishReason.OTHER)
        if finish is FinishReason.STOP and self._has_calls:
            finish = FinishReason.TOOL_CALLS
        is_plain = finish in (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.LENGTH)
        self._finish = Finished(finish, "" if is_plain else message or reason)

    def _part(self, part: wire.WirePart) -> Iterator[ModelEvent]:
        signature = part.thought_signature or ""
        if part.text:
            yield from self._text(part.text, signature, is_thought=bool(part.thought))
        elif (other := self._other(part, signature)) is not None:
            yield from self._close()
            yield from other
        elif signature:
            yield from self._text("", signature, is_thought=bool(part.thought))

    def _other(self, part: wire.WirePart, signature: str) -> Iterable[ModelEvent] | None:
        """What a part has that is no text; None of a part that we do not know."""
        if part.function_call is not None:
            return self._function_call(part.function_call, signature)
        if wire.is_given(part.tool_call):
            return self._tool_call(part.tool_call, signature)
        if wire.is_given(part.tool_response):
            return self._tool_response(part.tool_response, signature)
        if wire.is_given(part.executable_code):
            return self._code(part.executable_code, signature)
        if wire.is_given(part.code_execution_result):
            return self._code_result(part.code_execution_result, signature)
        if part.inline_data is not None:
            return self._inline_data(part.inline_data, signature)
        return None

    def _text(self, text: str, signature: str, *, is_thought: bool) -> Iterator[ModelEvent]:
        if not text and not (self._open is not None and self._open_is_thought == is_thought):
            # A signature with nothing to sign: a thought without words, since an empty text would be left out.
            yield from self._close()
            block = self._begin()
            yield ReasoningStarted(block)
            yield BlockEnded(block, PartMetadata(thought_signature=signature, is_text=not is_thought).text())
            return
        if self._open is None or self._open_is_thought != is_thought:
            yield from self._close()
            self._open, self._open_is_thought = self._begin(), is_thought
            yield ReasoningStarted(self._open) if is_thought else TextStarted(self._open)
        if text:
            yield ReasoningDelta(self._open, text) if is_thought else TextDelta(self._open, text)
        if signature:
            yield from self._close(signature)

    def _close(self, signature: str = "") -> list[ModelEvent]:
        if self._open is None:
            return []
        block, self._open = self._open, None
        return [BlockEnded(block, PartMetadata(thought_signature=signature).text())]

    def _function_call(self, call: wire.FunctionCall, signature: str) -> Iterator[ModelEvent]:
        if not call.name:
            raise UnreadableStream("A function call has no name.")
        self._has_calls = True
        block = self._begin()
        yield ToolCallStarted(block, call.id or self._mint(), call.name)
        yield ToolCallDelta(block, _object(call.args))
        yield BlockEnded(block, PartMetadata(thought_signature=signature, function_call_id=call.id or "").text())

    def _tool_call(self, raw: msgspec.Raw, signature: str) -> list[ModelEvent]:
        call = wire.TOOL_CALL.decode(raw)
        metadata = PartMetadata(thought_signature=signature, tool_call=raw).text()
        return self._vendor_call(call.id or self._mint(), _tool_name(call.tool_type), _object(call.args), metadata)

    def _tool_response(self, raw: msgspec.Raw, signature: str) -> list[ModelEvent]:
        answer = wire.TOOL_RESPONSE.decode(raw)
        metadata = PartMetadata(thought_signature=signature, tool_response=raw).text()
        call_id, before = self._answered(answer.id, _tool_name(answer.tool_type))
        return [
            *before,
            ProviderResult(call_id, _tool_name(answer.tool_type), _object(answer.response), False, metadata),
        ]

    def _code(self, raw: msgspec.Raw, signature: str) -> list[ModelEvent]:
        code = wire.EXECUTABLE_CODE.decode(raw)
        args = _json({"language": code.language or "", "code": code.code or ""})
        metadata = PartMetadata(thought_signature=signature, executable_code=raw).text()
        return self._vendor_call(code.id or self._mint(), _CODE_EXECUTION, args, metadata)

    def _code_result(self, raw: msgspec.Raw, signature: str) -> list[ModelEvent]:
        answer = wire.CODE_EXECUTION_RESULT.decode(raw)
        metadata = PartMetadata(thought_signature=signature, code_execution_result=raw).text()
        result = _json({"outcome": answer.outcome or "", "output": answer.output or ""})
        call_id, before = self._answered(answer.id, _CODE_EXECUTION)
        return [*before, ProviderResult(call_id, _CODE_EXECUTION, result, answer.outcome != _OUTCOME_OK, metadata)]

    def _inline_data(self, media: wire.InlineData, signature: str) -> list[ModelEvent]:
        """An image that the model made: there is no event for files, so it is a result of the vendor's own."""
        call_id = self._mint()
        began = self._vendor_call(call_id, _INLINE_DATA, _json({"mime_type": media.mime_type}), "")
        self._unanswered.pop(call_id)
        result = _json({"mime_type": media.mime_type, "data": media.data})
        metadata = PartMetadata(thought_signature=signature, inline_data=True).text()
        return [*began, ProviderResult(call_id, _INLINE_DATA, result, False, metadata)]

    def _vendor_call(self, call_id: str, name: str, args: str, metadata: str) -> list[ModelEvent]:
        if len(self._unanswered) >= _MOST_UNANSWERED:
            raise UnreadableStream("Too many calls of the vendor's own tools have no result.")
        self._unanswered[call_id] = name
        if name in GROUNDED_TOOLS:
            self._ran.add(name)
        block = self._begin()
        return [
            ToolCallStarted(block, call_id, name, provider_executed=True),
            ToolCallDelta(block, args),
            BlockEnded(block, metadata),
        ]

    def _answered(self, call_id: str | None, name: str) -> tuple[str, list[ModelEvent]]:
        """The id of the call that a result is for; without one, the oldest of that tool. A result without any call
        gets one, so that people see what it belongs to."""
        if not call_id:
            call_id = next((known for known, of in self._unanswered.items() if of == name), None)
        before: list[ModelEvent] = []
        if call_id is None:
            call_id = self._mint()
            before = self._vendor_call(call_id, name, "{}", "")
        self._unanswered.pop(call_id, None)
        return call_id, before

    def _begin(self) -> int:
        self._blocks += 1
        check_blocks(self._blocks)
        return self._blocks - 1

    def _mint(self) -> str:
        self._minted += 1
        number = self._minted - 1
        return f"call_{self._response_id}_{number}" if self._response_id else f"call_{number}"


def _tool_name(tool_type: str | None) -> str:
    return _TOOL_NAMES.get(tool_type or "", (tool_type or "tool").lower())


def _object(raw: msgspec.Raw) -> str:
    """JSON as it came: order and numbers stay. What is missing is an empty object."""
    text = bytes(raw).decode()
    return "{}" if text in ("", "null") else text


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
