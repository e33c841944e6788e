"""Migrations: once, together, in order, and refused clearly when they can't be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import msgspec
import pytest
import pytest_asyncio

import chatd.store
from chatd.core.errors import StartRefused
from chatd.core.lease import LEASE_SECONDS
from chatd.core.transitions import TABLE
from chatd.store.migrate import (
    FunctionSet,
    Migration,
    functions_in,
    migrate,
    shipped_functions,
    shipped_migrations,
)
from chatd.store.pool import connect, migrate_database

FIRST = Migration(1, "first", "CREATE TABLE a (x int); INSERT INTO a VALUES (1);")
SECOND = Migration(2, "second", "ALTER TABLE a ADD y int;")
FUNCTIONS = FunctionSet("chatd_fn_one", (("f.sql", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';"),))
NEWER = FunctionSet("chatd_fn_two", (("f.sql", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2';"),))


@pytest_asyncio.fixture
async def connection(empty_database: Any) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await connect(empty_database.dsn)
    yield connection
    await connection.close()


async def test_only_what_is_missing_is_applied(connection: Any):
    first = await migrate(connection, migrations=(FIRST,), functions=FUNCTIONS)
    second = await migrate(connection, migrations=(FIRST, SECOND), functions=FUNCTIONS)
    third = await migrate(connection, migrations=(FIRST, SECOND), functions=FUNCTIONS)

    assert [report.applied for report in (first, second, third)] == [(FIRST,), (SECOND,), ()]
    assert await connection.fetchval("SELECT version FROM schema_info") == 2


async def test_replicas_that_start_at_once_migrate_once(empty_database: Any):
    async with AsyncExitStack() as stack:
        connections = [await connect(empty_database.dsn) for _ in range(4)]
        for connection in connections:
            stack.push_async_callback(connection.close)
        reports = await asyncio.gather(
            *(migrate(connection, migrations=(FIRST, SECOND), functions=FUNCTIONS) for connection in connections)
        )
        rows = await connections[0].fetchval("SELECT count(*) FROM a")

    assert sorted(len(report.applied) for report in reports) == [0, 0, 0, 2]
    assert rows == 1


async def test_a_failing_migration_leaves_nothing_of_itself_and_says_which(connection: Any):
    broken = Migration(2, "broken", "CREATE TABLE half (x int); SELECT 1/0;")

    with pytest.raises(StartRefused, match="0002"):
        await migrate(connection, migrations=(FIRST, broken), functions=FUNCTIONS)

    assert await connection.fetchval("SELECT version FROM schema_info") == 1
    assert await connection.fetchval("SELECT to_regclass('half')") is None
    # The lock is free again: a mended version goes on.
    await migrate(connection, migrations=(FIRST, SECOND), functions=FUNCTIONS)


async def test_code_older_than_the_database_runs_on_unless_it_is_told_not_to(connection: Any):
    await migrate(connection, migrations=(FIRST, SECOND), functions=FUNCTIONS)

    report = await migrate(connection, migrations=(FIRST,), functions=FUNCTIONS)
    assert report.version == 2

    await connection.execute("UPDATE schema_info SET min_version = 2")
    with pytest.raises(StartRefused) as caught:
        await migrate(connection, migrations=(FIRST,), functions=FUNCTIONS)
    assert "newer chatd" in caught.value.message
    assert "schema 2" in (caught.value.detail or "")


async def test_two_versions_of_the_functions_live_side_by_side(connection: Any):
    await migrate(connection, migrations=(FIRST,), functions=FUNCTIONS)
    await migrate(connection, migrations=(FIRST,), functions=NEWER)
    await migrate(connection, migrations=(FIRST,), functions=NEWER)

    assert await connection.fetchval("SELECT chatd_fn_one.f()") == 1
    assert await connection.fetchval("SELECT chatd_fn_two.f()") == 2


async def test_a_migration_can_drop_the_functions_of_the_past(connection: Any):
    await migrate(connection, migrations=(FIRST,), functions=FUNCTIONS)
    dropping = Migration(2, "drop", "-- @drops_function_sets\nUPDATE schema_info SET min_version = 2;")

    await migrate(connection, migrations=(FIRST, dropping), functions=NEWER)

    sets = await connection.fetch("SELECT schema_name FROM function_sets")
    assert [row[0] for row in sets] == ["chatd_fn_two"]
    assert await connection.fetchval("SELECT to_regnamespace('chatd_fn_one')") is None


async def test_dropping_functions_without_shutting_out_older_code_is_refused(connection: Any):
    await migrate(connection, migrations=(FIRST,), functions=FUNCTIONS)
    dropping = Migration(2, "drop", "-- @drops_function_sets\nSELECT 1;")

    with pytest.raises(StartRefused, match="min_version"):
        await migrate(connection, migrations=(FIRST, dropping), functions=NEWER)

    assert await connection.fetchval("SELECT chatd_fn_one.f()") == 1


async def test_a_migration_that_was_edited_after_it_was_applied_is_refused(connection: Any):
    await migrate(connection, migrations=(FIRST,), functions=FUNCTIONS)
    edited = Migration(1, "first", FIRST.sql + " -- edited")

    with pytest.raises(StartRefused, match="0001"):
        await migrate(connection, migrations=(edited,), functions=FUNCTIONS)


async def test_a_user_who_may_not_create_tables_is_told_so(empty_database: Any):
    admin = await connect(empty_database.dsn)
    role = f"guest_{empty_database.name}"
    await admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
    try:
        parts = urlsplit(empty_database.dsn)
        dsn = parts._replace(netloc=f"{role}:x@").geturl()
        with pytest.raises(StartRefused) as caught:
            await migrate_database(dsn)
        assert "must own" in (caught.value.detail or "")
    finally:
        await admin.execute(f"DROP ROLE {role}")
        await admin.close()


async def test_a_function_that_can_not_be_installed_names_its_file(connection: Any):
    broken = FunctionSet("chatd_fn_bad", (("oops.sql", "CREATE FUNCTION oops"),))

    with pytest.raises(StartRefused, match=r"oops\.sql"):
        await migrate(connection, migrations=(FIRST,), functions=broken)

    assert await connection.fetchval("SELECT to_regnamespace('chatd_fn_bad')") is None


def write_sql(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.sql"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


async def test_a_set_has_types_then_the_transitions_then_functions_then_what_carries_them_out(
    connection: Any, tmp_path: Path
):
    write_sql(
        tmp_path,
        transitions__a="CREATE FUNCTION a() RETURNS pair LANGUAGE sql AS 'SELECT b()';",
        functions__b="""CREATE FUNCTION b() RETURNS pair LANGUAGE sql AS
                        'SELECT (count(*), min(key))::pair FROM jsonb_object_keys(transition_table()) AS key';""",
        types__c="CREATE TYPE pair AS (number bigint, state text);",
        ignored="SELECT 1;",
    )
    functions = functions_in(tmp_path)
    await migrate(connection, migrations=(FIRST,), functions=functions)

    assert [name for name, _ in functions.sources] == [
        "types/c.sql",
        "core_as_sql.py",
        "functions/b.sql",
        "transitions/a.sql",
    ]
    await connection.execute(f"SET search_path = {functions.schema}, public")
    assert await connection.fetchval("SELECT (a()).number") == len(TABLE)


async def test_each_set_has_the_table_of_transitions_of_its_code(connection: Any, tmp_path: Path):
    functions = functions_in(tmp_path)
    older = FunctionSet("chatd_fn_one", (("table", "CREATE FUNCTION transition_table() RETURNS int RETURN 1;"),))
    await migrate(connection, migrations=(FIRST,), functions=older)
    await migrate(connection, migrations=(FIRST,), functions=functions)

    await connection.execute(f"SET search_path = {functions.schema}, public")
    table = msgspec.json.decode(await connection.fetchval("SELECT transition_table()"))
    lease = await connection.fetchval("SELECT lease_time()")

    assert {
        transition: {state: frozenset(landings) for state, landings in cells.items()}
        for transition, cells in table.items()
    } == TABLE
    assert lease.total_seconds() == LEASE_SECONDS


async def test_a_set_with_tables_and_types_can_be_dropped(connection: Any, tmp_path: Path):
    write_sql(
        tmp_path,
        types__pair="CREATE TYPE pair AS (a int, b text);",
        functions__f="CREATE FUNCTION f(pair[]) RETURNS SETOF pair LANGUAGE sql AS 'SELECT * FROM unnest($1)';",
    )
    old = functions_in(tmp_path)
    await migrate(connection, migrations=(FIRST,), functions=old)
    dropping = Migration(2, "drop", "-- @drops_function_sets\nUPDATE schema_info SET min_version = 2;")

    await migrate(connection, migrations=(FIRST, dropping), functions=NEWER)

    assert await connection.fetchval("SELECT to_regnamespace($1)", old.schema) is None


def test_a_set_is_named_by_the_content_of_all_its_folders(tmp_path: Path):
    names = {functions_in(tmp_path).schema}
    for number, name in enumerate(("types__a", "functions__a", "transitions__a"), start=2):
        write_sql(tmp_path, **{name: "SELECT 1;"})
        names.add(functions_in(tmp_path).schema)
        assert len(names) == number

    assert functions_in(tmp_path).schema in names


async def _shape(connection: Any) -> list[str]:
    """Everything about the schema that matters, as the catalogue tells it."""
    queries = [
        """SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                  pg_get_expr(d.adbin, d.adrelid)
           FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
           LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
           WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped""",
        """SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
           WHERE connamespace = 'public'::regnamespace AND contype <> 'n'""",
        "SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        """SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger
           WHERE NOT tgisinternal""",
        """SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc
           WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'""",
        """SELECT 'enum', enumtypid::regtype::text, array_agg(enumlabel::text ORDER BY enumsortorder) FROM pg_enum
           GROUP BY enumtypid""",
        """SELECT 'domain', typname, format_type(typbasetype, typtypmod) FROM pg_type
           WHERE typtype = 'd' AND typnamespace = 'public'::regnamespace""",
    ]
    return [row for query in queries for row in sorted(map(repr, await connection.fetch(query)))]


async def test_schema_sql_is_the_sum_of_the_migrations(empty_database: Any, database: Any):
    schema = (Path(chatd.store.__file__).parent / "schema.sql").read_text("utf-8")
    summed, migrated = await connect(empty_database.dsn), await connect(database.dsn)
    try:
        await summed.execute(schema)
        await summed.execute("SET search_path = public")
        shapes = await _shape(summed), await _shape(migrated)
    finally:
        await summed.close()
        await migrated.close()

    assert shapes[0] == shapes[1]
    assert len(shapes[0]) > 50


async def test_a_database_that_is_not_there_is_refused_with_what_to_check():
    with pytest.raises(StartRefused) as caught:
        await migrate_database("postgresql://nobody:hunter2@127.0.0.1:1/none")

    assert "CHATD_DATABASE_URL" in (caught.value.detail or "")
    assert "hunter2" not in f"{caught.value.message} {caught.value.detail}"


def test_the_shipped_migrations_and_functions_are_in_order():
    assert [migration.number for migration in shipped_migrations()] == list(range(1, len(shipped_migrations()) + 1))
    assert shipped_functions().schema.startswith("chatd_fn_")
