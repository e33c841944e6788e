"""Secrets are declared so that rotation finds them, and not mistaken for text."""

from typing import Any

import pytest
from dbgen.problems import Refused

SCHEMA = """
    CREATE DOMAIN encrypted_text AS text CHECK (VALUE LIKE 'enc1:%');
    CREATE TABLE keys (id uuid PRIMARY KEY, "Code" encrypted_text, pin encrypted_text, value encrypted_text);
    CREATE TABLE settings (id uuid PRIMARY KEY, value text);
    CREATE VIEW all_pins AS SELECT array_agg(pin) AS pins FROM keys;
"""


def said_of(shop: Any, statement: str) -> list[str]:
    shop.sql("a.sql", f"-- name: ask :exec\n{statement};")
    try:
        shop.generate()
    except Refused as refused:
        return [str(problem) for problem in refused.problems]
    return []


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize("kind", ["encrypted_text[]", "long_secret", "long_secret[]", "secrets"])
def test_a_secret_column_that_rotation_would_miss_is_refused(shop: Any, kind: str):
    shop.migrate(
        f"""{SCHEMA}
        CREATE DOMAIN long_secret AS encrypted_text;
        CREATE DOMAIN secrets AS encrypted_text[];
        CREATE TABLE things (id int, hidden {kind});"""
    )

    assert said_of(shop, "SELECT 1") == [
        (
            "migrations: column things.hidden: a secret column has the type encrypted_text itself, "
            "so that rotation finds it"
        )
    ]


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("UPDATE keys SET id = id\nWHERE pin = @x", "pin"),
        ("UPDATE keys SET id = id\nWHERE @x <> keys.pin", "pin"),
        ("UPDATE keys k SET id = id\nWHERE k.PIN = ANY (@x)", "pin"),
        ('UPDATE keys SET id = id\nWHERE "Code" != @x', "Code"),
        ("UPDATE keys SET\npin = @x::text", "pin"),
    ],
)
def test_plain_text_beside_a_secret_is_refused(shop: Any, statement: str, column: str):
    shop.migrate(SCHEMA)

    assert said_of(shop, statement) == [
        (
            f"a.sql:3: ask: @x is plain text beside the secret {column}: written it is not encrypted, compared it "
            "never matches; leave out the cast, or find the row by another column"
        )
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE keys SET pin = @x WHERE id = @id",
        "UPDATE keys SET pin = x FROM unnest(@x::encrypted_text[]) AS x",
        "UPDATE settings SET value = @x",
        "DELETE FROM keys WHERE pin IS NOT NULL AND @x = keys.id",
    ],
)
def test_secrets_as_secrets_and_other_text_are_accepted(shop: Any, statement: str):
    shop.migrate(SCHEMA)

    assert said_of(shop, statement) == []
