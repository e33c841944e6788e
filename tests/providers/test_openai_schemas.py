"""Tool schemas: fine ones go out as they are, others are made acceptable, and few may be strict."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.providers.protocols.openai.schemas import acceptable
from chatd.testing.vendors.openai_tools import function_tool

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["object", "array", "#/$defs/A"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "anyOf", "allOf", "$ref", "$defs", "required", "A"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "schema",
    [
        '{"type": "object", "properties": {"b": {"type": "number", "maximum": 1.50}, "a": {}}}',
        '{"properties": {}, "type": "object"}',
        '{"type": "object", "properties": {"a": {"type": ["string"], "pattern": "^(?:a|b)+$", "enum": [null]}}}',
    ],
)
def test_a_fine_schema_goes_out_as_its_own_text(schema):
    assert bytes(acceptable(schema).json).decode() == schema


@pytest.mark.parametrize("schema", ["", "{", "7", "[]", '"object"'])
def test_of_one_that_cannot_be_read_an_object_is_left(schema):
    assert json.loads(bytes(acceptable(schema).json)) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({"type": ["object", "null"]}, {"type": "object", "properties": {}}),
        (
            {"type": "object", "properties": {"a": {"type": "array"}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
        ),
        (
            {"anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            {"type": "object", "properties": {"a": {}, "b": {}}},
        ),
        (
            {"type": "object", "properties": {"a": "object", "b": None, "c": True}, "required": None},
            {"type": "object", "properties": {"a": {}, "b": {}, "c": True}},
        ),
        ({"type": "object", "properties": {"a": "object"}}, {"type": "object", "properties": {"a": {}}}),
        *(
            (
                {"type": "object", "properties": {"a": {"pattern": pattern}}},
                {"type": "object", "properties": {"a": {"description": f"(pattern: {pattern})"}}},
            )
            for pattern in ("^a", "a$")  # llama.cpp wants both anchors
        ),
        (
            {"type": "object", "properties": {"a": {"type": "any", "enum": [], "description": 7}}, "required": [1]},
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {"type": "object", "properties": {"a": {"items": {"type": ["string", "void"], "required": True}}}},
            {"type": "object", "properties": {"a": {"items": {}}}},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string", "pattern": "^(?!null$)", "description": "A key"}},
            },
            {"type": "object", "properties": {"a": {"type": "string", "description": "A key (pattern: ^(?!null$))"}}},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string", "pattern": "^\\p{L}+$"}, "b": {"pattern": "^(?!x).$"}},
            },
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string", "description": "(pattern: ^\\p{L}+$)"},
                    "b": {"description": "(pattern: ^(?!x).$)"},
                },
            },
        ),
        (
            {"allOf": [{"properties": {"a": {}}, "required": ["a"]}]},
            {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {}}}}},
            {"type": "object", "properties": {"a": {}}, "$defs": {"A": {"type": "object", "properties": {"a": {}}}}},
        ),
    ],
)
def test_others_are_made_acceptable(schema, sent):
    assert json.loads(bytes(acceptable(json.dumps(schema)).json)) == sent


def strict(properties, **fields):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **fields,
    }


def deep(levels):
    return strict({"a": deep(levels - 1)}) if levels else {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "is_strict"),
    [
        (strict({}), True),
        (strict({"a": {"type": ["string", "null"]}, "b": strict({"c": {"type": "string", "enum": ["x"]}})}), True),
        (strict({"a": {"type": "array", "items": {"type": "string"}}}), True),
        (strict({"a": {"type": "string"}}, required=[]), False),
        (strict({"a": {"type": "string"}}, additionalProperties=True), False),
        (strict({"a": {"type": "string", "default": "x"}}), False),
        (strict({"a": {"type": "string", "format": "uri"}}), False),
        (strict({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": strict({})}}), True),
        (strict({"a": {"$ref": "#/$defs/A", "description": "b"}}, **{"$defs": {"A": strict({})}}), False),
        (strict({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"type": "object"}}}), False),
        (strict({"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}), True),
        (strict({"a": {"anyOf": [{"type": "string"}, {}]}}), False),
        (deep(5), True),
        (deep(6), False),
        (strict({"a": {"enum": ["b"]}}), False),
        (strict({"a": {"const": "b"}}), False),
        (strict({"a": {"type": "array", "items": True}}), False),
        (strict({"a": {"type": "array"}}), False),
        (strict({"a": {}}), False),
        (strict({"a": True}), False),
        (strict({"a": {"type": "object"}}), False),
        (strict({"a": {"oneOf": [{"type": "string"}]}}), False),
        (strict({f"p{number}": {"type": "string"} for number in range(101)}), False),
    ],
)
def test_only_what_openai_would_enforce_is_strict(schema, is_strict):
    assert acceptable(json.dumps(schema)).strict is is_strict


@given(schema=values)
def test_any_json_becomes_a_schema_that_openai_takes(schema):
    sent = json.loads(bytes(acceptable(json.dumps(schema)).json))

    function_tool({"name": "f", "parameters": sent, "strict": acceptable(json.dumps(schema)).strict}, "tools[0]")
    assert sent["type"] == "object"
    assert isinstance(sent["properties"], dict)
    assert not sent.keys() & {"anyOf", "oneOf", "allOf", "enum", "not", "$ref"}
