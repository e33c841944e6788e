"""The arguments of a call: refused when they are no JSON object, or one that means different things to its readers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.tool_input import MOST_BYTES, input_problem

ITEM: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "items": {"type": "array", "items": ITEM},
        "env": {"type": "object", "additionalProperties": ITEM},
        "item": {"$ref": "#/$defs/Item"},
        "either": {"anyOf": [{"type": "string"}, {"oneOf": [ITEM, {"$ref": "#/$defs/Other"}]}]},
        "pair": {"type": "array", "prefixItems": [ITEM, {"type": "object", "properties": {"size": {}}}]},
        "tree": {"$ref": "#/$defs/Tree"},
        "loop": {"$ref": "#/$defs/Loop"},
        "odd": {"$ref": "#/$defs/a~1b%20c"},
        "second": {"$ref": "#/properties/pair/prefixItems/1"},
        "outside": {"$ref": "https://example.com/schema"},
        "nowhere": {"$ref": "#/properties/pair/prefixItems/7/name"},
    },
    "$defs": {
        "Item": ITEM,
        "Other": {"type": "object", "properties": {"colour": {}}},
        "Tree": {"type": "object", "properties": {"leaf": {}, "left": {"$ref": "#/$defs/Tree"}}},
        "Loop": {"$ref": "#/$defs/Loop"},
        "a/b c": ITEM,
    },
}
TEXT = json.dumps(SCHEMA)


def problem(args: str, *, is_strict: bool = True) -> str | None:
    return input_problem(args, TEXT, is_strict=is_strict)


@pytest.mark.parametrize(
    "args",
    [
        "{}",
        ' {"path": "a"} ',
        '{"path": "a", "unknown": {"Path": 1}}',
        '{"items": [{"name": "a"}, {"name": "b"}]}',
        '{"env": {"PATH": {"name": "a"}, "path": {}, "Items": {}}}',
        '{"either": {"name": 1, "colour": 2}}',
        '{"tree": {"left": {"left": {"leaf": 1}}}}',
        '{"loop": {"any": 1}}',
        '{"outside": {"any": 1}, "nowhere": {"any": 1}}',
        '{"path": "\\ud83d\\ude00"}',
        '{"path": 1e999, "items": [1234567890123456789012345678901234567890]}',
    ],
)
def test_good_arguments_have_no_problem(args: str):
    assert problem(args) is None


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ('{"path": 1, "path": 2}', "'path' twice"),
        ('{"path": 1, "p\\u0061th": 2}', "'path' twice"),
        ('{"Path": 1}', "'Path', which is written 'path'"),
        ('{"items": [{"name": 1}, {"NAME": 2}]}', "'items[1].NAME'"),
        ('{"unknown": {"a": 1, "a": 2}}', "'unknown.a' twice"),
        ('{"items": [[{"a": 1, "a": 1}]]}', "'items[0][0].a' twice"),
        ('{"env": {"A": {"Name": 1}}}', "'env.A.Name'"),
        ('{"env": {"A": {}, "A": {}}}', "'env.A' twice"),
        ('{"item": {"Name": 1}}', "'item.Name'"),
        ('{"either": {"Colour": 1}}', "'either.Colour'"),
        ('{"either": {"NAME": 1}}', "'either.NAME'"),
        ('{"pair": [{}, {"Size": 1}]}', "'pair[1].Size'"),
        ('{"tree": {"left": {"Leaf": 1}}}', "'tree.left.Leaf'"),
        ('{"odd": {"Name": 1}}', "'odd.Name'"),
        ('{"second": {"Size": 1}}', "'second.Size'"),
    ],
)
def test_ambiguous_arguments_are_named_and_taken_only_where_nobody_minds(args: str, named: str):
    said = problem(args)

    assert said is not None
    assert named in said
    assert problem(args, is_strict=False) is None


NO_OBJECTS: dict[str, str] = {
    "nothing": "",
    "cut short": "{",
    "a comma too many": '{"a": 1,}',
    "a list": "[]",
    "a number": "1",
    "null": "null",
    "a string": '"{}"',
    "two objects": "{} {}",
    "NaN": '{"a": NaN}',
    "Infinity": '{"a": Infinity}',
    "-Infinity": '{"a": -Infinity}',
    "single quotes": "{'a': 1}",
    "a leading zero": '{"a": 01}',
    "a control character": '{"a": "\x01"}',
    "a spelled half": '{"a": "\\ud800"}',
    "a half": '{"a": "\ud800"}',
    "a byte order mark": "\ufeff{}",
    "deep objects": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "deep lists": "[" * 200_000,
    "too long": '{"a": "' + "x" * MOST_BYTES + '"}',
}


@pytest.mark.parametrize("args", NO_OBJECTS.values(), ids=NO_OBJECTS)
@pytest.mark.parametrize("is_strict", [True, False])
def test_what_is_no_json_object_is_refused_with_a_short_sentence(args: str, is_strict: bool):
    said = problem(args, is_strict=is_strict)

    assert said is not None
    assert said.endswith("Call the tool again with one complete JSON object.")
    assert len(said) < 250


def test_arguments_that_are_too_deep_are_refused():
    assert "too deeply" in (problem('{"a":' * 150 + "1" + "}" * 150) or "")
    assert "too deeply" in (problem('{"a":' + "[" * 150 + "1" + "]" * 150 + "}") or "")
    assert problem('{"a":' * 90 + "1" + "}" * 90) is None


def test_a_long_key_is_not_said_back_in_full():
    key = "k" * 100_000

    assert len(problem(f'{{"{key}": 1, "{key}": 2}}') or "") < 300


def test_many_keys_below_a_long_one_cost_little():
    below = ",".join(f'"{number}": [{{}}]' for number in range(50_000))

    assert problem(f'{{"{"k" * 1_000_000}": {{{below}}}}}') is None


@pytest.mark.parametrize("schema", ["", "nonsense", "true", "[]", '{"properties": 1}', '{"properties": {"a": [1]}}'])
def test_a_schema_that_says_nothing_declares_nothing(schema: str):
    assert input_problem('{"a": {"B": [1]}}', schema, is_strict=True) is None
    assert input_problem('{"a": {"B": 1, "B": 2}}', schema, is_strict=True) is not None


def test_alternatives_without_end_are_not_followed_without_end():
    schema: dict[str, Any] = {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#/properties/a"}] * 500}}}

    assert input_problem('{"a": {"a": {"a": {"a": 1}}}}', json.dumps(schema), is_strict=True) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON), JSON)
def test_an_object_without_repeated_keys_is_taken_where_nothing_is_declared(value: Any, schema: Any):
    args = json.dumps(value)

    assert input_problem(args, "{}", is_strict=True) is None or "\\ud" in args
    input_problem(args, json.dumps(schema), is_strict=True)  # whatever the schema, it gives an answer


@given(st.text())
def test_any_text_gets_an_answer(args: str):
    said = input_problem(args, TEXT, is_strict=True)

    assert said is None or said.endswith("object.")
