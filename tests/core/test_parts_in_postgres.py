"""Parts survive a JSONB column of a real Postgres."""

from collections.abc import Generator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatd.core.parts import Part, UnknownPart
from chatd.core.stored_parts import decode_parts, encode_parts
from core.part_strategies import PARTS


@pytest.fixture
def connection(empty_database: Any) -> Generator["psycopg.Connection[Any]"]:
    with psycopg.connect(empty_database.dsn, autocommit=True) as opened:
        yield opened


def through_jsonb(connection: "psycopg.Connection[Any]", stored: str) -> str:
    row = connection.execute("SELECT %s::text::jsonb::text", [stored]).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.behaviour("CONTENT-7")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(parts=st.lists(PARTS, max_size=4))
def test_parts_with_any_text_survive_jsonb(connection: "psycopg.Connection[Any]", parts: list[Part]):
    assert decode_parts(through_jsonb(connection, encode_parts(parts))) == tuple(parts)


@pytest.mark.behaviour("CONTENT-10")
def test_an_unknown_part_is_written_back_unchanged(connection: "psycopg.Connection[Any]"):
    raw = '{"zeta": [1.50, 1e3], "type": "hologram", "text": "\ue000\ue001 \\u0007 \\\\u0000"}'
    stored = through_jsonb(connection, f"[{raw}]")
    (part,) = decode_parts(stored)

    assert isinstance(part, UnknownPart)
    assert through_jsonb(connection, encode_parts([part])) == stored
