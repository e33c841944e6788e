"""Composite types become structs: as parameters, as columns, and as the rows of functions."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from dbgen.problems import Refused

SCHEMA = """
    CREATE TYPE mood AS ENUM ('happy', 'sad');
    CREATE DOMAIN encrypted_text AS text CHECK (VALUE LIKE 'enc1:%');
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE TABLE cats (id int PRIMARY KEY, mood mood NOT NULL, name text);

    CREATE SCHEMA chatd_fn_1;
    SET search_path = chatd_fn_1, public;
    CREATE TYPE new_cat AS (mood mood, name text, moods mood[], id uuid, facts jsonb, born_at timestamptz);
    COMMENT ON TYPE new_cat IS 'A cat "to be".';
    COMMENT ON COLUMN new_cat.mood IS 'not null: a cat has one';
    CREATE TYPE toy AS (label text, size positive);
    COMMENT ON COLUMN toy.size IS 'NOT NULL';
    CREATE TYPE basket AS (owner new_cat, toys toy[], tags text[]);
    CREATE TYPE tally AS (number int);
    CREATE TYPE outcome AS (added toy[], best toy, mood mood, said text);
    COMMENT ON COLUMN outcome.said IS 'not null';
    COMMENT ON COLUMN outcome.mood IS 'not nullable by chance';
    CREATE FUNCTION play(toys toy[]) RETURNS outcome LANGUAGE sql AS $$
        SELECT (toys, toys[1], 'sad', 'purr')::outcome
    $$;
    CREATE FUNCTION play_all(times int) RETURNS SETOF outcome LANGUAGE sql AS $$
        SELECT play(NULL) FROM generate_series(1, times)
    $$;
    CREATE FUNCTION find_toy(wanted text) RETURNS SETOF toy LANGUAGE sql AS $$
        SELECT (wanted, 3)::toy WHERE wanted <> 'mouse'
    $$;
    CREATE FUNCTION count_toys(toys toy[]) RETURNS tally LANGUAGE sql AS 'SELECT ROW(cardinality(toys))::tally';
"""
QUERIES = """
    -- name: echo_cats :many
    SELECT t.mood, t.name, t.moods, t.id, t.facts, t.born_at FROM unnest(@cats::new_cat[]) AS t;

    -- name: echo_cat :one
    -- @optional cat
    SELECT @cat::new_cat AS cat;

    -- name: echo_basket :one
    -- @notnull basket
    SELECT @basket::basket AS basket;

    -- name: list_baskets :many
    SELECT @baskets::basket[] AS baskets, 1 AS one;

    -- name: play :one
    SELECT * FROM play(@toys::toy[]);

    -- name: play_twice :many
    SELECT o.* FROM generate_series(1, 1) AS s, play_all(2) AS o WHERE s = 1;

    -- name: play_bare :one
    -- @notnull play
    SELECT play(@toys::toy[]);

    -- name: find_toy :opt
    SELECT * FROM find_toy(@label) found ORDER BY 1;

    -- name: count_toys :one
    SELECT * FROM count_toys(@toys);

    -- name: insert_toys :batch
    -- @optional toy
    SELECT b.toy AS toy, b.number FROM (SELECT unnest(@toy::toy[]) AS toy, unnest(@number::int[]) AS number) AS b
    ORDER BY b.number;
