"""Every shape in which content was ever stored is read as it was when the fixture was written.

Fixtures are never changed, only added: rows like these are in databases.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from chatd.core.messages import Role, read_content
from chatd.core.parts import PART_TYPES, AnyPart, UnknownPart
from chatd.core.stored_parts import encode_parts

pytestmark = [pytest.mark.behaviour("CONTENT-1"), pytest.mark.behaviour("CONTENT-3")]

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
PARTS_BY_NAME: dict[str, type[AnyPart]] = {part_type.__name__: part_type for part_type in (*PART_TYPES, UnknownPart)}


class Fixture(msgspec.Struct):
    """`parts` has for each part the name of its class and the fields that are not empty."""

    version: int
    role: Role
    stored: str
    parts: list[dict[str, dict[str, Any]]]


class Stored(msgspec.Struct):
    stored: msgspec.Raw


def load(path: Path) -> Fixture:
    text = path.read_text("utf-8")
    # The stored JSON as it stands in the file. The rest goes through the parser that takes lone surrogates.
    head = msgspec.json.decode(text[: text.index('\n  "parts"')].rstrip(",") + "}", type=Stored)
    return msgspec.convert(json.loads(text) | {"stored": bytes(head.stored).decode()}, Fixture)


def expected(fixture: Fixture) -> tuple[AnyPart, ...]:
    return tuple(
        msgspec.convert(fields if name == "UnknownPart" else fields | {"type": tag(name)}, PARTS_BY_NAME[name])
        for part in fixture.parts
        for name, fields in part.items()
    )


def tag(name: str) -> object:
    return PARTS_BY_NAME[name].__struct_config__.tag


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_stored_shape_is_read_as_ever(path: Path):
    fixture = load(path)

    assert read_content(fixture.version, fixture.role, fixture.stored) == expected(fixture)


@pytest.mark.parametrize(
    "path",
    [path for path in GOLDEN if path.name.startswith("v1-") and path.stem not in ("v1-null", "v1-not-a-list")],
    ids=lambda path: path.stem,
)
def test_a_version_1_row_is_written_back_as_it_was(path: Path):
    fixture = load(path)

    written = encode_parts(read_content(fixture.version, fixture.role, fixture.stored))

    assert json.loads(written) == json.loads(fixture.stored)


def test_there_is_a_minimal_and_a_full_fixture_of_every_part_type():
    names = {path.stem for path in GOLDEN}

    assert names >= {
        f"v1-{part_type.__struct_config__.tag}-{extent}" for part_type in PART_TYPES for extent in ("minimal", "full")
    }


@pytest.mark.parametrize("part_type", PART_TYPES, ids=lambda part_type: part_type.__struct_config__.tag)
def test_the_full_fixture_of_a_part_has_all_its_fields(part_type: type[AnyPart]):
    (path,) = [path for path in GOLDEN if path.stem == f"v1-{part_type.__struct_config__.tag}-full"]
    (part,) = json.loads(load(path).stored)

    assert set(part) == {"type", *part_type.__struct_fields__}


@pytest.mark.parametrize("role", Role)
def test_there_is_an_envelope_of_every_role(role: Role):
    assert f"v0-envelope-{role}" in {path.stem for path in GOLDEN}
