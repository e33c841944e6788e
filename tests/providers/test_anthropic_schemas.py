"""Schemas of tools for Anthropic, which refuses a whole request for one that is no JSON Schema 2020-12."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.model import ToolSpec
from chatd.providers.protocols.anthropic.schema import input_schema
from providers.anthropic_prompts import body


def sent(schema: str) -> Any:
    (made,) = body(tools=(ToolSpec("t", "", schema),))["tools"]
    return made["input_schema"]


def of_property(schema: Any) -> Any:
    return sent(json.dumps({"type": "object", "properties": {"a": schema}}))["properties"]["a"]


@pytest.mark.parametrize(
    "schema", ["", "true", "{}", "7", '{"type":"string"}', '{"type":["object","null"]}', "[" * 5000]
)
def test_a_schema_is_always_one_of_an_object(schema: str) -> None:
    assert sent(schema) == {"type": "object"}


def test_a_good_schema_is_sent_as_it_was_written() -> None:
    text = '{ "properties": {"b": {"type":"string","default":null}, "a": {"enum":[1.50, null]}}, "type":"object" }'
    assert bytes(input_schema(text)) == text.encode()  # pyright: ignore[reportArgumentType]


def test_alternatives_at_the_top_become_properties() -> None:
    one, two = {"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"a": {}, "b": {}}}
    assert sent(json.dumps({"anyOf": [one, two], "properties": {"c": {}}})) == {
        "type": "object",
        "properties": {"b": {}, "a": {"type": "string"}, "c": {}},
    }
    assert sent('{"type":"object","oneOf":[{}]}') == {"type": "object"}
    assert sent('{"allOf":[{"properties":{"a":{}}}]}') == {"type": "object", "properties": {"a": {}}}


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ({"type": "array", "items": [{"type": "string"}]}, {"type": "array", "prefixItems": [{"type": "string"}]}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"exclusiveMaximum": True}, {}),
        ({"exclusiveMinimum": 3}, {"exclusiveMinimum": 3}),
        ({"type": "any", "description": None, "title": 1}, {}),
        ({"type": ["string", "file"]}, {}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": []}, {}),
        ({"required": True}, {}),
        ({"required": ["a", "a"]}, {}),
        ({"enum": "a"}, {}),
        ({"anyOf": [], "oneOf": None}, {}),
        ({"anyOf": [{"type": "any"}, 7, True]}, {"anyOf": [{}, {}, True]}),
        ({"items": {"type": "int"}}, {"items": {}}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        ({"properties": None}, {}),
        ({"properties": {"x": None}}, {"properties": {"x": {}}}),
        ({"minLength": -1, "maxLength": 1.5, "minItems": True, "multipleOf": 0}, {}),
        ({"minLength": 0, "multipleOf": 0.5, "minimum": -1.5}, {"minLength": 0, "multipleOf": 0.5, "minimum": -1.5}),
        ({"minimum": "1", "uniqueItems": "yes"}, {}),
        ({"$ref": "#/$defs/x", "default": None}, {"$ref": "#/$defs/x", "default": None}),
        ({"x-vendor": {"any": 1}}, {"x-vendor": {"any": 1}}),
    ],
)
def test_what_the_vendor_refuses_is_said_in_another_way_or_left_out(written: Any, made: Any) -> None:
    assert of_property(written) == made


def test_parameters_with_names_that_the_vendor_refuses_are_left_out() -> None:
    names = ["a-b_c.1", "$filter", "with space", "x" * 64, "x" * 65, ""]
    schema = {"type": "object", "properties": {name: {} for name in names}, "required": ["$filter", "a-b_c.1"]}
    assert sent(json.dumps(schema)) == {
        "type": "object",
        "properties": {"a-b_c.1": {}, "x" * 64: {}},
        "required": ["a-b_c.1"],
    }


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "anyOf", "required", "$defs", "not", "exclusiveMinimum"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(values)
def test_any_value_makes_a_schema_that_stays_the_same_when_made_again(value: Any) -> None:
    once = sent(json.dumps(value))
    assert once["type"] == "object"
    assert sent(json.dumps(once)) == once
