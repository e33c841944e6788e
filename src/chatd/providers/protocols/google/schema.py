"""JSON Schema made into what Gemini takes for the parameters of a function.

The vendor's `Schema` is a part of OpenAPI 3.0: no references, no constants, one type with `nullable`, enums of texts
only, and few formats. Hosts differ in what else they refuse, so what is written here is what all of them take. It may
allow more than the original: whoever runs the tool checks its arguments anyway. Odd schemas never fail.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec

Schema = dict[str, Any]

_DEPTH: Final = 24  # the vendor refuses deep schemas; a recursive one ends here
_MOST_NODES: Final = 2000  # references can multiply; no function has so many parameters
_TYPES: Final[Mapping[str, str]] = {
    name: name.upper() for name in ("string", "number", "integer", "boolean", "array", "object")
}
_FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "STRING": ("date-time", "enum"),
    "NUMBER": ("float", "double"),
    "INTEGER": ("int32", "int64"),
}
_SIZES: Final[Mapping[str, tuple[str, ...]]] = {
    "STRING": ("minLength", "maxLength"),
    "ARRAY": ("minItems", "maxItems"),
}
_ANY_TYPES: Final = ("STRING", "NUMBER", "BOOLEAN")
_LARGEST_NUMBER: Final = 2**53  # what JSON of all makers carries exactly
_MOST_MERGED: Final = 50  # schemas in one `allOf`; references can multiply these too
_LONGEST_ENUM: Final = 500  # values; more make a request too complex, and the vendor refuses it


def reduced_schema(text: str) -> Schema:
    """Always an object, with the properties that are left."""
    root = _decoded(text)
    schema = _Reduction(root).of(_with_alternatives(root, root), 0)
    if schema.get("type") != "OBJECT":
        return {"type": "OBJECT", "properties": {}}
    schema.pop("nullable", None)
    schema.setdefault("properties", {})
    return schema


def json_schema(text: str) -> msgspec.Raw | Schema:
    """The schema as it is, if it is one of an object."""
    root = _decoded(text)
    return msgspec.Raw(text.encode()) if root.get("type") == "object" else {"type": "object", "properties": {}}


def _decoded(text: str) -> Schema:
    try:
        return _object(msgspec.json.decode(text)) or {}
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}


def _with_alternatives(schema: Schema, root: Schema) -> Schema:
    """The parameters must be one object: of alternatives at the top, it has the properties of all."""
    schema = _resolved(schema, root)
    found = [_resolved(one, root) for name in ("anyOf", "oneOf") for one in _objects(schema.get(name))]
    if not found:
        return schema
    properties: Schema = {}
    for one in (schema, *found):
        properties = {**(_object(one.get("properties")) or {}), **properties}
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "oneOf")}
    return rest | {"type": "object", "properties": properties}


class _Reduction:
    """One schema, with a count of what it has become so far."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = _MOST_NODES

    def of(self, value: object, depth: int) -> Schema:
        self._left -= 1
        schema = _object(value)
        if schema is None or depth > _DEPTH or self._left <= 0:
            return _anything({})
        schema = _merged(_resolved(schema, self._root), self._root)
        kinds, is_nullable = _kinds(schema)
        options = [*_list(schema.get("anyOf")), *_list(schema.get("oneOf"))]
        if options:
            reduced, has_null = self._alternatives(schema, options, depth)
            is_nullable = is_nullable or has_null
        elif len(kinds) > 1:
            reduced = _any_of(schema, [self._typed(schema, kind, depth) for kind in kinds])
        elif kinds:
            reduced = self._typed(schema, kinds[0], depth)
        else:
            reduced = _anything(schema)
        return _nullable(reduced) if is_nullable else reduced

    def _alternatives(self, schema: Schema, options: list[object], depth: int) -> tuple[Schema, bool]:
        inner = [_resolved(found, self._root) for one in options if (found := _object(one)) is not None]
        real = [one for one in inner if one.get("type") != "null" and not _is_const_null(one)]
        # What stands beside the alternatives holds for each of them.
        beside = {name: value for name, value in schema.items() if name not in ("anyOf", "oneOf", "description")}
        choices = [self.of({**beside, **one}, depth + 1) for one in real[:_LONGEST_ENUM]]
        flat = [part for choice in choices for part in choice.get("anyOf", [choice])]
        return _any_of(schema, flat[:_LONGEST_ENUM]) if flat else _anything(schema), len(real) < len(inner)

    def _typed(self, schema: Schema, kind: str, depth: int) -> Schema:
        reduced: Schema = {"type": kind}
        notes = _describe(schema, kind)
        if kind == "OBJECT":
            properties = _object(schema.get("properties")) or {}
            reduced["properties"] = {name: self.of(value, depth + 1) for name, value in properties.items()}
            required = [name for name in _texts(schema.get("required")) if name in properties]
            if required:
                reduced["required"] = list(dict.fromkeys(required))
            if not properties:
                del reduced["properties"]
        elif kind == "ARRAY":
            reduced["items"] = self._items(schema, depth)
        elif kind == "STRING":
            if values := [value for value in _enum(schema) if isinstance(value, str) and value][:_LONGEST_ENUM]:
                reduced |= {"enum": list(dict.fromkeys(values)), "format": "enum"}
            if isinstance(pattern := schema.get("pattern"), str):
                reduced["pattern"] = pattern
        elif kind in ("NUMBER", "INTEGER"):
            reduced |= _range(schema, is_whole=kind == "INTEGER")
        for name in _SIZES.get(kind, ()):
            if (size := _whole(schema.get(name))) is not None and size >= 0:
                reduced[name] = size
        if "format" not in reduced and schema.get("format") in _FORMATS.get(kind, ()):
            reduced["format"] = schema["format"]
        return reduced | ({"description": notes} if notes else {})

    def _items(self, schema: Schema, depth: int) -> Schema:
        items = schema.get("items")
        listed = [*_list(schema.get("prefixItems")), *_list(items)]
        if isinstance(items, dict):
            listed.append(cast("Schema", items))
        return self.of({"anyOf": listed} if len(listed) > 1 else listed[0] if listed else {}, depth + 1)


