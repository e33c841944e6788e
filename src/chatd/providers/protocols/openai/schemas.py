"""Tool schemas as OpenAI takes them, and whether one may be enforced strictly.

OpenAI wants an object at the root, with properties and without alternatives, and `items` in every array. It refuses a
whole request for one keyword with a value that JSON Schema does not know, and for a pattern that its engine can't read;
llama.cpp for a pattern without both anchors. Such a pattern is told in the description instead. A schema that is fine
already goes out as its own text, so that key order and numbers survive. Strict mode takes a smaller language still: all
properties required, none beside them, few keywords. A schema is never bent into it: a property that was optional would
have to become required.
"""

import re
from typing import Final, cast

import msgspec

Schema = dict[str, object]

_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
_REFUSED_AT_ROOT: Final = (*_ALTERNATIVES, "enum", "const", "not", "if", "then", "else", "$ref")
_STRICT_KEYWORDS: Final = frozenset(
    {
        "type", "properties", "required", "additionalProperties", "description", "title", "enum", "const", "items",
        "anyOf", "$ref", "$defs", "$schema", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
    }
)  # fmt: skip
_STRICT_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_STRICT_DEPTH: Final = 5  # the lowest limit that OpenAI has had; newer models take 10
_STRICT_PROPERTIES: Final = 100  # likewise; newer models take 5000
_DEPTH: Final = 64  # deeper than any tool's; what is below stays as it is
_MAPS: Final = ("properties", "$defs", "definitions", "patternProperties")
_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_LOOKAROUND: Final = re.compile(r"\(\?(?!:)")  # and whatever else is more than a group


class ToolSchema(msgspec.Struct, frozen=True):
    """`json` is the schema to send. `strict` says that OpenAI would take it in strict mode."""

    json: msgspec.Raw
    strict: bool


def acceptable(text: str) -> ToolSchema:
    """Of a schema that can't be read, an object that may hold anything."""
    try:
        read: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        read = None
    schema = _object(read)
    if schema is None:
        return ToolSchema(msgspec.Raw(b'{"type":"object","properties":{}}'), strict=False)
    changed = _repair_root(schema)
    changed = _repair_below(schema, 0) or changed
    json = msgspec.json.encode(schema) if changed else text.encode("utf-8", "replace")
    return ToolSchema(msgspec.Raw(json), strict=_is_strict(schema))


def _repair_root(schema: Schema) -> bool:
    changed = False
    for branch in _branches(schema):
        changed = True
        properties = _object(branch.get("properties")) or {}
        known = _object(schema.setdefault("properties", {}))
        if known is not None:
            for name, value in properties.items():
                known.setdefault(name, value)
    for keyword in _REFUSED_AT_ROOT:
        if keyword in schema:
            del schema[keyword]
            changed = True
    if schema.get("type") != "object":
        schema["type"] = "object"
        changed = True
    if _object(schema.get("properties")) is None:
        schema["properties"] = {}
        changed = True
    return changed


def _branches(schema: Schema) -> list[Schema]:
    """The alternatives at the root, whose properties all become optional ones of the root; `allOf` keeps `required`."""
    found: list[Schema] = []
    if (target := _local_target(schema)) is not None:
        found.append(target)
    for keyword in _ALTERNATIVES:
        for value in _list(schema.get(keyword)):
            branch = _object(value)
            if branch is None:
                continue
            branch = _local_target(branch, schema) or branch
            found.append(branch)
            if keyword == "allOf" and _list(branch.get("required")):
                required = _list(schema.get("required"))
                schema["required"] = [*required, *(name for name in _list(branch["required"]) if name not in required)]
    return found


