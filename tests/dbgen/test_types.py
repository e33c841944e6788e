"""Postgres' answers become Python types."""

from typing import Any

import pytest
from dbgen.naming import member, singular, words
from dbgen.problems import Refused

SCHEMA = """
    CREATE TYPE mood AS ENUM ('happy', 'so-so', 'Sad');
    CREATE DOMAIN encrypted_text AS text CHECK (VALUE LIKE 'enc1:%');
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE TABLE things (id uuid PRIMARY KEY, note text);
    CREATE TABLE parts (id uuid PRIMARY KEY, thing_id uuid NOT NULL REFERENCES things (id), "order" int NOT NULL);
"""


def signature(shop: Any, query: str) -> str:
    """The generated method of a query called `ask`, in one line."""
    shop.sql("a.sql", query)
    shop.generate()
    text = shop.read("queries.py").partition("class Queries")[2].partition("class Database")[0]
    method = text[text.index("async def ask") :].partition(": ...")[0].partition(':\n        """')[0]
    return " ".join(method.replace("(\n", "(").replace(",\n    )", ")").replace("\n    )", ")").split())


def refused(shop: Any, query: str) -> list[str]:
    shop.sql("a.sql", query)
    with pytest.raises(Refused) as caught:
        shop.generate()
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.behaviour("STORE-1")
def test_every_type_has_its_python_type(shop: Any):
    shop.migrate("CREATE EXTENSION citext;" + SCHEMA)
    columns = {
        "uuid": "UUID",
        "text": "str",
        "varchar": "str",
        "citext": "str",
        "int2": "int",
        "int4": "int",
        "int8": "int",
        "bool": "bool",
        "timestamptz": "datetime",
        "date": "date",
        "interval": "timedelta",
        "numeric": "Decimal",
        "float4": "float",
        "float8": "float",
        "bytea": "bytes",
        "json": "str",
        "jsonb": "str",
        "mood": "Mood",
        "positive": "int",
        "encrypted_text": "Secret",
    }
    shop.sql(
        "a.sql",
        "-- name: ask :one\n-- @notnull "
        + ", ".join(f"c_{name}" for name in columns)
        + "\nSELECT "
        + ", ".join(f"@p_{name}::{name} AS c_{name}, @l_{name}::{name}[] AS l_{name}" for name in columns)
        + ";",
    )

    shop.generate()

    struct = shop.module("queries").AskRow.__annotations__
    text = shop.read("queries.py")
    for name, expected in columns.items():
        assert struct[f"c_{name}"].__name__ == expected
        assert f"l_{name}: list[{expected}] | None\n" in text
        assert f"p_{name}: {expected},\n" in text
        assert f"l_{name}: Sequence[{expected}],\n" in text


def test_an_enum_keeps_its_labels(shop: Any):
    shop.migrate(SCHEMA)
    shop.generate()

    assert {name: label.value for name, label in shop.module("queries").Mood.__members__.items()} == {
        "HAPPY": "happy",
        "SO_SO": "so-so",
        "SAD": "Sad",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("-- name: ask :many\nSELECT * FROM things;", "async def ask(self) -> list[Thing]"),
        ("-- name: ask :many\nSELECT note, id FROM things;", "async def ask(self) -> list[AskRow]"),
        ("-- name: ask :one\nSELECT id FROM things;", "async def ask(self) -> UUID"),
        ("-- name: ask :one\nSELECT note FROM things;", "async def ask(self) -> str | None"),
        ("-- name: ask :opt\nSELECT note FROM things;", "async def ask(self) -> str | None"),
        ("-- name: ask :opt\nSELECT * FROM things;", "async def ask(self) -> Thing | None"),
        ("-- name: ask :one\nSELECT count(*) FROM things;", "async def ask(self) -> int | None"),
        ("-- name: ask :one\n-- @notnull count\nSELECT count(*) FROM things;", "async def ask(self) -> int"),
        (
            "-- name: ask :many\nSELECT p.id FROM things t LEFT JOIN parts p ON p.thing_id = t.id;",
            "async def ask(self) -> list[UUID | None]",
        ),
        (
            "-- name: ask :many\nSELECT p.id FROM things t JOIN parts p ON left(t.note, 1) = 'a';",
            "async def ask(self) -> list[UUID]",
        ),
        (
            "-- name: ask :many\nSELECT id FROM things GROUP BY ROLLUP (id);",
            "async def ask(self) -> list[UUID | None]",
        ),
        (
            "-- name: ask :many\nWITH fresh AS (INSERT INTO things (id) VALUES (@id) RETURNING *) SELECT * FROM fresh;",
            "async def ask(self, *, id: UUID) -> list[Thing]",
        ),
        (
            "-- name: ask :exec\n-- @optional note\nUPDATE things SET note = @note WHERE id = ANY(@ids);",
            "async def ask(self, *, note: str | None, ids: Sequence[UUID]) -> int",
        ),
        ("-- name: ask :exec\nSELECT pg_advisory_xact_lock(@key);", "async def ask(self, *, key: int) -> int"),
        (
            (
                "-- name: ask :batch\n-- @optional note\n"
                "INSERT INTO things SELECT * FROM unnest(@id::uuid[], @note::text[]) WHERE @sure RETURNING *;"
            ),
            "async def ask(self, *, items: Sequence[AskItem], sure: bool) -> list[Thing]",
        ),
        (
            (
                "-- name: ask :many\n-- @optional after_id\nSELECT * FROM things WHERE id > @after_id\n"
                "-- @authorize_filter owner=things.id\nLIMIT @max_rows;"
            ),
            (
                "async def ask( self, *, after_id: UUID | None, max_rows: int, authorize: Filter = EVERYTHING ) "
                "-> list[Thing]"
            ),
        ),
    ],
)
def test_signatures(shop: Any, query: str, expected: str):
    shop.migrate(SCHEMA)

    assert signature(shop, query).replace("( ", "(").replace(" )", ")") == expected.replace("( ", "(").replace(
        " )", ")"
    )


