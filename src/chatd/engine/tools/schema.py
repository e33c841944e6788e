"""The JSON Schema of a tool's arguments, from their types, in a form that every vendor takes.

Without references, which some vendors refuse, and without what models have no use for: titles, nulls that mean "left
out", empty lists of required fields.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

_PREFIX: Final = "#/$defs/"
_NULL: Final = {"type": "null"}

Schema = dict[str, Any]


def schema_of(args: type[msgspec.Struct]) -> str:
    """JSON text, the same for the same types. Raises TypeError for types that hold themselves."""
    made = msgspec.json.schema(args)
    definitions = cast("Mapping[str, Schema]", made.get("$defs", {}))
    schema = _inlined(made, definitions, ())
    schema.pop("description", None)  # the class's docstring is for programmers; models read the tool's prose
    return msgspec.json.encode(schema).decode()


def _inlined(schema: Schema, definitions: Mapping[str, Schema], inside: tuple[str, ...]) -> Schema:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix(_PREFIX)
        if name in inside:
            raise TypeError(f"The arguments of a tool can't hold themselves: {name}.")
        beside = {key: value for key, value in schema.items() if key not in ("$ref", "$defs")}
        return {**_inlined(definitions[name], definitions, (*inside, name)), **beside}
    made: Schema = {}
    for key, value in schema.items():
        match key:
            case "title" | "discriminator" | "$defs":
                continue
            case "properties":
                fields = cast("Mapping[str, Schema]", value)
                made[key] = {name: _field(_inlined(field, definitions, inside)) for name, field in fields.items()}
            case "required":
                if value:
                    made[key] = value
            case _:
                made[key] = _below(value, definitions, inside) if key not in ("default", "enum", "examples") else value
    return _typed_enum(made)


def _below(value: object, definitions: Mapping[str, Schema], inside: tuple[str, ...]) -> object:
    if isinstance(value, dict):
        return _inlined(cast("Schema", value), definitions, inside)
    if isinstance(value, list):
        return [_below(each, definitions, inside) for each in cast("list[object]", value)]
    return value


def _field(schema: Schema) -> Schema:
    """A field that may be null when it is left out is told as one that may be left out."""
    branches = cast("list[Schema]", schema.get("anyOf", []))
    if "default" not in schema or schema["default"] is not None or _NULL not in branches:
        return schema
    rest = [branch for branch in branches if branch != _NULL]
    around = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**around, "anyOf": rest} if len(rest) > 1 else {**rest[0], **around}


def _typed_enum(schema: Schema) -> Schema:
    values = cast("list[object]", schema.get("enum", []))
    if values and "type" not in schema and all(isinstance(value, str) for value in values):
        return {"type": "string", **schema}
    return schema