"""
SECRET_INSIDE = "is a secret inside a composite type, where nothing encrypts it; pass it by itself"
ONE = UUID(int=1)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def cats(shop: Any) -> Any:
    """A shop with a function set and queries that use its types."""
    shop.migrate(SCHEMA)
    shop.sql("cats.sql", QUERIES)
    shop.generate()
    return shop


@pytest.fixture
async def store(cats: Any) -> AsyncGenerator[Any]:
    connection = await asyncpg.connect(cats.dsn, server_settings={"search_path": "chatd_fn_1, public"})
    yield cats.module("store").SqlStore(connection)
    await connection.close()


def refused(shop: Any, query: str, schema: str = "") -> list[str]:
    shop.migrate(SCHEMA + schema)
    shop.sql("a.sql", query)
    with pytest.raises(Refused) as caught:
        shop.generate()
    return [str(problem) for problem in caught.value.problems]


async def test_an_array_of_a_composite_type_takes_structs(cats: Any, store: Any):
    queries = cats.module("queries")
    mood = queries.Mood
    full = queries.NewCat(mood.SAD, "Tom", [mood.HAPPY], ONE, '{"a": 1}', NOW)

    rows = await store.echo_cats(cats=(full, queries.NewCat(mood=mood.HAPPY)))

    assert [(row.mood, row.name, row.moods, row.id, row.facts, row.born_at) for row in rows] == [
        (mood.SAD, "Tom", [mood.HAPPY], ONE, '{"a": 1}', NOW),
        (mood.HAPPY, None, None, None, None, None),
    ]
    assert await store.echo_cats(cats=[]) == []
    assert "async def echo_cats(self, *, cats: Sequence[NewCat]) -> list[EchoCatsRow]" in cats.read("queries.py")


async def test_a_composite_type_goes_in_and_comes_out_as_its_struct(cats: Any, store: Any):
    queries = cats.module("queries")
    cat = queries.NewCat(queries.Mood.SAD, moods=[queries.Mood.HAPPY])

    found = await store.echo_cat(cat=cat)

    assert found == cat
    assert isinstance(found.mood, queries.Mood)
    assert isinstance(found.moods[0], queries.Mood)
    assert await store.echo_cat(cat=None) is None
    with pytest.raises(AttributeError):
        found.name = "Tom"
    assert "async def echo_cat(self, *, cat: NewCat | None) -> NewCat | None" in cats.read("queries.py")


async def test_composite_types_inside_each_other_are_structs_at_every_depth(cats: Any, store: Any):
    queries = cats.module("queries")
    full = queries.Basket(queries.NewCat(queries.Mood.SAD), [queries.Toy("ball", 1), queries.Toy(None, 2)], ["a"])
    empty = queries.Basket()

    assert await store.echo_basket(basket=full) == full
    assert await store.echo_basket(basket=empty) == empty
    (row,) = await store.list_baskets(baskets=[full, empty])
    assert row == queries.ListBasketsRow([full, empty], 1)


@pytest.mark.behaviour("STORE-1")
async def test_a_function_of_a_composite_type_gives_one_struct_in_all_queries(cats: Any, store: Any):
    queries = cats.module("queries")
    ball = queries.Toy("ball", 1)
    played = queries.Outcome([ball], ball, queries.Mood.SAD, "purr")

    assert await store.play(toys=[ball]) == played
    assert await store.play_bare(toys=[ball]) == played
    assert await store.play_twice() == [queries.Outcome(None, None, queries.Mood.SAD, "purr")] * 2
    text = cats.read("queries.py")
    assert "SELECT added, best, mood, said FROM play($1::toy[])\n" in text
    assert "SELECT o.added, o.best, o.mood, o.said FROM generate_series" in text
    assert "class PlayRow" not in text
    assert text.count("class Outcome(") == 1


async def test_a_function_that_gives_no_row_is_missing(cats: Any, store: Any):
    queries = cats.module("queries")

    assert await store.find_toy(label="ball") == queries.Toy("ball", 3)
    assert await store.find_toy(label="mouse") is None


async def test_a_struct_stays_one_when_it_has_one_field(cats: Any, store: Any):
    queries = cats.module("queries")

    assert await store.count_toys(toys=[queries.Toy("ball", 1)]) == queries.Tally(1)


async def test_a_batch_takes_composite_types_like_other_arrays(cats: Any, store: Any):
    queries = cats.module("queries")
    items = [queries.InsertToysItem(queries.Toy("ball", 1), 1), queries.InsertToysItem(None, 2)]

    rows = await store.insert_toys(items=items)

    assert [(row.toy, row.number) for row in rows] == [(queries.Toy("ball", 1), 1), (None, 2)]


def test_an_attribute_is_nullable_unless_its_comment_begins_with_not_null(cats: Any):
    text = " ".join(cats.read("queries.py").split())

    # Fields before the last that is never NULL have no default: Python allows none there.
    assert (
        'class NewCat(Struct, frozen=True, gc=False): """A cat "to be".""" mood: Mood name: str | None = None '
        "moods: list[Mood] | None = None id: UUID | None = None" in text
    )
    assert "class Toy(Struct, frozen=True, gc=False): label: str | None size: int class" in text
    assert "added: list[Toy] | None best: Toy | None mood: Mood | None said: str " in text


def test_structs_are_made_without_a_look_at_values_that_need_none(cats: Any):
    text = cats.read("queries.py")

    assert "[astuple(x) for x in toys]" in text
    assert "[Toy(*x) for x in row[0]]" in text
    assert "_read_toy" not in text


def test_a_type_that_no_query_uses_has_no_struct(shop: Any):
    shop.migrate(SCHEMA)
    shop.sql("a.sql", "-- name: ask :many\nSELECT * FROM find_toy(@label);")
    shop.generate()

    text = shop.read("queries.py")
    assert "class Toy(" in text
    assert "class Outcome(" not in text
    assert "astuple" not in text


@pytest.mark.parametrize(
    "query",
    [
        "SELECT t.* FROM cats LEFT JOIN find_toy(name) AS t ON true;",
        "SELECT * FROM (SELECT 'a' AS label, 1 AS size) AS t;",
        "SELECT * FROM find_toy('a') AS t (label, number);",
        "SELECT t.label, t.size FROM find_toy('a') AS t;",
        "SELECT *, 1 AS one FROM find_toy('a');",
    ],
)
def test_rows_that_only_look_like_a_types_get_a_struct_of_their_own(shop: Any, query: str):
    shop.migrate(SCHEMA)
    shop.sql("a.sql", f"-- name: ask :many\n{query}")
    shop.generate()

    assert "async def ask(self) -> list[AskRow]" in shop.read("queries.py")
    assert "label: str | None\n" in shop.read("queries.py")


@pytest.mark.parametrize(
    ("schema", "query", "message"),
    [
        (
            "CREATE TYPE login AS (name text, password encrypted_text);",
            "-- name: ask :exec\nSELECT @logins::login[];",
            f"a.sql:1: ask: @logins: login.password {SECRET_INSIDE}",
        ),
        (
            "CREATE TYPE login AS (password encrypted_text[]); CREATE TYPE logins AS (all_of login[]);",
            "-- name: ask :one\nSELECT NULL::logins AS f;",
            f"a.sql:1: ask: column f: login.password {SECRET_INSIDE}",
        ),
        (
            """CREATE TYPE login AS (name text, password encrypted_text);
               CREATE FUNCTION f() RETURNS login LANGUAGE sql AS 'SELECT NULL::login';""",
            "-- name: ask :one\nSELECT * FROM f();",
            f"a.sql:1: ask: the result: login.password {SECRET_INSIDE}",
        ),
        (
            "CREATE TYPE public.login AS (password encrypted_text); CREATE TABLE public.logins (id int, login login);",
            "-- name: ask :exec\nSELECT 1;",
            (
                "migrations: column logins.login: a secret column has the type encrypted_text itself, "
                "so that rotation finds it"
            ),
        ),
        (
            "CREATE TYPE address AS (host inet);",
            "-- name: ask :exec\nSELECT @a::address;",
            "a.sql:1: ask: @a: address.host: the type inet has no Python type here; cast it to one that has",
        ),
        (
            "CREATE TYPE day AS (date date);",
            "-- name: ask :exec\nSELECT @a::day;",
            "a.sql:1: ask: @a: day.date: an attribute of that name can't be a field; choose another",
        ),
        (
            "CREATE TYPE noise AS ENUM ('loud');",
            "-- name: ask :exec\nSELECT @a::noise;",
            "a.sql:1: ask: @a: the enum type noise is in a function set; create it in a migration",
        ),
        (
            "",
            "-- name: ask :exec\nSELECT @a::cats;",
            "a.sql:1: ask: @a: the type cats has no Python type here; cast it to one that has",
        ),
        (
            'CREATE TYPE "Mood" AS (a int);',
            '-- name: ask :exec\nSELECT @a::"Mood";',
            "a.sql:1: ask: the name Mood is taken; rename the query or the type",
        ),
        (
            "CREATE TYPE cat AS (a int);",
            "-- name: ask :many\nSELECT * FROM cats WHERE @a::cat IS NULL;",
            "a.sql:1: ask: the name Cat is taken; rename the query or the type",
        ),
        (
            "CREATE TYPE queries AS (a int);",
            "-- name: ask :exec\nSELECT @a::queries;",
            "a.sql:1: ask: the name Queries is taken; rename the query or the type",
        ),
        (
            "",
            "-- name: ask :one\nSELECT\n(play(NULL)).*;",
            "a.sql:3: ask: write SELECT * FROM f(…): Postgres calls f once for each column of (f(…)).*",
        ),
        (
            "",
            "-- name: ask :exec\nSELECT @astuple::toy;",
            "a.sql:2: ask: @astuple: the generated method uses that name; choose another",
        ),
    ],
)
def test_what_cannot_be_a_struct_is_refused(shop: Any, schema: str, query: str, message: str):
    assert refused(shop, query, schema) == [message]
