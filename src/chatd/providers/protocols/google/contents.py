"""A history as Gemini takes it: user and model in turn, made of parts."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from chatd.core.model import ModelRequest, PromptMessage
from chatd.core.parts import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.providers.protocols.google.events import is_given
from chatd.providers.protocols.google.metadata import NOTHING, PartMetadata, metadata_of
from chatd.providers.protocols.google.options import GoogleOptions, is_since_3

Part = dict[str, Any]
Content = dict[str, Any]
Placed = tuple[int, Part]  # where the part stands within its content, before all that have a greater number

_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_.:-]")
_LONGEST_NAME: Final = 64  # what all hosts take
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW: Final = msgspec.json.Decoder(msgspec.Raw)
_BAD_JSON: Final = (msgspec.DecodeError, ValueError, RecursionError)
# The vendor documents it for calls that it did not make itself; it refuses them without any signature.
_NOT_SIGNED: Final = "skip_thought_signature_validator"
_GO_ON: Final = "Go on."  # the vendor wants a user to speak first, and last


class _Media(msgspec.Struct, frozen=True):
    data: str = ""
    mime_type: str = ""
    text: str = ""


class _ErrorResult(msgspec.Struct, frozen=True):
    error: str


def system_parts(messages: Iterable[PromptMessage]) -> list[Part]:
    return [
        {"text": valid(part.text)}
        for message in messages
        if message.role is Role.SYSTEM
        for part in message.parts
        if isinstance(part, TextPart) and part.text.strip()
    ]


def contents(request: ModelRequest, options: GoogleOptions) -> list[Content]:
    """The contents. Neighbours of one role are one content, results first and in the order of their calls."""
    calls = _Calls(request)
    turns: list[tuple[str, list[Placed]]] = [("user", [])]
    for message in request.messages:
        if message.role is Role.SYSTEM and request.capabilities.system_messages:
            continue
        role = "model" if message.role is Role.ASSISTANT else "user"
        parts = _model(message, request, options, calls) if role == "model" else _user(message, request, calls)
        if turns[-1][0] == role:
            turns[-1][1].extend(parts)
        elif parts:
            turns.append((role, parts))
    if not turns[0][1]:
        turns[0][1].append((0, {"text": _GO_ON}))
    if turns[-1][0] == "model":
        turns.append(("user", [(0, {"text": _GO_ON})]))
    if is_since_3(request.model):
        _sign(turns)
    return [{"role": role, "parts": [part for _, part in sorted(parts, key=_place)]} for role, parts in turns]


def _place(placed: Placed) -> int:
    return placed[0]


def acceptable_name(name: str) -> str:
    """Begins with a letter or an underscore."""
    cleaned = _NOT_IN_NAMES.sub("_", name)
    return (cleaned if cleaned[:1].isalpha() or cleaned[:1] == "_" else f"_{cleaned}")[:_LONGEST_NAME]


def valid(text: str) -> str:
    """Without lone surrogates, which no JSON can carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class _Calls:
    """The calls of a history: by id their names, and the ids that the vendor gave them itself."""

    def __init__(self, request: ModelRequest) -> None:
        self.names: dict[str, str] = {}
        self.own_ids: dict[str, str] = {}
        self._order: dict[str, int] = {}
        for message in request.messages:
            for part in message.parts:
                if isinstance(part, ToolCallPart) and not part.provider_executed:
                    self._order[part.tool_call_id] = len(self._order)
                    self.names[part.tool_call_id] = part.tool_name
                    if message.origin == request.provider and (own := metadata_of(part).function_call_id):
                        self.own_ids[part.tool_call_id] = own

    def place(self, tool_call_id: str) -> int:
        """Of a result: results stand in the order of their calls."""
        return self._order.get(tool_call_id, self.after)

    @property
    def after(self) -> int:
        """Of all that is no result."""
        return len(self._order)


def _user(message: PromptMessage, request: ModelRequest, calls: _Calls) -> list[Placed]:
    """Repair has left only these."""
    parts: list[Placed] = []
    for part in message.parts:
        match part:
            case ToolResultPart():
                if not part.provider_executed:
                    parts.extend(_response(part, request, calls))
            case FilePart():
                parts.append((calls.after, _inline(part.media_type, part.data)))
            case TextPart(text=text) if text.strip():
                parts.append((calls.after, {"text": valid(text)}))
            case _:
                pass
    return parts