def test_a_function_that_returns_a_tables_rows_gives_its_struct(shop: Any):
    shop.migrate(
        f"""{SCHEMA}
        CREATE SCHEMA chatd_fn_1;
        CREATE FUNCTION chatd_fn_1.make() RETURNS SETOF things LANGUAGE sql AS 'TABLE public.things';"""
    )

    assert signature(shop, "-- name: ask :opt\n-- @notnull id\nSELECT * FROM make();") == (
        "async def ask(self) -> Thing | None"
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM parts;", 'SELECT id, thing_id, "order" FROM parts\n'),
        ("SELECT p.* FROM parts AS p;", 'SELECT p.id, p.thing_id, p."order" FROM parts AS p\n'),
        (
            "SELECT p.*, t.note, t.id AS t, 2 * 3 AS six FROM parts p JOIN things t ON t.id = p.thing_id;",
            'SELECT p.id, p.thing_id, p."order", t.note, t.id AS t, 2 * 3 AS six FROM',
        ),
        (
            "SELECT 1 AS a, q.*, 2 AS b, p.* FROM parts p, (SELECT note FROM things) q ORDER BY 1;",
            'SELECT 1 AS a, q.note, 2 AS b, p.id, p.thing_id, p."order" FROM',
        ),
        ("SELECT DISTINCT ON (thing_id) * FROM parts;", "SELECT DISTINCT ON (thing_id) id, thing_id,"),
        (
            "SELECT count(*) * 2 AS a, bool_or(thing_id IS DISTINCT FROM id) AS b FROM parts;",
            "SELECT count(*) * 2 AS a,",
        ),
        ("DELETE FROM parts WHERE true RETURNING *;", 'RETURNING id, thing_id, "order"\n'),
        (
            "INSERT INTO parts SELECT * FROM parts RETURNING parts.*;",
            'INSERT INTO parts SELECT * FROM parts RETURNING parts.id, parts.thing_id, parts."order"\n',
        ),
        ("SELECT * FROM parts WHERE EXISTS (SELECT * FROM things);", "EXISTS (SELECT * FROM things)"),
    ],
)
@pytest.mark.behaviour("STORE-1")
def test_stars_become_columns(shop: Any, query: str, expected: str):
    shop.migrate(SCHEMA)
    shop.sql("a.sql", f"-- name: ask :many\n{query}")

    shop.generate()

    assert expected in shop.read("queries.py")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "-- name: ask :many\nSELECT * FROM parts\nUNION SELECT * FROM parts;",
            "a.sql:2: ask: name the columns: a star is not expanded beside UNION, INTERSECT or EXCEPT",
        ),
        (
            "-- name: ask :many\n(SELECT * FROM parts);",
            "a.sql:2: ask: name the columns: a star is expanded only in a plain SELECT or RETURNING",
        ),
        (
            "-- name: ask :many\nSELECT\n(t).* FROM things t;",
            "a.sql:3: ask: name the columns: only `*` and `table.*` are expanded",
        ),
        ("-- name: ask :many\nTABLE things;", "a.sql:1: ask: write SELECT and the columns instead of TABLE"),
        (
            "-- name: ask :one\nSELECT 1, 2 AS b;",
            'a.sql:1: ask: a column called "?column?" can\'t be a field; name it with AS',
        ),
        (
            "-- name: ask :one\nSELECT 1 AS date;",
            'a.sql:1: ask: a column called "date" can\'t be a field; name it with AS',
        ),
        (
            "-- name: ask :many\nSELECT * FROM things t JOIN parts p ON true;",
            'a.sql:1: ask: two columns are called "id"; name one of them with AS',
        ),
        ("-- name: ask :one\nSELECT id\nFROM nowhere;", 'a.sql:3: ask: relation "nowhere" does not exist'),
        ("-- name: ask :one\nSELECT id,\n  x\nFROM things;", 'a.sql:3: ask: column "x" does not exist'),
        ("-- name: ask :one\nSELECT id\nFROM things WHERE;", "a.sql:3: ask: syntax error at end of input"),
        (
            "-- name: ask :exec\nSELECT pg_typeof(\n@what);",
            "a.sql:3: ask: could not determine data type of parameter @what",
        ),
        (
            "-- name: ask :many\nSELECT id FROM things WHERE true\n-- @authorize_filter owner=user_id\n;",
            'a.sql:3: ask: column "user_id" does not exist',
        ),
        (
            "-- name: ask :many\nSELECT id FROM things WHERE true\n-- @authorize_filter owner=id member=note\n;",
            (
                "a.sql:3: ask: operator does not exist: text = uuid (No operator matches the given name and argument "
                "types. You might need to add explicit type casts.)"
            ),
        ),
        (
            "-- name: ask :one\nSELECT point(1, 2) AS p;",
            "a.sql:1: ask: column p: the type point has no Python type here; cast it to one that has",
        ),
        (
            "-- name: ask :exec\nSELECT @p::inet;",
            "a.sql:1: ask: @p: the type inet has no Python type here; cast it to one that has",
        ),
        ("-- name: ask :one\nDELETE FROM things;", "a.sql:1: ask: :one needs a result; use :exec or add RETURNING"),
        (
            "-- name: ask :one\n-- @notnull x\nSELECT id FROM things;",
            "a.sql:2: ask: @notnull x: the result has no column x",
        ),
        (
            "-- name: ask :batch\nDELETE FROM things WHERE id = @id;",
            "a.sql:1: ask: :batch needs an array parameter, such as unnest(@ids::uuid[])",
        ),
    ],
)
@pytest.mark.behaviour("STORE-1")
def test_a_mistake_that_postgres_finds_is_told_with_file_line_and_query(shop: Any, query: str, message: str):
    shop.migrate(SCHEMA)

    assert refused(shop, query) == [message]


