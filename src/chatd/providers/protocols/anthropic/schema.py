"""Schemas of tools made into what Anthropic takes: JSON Schema 2020-12 of an object.

The vendor refuses the whole request for one schema that is none, and tools come from anywhere: older drafts, types
that do not exist, fields that are null. What can't stay is left out, so a schema may allow more than the original;
whoever runs the tool checks its arguments anyway. A schema that is good already is sent as it was written.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import msgspec

Schema = dict[str, Any]

_DEEPEST: Final = 64  # no schema that anyone wrote goes on longer
_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")  # of a parameter
_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
_AT_TOP: Final = ("anyOf", "oneOf", "allOf")  # alternatives, refused at the top
_BAD_JSON: Final = (msgspec.DecodeError, ValueError, RecursionError)


def input_schema(text: str) -> msgspec.Raw | Schema:
    try:
        root = _object(msgspec.json.decode(text))
        cleaned = _clean(root, 0)
    except _BAD_JSON:
        return {"type": "object"}
    whole = _without_alternatives(cleaned) | {"type": "object"}
    if properties := _object(whole.get("properties")):
        whole["properties"] = {name: value for name, value in properties.items() if _NAME.fullmatch(name)}
        if "required" in whole:
            whole["required"] = [name for name in whole["required"] if name in whole["properties"]]
    return msgspec.Raw(text.encode()) if whole == root else whole


def _without_alternatives(schema: Schema) -> Schema:
    """With the properties of all of them."""
    found = [_object(one) for name in _AT_TOP for one in schema.get(name, [])]
    rest = {name: value for name, value in schema.items() if name not in _AT_TOP}
    properties: Schema = {}
    for one in (*reversed(found), rest):
        properties |= _object(one.get("properties"))
    return rest | {"properties": properties} if found and properties else rest


def _clean(schema: Schema, depth: int) -> Schema:
    schema = _of_this_draft(schema)
    cleaned: Schema = {}
    for name, value in schema.items():
        if name in _WITHIN:
            kept = _inner(value, depth + 1)
        elif name in _LISTED:
            kept = [_inner(one, depth + 1) for one in _list(value)] or None
        elif name in _NAMED:
            kept = {key: _inner(one, depth + 1) for key, one in _object(value).items()}
            kept = kept if isinstance(value, dict) else None
        else:
            kept = value if name not in _CHECKS or _CHECKS[name](value) else None
        if kept is not None or name in ("default", "const"):
            cleaned[name] = kept
    return cleaned


def _inner(value: object, depth: int) -> Schema | bool:
    if isinstance(value, bool):
        return value
    return _clean(_object(value), depth) if depth < _DEEPEST else {}


def _of_this_draft(schema: Schema) -> Schema:
    """What older drafts said in another way."""
    changed = dict(schema)
    if isinstance(items := changed.get("items"), list):
        del changed["items"]
        changed.setdefault("prefixItems", items)
    for beyond, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(changed.get(beyond), bool) and changed.pop(beyond) and bound in changed:
            changed[beyond] = changed.pop(bound)
    return changed


def _is_type(value: object) -> bool:
    names: list[Any] = _list(value) or [value]
    return _is_texts(names) and bool(names) and _TYPES.issuperset(names)


def _is_texts(value: object) -> bool:
    texts = _list(value)
    known = {text for text in texts if isinstance(text, str)}
    return isinstance(value, list) and len(known) == len(texts)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_WITHIN: Final = frozenset(
    ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
     "unevaluatedProperties")
)  # fmt: skip
_LISTED: Final = frozenset(("prefixItems", "anyOf", "oneOf", "allOf"))
_NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "type": _is_type,
    "required": _is_texts,
    "enum": lambda value: isinstance(value, list),
    "uniqueItems": lambda value: isinstance(value, bool),
    "multipleOf": lambda value: isinstance(value, int | float) and value > 0,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
         "maxContains"),
        _is_size,
    ),
    **dict.fromkeys(("$schema", "$id", "$ref", "$comment", "title", "description", "pattern", "format"), _is_text),
}  # fmt: skip


def _object(value: object) -> Schema:
    return cast("Schema", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
