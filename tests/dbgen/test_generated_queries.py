"""The generated queries do on a real Postgres what their kind says."""

import inspect
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest
from dbgen.query_files import SNAKE_CASE, parse

from chatd.core.access import EVERYTHING, NOTHING, OwnedBy
from chatd.core.errors import NotFound
from chatd.core.secret import Secret
from chatd.observe.metrics import Metrics
from chatd.store.cipher import Cipher, EncryptionKey, new_key_text

SCHEMA = """
    CREATE TYPE mood AS ENUM ('happy', 'sad');
    CREATE DOMAIN encrypted_text AS text CHECK (VALUE LIKE 'enc1:%');
    CREATE TABLE api_keys (
        id uuid PRIMARY KEY, owner_id uuid NOT NULL, mood mood NOT NULL, moods mood[], made_at timestamptz NOT NULL,
        secret encrypted_text NOT NULL, spare encrypted_text
    );
    COMMENT ON TABLE api_keys IS 'A "key" of the shop.';
    CREATE TABLE notes (id int PRIMARY KEY, body text);
"""
QUERIES = """
    -- name: insert_api_key :one
    -- @optional moods, spare
    INSERT INTO api_keys VALUES (@id, @owner_id, @mood, @moods, @made_at, @secret, @spare) RETURNING *;

    -- name: get_api_key :one
    -- One key, by its id: "quotes" and \\ are kept.
    SELECT * FROM api_keys WHERE id = @id;

    -- name: find_api_key :opt
    SELECT * FROM api_keys WHERE id = @id;

    -- name: get_secret :one
    SELECT secret FROM api_keys WHERE id = @id;

    -- name: get_spare :one
    SELECT spare FROM api_keys WHERE id = @id;

    -- name: get_all_spares :one
    -- @notnull spares
    SELECT array_agg(spare ORDER BY id) AS spares FROM api_keys WHERE spare IS NOT NULL;

    -- name: set_all_spares :exec
    -- @optional spares
    UPDATE api_keys SET spare = fresh.spare
    FROM unnest(@ids::uuid[], @spares::encrypted_text[]) AS fresh (id, spare) WHERE api_keys.id = fresh.id;

    -- name: get_either :opt
    SELECT coalesce(spare, secret) AS either FROM api_keys WHERE id = @id;

    -- name: list_secrets :many
    SELECT id, secret FROM api_keys ORDER BY id;

    -- name: list_spares :many
    SELECT spare FROM api_keys ORDER BY id;

    -- name: list_api_keys :many
    SELECT id FROM api_keys
    WHERE mood = ANY(@moods::mood[])
      -- @authorize_filter owner=owner_id
    ORDER BY id
    LIMIT @max_rows::int;

    -- name: count_api_keys :one
    -- @notnull count
    SELECT count(*) FROM api_keys WHERE true
      -- @authorize_filter owner=owner_id
    ;

    -- name: get_own_key :one
    SELECT * FROM api_keys WHERE id = @id
      -- @authorize_filter owner=owner_id
    ;

    -- name: find_own_key :opt
    SELECT * FROM api_keys WHERE id = @id
      -- @authorize_filter owner=owner_id
    ;

    -- name: find_own_mood :opt
    SELECT mood FROM api_keys WHERE id = @id
      -- @authorize_filter owner=owner_id
    ;

    -- name: list_moods :many
    SELECT mood FROM api_keys ORDER BY id;

    -- name: replace_spares :batch
    -- @optional spare
    UPDATE api_keys SET spare = fresh.spare
    FROM unnest(@id::uuid[], @spare::encrypted_text[]) AS fresh (id, spare)
    WHERE api_keys.id = fresh.id AND api_keys.mood <> @except_mood;

    -- name: insert_notes :batch
    INSERT INTO notes SELECT * FROM unnest(@id::int[], @body::text[])
    RETURNING *;

    -- name: rename_notes :exec
    UPDATE notes SET body = @body WHERE body = ANY(@bodies);

    -- name: take_note :exec
    LOCK TABLE notes;
"""
ONE, TWO, OWNER = UUID(int=1), UUID(int=2), UUID(int=9)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
async def connection(shop: Any) -> AsyncGenerator["asyncpg.Connection[asyncpg.Record]"]:
    shop.migrate(SCHEMA)
    shop.sql("shop.sql", QUERIES)
    shop.generate()
    connection = await asyncpg.connect(shop.dsn)
    yield connection
    await connection.close()


@pytest.fixture
def sealed(shop: Any, connection: "asyncpg.Connection[asyncpg.Record]") -> Any:
    """The store without a cipher: it sees what the database holds."""
    return shop.module("store").SqlStore(connection)


@pytest.fixture
def store(shop: Any, sealed: Any) -> Any:
    """All layers that answer: encryption around metrics around SQL."""
    metered = shop.module("metered").MeteredStore(sealed, Metrics())
    return shop.module("encrypted").EncryptedStore(metered, Cipher([EncryptionKey.from_text(new_key_text())]))