def test_two_labels_that_would_become_one_member_are_refused(shop: Any):
    shop.migrate("CREATE TYPE mood AS ENUM ('so-so', 'so_so');")

    assert refused(shop, "-- name: ask :exec\nSELECT 1;") == [
        "migrations: the labels of mood so-so and so_so would have one name in Mood; rename one"
    ]


def test_a_struct_that_would_replace_another_is_refused(shop: Any):
    shop.migrate("CREATE TYPE thing AS ENUM ('a'); CREATE TABLE things (id int NOT NULL, note text);")

    assert refused(shop, "-- name: ask :one\nSELECT * FROM things;") == [
        "a.sql:1: ask: the name Thing is taken; rename the query or the type"
    ]


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("users", "user"),
        ("api_tokens", "api_token"),
        ("entries", "entry"),
        ("addresses", "address"),
        ("statuses", "status"),
        ("boxes", "box"),
        ("batches", "batch"),
        ("caches", "cache"),
        ("schema_info", "schema_info"),
        ("status", "status"),
    ],
)
def test_a_tables_name_in_the_singular(plural: str, one: str):
    assert singular(plural) == one


def test_names_for_people_and_for_enums():
    assert words("api_token") == "API token"
    assert member("users_email_key") == "USERS_EMAIL_KEY"
    assert member("so-so") == "SO_SO"
    assert member("2fa") == "N_2FA"
