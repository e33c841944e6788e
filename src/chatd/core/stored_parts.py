"""Parts as a JSONB column holds them: `content_version` 1, a JSON list of tagged objects.

JSONB orders keys anew and keeps one of two equal ones. That is harmless for the objects here, and tool arguments and
results are texts inside them, which it does not touch.
"""

from collections.abc import Callable, Iterable
from typing import Final, cast

import msgspec

from chatd.core.parts import AnyPart, Part, UnknownPart, is_known
from chatd.core.stored_text import escape, json_holds_nul, json_may_hold_escapes, json_may_need_escapes, unescape

CONTENT_VERSION: Final = 1

# Not JSON, not of the expected shape, not encodable, or nested deeper than the decoder goes.
UNREADABLE: Final = (msgspec.DecodeError, ValueError, RecursionError)

_ENCODER: Final = msgspec.json.Encoder()
_PARTS: Final = msgspec.json.Decoder(tuple[Part, ...] | None)
_PART: Final = msgspec.json.Decoder(Part)
_ELEMENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_ANY_JSON: Final = msgspec.json.Decoder(msgspec.Raw)


def encode_parts(parts: Iterable[AnyPart]) -> str:
    """The stored form. Never fails, and the database can hold it, whatever the texts are."""
    items = [msgspec.Raw(part.raw.encode()) if isinstance(part, UnknownPart) else part for part in parts]
    try:
        encoded = _ENCODER.encode(items)
    except UnicodeEncodeError:  # a lone surrogate
        pass
    else:
        if not json_may_need_escapes(encoded):
            return encoded.decode()
    escaped = [item if isinstance(item, msgspec.Raw) else _with_texts(item, escape) for item in items]
    return _ENCODER.encode(escaped).decode()


def decode_parts(stored: str) -> tuple[AnyPart, ...]:
    """The parts of a version-1 row. Never fails: what is no known part becomes an UnknownPart."""
    try:
        parts: tuple[AnyPart, ...] = _PARTS.decode(stored) or ()
    except UNREADABLE:
        try:
            elements = _ELEMENTS.decode(stored)
        except UNREADABLE:
            return (unknown(stored),)
        parts = tuple(_decode_element(bytes(element)) for element in elements)
    if json_may_hold_escapes(stored):
        return tuple(_with_texts(part, unescape) if is_known(part) else part for part in parts)
    return parts


def unknown(text: str) -> UnknownPart:
    """An UnknownPart of stored JSON. What is not JSON, or none that the database holds, is kept as a JSON string."""
    try:
        _ANY_JSON.decode(text)
        is_storable = not json_holds_nul(text)
    except RecursionError:
        is_storable = True  # too deep to look at, but it came out of the database
    except (msgspec.DecodeError, ValueError):
        is_storable = False
    return UnknownPart(text if is_storable else _ENCODER.encode(escape(text)).decode())


def _decode_element(element: bytes) -> AnyPart:
    try:
        return _PART.decode(element)
    except UNREADABLE:
        return unknown(element.decode())


def _with_texts(part: Part, change: Callable[[str], str]) -> Part:
    """The part with every text in it changed."""
    return msgspec.structs.replace(
        part, **{name: _changed(getattr(part, name), change) for name in part.__struct_fields__}
    )


def _changed(value: object, change: Callable[[str], str]) -> object:
    match value:
        case str():
            return change(value)
        case tuple():
            return tuple(_changed(item, change) for item in cast("tuple[object, ...]", value))
        case dict():
            return {change(key): change(text) for key, text in cast("dict[str, str]", value).items()}
        case _:
            return value