async def add_key(store: Any, mood: Any, *, id: UUID = ONE, **changed: Any) -> Any:
    given = {"owner_id": OWNER, "moods": None, "made_at": NOW, "secret": Secret("s1"), "spare": None}
    return await store.insert_api_key(id=id, mood=mood, **{**given, **changed})


@pytest.mark.behaviour("STORE-1")
async def test_one_gives_the_tables_struct_or_says_what_is_missing(shop: Any, sealed: Any):
    queries = shop.module("queries")
    given: dict[str, Any] = {"secret": Secret("enc1:a"), "moods": [queries.Mood.SAD]}
    made = await add_key(sealed, queries.Mood.HAPPY, **given)

    assert made == queries.ApiKey(ONE, OWNER, queries.Mood.HAPPY, [queries.Mood.SAD], NOW, Secret("enc1:a"), None)
    assert isinstance(made.mood, queries.Mood)
    assert isinstance(made.moods[0], queries.Mood)
    assert await sealed.get_api_key(id=ONE) == made
    with pytest.raises(NotFound, match=r"^API key not found") as caught:
        await sealed.get_api_key(id=TWO)
    assert caught.value.what == "API key"
    with pytest.raises(AttributeError):
        made.mood = queries.Mood.SAD
    with pytest.raises(TypeError):
        msgspec.json.encode(made)


async def test_one_tells_a_null_from_a_missing_row(shop: Any, sealed: Any):
    await add_key(sealed, shop.module("queries").Mood.SAD, secret=Secret("enc1:a"))

    assert await sealed.get_spare(id=ONE) is None
    with pytest.raises(NotFound):
        await sealed.get_spare(id=TWO)
    with pytest.raises(NotFound):
        await sealed.get_secret(id=TWO)


async def test_opt_gives_the_row_or_none(shop: Any, sealed: Any):
    made = await add_key(sealed, shop.module("queries").Mood.SAD, secret=Secret("enc1:a"))

    assert await sealed.find_api_key(id=ONE) == made
    assert await sealed.find_api_key(id=TWO) is None


async def test_many_gives_a_list(shop: Any, sealed: Any):
    queries = shop.module("queries")
    assert await sealed.list_secrets() == []
    for id in (TWO, ONE):
        await add_key(sealed, queries.Mood.SAD, id=id, secret=Secret(f"enc1:{id.int}"))

    assert await sealed.list_secrets() == [
        queries.ListSecretsRow(ONE, Secret("enc1:1")),
        queries.ListSecretsRow(TWO, Secret("enc1:2")),
    ]
    assert await sealed.list_moods() == [queries.Mood.SAD, queries.Mood.SAD]


async def test_exec_gives_the_number_of_changed_rows(shop: Any, sealed: Any):
    item = shop.module("queries").InsertNotesItem
    await sealed.insert_notes(items=[item(1, "a"), item(2, "b"), item(3, "c")])

    assert await sealed.rename_notes(bodies=("a", "b"), body="d") == 2
    assert await sealed.rename_notes(bodies=[], body="d") == 0
    async with sealed.transaction() as tx:
        assert await tx.take_note() == 0


@pytest.mark.behaviour("STORE-1")
async def test_batch_is_one_statement_over_the_items(shop: Any, sealed: Any):
    queries = shop.module("queries")

    rows = await sealed.insert_notes(items=[queries.InsertNotesItem(2, "b"), queries.InsertNotesItem(1, "a")])

    assert rows == [queries.Note(2, "b"), queries.Note(1, "a")]
    await add_key(sealed, queries.Mood.SAD, secret=Secret("enc1:a"))
    items = [queries.ReplaceSparesItem(ONE, Secret("enc1:x")), queries.ReplaceSparesItem(TWO, None)]
    assert await sealed.replace_spares(items=items, except_mood=queries.Mood.HAPPY) == 1
    assert await sealed.get_spare(id=ONE) == Secret("enc1:x")


async def test_an_empty_batch_does_not_ask_the_database(shop: Any):
    shop.migrate(SCHEMA)
    shop.sql("shop.sql", QUERIES)
    shop.generate()
    queries = shop.module("queries")
    unconnected = queries.SqlQueries(None)

    assert await unconnected.insert_notes(items=[]) == []
    assert await unconnected.replace_spares(items=(), except_mood=queries.Mood.SAD) == 0


@pytest.mark.behaviour("STORE-1")
async def test_a_filter_narrows_a_list_and_its_count(shop: Any, sealed: Any):
    moods = list(shop.module("queries").Mood)
    await add_key(sealed, moods[0], id=ONE, secret=Secret("enc1:a"))
    await add_key(sealed, moods[1], id=TWO, secret=Secret("enc1:b"), owner_id=UUID(int=8))

    async def seen(authorize: Any) -> tuple[list[UUID], int]:
        ids = await sealed.list_api_keys(moods=moods, max_rows=5, authorize=authorize)
        return ids, await sealed.count_api_keys(authorize=authorize)

    assert await seen(EVERYTHING) == ([ONE, TWO], 2)
    assert await seen(OwnedBy(OWNER)) == ([ONE], 1)
    assert await seen(NOTHING) == ([], 0)
    assert await sealed.list_api_keys(moods=moods, max_rows=1) == [ONE]


