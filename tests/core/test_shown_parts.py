"""What clients see of parts: no internal field, JSON as values, and always something that JSON can hold."""

from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.parts import (
    INTERNAL_FIELDS,
    PART_TYPES,
    FilePart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from chatd.core.preview import CallPiece
from chatd.core.shown_parts import shown_part


def shown(part: Any) -> dict[str, Any]:
    return msgspec.json.decode(msgspec.json.encode(shown_part(part)))


def filled(part_type: type[Part]) -> Part:
    """A part with something in every field."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(part_type):
        name = field.name
        if name in ("provider_metadata",):
            values[name] = {"anthropic": '"secret-metadata"'}
        elif name in INTERNAL_FIELDS:
            values[name] = f"secret-{name}"
        elif name in ("args", "result"):
            values[name] = '{"a":1}'
        elif name == "parsed_commands":
            values[name] = (("git", "status"),)
        elif name.endswith("_line"):
            values[name] = 3
        elif field.type is bool:
            values[name] = True
        elif "UUID" in str(field.type):
            values[name] = UUID(int=5)
        else:
            values[name] = f"shown-{name}"
    return part_type(**values)


@pytest.mark.behaviour("CONTENT-5")
@pytest.mark.parametrize("part_type", PART_TYPES)
def test_no_internal_field_of_any_part_is_shown_and_every_other_one_is(part_type: type[Part]):
    part = filled(part_type)
    seen = shown(part)

    assert "secret" not in str(seen)
    expected = {field.name for field in msgspec.structs.fields(part_type)} - INTERNAL_FIELDS
    if part_type is FilePart:
        expected.discard("data")  # the copy of a stored file
    assert set(seen) == expected | {"type"}


def test_arguments_and_results_are_values():
    call = ToolCallPart(tool_call_id="c", tool_name="look", args='{"path": "a", "deep": [1, 2]}')
    result = ToolResultPart(tool_call_id="c", tool_name="look", result='"found"')

    assert shown(call)["args"] == {"path": "a", "deep": [1, 2]}
    assert shown(result)["result"] == "found"
    assert "args" not in shown(ToolCallPart(tool_call_id="c"))


@pytest.mark.parametrize("args", ["{", "not json", "[" * 5000, "\ud800", '{"a":"\\ud800"}', "\x00"])
def test_what_is_not_json_is_shown_as_a_text(args: str):
    value = shown(ToolCallPart(tool_call_id="c", args=args))["args"]

    assert isinstance(value, str | dict)


def test_an_unknown_part_is_shown_by_its_type_alone():
    assert shown(UnknownPart('{"type":"hologram","secret":1}')) == {"type": "hologram"}


def test_a_piece_of_a_call_is_shown_as_it_is():
    piece = CallPiece(tool_call_id="c", tool_name="look", args_delta='{"pa')

    assert shown(piece) == {"type": "tool-call", "tool_call_id": "c", "tool_name": "look", "args_delta": '{"pa'}


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=50))
def test_every_text_can_be_shown(text: str):
    for part in (
        TextPart(text=text),
        ToolCallPart(tool_call_id=text, tool_name=text, args=text),
        ToolResultPart(tool_call_id=text, result=text),
        FilePart(media_type=text, name=text),
    ):
        shown(part)
