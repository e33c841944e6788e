"""Parts come back from their stored form, and what is no part is kept."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.parts import AnyPart, Part, TextPart, ToolCallPart, ToolResultPart, UnknownPart
from chatd.core.stored_parts import decode_parts, encode_parts, unknown
from core.part_strategies import PARTS, TEXTS

# Values as Postgres can hold them.
STORABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from("\ue000\ue001\ue800")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "data", "x"]), inner),
    max_leaves=8,
)
UNKNOWN = STORABLE.map(lambda value: UnknownPart(json.dumps({"type": "hologram", "value": value})))


@pytest.mark.behaviour("CONTENT-1")
@given(st.lists(PARTS | UNKNOWN, max_size=4))
def test_every_part_comes_back(parts: list[AnyPart]):
    assert decode_parts(encode_parts(parts)) == tuple(parts)


@pytest.mark.behaviour("CONTENT-7")
@given(st.lists(PARTS, max_size=4))
def test_the_stored_form_is_json_without_nul_and_lone_surrogates(parts: list[Part]):
    stored = encode_parts(parts)

    stored.encode("utf-8", "strict")
    assert "\0" not in json.dumps(json.loads(stored), ensure_ascii=False)
    assert isinstance(json.loads(stored), list)


@pytest.mark.behaviour("CONTENT-7")
@pytest.mark.parametrize(
    "text",
    [
        '{"b":1,"a":2}',
        '{"a":1,"a":2}',
        '{ "n" : 123456789012345678901234567890.10 , "e": 1e400 }',
        '{"nul":"\0","spelled":"\\u0000"}',
        '{"half":"\ud83d"}',
        b"\xff\xfe\x00\x80PNG".decode("utf-8", "surrogateescape"),
        "not json at all",
        "",
        " \n",
    ],
)
def test_arguments_and_results_come_back_byte_for_byte(text: str):
    parts = (ToolCallPart(tool_call_id="c", args=text), ToolResultPart(tool_call_id="c", result=text))

    assert decode_parts(encode_parts(parts)) == parts


@pytest.mark.behaviour("CONTENT-3")
@given(PARTS)
def test_no_part_is_written_in_the_shape_of_an_envelope(part: Part):
    """Rows of version 0 are told apart by it."""
    written = json.loads(encode_parts([part]))[0]

    assert not (set(written) == {"type", "data"} and isinstance(written["data"], dict))


@pytest.mark.behaviour("CONTENT-1")
def test_required_fields_are_written_and_empty_optional_ones_are_not():
    parts = [TextPart(text=""), ToolCallPart(tool_call_id="")]

    assert encode_parts(parts) == '[{"type":"text","text":""},{"type":"tool-call","tool_call_id":""}]'


@pytest.mark.parametrize("order", [lambda items: items, reversed])
def test_the_order_of_keys_does_not_matter(order: Any):
    stored = json.dumps([dict(order([("type", "text"), ("text", "hi")]))])

    assert decode_parts(stored) == (TextPart(text="hi"),)


@pytest.mark.behaviour("CONTENT-10")
@pytest.mark.parametrize(
    "raw",
    [
        '{"type": "hologram", "text": "hi"}',
        '{"type": "text"}',
        '{"type": "text", "text": 7}',
        '{"type": "tool-call", "tool_call_id": "c", "args": {"a": 1}}',
        '{"type": "tool-call", "data": {"tool_call_id": "c"}}',
        '{"type": "hologram", "text": "\ue000\ue001 \\ue000 \\\\u0000"}',
        '{"text": "hi"}',
        '{"type": ["text"]}',
        '{"n": 1e999, "a": 1, "a": 2}',
        "7",
        "null",
        "[]",
        '"hi"',
    ],
)
def test_what_is_no_part_is_kept_as_it_is_between_its_neighbours(raw: str):
    stored = f'[{{"type":"text","text":"before\ue000\ue001"}},{raw},{{"type":"text","text":"after"}}]'
    parts = decode_parts(stored)

    assert parts == (TextPart(text="before\0"), UnknownPart(raw), TextPart(text="after"))
    assert encode_parts(parts) == stored


@pytest.mark.behaviour("CONTENT-10")
@pytest.mark.parametrize("stored", ['{"type":"text","text":"hi"}', '"hi"', "7", '[{"type":"text"', "", "[1,]", "nul"])
def test_an_unreadable_row_is_one_unknown_part(stored: str):
    (part,) = decode_parts(stored)

    assert part == unknown(stored)


@pytest.mark.behaviour("CONTENT-10")
def test_a_row_that_is_nested_too_deep_is_one_unknown_part():
    stored = "[" * 100_000 + "]" * 100_000

    assert decode_parts(stored) == (UnknownPart(stored),)


def test_null_has_no_parts():
    assert decode_parts("null") == ()


def test_a_field_that_a_newer_version_added_does_not_hide_the_part():
    assert decode_parts('[{"type":"text","text":"hi","mood":"calm"}]') == (TextPart(text="hi"),)


@pytest.mark.behaviour("CONTENT-10")
@given(TEXTS)
def test_any_row_can_be_read_and_written_back(stored: str):
    parts = decode_parts(stored)
    again = encode_parts(parts)

    assert decode_parts(again) == parts
    assert msgspec.json.decode(again.encode("utf-8", "strict")) is not None


@given(STORABLE)
def test_any_json_of_the_database_is_unknown_as_it_is(value: object):
    stored = json.dumps(value, ensure_ascii=False)

    assert unknown(stored) == UnknownPart(stored)
