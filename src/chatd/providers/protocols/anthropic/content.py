"""A history as Anthropic's Messages API takes it: user and assistant in turn, made of blocks."""

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from chatd.core.model import ModelRequest, PromptMessage, ProtocolName
from chatd.core.parts import (
    FilePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.roles import Role
from chatd.providers.protocols.anthropic.images import image_type, leave_out_large, why_refused

Block = dict[str, Any]

_GO_ON: Final = "Go on."  # the vendor wants a user to speak first, and last
_NOT_ALLOWED: Final = re.compile(r"[^a-zA-Z0-9_-]")
_ONLY_WORDS: Final = "[a file was left out: of a failure, the vendor takes only words]"
_PDF_BEGINNING: Final = 1024  # bytes in which readers look for the mark of a PDF file
_REPLAYED_OF_CALLS: Final = frozenset(("caller", "toolset_name"))
_LONGEST_NAME: Final = 128  # the vendor's limit for names of tools
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_CITATIONS: Final = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_BAD_JSON: Final = (msgspec.DecodeError, ValueError, RecursionError)


class _Media(msgspec.Struct, frozen=True):
    data: str = ""
    mime_type: str = ""
    text: str = ""


class _ErrorResult(msgspec.Struct, frozen=True):
    error: str


def system_blocks(messages: Iterable[PromptMessage]) -> list[Block]:
    return [
        _text_block(part.text)
        for message in messages
        if message.role is Role.SYSTEM
        for part in message.parts
        if isinstance(part, TextPart) and part.text.strip()
    ]


def message_blocks(request: ModelRequest, *, with_thoughts: bool) -> list[Block]:
    """The messages. Neighbours of one role are one message, results first; one that is left without blocks is none."""
    turns: list[tuple[str, list[Block]]] = []
    for message in request.messages:
        if message.role is Role.SYSTEM and request.capabilities.system_messages:
            continue
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        if role == "assistant":
            blocks = _assistant(message, is_own=message.origin == request.provider, with_thoughts=with_thoughts)
        else:
            blocks = _user(message)
        if not blocks:
            continue
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    if not turns or turns[0][0] == "assistant":
        turns.insert(0, ("user", [_text_block(_GO_ON)]))
    if turns[-1][0] == "assistant" and not _is_paused(turns[-1][1]):
        turns.append(("user", [_text_block(_GO_ON)]))
    messages: list[Block] = [
        {"role": role, "content": blocks if role == "assistant" else sorted(blocks, key=_is_no_result)}
        for role, blocks in turns
    ]
    _name_toolsets(messages)
    leave_out_large(messages, lambda why: _text_block(f"[an image was left out: {why}]"))
    return messages


def acceptable_name(name: str) -> str:
    return _NOT_ALLOWED.sub("_", name)[:_LONGEST_NAME] or "_"


def acceptable_id(tool_call_id: str) -> str:
    """The same for a call and its result, which other vendors may have named as they like."""
    return _NOT_ALLOWED.sub("_", tool_call_id) or "_"


def json_object(text: str) -> msgspec.Raw | None:
    """The text itself if it is a JSON object: order, numbers and repeated keys stay."""
    try:
        _FIELDS.decode(text)
    except _BAD_JSON:
        return None
    return msgspec.Raw(text.encode())


def _user(message: PromptMessage) -> list[Block]:
    """Repair has left only these."""
    blocks: list[Block] = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                blocks.extend(_texts(text))
            case ToolResultPart() if not part.provider_executed:
                blocks.append(_result(part))
            case FilePart():
                blocks.append(_file(part))
            case _:
                pass
    return blocks


def _assistant(message: PromptMessage, *, is_own: bool, with_thoughts: bool) -> list[Block]:
    blocks: list[Block] = []
    for part in message.parts:
        kept: Mapping[str, msgspec.Raw] = _kept(part) if is_own else {}
        match part:
            case TextPart(text=text):
                blocks.extend(block | _citations(kept) for block in _texts(text))
            case ReasoningPart():
                if kept and with_thoughts:
                    blocks.extend(_thinking(part.text, kept))
            case ToolCallPart() if part.provider_executed:
                blocks.extend(_verbatim(kept, "_tool_use"))
            case ToolCallPart():
                blocks.append(_call(part) | {name: kept[name] for name in kept if name in _REPLAYED_OF_CALLS})
            case ToolResultPart() if part.provider_executed:
                blocks.extend(_verbatim(kept, "_tool_result"))
            case _:
                pass  # sources, and files that an assistant made, are for people
    return blocks


def _kept(part: Part) -> Mapping[str, msgspec.Raw]:
    """What the vendor wanted to see again; nothing if it can't be read."""
    if not isinstance(part, TextPart | ReasoningPart | ToolCallPart | ToolResultPart):
        return {}
    try:
        return _FIELDS.decode(part.provider_metadata.get(ProtocolName.ANTHROPIC_MESSAGES, "{}"))
    except _BAD_JSON:
        return {}


def _citations(kept: Mapping[str, msgspec.Raw]) -> Block:
    """As they came, but for a field that the vendor gives and does not take."""
    try:
        cited = _CITATIONS.decode(kept.get("citations", b"[]"))
    except _BAD_JSON:
        return {}
    return {"citations": [{name: one[name] for name in one if name != "file_id"} for one in cited]} if cited else {}


def _verbatim(kept: Mapping[str, msgspec.Raw], ending: str) -> list[Block]:
    kind = msgspec.json.decode(kept.get("type", b'""'))
    return [{**kept, "type": kind}] if isinstance(kind, str) and kind.endswith(ending) else []


def _thinking(text: str, kept: Mapping[str, msgspec.Raw]) -> list[Block]:
    if "signature" in kept:
        return [{"type": "thinking", "thinking": valid_text(text), "signature": kept["signature"]}]
    return [{"type": "redacted_thinking", "data": kept["data"]}] if "data" in kept else []


def _call(part: ToolCallPart) -> Block:
    args = json_object(part.args) if part.args.strip() else msgspec.Raw(b"{}")
    return {
        "type": "tool_use",
        "id": acceptable_id(part.tool_call_id),
        "name": acceptable_name(part.tool_name),
        "input": {"_invalid_json": valid_text(part.args)} if args is None else args,
    }


def _result(part: ToolResultPart) -> Block:
    content = _media(part.result) if part.is_media else None
    if part.is_error and content is not None:
        content = [block if block["type"] == "text" else _text_block(_ONLY_WORDS) for block in content]
    block: Block = {
        "type": "tool_result",
        "tool_use_id": acceptable_id(part.tool_call_id),
        "content": _result_text(part) if content is None else content,
    }
    return block | {"is_error": True} if part.is_error else block


def _result_text(part: ToolResultPart) -> str:
    text = valid_text(part.result)
    if part.is_error:
        with suppress(*_BAD_JSON):
            text = msgspec.json.decode(text, type=_ErrorResult).error
    return "{}" if text.strip() in ("", "null") else text


def _media(result: str) -> list[Block]:
    media = msgspec.json.decode(result, type=_Media)
    file = FilePart(media_type=media.mime_type, name="of the result", data=media.data)
    return [*_texts(media.text), _file(file)]


def _file(part: FilePart) -> Block:
    """The model takes what this is said to be; a text says so if its bytes are something else."""
    kind = part.media_type.partition(";")[0].strip().lower()
    content = b64decode(part.data)
    if kind.startswith("image/"):
        if why := why_refused(content):
            return _left_out(part, why)
        # Of the type that its bytes tell: names and browsers often tell another, and the vendor compares.
        return {"type": "image", "source": {"type": "base64", "media_type": image_type(content), "data": part.data}}
    if kind == "application/pdf":
        if b"%PDF-" not in content[:_PDF_BEGINNING]:
            return _left_out(part, "it is no PDF file")
        return _document(part, {"type": "base64", "media_type": kind, "data": part.data})
    text = content.decode("utf-8", "replace")
    if not text.strip():
        return _left_out(part, "it is blank")
    return _document(part, {"type": "text", "media_type": "text/plain", "data": text})


def _document(part: FilePart, source: Block) -> Block:
    block: Block = {"type": "document", "source": source}
    return block | {"title": valid_text(part.name)} if part.name.strip() else block


def _left_out(part: FilePart, why: str) -> Block:
    return _text_block(f"[file {part.name or 'without a name'} ({part.media_type}) was left out: {why}]")


def _texts(text: str) -> list[Block]:
    return [_text_block(text)] if text.strip() else []


def _text_block(text: str) -> Block:
    return {"type": "text", "text": valid_text(text)}


def valid_text(text: str) -> str:
    """Without lone surrogates, which no JSON can carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _is_paused(blocks: list[Block]) -> bool:
    """Whether the vendor was at work itself, and goes on from there. From anything else it refuses to go on."""
    return blocks[-1]["type"].endswith(("_tool_use", "_tool_result"))


def _name_toolsets(messages: Iterable[Block]) -> None:
    """A result names the toolset that its call named."""
    named: dict[str, msgspec.Raw] = {}
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use" and "toolset_name" in block:
                named[block["id"]] = block["toolset_name"]
            elif block["type"] == "tool_result" and block["tool_use_id"] in named:
                block["toolset_name"] = named[block["tool_use_id"]]


def _is_no_result(block: Block) -> bool:
    return block["type"] != "tool_result"
