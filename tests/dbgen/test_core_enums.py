"""Enum types that core has a class for: the class is used, and must be the same."""

import importlib
from typing import Any

import asyncpg
import pytest
from dbgen.core_enums import CORE_ENUMS
from dbgen.problems import Refused

from chatd.core.roles import Role
from chatd.core.states import Status

QUERY = """
    -- name: echo :one
    -- @notnull role, roles
    SELECT @role::message_role AS role, @roles::message_role[] AS roles;
"""


def create(name: str, *labels: str) -> str:
    listed = ", ".join(f"'{label}'" for label in labels)
    return f"CREATE TYPE {name} AS ENUM ({listed});"


async def test_a_class_of_core_is_used_instead_of_a_generated_one(shop: Any):
    shop.migrate(create("message_role", *Role) + create("chat_status", *Status) + create("mood", "sad"))
    shop.sql("a.sql", QUERY)
    shop.generate()
    connection = await asyncpg.connect(shop.dsn)
    try:
        found = await shop.module("queries").SqlQueries(connection).echo(role=Role.TOOL, roles=[Role.USER])
    finally:
        await connection.close()

    assert found.role is Role.TOOL
    assert found.roles == [Role.USER]
    text = shop.read("queries.py")
    assert "from chatd.core.roles import Role\n" in text
    assert "Status" not in text
    assert [line for line in text.splitlines() if "(StrEnum)" in line] == ["class Mood(StrEnum):"]
    assert "from chatd.core.roles import Role\n" in shop.read("authorized.py")


@pytest.mark.parametrize("labels", [["user", "system", "assistant", "tool"], ["system", "user", "assistant"]])
def test_other_labels_or_another_order_are_refused(shop: Any, labels: list[str]):
    shop.migrate(create("message_role", *labels))

    with pytest.raises(Refused) as caught:
        shop.generate()

    assert str(caught.value) == (
        f"migrations: enum type message_role has the labels {', '.join(labels)}, but chatd.core.roles.Role has "
        "system, user, assistant, tool; make them the same, in the same order"
    )


def test_a_struct_does_not_replace_a_class_of_core(shop: Any):
    shop.migrate(create("message_role", *Role) + "CREATE TABLE roles (id int NOT NULL, role message_role);")
    shop.sql("a.sql", "-- name: ask :many\nSELECT * FROM roles;")

    with pytest.raises(Refused, match="ask: the name Role is taken"):
        shop.generate()


@pytest.mark.parametrize("name", CORE_ENUMS)
def test_every_class_is_there(name: str):
    core = CORE_ENUMS[name]

    assert len(getattr(importlib.import_module(core.module), core.class_name)) > 1
