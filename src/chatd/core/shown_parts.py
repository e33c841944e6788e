"""Parts as clients see them, on every path: without internal fields, arguments and results as JSON values."""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

import msgspec

from chatd.core.parts import AnyPart, TextPart, ToolCallPart, ToolResultPart, UnknownPart, strip_internal
from chatd.core.preview import CallPiece
from chatd.core.valid_text import valid_json_text, valid_text

_ANY_JSON: Final = msgspec.json.Decoder(msgspec.Raw)
_ENCODER: Final = msgspec.json.Encoder()


class ShownCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="tool-call"):
    tool_call_id: str
    tool_name: str = ""
    mcp_server_config_id: UUID | None = None
    args: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    parsed_commands: tuple[tuple[str, ...], ...] = ()
    provider_executed: bool = False
    hook_rewritten: bool = False
    created_at: str = ""


class ShownResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="tool-result"):
    tool_call_id: str
    tool_name: str = ""
    mcp_server_config_id: UUID | None = None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    is_error: bool = False
    is_media: bool = False
    provider_executed: bool = False
    created_at: str = ""


def shown_part(part: AnyPart | CallPiece) -> Any:
    """What msgspec encodes for a client. Half a character is shown as U+FFFD; what is not JSON, as a string."""
    if isinstance(part, TextPart) and not part.provider_metadata and valid_text(part.text) is part.text:
        return part  # nearly all that is ever shown
    match part:
        case CallPiece():
            return _with_valid_texts(part)
        case ToolCallPart():
            return ShownCall(
                tool_call_id=valid_text(part.tool_call_id),
                tool_name=valid_text(part.tool_name),
                mcp_server_config_id=part.mcp_server_config_id,
                args=_json(part.args),
                parsed_commands=tuple(tuple(map(valid_text, command)) for command in part.parsed_commands),
                provider_executed=part.provider_executed,
                hook_rewritten=part.hook_rewritten,
                created_at=part.created_at,
            )
        case ToolResultPart():
            return ShownResult(
                tool_call_id=valid_text(part.tool_call_id),
                tool_name=valid_text(part.tool_name),
                mcp_server_config_id=part.mcp_server_config_id,
                result=_json(part.result),
                is_error=part.is_error,
                is_media=part.is_media,
                provider_executed=part.provider_executed,
                created_at=part.created_at,
            )
        case _:
            stripped = strip_internal(part)
            return (
                msgspec.Raw(stripped.raw.encode()) if isinstance(stripped, UnknownPart) else _with_valid_texts(stripped)
            )


def shown_parts(parts: Iterable[AnyPart]) -> list[Any]:
    return [shown_part(part) for part in parts]


def _with_valid_texts(part: Any) -> Any:
    """UTF-8 has no room for half a character; nearly all texts are fine, and stay what they are."""
    broken = {
        name: valid
        for name in part.__struct_fields__
        if isinstance(value := getattr(part, name), str) and (valid := valid_text(value)) is not value
    }
    return msgspec.structs.replace(part, **broken) if broken else part


def _json(text: str) -> msgspec.Raw | msgspec.UnsetType:
    if not text:
        return msgspec.UNSET
    valid = valid_json_text(text)
    try:
        _ANY_JSON.decode(valid)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return msgspec.Raw(_ENCODER.encode(valid_text(text)))
    return msgspec.Raw(valid.encode())
