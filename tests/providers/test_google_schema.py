"""JSON Schema, reduced to what Gemini takes."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.providers.protocols.google.schema import json_schema, reduced_schema

ANYTHING = {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]}
KNOWN = {
    "type",
    "format",
    "description",
    "nullable",
    "enum",
    "properties",
    "required",
    "items",
    "anyOf",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
}


def reduced(schema: object) -> dict[str, Any]:
    return reduced_schema(json.dumps(schema))


def of_property(schema: object, **root: object) -> dict[str, Any]:
    return reduced({"type": "object", "properties": {"p": schema}, **root})["properties"]["p"]


def wrong(schema: dict[str, Any], at: str = "$") -> list[str]:
    """What the vendor would refuse."""
    found = [f"{at}: {name}" for name in schema.keys() - KNOWN]
    if "anyOf" in schema:
        found += [f"{at}: beside anyOf"] if len(schema) > 1 or len(schema["anyOf"]) < 2 else []
        return found + [problem for one in schema["anyOf"] for problem in wrong(one, f"{at}|")]
    if schema.get("type") not in ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"):
        found.append(f"{at}: type {schema.get('type')}")
    if schema.get("type") == "ARRAY" and "items" not in schema:
        found.append(f"{at}: no items")
    if "enum" in schema and (schema["type"] != "STRING" or not all(isinstance(v, str) and v for v in schema["enum"])):
        found.append(f"{at}: enum")
    formats = {"STRING": ("enum", "date-time"), "NUMBER": ("float", "double"), "INTEGER": ("int32", "int64")}
    if "format" in schema and schema["format"] not in formats.get(schema["type"], ()):
        found.append(f"{at}: format")
    properties = schema.get("properties", {})
    found += [f"{at}: required {name}" for name in schema.get("required", ()) if name not in properties]
    for name, inner in (*properties.items(), *([("[]", schema["items"])] if "items" in schema else [])):
        found += wrong(inner, f"{at}.{name}")
    return found


def test_what_the_vendor_does_not_know_is_left_out() -> None:
    assert reduced(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Args",
            "type": "object",
            "properties": {
                "path": {"type": "string", "format": "uri", "minLength": 1, "default": "/", "examples": ["/"]},
                "when": {"type": "string", "format": "date-time", "description": "In UTC."},
                "depth": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "format": "int32"},
            },
            "required": ["path", "gone", 7],
            "additionalProperties": False,
        }
    ) == {
        "type": "OBJECT",
        "properties": {
            "path": {"type": "STRING", "minLength": 1},
            "when": {"type": "STRING", "format": "date-time", "description": "In UTC."},
            "depth": {"type": "INTEGER", "minimum": 1, "maximum": 9, "format": "int32"},
        },
        "required": ["path"],
    }


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "STRING", "nullable": True}),
        (
            {"oneOf": [{"type": "string"}, {"type": "boolean"}, {"const": None}], "description": "d"},
            {
                "anyOf": [
                    {"type": "STRING", "description": "d", "nullable": True},
                    {"type": "BOOLEAN", "description": "d", "nullable": True},
                ]
            },
        ),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"], "format": "enum"}),
        ({"enum": ["a", "", "b", "a"]}, {"type": "STRING", "enum": ["a", "b"], "format": "enum"}),
        ({"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "format": "enum", "nullable": True}),
        ({"enum": [1, 2], "description": "d"}, {"type": "INTEGER", "description": "d One of: 1, 2."}),
        ({"const": 5}, {"type": "INTEGER", "description": "One of: 5."}),
        ({"type": "array"}, {"type": "ARRAY", "items": ANYTHING}),
        ({"items": {"type": "number"}}, {"type": "ARRAY", "items": {"type": "NUMBER"}}),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]},
            {"type": "ARRAY", "items": {"anyOf": [{"type": "NUMBER"}, {"type": "STRING"}]}},
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
        ),
        ({}, ANYTHING),
        (True, ANYTHING),
        (None, ANYTHING),
        ({"type": "number", "minimum": 1e300, "exclusiveMaximum": 3}, {"type": "NUMBER"}),
        ({"format": [], "pattern": {}, "minLength": -1, "required": 7}, {"type": "STRING"}),
        ({"pattern": "^a"}, {"type": "STRING", "pattern": "^a"}),
    ],
)
def test_what_is_said_otherwise_here(schema: object, wanted: object) -> None:
    assert of_property(schema) == wanted


def test_references_are_replaced_by_what_they_name() -> None:
    definitions = {"a/b": {"type": "string", "description": "of it"}}
    assert of_property({"$ref": "#/$defs/a~1b", "description": "here"}, **{"$defs": definitions}) == {
        "type": "STRING",
        "description": "here",
    }
    assert of_property({"$ref": "https://elsewhere.example/schema"}) == ANYTHING
    assert of_property({"$ref": "#/$defs/gone"}) == ANYTHING


def test_a_schema_that_contains_itself_comes_to_an_end() -> None:
    tree = {
        "type": "object",
        "properties": {
            "left": {"$ref": "#"},
            "right": {"$ref": "#"},
            "kind": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        },
    }
    assert wrong(reduced(tree)) == []
    assert wrong(reduced({"$ref": "#"})) == []
    assert wrong(reduced({"allOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "object"}]})) == []


def test_alternatives_at_the_top_are_one_object_with_the_properties_of_all() -> None:
    schema = {
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "integer"}}},
        ]
    }
    assert reduced(schema) == {"type": "OBJECT", "properties": {"a": {"type": "STRING"}, "b": {"type": "INTEGER"}}}


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", '{"type":"string"}', "[" * 5000])
def test_what_is_no_schema_of_an_object_is_one_without_properties(text: str) -> None:
    assert reduced_schema(text) == {"type": "OBJECT", "properties": {}}
    assert json_schema(text) == {"type": "object", "properties": {}}


def test_a_whole_schema_may_be_sent_as_it_is() -> None:
    text = '{"type":"object","properties":{},"additionalProperties":false}'
    assert bytes(json_schema(text)).decode() == text  # pyright: ignore[reportArgumentType]


NAMES = st.sampled_from(
    sorted(KNOWN - {"properties"} | {"const", "oneOf", "allOf", "$ref", "$defs", "additionalProperties"})
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(("string", "object", "array", "integer", "null", "#", "#/$defs/p", "#/properties/p", "date-time"))
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES, inner, max_size=4)
        | st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("pq"), inner, max_size=2)})
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, SCHEMAS)
def test_odd_schemas_never_fail_and_become_what_the_vendor_takes(schema: object, other: object) -> None:
    whole = reduced({"type": "object", "properties": {"p": schema, "q": other}, "$defs": {"p": other}})
    assert wrong(whole) == []
    assert wrong(reduced(schema)) == []
    assert reduced(schema)["type"] == "OBJECT"
