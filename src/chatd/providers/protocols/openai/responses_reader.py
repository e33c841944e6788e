"""Reads the stream of the Responses API: which event means what, and what ends a response.

An event that we don't know is a sign of life and no more.
"""

from typing import Final

import msgspec

from chatd.core.model import Finished, FinishReason, ModelEvent, Ping, UsageReported
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.bounds import LARGE_EVENT, check_large
from chatd.providers.protocols.openai.errors import vendor_error
from chatd.providers.protocols.openai.responses_items import read_item
from chatd.providers.protocols.openai.responses_output import Key, ResponsesOutput
from chatd.providers.protocols.openai.usage import read_usage

_NOTHING: Final = msgspec.Raw(b"")


class _Event(msgspec.Struct, gc=False):
    """Every event that we read, in one: a chunk is decoded once."""

    type: str = ""
    delta: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item_id: str | None = None
    item: msgspec.Raw = _NOTHING
    annotation: msgspec.Raw = _NOTHING
    response: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING


class _TypeOnly(msgspec.Struct):
    type: str = ""


class _IncompleteDetails(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")
    incomplete_details: _IncompleteDetails | None = None


_EVENT: Final = msgspec.json.Decoder(_Event)
_TYPE_ONLY: Final = msgspec.json.Decoder(_TypeOnly)
_RESPONSE: Final = msgspec.json.Decoder(_Response)
_TEXT_DELTA: Final = "response.output_text.delta"
_READ: Final = frozenset(
    {
        _TEXT_DELTA, "response.refusal.delta", "response.reasoning_summary_text.delta", "response.reasoning_text.delta",
        "response.function_call_arguments.delta", "response.output_item.added", "response.output_item.done",
        "response.output_text.annotation.added", "response.completed", "response.incomplete", "response.failed",
        "error", "",
    }
)  # fmt: skip
_DETAIL_CHARACTERS: Final = 2000  # of a refusal, for people; the whole of it is in the text


class ResponsesReader:
    def __init__(self) -> None:
        self._over = False
        self._output = ResponsesOutput()

    def read(self, event: WireEvent) -> list[ModelEvent]:
        data = event.data
        if self._over or data == b"[DONE]":
            return []
        if len(data) > LARGE_EVENT:
            check_large(data)
        try:
            read = _EVENT.decode(data)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            return _unread(event, error)
        kind = read.type or event.name
        if kind == _TEXT_DELTA and read.delta:
            return self._output.text_delta(_key(read), read.item_id, read.content_index or 0, read.delta, refusal=False)
        if kind not in _READ:
            return [Ping()]
        return self._other(kind, read, data) or [Ping()]

    def end(self) -> list[ModelEvent]:
        """Only a terminal event finishes a response."""
        return []

    def _other(self, kind: str, read: _Event, data: bytes) -> list[ModelEvent]:
        output, key, delta = self._output, _key(read), read.delta or ""
        match kind:
            case "response.output_item.added":
                return output.added(key, read_item(read.item))
            case "response.output_item.done":
                return output.done(key, read_item(read.item), read.item)
            case "response.output_text.annotation.added":
                return output.annotated(key, read.content_index or 0, read.annotation)
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._response(kind, read.response)
            case "error" | "":
                return self._failed(read, data)
            case _ if not delta:
                return []
            case "response.reasoning_summary_text.delta":
                return output.reasoning_delta(key, read.item_id, ("summary", read.summary_index), delta)
            case "response.reasoning_text.delta":
                return output.reasoning_delta(key, read.item_id, ("content", read.content_index), delta)
            case "response.function_call_arguments.delta":
                return output.arguments_delta(key, delta)
            case _:
                return output.text_delta(key, read.item_id, read.content_index or 0, delta, refusal=True)

    def _response(self, kind: str, raw: msgspec.Raw) -> list[ModelEvent]:
        try:
            response = _RESPONSE.decode(raw)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise UnreadableStream(f"The response of {kind} can't be read: {error}") from error
        self._over = True
        usage = read_usage(response.usage)
        events: list[ModelEvent] = [] if usage is None else [UsageReported(usage)]
        if kind == "response.failed" or response.status in ("failed", "cancelled"):
            events.append(vendor_error(b"{}" if bytes(response.error) in (b"", b"null") else response.error))
            return events
        output = response.output or ()
        # Some servers give items other ids and places in the end: if as many have ended as there are, none was missed.
        for index, item in enumerate(output if len(output) > self._output.ended else ()):
            events += self._output.missed(index, read_item(item), item)
        events += self._output.end()
        events.append(self._finish(kind, response))
        return events

    def _finish(self, kind: str, response: _Response) -> Finished:
        refusal = self._output.refusal[:_DETAIL_CHARACTERS]
        if kind == "response.incomplete" or response.status == "incomplete":
            reason = (response.incomplete_details and response.incomplete_details.reason) or ""
            match reason:
                case "max_output_tokens" | "max_tokens":
                    return Finished(FinishReason.LENGTH, reason)
                case "content_filter":
                    return Finished(FinishReason.CONTENT_FILTER, refusal or reason)
                case _:
                    return Finished(FinishReason.OTHER, reason or "incomplete")
        if self._output.calls:
            return Finished(FinishReason.TOOL_CALLS)
        if refusal:
            return Finished(FinishReason.CONTENT_FILTER, refusal)
        return Finished(FinishReason.STOP)

    def _failed(self, read: _Event, data: bytes) -> list[ModelEvent]:
        """An `error` event, whose fields stand beside its type or within `error`; or a gateway's bare error object."""
        within = bytes(read.error)
        if within in (b"", b"null"):
            if read.type != "error":
                return []
            within = data
        self._over = True
        failure = vendor_error(within)
        if failure.error_type == "error":
            failure = msgspec.structs.replace(failure, error_type="")
        return [failure]


def _unread(event: WireEvent, error: Exception) -> list[ModelEvent]:
    """Of an event that we would not read anyway, nobody asks for the right types."""
    try:
        kind = _TYPE_ONLY.decode(event.data).type or event.name
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise UnreadableStream(f"An event is no JSON object: {error}") from error
    if kind in _READ:
        raise UnreadableStream(f"An event of type {kind} can't be read: {error}") from error
    return [Ping()]


def _key(read: _Event) -> Key:
    """Some servers change an item's id between its events; its place in the output stays."""
    return read.output_index if read.output_index is not None else read.item_id or ""