@pytest.mark.behaviour("STORE-1")
async def test_a_row_that_a_filter_hides_looks_missing(shop: Any, sealed: Any):
    made = await add_key(sealed, shop.module("queries").Mood.SAD, secret=Secret("enc1:a"))

    assert await sealed.get_own_key(id=ONE) == made
    assert await sealed.get_own_key(id=ONE, authorize=OwnedBy(OWNER)) == made
    assert await sealed.find_own_key(id=ONE, authorize=OwnedBy(OWNER)) == made
    assert await sealed.find_own_mood(id=ONE, authorize=OwnedBy(OWNER)) is made.mood
    for hiding in (NOTHING, OwnedBy(UUID(int=8))):
        with pytest.raises(NotFound, match=r"^API key not found"):
            await sealed.get_own_key(id=ONE, authorize=hiding)
        assert await sealed.find_own_key(id=ONE, authorize=hiding) is None
        assert await sealed.find_own_mood(id=ONE, authorize=hiding) is None


@pytest.mark.behaviour("STORE-1")
async def test_the_encrypted_store_seals_what_goes_in_and_opens_what_comes_out(shop: Any, sealed: Any, store: Any):
    queries = shop.module("queries")
    made = await add_key(store, queries.Mood.SAD, spare=Secret("s2"))

    assert (made.secret, made.spare) == (Secret("s1"), Secret("s2"))
    assert await store.get_api_key(id=ONE) == made
    assert await store.find_api_key(id=ONE) == made
    assert await store.find_api_key(id=TWO) is None
    assert await store.get_secret(id=ONE) == Secret("s1")
    assert await store.get_spare(id=ONE) == Secret("s2")
    assert await store.get_either(id=ONE) == Secret("s2")
    assert await store.list_secrets() == [queries.ListSecretsRow(ONE, Secret("s1"))]
    assert await store.list_spares() == [Secret("s2")]
    await store.replace_spares(items=[queries.ReplaceSparesItem(ONE, Secret("s5"))], except_mood="happy")
    assert await store.get_spare(id=ONE) == Secret("s5")
    await store.replace_spares(items=[queries.ReplaceSparesItem(ONE, None)], except_mood="happy")
    assert (await store.list_spares(), await store.get_spare(id=ONE)) == ([None], None)
    await add_key(store, queries.Mood.SAD, id=TWO)
    await store.set_all_spares(ids=[ONE, TWO], spares=[Secret("s6"), Secret("s7")])
    assert await store.get_all_spares() == [Secret("s6"), Secret("s7")]
    held = [(await sealed.get_secret(id=ONE)), *await sealed.get_all_spares()]
    assert [value.reveal()[:5] for value in held] == ["enc1:"] * 3
    await store.set_all_spares(ids=[ONE, TWO], spares=None)
    assert await store.list_spares() == [None, None]


async def test_the_layers_stay_around_a_transaction_and_pass_custom_queries(store: Any, sealed: Any, shop: Any):
    mood = shop.module("queries").Mood.SAD
    async with store.transaction() as tx:
        await tx.ping()
        await add_key(tx, mood)
        assert await tx.search(["a", "b"], limit=1) == ["a"]
        assert await tx.forget() is None

    assert type(tx) is type(store)
    assert (await sealed.get_secret(id=ONE)).reveal().startswith("enc1:")


async def test_a_statement_names_itself_to_the_server(sealed: Any, connection: "asyncpg.Connection[asyncpg.Record]"):
    await sealed.list_moods()
    await sealed.list_api_keys(moods=[], max_rows=1)

    texts = [row[0] for row in await connection.fetch("SELECT statement FROM pg_prepared_statements")]

    assert any(text.startswith("-- name: list_moods\nSELECT mood FROM") for text in texts)
    assert any(text.startswith("-- name: list_api_keys\nSELECT id FROM") for text in texts)


def functions_called(function: Any, module: Any) -> set[str]:
    """Names of the module that a method and the comprehensions in it use and that a parameter could have."""
    pending: list[Any] = [inspect.unwrap(function).__code__]
    found: set[str] = set()
    while pending:
        code = pending.pop()
        found |= {name for name in code.co_names if name in vars(module) and SNAKE_CASE.fullmatch(name)}
        pending += [part for part in code.co_consts if inspect.iscode(part)]
    return found


def test_no_parameter_can_hide_a_function_that_generated_bodies_call(shop: Any):
    shop.migrate(SCHEMA)
    shop.sql("shop.sql", QUERIES)
    shop.generate()
    called: set[str] = set()
    for name, layer in (("queries", "SqlQueries"), ("encrypted", "EncryptedStore"), ("metered", "MeteredStore")):
        module = shop.module(name)
        methods = inspect.getmembers(getattr(module, layer), inspect.isfunction)
        called |= {used for method in methods for used in functions_called(method[1], module)}

    assert called == {"render", "replace"}
    for name in called:
        (problem,) = parse("a.sql", f"-- name: a :one\nSELECT @{name};")[1]
        assert problem.message == f"@{name}: the generated method uses that name; choose another"