def _model(message: PromptMessage, request: ModelRequest, options: GoogleOptions, calls: _Calls) -> list[Placed]:
    is_own = message.origin == request.provider
    parts: list[Part] = []
    for part in message.parts:
        match part:
            case TextPart():
                if part.text.strip():
                    parts.append(_signed({"text": valid(part.text)}, metadata_of(part) if is_own else NOTHING))
            case ReasoningPart():
                kept = metadata_of(part)
                if is_own and kept.thought_signature and options.send_reasoning:
                    thought = {"text": valid(part.text)} | ({} if kept.is_text else {"thought": True})
                    parts.append(_signed(thought, kept))
            case ToolCallPart() | ToolResultPart() if part.provider_executed:
                if is_own:
                    parts.extend(_vendors(part))
            case ToolCallPart():
                call: Part = {"name": acceptable_name(part.tool_name), "args": _args(part.args)}
                call |= {"id": calls.own_ids[part.tool_call_id]} if part.tool_call_id in calls.own_ids else {}
                parts.append(_signed({"functionCall": call}, metadata_of(part) if is_own else NOTHING))
            case _:
                pass  # sources, and files that a model made, are for people
    return [(0, part) for part in parts]


def _vendors(part: ToolCallPart | ToolResultPart) -> list[Part]:
    """What the vendor ran itself, as it came. What only people see has no metadata."""
    kept = metadata_of(part)
    for name, value in (
        ("toolCall", kept.tool_call),
        ("toolResponse", kept.tool_response),
        ("executableCode", kept.executable_code),
        ("codeExecutionResult", kept.code_execution_result),
    ):
        if is_given(value):
            return [_signed({name: value}, kept)]
    if kept.inline_data and isinstance(part, ToolResultPart) and (media := _media(part.result)) is not None:
        return [_signed(_inline(media.mime_type, media.data), kept)]
    return []


def _signed(part: Part, kept: PartMetadata) -> Part:
    return part | {"thoughtSignature": kept.thought_signature} if kept.thought_signature else part


def _sign(turns: Sequence[tuple[str, list[Placed]]]) -> None:
    """Calls that another vendor made, since the user last spoke: the vendor checks the first of each step."""
    for role, parts in reversed(turns):
        if role == "user":
            if any("functionResponse" not in part for _, part in parts):
                return
            continue
        first = next((part for _, part in parts if "functionCall" in part), None)
        if first is not None:
            first.setdefault("thoughtSignature", _NOT_SIGNED)


def _args(args: str) -> msgspec.Raw | Part:
    if not args.strip():
        return {}
    try:
        _FIELDS.decode(args)
    except _BAD_JSON:
        return {"invalid_arguments": valid(args)}
    return msgspec.Raw(args.encode())


def _response(part: ToolResultPart, request: ModelRequest, calls: _Calls) -> list[Placed]:
    name = calls.names.get(part.tool_call_id) or part.tool_name
    response: Part = {"name": acceptable_name(name)}
    if part.tool_call_id in calls.own_ids:
        response["id"] = calls.own_ids[part.tool_call_id]
    parts: list[Placed] = [(calls.place(part.tool_call_id), {"functionResponse": response})]
    media = _media(valid(part.result)) if part.is_media else None
    if media is None:
        response["response"] = _output(part)
        return parts
    response["response"] = {"output": valid(media.text)}
    file = _inline(media.mime_type, media.data)
    if is_since_3(request.model):
        response["parts"] = [file]
    else:
        parts.append((calls.after, file))
    return parts


def _output(part: ToolResultPart) -> msgspec.Raw | Part:
    """An object as it is, since that is what the vendor takes; all else as its `output`, failures as an `error`."""
    text = valid(part.result)
    if text.strip() in ("", "null"):
        return {"error": "The tool failed without a word."} if part.is_error else {}
    try:
        raw = _RAW.decode(text)
    except _BAD_JSON:
        return {"error" if part.is_error else "output": text}
    if part.is_error:
        try:
            return {"error": msgspec.json.decode(raw, type=_ErrorResult).error}
        except _BAD_JSON:
            return {"error": raw}
    return raw if text.lstrip().startswith("{") else {"output": raw}


def _media(result: str) -> _Media | None:
    try:
        media = msgspec.json.decode(result, type=_Media)
    except _BAD_JSON:
        return None
    return media if media.data and media.mime_type else None


def _inline(media_type: str, data: str) -> Part:
    return {"inlineData": {"mimeType": media_type.partition(";")[0].strip().lower(), "data": data}}