def _resolved(schema: Schema, root: Schema) -> Schema:
    """With its local reference replaced by what it names; what stands beside a reference wins."""
    for _ in range(_DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        place: object = root if reference == "#" or reference.startswith("#/") else None
        for step in reference[2:].split("/") if reference != "#" else ():
            found = _object(place)
            place = found.get(step.replace("~1", "/").replace("~0", "~")) if found is not None else None
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**(_object(place) or {}), **beside}
    return {name: value for name, value in schema.items() if name != "$ref"}


def _merged(schema: Schema, root: Schema) -> Schema:
    """With all of its `allOf` in one."""
    for _ in range(_DEPTH):
        parts = [_resolved(one, root) for one in _objects(schema.get("allOf"))[:_MOST_MERGED]]
        merged = {name: value for name, value in schema.items() if name != "allOf"}
        for part in parts:
            properties = {**(_object(part.get("properties")) or {}), **(_object(merged.get("properties")) or {})}
            required = [*_texts(merged.get("required")), *_texts(part.get("required"))]
            nested = [*_list(merged.get("allOf")), *_list(part.get("allOf"))]
            merged = {**part, **merged}
            merged |= {"properties": properties} if properties else {}
            merged |= {"required": required} if required else {}
            merged |= {"allOf": nested} if nested else {}
        schema = merged
        if "allOf" not in schema:
            return schema
    return {name: value for name, value in schema.items() if name != "allOf"}


def _kinds(schema: Schema) -> tuple[list[str], bool]:
    """The types it allows, guessed from what else it says if it names none, and whether null is one of them."""
    named = schema.get("type")
    names = [name.lower() for name in ([named] if isinstance(named, str) else _texts(named))]
    is_nullable = "null" in names or schema.get("nullable") is True or None in _enum(schema)
    kinds = list(dict.fromkeys(_TYPES[name] for name in names if name in _TYPES))
    if kinds or any(_list(schema.get(name)) for name in ("anyOf", "oneOf")):
        return kinds, is_nullable
    if "properties" in schema or "additionalProperties" in schema:
        return ["OBJECT"], is_nullable
    if "items" in schema or "prefixItems" in schema:
        return ["ARRAY"], is_nullable
    of_values = list(dict.fromkeys(kind for value in _enum(schema) if (kind := _kind_of(value))))
    if of_values:
        return of_values, is_nullable
    if schema.keys() & {"pattern", "minLength", "maxLength", "format"}:
        return ["STRING"], is_nullable
    if schema.keys() & {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}:
        return ["NUMBER"], is_nullable
    return [], is_nullable


def _kind_of(value: object) -> str:
    match value:
        case bool():
            return "BOOLEAN"
        case str():
            return "STRING"
        case int():
            return "INTEGER"
        case float():
            return "NUMBER"
        case _:
            return ""


def _enum(schema: Schema) -> list[object]:
    return [schema["const"]] if "const" in schema else _list(schema.get("enum"))


def _is_const_null(schema: Schema) -> bool:
    return bool(values := _enum(schema)) and all(value is None for value in values)


def _describe(schema: Schema, kind: str) -> str:
    """Its description, and what can't be said otherwise: values that are no texts."""
    given = schema.get("description")
    notes = [given] if isinstance(given, str) and given.strip() else []
    values = [value for value in _enum(schema) if value is not None and _kind_of(value) == kind]
    if kind != "STRING" and values and len(values) <= _LONGEST_ENUM:
        notes.append(f"One of: {', '.join(msgspec.json.encode(value).decode() for value in values)}.")
    return " ".join(notes)


def _range(schema: Schema, *, is_whole: bool) -> Schema:
    found: Schema = {}
    for name, beyond, step in (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)):
        if (bound := _number(schema.get(name))) is not None:
            found[name] = bound
        elif is_whole and (bound := _whole(schema.get(beyond))) is not None:
            found[name] = bound + step
    return found


def _any_of(schema: Schema, choices: list[Schema]) -> Schema:
    """`anyOf` must stand alone, so its description goes to every choice that has none."""
    given = schema.get("description")
    notes: Schema = {"description": given} if isinstance(given, str) and given.strip() else {}
    unique = [choice for place, choice in enumerate(choices) if choice not in choices[:place]]
    described = [notes | choice for choice in unique]
    return described[0] if len(described) == 1 else {"anyOf": described}


def _anything(schema: Schema) -> Schema:
    return _any_of(schema, [{"type": kind} for kind in _ANY_TYPES])


def _nullable(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return {"anyOf": [choice | {"nullable": True} for choice in schema["anyOf"]]}
    return schema | {"nullable": True}


def _number(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST_NUMBER:
        return None
    return value


def _whole(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


def _object(value: object) -> Schema | None:
    return cast("Schema", value) if isinstance(value, dict) else None


def _objects(value: object) -> list[Schema]:
    return [found for one in _list(value) if (found := _object(one)) is not None]


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _texts(value: object) -> Iterable[str]:
    return [one for one in _list(value) if isinstance(one, str)]
