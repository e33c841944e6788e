"""Rows of content version 0 are read without loss, and their shapes are never mistaken for each other."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.content_v0.fields import LEFT_OVER
from chatd.core.messages import Role, UnknownContentVersion, read_content, read_content_leniently
from chatd.core.parts import (
    AnyPart,
    FilePart,
    Part,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from chatd.core.stored_parts import decode_parts, encode_parts, unknown
from core.part_strategies import PARTS

ROLES = list(Role)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=10)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=5,
)
METADATA = st.dictionaries(st.sampled_from(["acme", "other", LEFT_OVER]), VALUES, max_size=2)
OUTPUT_FIELDS = {"text": TEXTS, "error": TEXTS, "data": TEXTS, "media_type": TEXTS, "extra": VALUES}
OUTPUTS = st.builds(
    lambda kind, fields, is_wrapped: {"type": kind, "data": fields} if is_wrapped else {**fields, "type": kind},
    st.sampled_from(["text", "error", "media", "content", "hologram"]),
    st.fixed_dictionaries({}, optional=OUTPUT_FIELDS),
    st.booleans(),
)
# Mostly the fields that envelopes have, sometimes with values that they should not have.
ENVELOPE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(
        ["text", "tool_call_id", "tool_name", "input", "id", "url", "title", "source_type", "media_type", "filename"],
        TEXTS,
    ),
    "data": TEXTS | VALUES,
    "extra": VALUES,
    "provider_executed": st.booleans() | TEXTS,
    "provider_metadata": METADATA | VALUES,
    "provider_options": METADATA | VALUES,
    "output": OUTPUTS | VALUES,
    "result": OUTPUTS | VALUES,
}
KINDS = st.sampled_from(["text", "reasoning", "tool-call", "tool-result", "source", "file", "hologram"])
ENVELOPES = st.fixed_dictionaries(
    {"type": KINDS, "data": st.fixed_dictionaries({}, optional=ENVELOPE_FIELDS)},
)
RESULT_ROWS = st.fixed_dictionaries(
    {"tool_call_id": TEXTS},
    optional={
        "tool_name": TEXTS,
        "result": VALUES,
        "is_error": st.booleans(),
        "provider_metadata": METADATA | VALUES,
        "extra": VALUES,
    },
)
TYPED = st.fixed_dictionaries(
    {"type": KINDS},
    optional={**ENVELOPE_FIELDS, "args": VALUES, "name": TEXTS, "created_at": TEXTS, "mood": VALUES},
)
LISTS = (
    st.lists(ENVELOPES) | st.lists(RESULT_ROWS) | st.lists(TYPED) | st.lists(ENVELOPES | RESULT_ROWS | TYPED | VALUES)
)


def leaves(value: object) -> Iterator[str]:
    """Every text and number in a JSON value."""
    match value:
        case dict():
            for item in value.values():
                yield from leaves(item)
        case list() | tuple():
            for item in value:
                yield from leaves(item)
        case None | bool():
            pass
        case _:
            yield str(value)


def all_leaves(value: object) -> Iterator[str]:
    """As `leaves`, with those of every JSON text among them."""
    for leaf in leaves(value):
        yield leaf
        try:
            inner = json.loads(leaf)
        except (ValueError, RecursionError):
            continue
        if isinstance(inner, dict | list | str):
            yield from all_leaves(inner)


def held(parts: tuple[AnyPart, ...]) -> set[str]:
    found: set[str] = set()
    for part in parts:
        found |= set(all_leaves(list(msgspec.structs.asdict(part).values())))
        found.add(str(part.__struct_config__.tag))
    return found


# The names of the kinds of output, which become flags and the shape of the result.
IMPLIED = {"text", "error", "media"}


@pytest.mark.behaviour("CONTENT-3")
@given(st.lists(ENVELOPES), st.sampled_from(ROLES))
def test_nothing_in_an_envelope_is_lost(envelopes: list[dict[str, Any]], role: Role):
    parts = read_content(0, role, json.dumps(envelopes))

    assert len(parts) == len(envelopes)
    for envelope, part in zip(envelopes, parts, strict=True):
        assert set(leaves(envelope)) - {""} <= held((part,)) | IMPLIED


@pytest.mark.behaviour("CONTENT-3")
@given(LISTS, st.sampled_from(ROLES))
def test_nothing_in_any_list_is_lost(values: list[Any], role: Role):
    parts = read_content(0, role, json.dumps(values))

    assert len(parts) == len(values)
    assert set(leaves(values)) - {""} <= held(parts) | IMPLIED


@pytest.mark.behaviour("CONTENT-3")
@given(VALUES | LISTS, st.sampled_from(ROLES))
def test_what_was_read_can_be_stored_as_version_1(value: object, role: Role):
    parts = read_content(0, role, json.dumps(value))

    assert decode_parts(encode_parts(parts)) == parts


@pytest.mark.behaviour("CONTENT-3")
@given(st.lists(PARTS.filter(lambda part: not isinstance(part, ToolCallPart | ToolResultPart)), min_size=1))
def test_typed_parts_are_read_as_such_in_every_role(parts: list[Part]):
    """Parts whose stored form is the same in both versions: no JSON values, no provider metadata."""
    plain = [
        msgspec.structs.replace(part, provider_metadata={}) if hasattr(part, "provider_metadata") else part
        for part in parts
    ]
    stored = encode_parts(plain)

    for role in ROLES:
        read = read_content(0, role, stored)
        assert [type(part) for part in read] == [type(part) for part in plain]
        assert encode_parts(read).replace("\ue000\ue000", "\ue000") == stored.replace("\ue000\ue000", "\ue000")


@pytest.mark.behaviour("CONTENT-3")
@pytest.mark.parametrize("role", [Role.SYSTEM, Role.USER, Role.ASSISTANT])
def test_a_string_is_one_text(role: Role):
    assert read_content(0, role, '"hi\\n\ue000\ue001"') == (TextPart(text="hi\n\ue000\ue001"),)


def test_a_string_in_a_tool_message_is_unknown():
    assert read_content(0, Role.TOOL, '"hi"') == (UnknownPart('"hi"'),)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("stored", ["null", " null ", "[]"])
def test_null_and_an_empty_list_have_no_parts(role: Role, stored: str):
    assert read_content(0, role, stored) == ()


@pytest.mark.behaviour("CONTENT-3")
def test_result_rows_are_for_tool_messages_only():
    row = '{"tool_call_id":"c","result":{"a":1}}'

    assert read_content(0, Role.TOOL, f"[{row}]") == (ToolResultPart(tool_call_id="c", result='{"a":1}'),)
    assert read_content(0, Role.ASSISTANT, f"[{row}]") == (UnknownPart(row),)


@pytest.mark.behaviour("CONTENT-3")
def test_an_envelope_among_typed_parts_keeps_its_content():
    """As a part, it would be a call without arguments."""
    envelope = '{"type":"tool-call","data":{"tool_call_id":"c","input":"{}"}}'

    parts = read_content(0, Role.ASSISTANT, f'[{envelope},{{"type":"text","text":"hi"}}]')

    assert parts == (UnknownPart(envelope), TextPart(text="hi"))


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"type":"text","data":{"text":"hi"}}', ToolResultPart(tool_call_id="c", result='{"output":"hi"}')),
        ('{"type":"text","text":"hi"}', ToolResultPart(tool_call_id="c", result='{"output":"hi"}')),
        ('{"type":"text","data":{"text":"{\\"b\\": 1}"}}', ToolResultPart(tool_call_id="c", result='{"b": 1}')),
        ('{"type":"text","data":{"text":"NaN"}}', ToolResultPart(tool_call_id="c", result='{"output":"NaN"}')),
        (
            '{"type":"error","data":{"error":"no"}}',
            ToolResultPart(tool_call_id="c", result='{"error":"no"}', is_error=True),
        ),
        (
            '{"type":"media","data":{"data":"aGk=","media_type":"image/png"}}',
            ToolResultPart(tool_call_id="c", result='{"data":"aGk=","mime_type":"image/png","text":""}', is_media=True),
        ),
        (
            '{"type":"content","value":[1,  2]}',
            ToolResultPart(tool_call_id="c", result='{"type":"content","value":[1,  2]}'),
        ),
        (
            '{"type":"text","text":"hi","more":1}',
            ToolResultPart(tool_call_id="c", result='{"type":"text","text":"hi","more":1}'),
        ),
        ("null", ToolResultPart(tool_call_id="c", result="{}")),
    ],
)
def test_the_output_of_a_tool_becomes_a_result(output: str, expected: ToolResultPart):
    stored = f'[{{"type":"tool-result","data":{{"tool_call_id":"c","output":{output}}}}}]'

    assert read_content(0, Role.TOOL, stored) == (expected,)


@pytest.mark.parametrize("text", ["{not json", '{"b":1,"a":[1.50]}', "", "hi"])
def test_the_input_of_a_call_is_kept_as_the_model_wrote_it(text: str):
    stored = json.dumps([{"type": "tool-call", "data": {"tool_call_id": "c", "input": text}}])

    assert read_content(0, Role.ASSISTANT, stored) == (ToolCallPart(tool_call_id="c", args=text),)


@pytest.mark.behaviour("CONTENT-7")
def test_arguments_of_a_typed_call_are_kept_byte_for_byte():
    stored = '[{"type":"tool-call","tool_call_id":"c","args":{"b": 1e400,  "a": "x", "a": 1.50}}]'

    (part,) = read_content(0, Role.ASSISTANT, stored)

    assert part == ToolCallPart(tool_call_id="c", args='{"b": 1e400,  "a": "x", "a": 1.50}')


@pytest.mark.parametrize(
    ("value", "text"),
    [('"{\\"a\\":1}"', '{"a":1}'), ('"cancelled"', '"cancelled"'), ('"{half"', '"{half"'), ("7", "7"), ("null", "")],
)
def test_a_result_that_is_a_string_is_json_text_only_if_it_holds_an_object_or_a_list(value: str, text: str):
    stored = f'[{{"type":"tool-result","tool_call_id":"c","result":{value}}}]'

    assert read_content(0, Role.TOOL, stored) == (ToolResultPart(tool_call_id="c", result=text),)


def test_metadata_is_kept_by_provider_and_what_has_no_field_beside_it():
    stored = (
        '[{"type":"source","data":{"id":"s","url":"u","source_type":"url","empty":"","off":false,'
        '"provider_metadata":{"acme":{"sig": "1"}},"provider_options":{"acme":{"sig":"2"},"other":[3]}}}]'
    )

    assert read_content(0, Role.ASSISTANT, stored) == (
        SourcePart(
            url="u",
            source_id="s",
            provider_metadata={
                "acme": '{"sig": "1"}',
                "other": "[3]",
                LEFT_OVER: '{"source_type":"url","provider_options":{"acme":{"sig":"2"}}}',
            },
        ),
    )


def test_an_envelope_of_a_file_is_a_file():
    stored = '[{"type":"file","data":{"media_type":"text/plain","data":"aGk=","filename":"a.txt"}}]'

    assert read_content(0, Role.USER, stored) == (FilePart(media_type="text/plain", name="a.txt", data="aGk="),)


@pytest.mark.behaviour("CONTENT-10")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("stored", ["", "{", '{"a":1}', "[1,", "7", "nonsense", '"\ud800"', "\0", '["\\u0000"]'])
def test_an_unreadable_row_is_unknown_and_can_be_stored(version: int, role: Role, stored: str):
    parts = read_content(version, role, stored)

    assert all(isinstance(part, UnknownPart) for part in parts)
    assert len(parts) == 1
    assert decode_parts(encode_parts(parts)) == parts


@pytest.mark.behaviour("CONTENT-3")
@pytest.mark.parametrize("version", [-1, 2, 99])
def test_an_unknown_version_is_an_error_that_names_it(version: int):
    with pytest.raises(UnknownContentVersion, match=rf"content version {version};") as caught:
        read_content(version, Role.USER, "[]")

    assert caught.value.version == version


@pytest.mark.behaviour("CONTENT-10")
@pytest.mark.parametrize("stored", ['[{"type":"text","text":"hi"}]', '"hi"', "x"])
def test_a_reader_of_a_whole_chat_gets_an_unknown_part_for_an_unknown_version(stored: str):
    assert read_content_leniently(2, Role.USER, stored) == (unknown(stored),)
    assert read_content_leniently(1, Role.USER, stored) == read_content(1, Role.USER, stored)