def _local_target(schema: Schema, root: Schema | None = None) -> Schema | None:
    """What a `$ref` like `#/$defs/Name` points at."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    place: Schema | None = root or schema
    for step in reference[2:].split("/"):
        if place is None:
            return None
        place = _object(place.get(step))
    return place


def _repair_below(schema: Schema, depth: int) -> bool:
    changed = _drop_nonsense(schema)
    kind = schema.get("type")
    is_array = kind == "array" or "array" in _list(kind)
    if is_array and not isinstance(schema.get("items"), dict | bool):
        schema["items"] = {}
        changed = True
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not _is_readable(pattern):
        del schema["pattern"]
        schema["description"] = f"{schema.get('description', '')} (pattern: {pattern})".strip()
        changed = True
    if depth < _DEPTH:
        for inner in _inner(schema):
            changed = _repair_below(inner, depth + 1) or changed
    return changed


def _drop_nonsense(schema: Schema) -> bool:
    """Takes out keywords whose values are none of JSON Schema's."""
    dropped = [keyword for keyword, value in schema.items() if not _makes_sense(keyword, value)]
    for keyword in dropped:
        del schema[keyword]
    changed = bool(dropped)
    for keyword in _MAPS:
        schemas = _object(schema.get(keyword)) or {}
        for name in [name for name, value in schemas.items() if not isinstance(value, dict | bool)]:
            schemas[name] = {}
            changed = True
    return changed


def _makes_sense(keyword: str, value: object) -> bool:
    if keyword == "type":
        kinds: list[object] = [value] if isinstance(value, str) else _list(value)
        return kinds != [] and all(isinstance(kind, str) and kind in _TYPES for kind in kinds)
    if keyword in _MAPS:
        return isinstance(value, dict)
    if keyword in ("items", "additionalProperties"):
        return isinstance(value, dict | bool)
    if keyword in _ALTERNATIVES:
        return _list(value) != [] and all(isinstance(inner, dict | bool) for inner in _list(value))
    if keyword == "required":
        return isinstance(value, list) and all(isinstance(name, str) for name in _list(cast("object", value)))
    if keyword == "enum":
        return _list(value) != []
    return keyword not in ("pattern", "description", "$ref") or isinstance(value, str)


def _is_readable(pattern: str) -> bool:
    if not pattern.startswith("^") or not pattern.endswith("$") or _LOOKAROUND.search(pattern):
        return False
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _inner(schema: Schema) -> list[Schema]:
    found: list[Schema] = []
    for keyword in _MAPS:
        found += [
            inner for value in (_object(schema.get(keyword)) or {}).values() if (inner := _object(value)) is not None
        ]
    for keyword in ("items", "additionalProperties"):
        if (inner := _object(schema.get(keyword))) is not None:
            found.append(inner)
    for keyword in _ALTERNATIVES:
        found += [inner for value in _list(schema.get(keyword)) if (inner := _object(value)) is not None]
    return found


def _is_strict(schema: Schema) -> bool:
    left = [_STRICT_PROPERTIES]
    return _strict_below(schema, 0, left)


def _strict_below(schema: Schema, depth: int, left: list[int]) -> bool:
    if depth > _STRICT_DEPTH or not schema.keys() <= _STRICT_KEYWORDS:
        return False
    if "$ref" in schema:
        return len(schema) == 1  # beside it nothing may stand
    if not {"type", "anyOf"} & schema.keys() or isinstance(schema.get("items"), bool):
        return False
    if "format" in schema and schema["format"] not in _STRICT_FORMATS:
        return False
    kind = schema.get("type")
    if kind == "object" or "object" in _list(kind):
        properties = _object(schema.get("properties"))
        if properties is None or schema.get("additionalProperties") is not False:
            return False
        if {name for name in _list(schema.get("required")) if isinstance(name, str)} != properties.keys():
            return False
        left[0] -= len(properties)
        if left[0] < 0 or not all(isinstance(value, dict) for value in properties.values()):
            return False
    elif "properties" in schema:
        return False
    return all(_strict_below(inner, depth + 1, left) for inner in _inner(schema))


def _object(value: object) -> Schema | None:
    return cast("Schema", value) if isinstance(value, dict) else None


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
