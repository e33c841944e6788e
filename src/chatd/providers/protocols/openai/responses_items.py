"""The output items of the Responses API, and what a call that the vendor ran itself is for people.

Every item type that is not named here is shown as a call of the vendor's own and its result.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from chatd.providers.framing.wire_event import UnreadableStream

COMPUTER_TOOL: Final = "computer"


class ItemContent(msgspec.Struct, frozen=True):
    """A piece of a message (`output_text`, `refusal`) or of reasoning (`reasoning_text`, `summary_text`)."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None
    annotations: list[msgspec.Raw] | None = None


class Item(msgspec.Struct, frozen=True):
    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    phase: str | None = None
    encrypted_content: str | None = None
    content: list[ItemContent] | None = None
    summary: list[ItemContent] | None = None


class Annotation(msgspec.Struct, frozen=True):
    type: str = ""
    url: str | None = None
    title: str | None = None


class ProviderCall(msgspec.Struct, frozen=True):
    args: str
    result: str
    is_error: bool


class _TypeOnly(msgspec.Struct, frozen=True):
    type: str = ""
    id: str | None = None


_ITEM: Final = msgspec.json.Decoder(Item)
_TYPE_ONLY: Final = msgspec.json.Decoder(_TypeOnly)
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ANNOTATION: Final = msgspec.json.Decoder(Annotation)
_STRING: Final = msgspec.json.Decoder(str)
_KNOWN: Final = frozenset({"message", "reasoning", "function_call", "computer_call"})

# What of an item was asked for; the rest is what came of it.
_ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "web_search_call": ("action",),
    "file_search_call": ("queries",),
    "code_interpreter_call": ("code", "container_id"),
    "computer_call": ("action", "actions"),
    "mcp_list_tools": ("server_label",),
    "mcp_approval_request": ("server_label", "name", "arguments"),
    "image_generation_call": ("action", "prompt", "revised_prompt", "size", "quality", "background"),
}
_NEITHER: Final = frozenset({"id", "type", "call_id"})
_FAILED: Final = frozenset({b'"failed"', b'"incomplete"'})


def read_item(raw: msgspec.Raw) -> Item:
    """Raises UnreadableStream. Of a type that is not ours only the type and the id must be what they seem."""
    try:
        return _ITEM.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        try:
            kind = _TYPE_ONLY.decode(raw)
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise UnreadableStream(f"An item can't be read: {error}") from error
        if kind.type in _KNOWN or not kind.type:
            raise UnreadableStream(f"An item of type {kind.type} can't be read: {error}") from error
        return Item(type=kind.type, id=kind.id)


def read_annotation(raw: msgspec.Raw) -> Annotation:
    """Empty for one that can't be read: a citation is no reason to lose an answer."""
    try:
        return _ANNOTATION.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return Annotation()


def tool_name(item: Item) -> str:
    """`web_search` for a `web_search_call`; what an MCP server's tool is called for a call of one."""
    if item.type == "mcp_call" and item.name:
        return item.name
    return item.type.removesuffix("_call") or "unknown"


def provider_call(item: Item, raw: msgspec.Raw) -> ProviderCall:
    """What was asked and what came of it, as JSON objects. The call's id and type are left out of both."""
    try:
        fields = _FIELDS.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ProviderCall("{}", "{}", is_error=False)
    asked = _ASKED.get(item.type, ())
    if item.type == "mcp_call":
        args = _json_or_object(fields.pop("arguments", None))
        asked = ("name", "server_label")
    else:
        args = _encode({name: fields[name] for name in asked if name in fields})
    result = {name: value for name, value in fields.items() if name not in asked and name not in _NEITHER}
    result = {name: value for name, value in result.items() if bytes(value) != b"null"}
    failed = bytes(fields.get("status", msgspec.Raw(b""))) in _FAILED or "error" in result
    return ProviderCall(args, _encode(result), is_error=failed)


def _json_or_object(arguments: msgspec.Raw | None) -> str:
    """The arguments of an MCP call are JSON within a string."""
    try:
        text = _STRING.decode(arguments) if arguments is not None else ""
        _FIELDS.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return "{}"
    return text


def _encode(fields: dict[str, msgspec.Raw]) -> str:
    return msgspec.json.encode(fields).decode("utf-8", "replace")
