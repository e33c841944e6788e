"""Rows of content version 0, which were written in four shapes.

  "text"                                        a plain text
  [{"type": "text", "data": {...}}, ...]        provider envelopes
  [{"tool_call_id": ..., "result": ...}, ...]   rows of results, in tool messages only
  [{"type": "text", "text": ...}, ...]          typed parts

The shape is told by role and structure alone. Trying one reader after another would not do: an envelope half-parses as
a part, because the type is in the same place, and its content is lost without an error. The structure is enough, since
no part is written as the two fields `type` and `data` with an object in the second.

Nothing is lost. What has no field of its own goes into the provider metadata under `LEFT_OVER`, and what fits no part
is an UnknownPart. Texts are taken as they are: version 0 had no escapes.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from chatd.core.content_v0.envelopes import is_envelope, read_envelope
from chatd.core.content_v0.fields import Fields
from chatd.core.parts import PART_TYPES, AnyPart, Part, TextPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.stored_parts import UNREADABLE, unknown

_ELEMENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT: Final = msgspec.json.Decoder(str)
_PARTS_BY_TAG: Final[Mapping[object, type[Part]]] = {
    part_type.__struct_config__.tag: part_type for part_type in PART_TYPES
}


def read_version_0(role: Role, stored: str) -> tuple[AnyPart, ...]:
    """The parts of a version-0 row. Never fails: an unreadable row is one UnknownPart."""
    try:
        match stored.lstrip()[:1]:
            case "[":
                return _read_list(role, [bytes(element) for element in _ELEMENTS.decode(stored)])
            case '"' if role is not Role.TOOL:  # a tool message answers calls, which a text can't
                return (TextPart(text=_TEXT.decode(stored)),)
            case _:
                return () if stored.strip() == "null" else (unknown(stored),)
    except UNREADABLE:
        return (unknown(stored),)


def _read_list(role: Role, elements: list[bytes]) -> tuple[AnyPart, ...]:
    objects = [Fields(element) if element.startswith(b"{") else None for element in elements]
    if all(fields is not None and is_envelope(fields) for fields in objects):
        read = read_envelope
    elif role is Role.TOOL and all(fields is not None and _is_result_row(fields) for fields in objects):
        read = _read_result_row
    else:
        read = _read_typed
    return tuple(_read_element(read, fields, element) for fields, element in zip(objects, elements, strict=True))


def _read_element(read: Callable[[Fields], Part], fields: Fields | None, element: bytes) -> AnyPart:
    if fields is not None:
        try:
            return read(fields)
        except UNREADABLE:
            pass
    return unknown(element.decode())


def _is_result_row(fields: Fields) -> bool:
    return "type" not in fields.names() and fields.holds_text("tool_call_id")


def _read_result_row(fields: Fields) -> ToolResultPart:
    return ToolResultPart(
        tool_call_id=fields.take_text("tool_call_id"),
        tool_name=fields.take_text("tool_name"),
        result=fields.take_json_text("result") or "{}",
        is_error=fields.take_flag("is_error"),
        is_media=fields.take_flag("is_media"),
        provider_executed=fields.take_flag("provider_executed"),
        created_at=fields.take_text("created_at"),
        provider_metadata=fields.take_metadata("provider_metadata"),
    )


def _read_typed(fields: Fields) -> Part:
    """A part whose arguments, results and provider metadata are JSON values, where parts now have JSON texts.

    A field that the part does not have goes into its provider metadata; where there is none, the part is unknown.
    """
    part_type = _PARTS_BY_TAG.get(fields.take_text("type"))
    if part_type is None:
        raise msgspec.ValidationError("no part of this type")
    values: dict[str, object] = {"type": part_type.__struct_config__.tag}
    names = set(part_type.__struct_fields__)
    for name in names - {"provider_metadata"}:
        if name in ("args", "result"):
            values[name] = fields.take_json_text(name)
        elif (raw := fields.take(name)) is not None:
            values[name] = msgspec.Raw(raw)
    if "provider_metadata" in names:
        values["provider_metadata"] = fields.take_metadata("provider_metadata")
    elif not fields.is_empty():
        raise msgspec.ValidationError("a field that the part does not have")
    return msgspec.json.decode(msgspec.json.encode(values), type=part_type)
