"""What clients may see of a part."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from chatd.core.parts import PART_TYPES, FilePart, Part, UnknownPart, is_known, strip_internal
from chatd.core.stored_parts import encode_parts
from core.part_strategies import PARTS, full

# Every field of every part: (public, internal). A new field belongs in one of them before it can exist.
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "text": ({"text"}, {"provider_metadata"}),
    "reasoning": ({"text", "created_at", "completed_at"}, {"provider_metadata"}),
    "tool-call": (
        {
            "tool_call_id",
            "tool_name",
            "mcp_server_config_id",
            "args",
            "parsed_commands",
            "provider_executed",
            "hook_rewritten",
            "created_at",
        },
        {"provider_metadata"},
    ),
    "tool-result": (
        {
            "tool_call_id",
            "tool_name",
            "mcp_server_config_id",
            "result",
            "is_error",
            "is_media",
            "provider_executed",
            "created_at",
        },
        {"provider_metadata"},
    ),
    "source": ({"url", "source_id", "title"}, {"provider_metadata"}),
    "file": ({"media_type", "name", "data", "file_id"}, {"provider_metadata"}),
    "file-reference": ({"file_name", "start_line", "end_line", "content"}, set()),
    "context-file": (
        {"context_file_path", "context_file_truncated", "context_file_agent_id"},
        {"context_file_content", "context_file_os", "context_file_directory"},
    ),
    "skill": ({"skill_name", "skill_description"}, {"skill_dir", "context_file_skill_meta_file"}),
}


def tag(part_type: type[Part]) -> str:
    name = part_type.__struct_config__.tag
    assert isinstance(name, str)
    return name


def written(part: Any) -> dict[str, Any]:
    return msgspec.json.decode(encode_parts([part]))[0]


def test_the_part_types_are_these():
    assert [tag(part_type) for part_type in PART_TYPES] == list(FIELDS)


@pytest.mark.parametrize("part_type", PART_TYPES, ids=tag)
def test_every_field_is_public_or_internal(part_type: type[Part]):
    public, internal = FIELDS[tag(part_type)]

    assert set(part_type.__struct_fields__) == public | internal
    assert not public & internal


@pytest.mark.parametrize("part_type", PART_TYPES, ids=tag)
def test_clients_see_every_public_field_and_no_internal_one(part_type: type[Part]):
    public, _ = FIELDS[tag(part_type)]
    part = full(part_type)
    seen = written(strip_internal(part))

    hidden = {"data"} if part_type is FilePart else set()  # it has a file_id
    assert set(seen) == {"type"} | public - hidden
    assert seen == {name: value for name, value in written(part).items() if name in seen}


@given(PARTS)
def test_nothing_internal_is_left_whatever_the_values_are(part: Part):
    assert not set(written(strip_internal(part))) & FIELDS[tag(type(part))][1]


def test_the_content_of_a_file_is_seen_when_it_is_stored_nowhere_else():
    part = FilePart(media_type="image/png", data="aGk=", provider_metadata={"acme": "{}"})

    assert strip_internal(part) == FilePart(media_type="image/png", data="aGk=")


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ('{"type":"hologram","provider_metadata":{"acme":1},"x":2}', '{"type":"hologram"}'),
        ('{"type":"context-file","context_file_content":"secret"}', '{"type":"context-file"}'),
        ('{"type":7,"x":2}', "{}"),
        ('"a text"', "{}"),
        ("[1]", "{}"),
    ],
)
def test_of_an_unknown_part_only_the_type_is_seen(raw: str, seen: str):
    assert strip_internal(UnknownPart(raw)) == UnknownPart(seen)


def test_a_type_that_is_no_name_is_cut():
    assert strip_internal(UnknownPart('{"type":"' + "x" * 1000 + '"}')) == UnknownPart('{"type":"' + "x" * 64 + '"}')


@pytest.mark.parametrize("part_type", PART_TYPES, ids=tag)
def test_a_part_of_any_type_is_known(part_type: type[Part]):
    assert is_known(full(part_type))


def test_an_unknown_part_is_not_known():
    assert not is_known(UnknownPart("{}"))
