"""Brings a database to the schema this code was written for, once, however many replicas start."""

import hashlib
import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Final, LiteralString

import asyncpg
import msgspec

from chatd.core.errors import StartRefused
from chatd.store.core_as_sql import core_as_sql

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]

OLDEST_POSTGRES: Final = 15
_LOCK: Final = 0x63686174_64000001  # "chatd" and a number: one migration at a time per database
_DROPS_FUNCTION_SETS: Final = "-- @drops_function_sets"
_FILE_NAME: Final = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")

_BOOKKEEPING: Final[LiteralString] = """
CREATE TABLE IF NOT EXISTS schema_info (
    only_row    boolean PRIMARY KEY DEFAULT true CONSTRAINT schema_info_one_row CHECK (only_row),
    version     integer NOT NULL,
    min_version integer NOT NULL
);
INSERT INTO schema_info (version, min_version) VALUES (0, 0) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS applied_migrations (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS function_sets (
    schema_name  text PRIMARY KEY,
    installed_at timestamptz NOT NULL DEFAULT now()
);
"""


class Migration(msgspec.Struct, frozen=True):
    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def drops_function_sets(self) -> bool:
        return any(line.strip() == _DROPS_FUNCTION_SETS for line in self.sql.splitlines())


class FunctionSet(msgspec.Struct, frozen=True):
    """The SQL types, functions and tables of this code, in a schema named by their content."""

    schema: str
    sources: tuple[tuple[str, str], ...]


class MigrationReport(msgspec.Struct, frozen=True):
    applied: tuple[Migration, ...]
    version: int
    function_schema: str


def shipped_migrations() -> tuple[Migration, ...]:
    """The migrations of this code, in order; a gap or a bad name is a bug and says so."""
    found: list[Migration] = []
    for entry in files("chatd.store").joinpath("migrations").iterdir():
        if not entry.name.endswith(".sql"):
            continue
        match = _FILE_NAME.match(entry.name)
        if match is None:
            raise ValueError(f"{entry.name}: a migration is named NNNN_what.sql")
        found.append(Migration(int(match[1]), match[2], entry.read_text("utf-8")))
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations must be numbered 0001, 0002, … without gaps or repeats")
    return tuple(found)


def shipped_functions() -> FunctionSet:
    return functions_in(files("chatd.store").joinpath("sql"))


def functions_in(folder: Traversable) -> FunctionSet:
    """The set of a folder: `types`, then the table of transitions, then `functions`, which may use both, then
    `transitions`, which may use all. Within each the files go by name; a folder that is missing is empty.
    """
    table = ("core_as_sql.py", core_as_sql())
    sources = (
        *_sql_files(folder, "types"),
        table,
        *_sql_files(folder, "functions"),
        *_sql_files(folder, "transitions"),
    )
    digest = hashlib.sha256(repr(sources).encode()).hexdigest()[:12]
    return FunctionSet(f"chatd_fn_{digest}", sources)


def _sql_files(parent: Traversable, name: str) -> Iterator[tuple[str, str]]:
    folder = parent.joinpath(name)
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name) if folder.is_dir() else []
    return ((f"{name}/{entry.name}", entry.read_text("utf-8")) for entry in entries if entry.name.endswith(".sql"))


async def migrate(
    connection: "Connection",
    *,
    migrations: tuple[Migration, ...] | None = None,
    functions: FunctionSet | None = None,
) -> MigrationReport:
    """Apply what is missing, each migration in a transaction of its own, under a lock that other replicas wait for.

    Raises StartRefused when the server is too old, when the database needs newer code, or when a migration fails.
    A database that is ahead of this code but still allows it is left as it is.
    """
    migrations = shipped_migrations() if migrations is None else migrations
    functions = shipped_functions() if functions is None else functions
    _refuse_old_server(connection)
    known = migrations[-1].number if migrations else 0
    await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
    try:
        await connection.execute(_BOOKKEEPING)
        info = await connection.fetchrow("SELECT version, min_version FROM schema_info")
        assert info is not None
        version, min_version = info["version"], info["min_version"]
        if known < min_version:
            raise StartRefused(
                f"The database needs a newer chatd: it is at schema {version}, "
                f"which code that knows only schema {known} can't use.",
                detail=f"Run a chatd that knows at least schema {min_version}.",
            )
        await _refuse_edited(connection, migrations)
        pending = tuple(migration for migration in migrations if migration.number > version)
        for migration in pending:
            await _apply(connection, migration)
        await _install(connection, functions)
    finally:
        if not connection.is_closed():
            await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)
    return MigrationReport(pending, max(version, known), functions.schema)


def _refuse_old_server(connection: "Connection") -> None:
    server = connection.get_server_version()
    if server.major < OLDEST_POSTGRES:
        raise StartRefused(
            f"The database is Postgres {server.major}; chatd needs {OLDEST_POSTGRES} or newer.",
            detail="Upgrade the server, or unset CHATD_DATABASE_URL to use the embedded one.",
        )


async def _apply(connection: "Connection", migration: Migration) -> None:
    try:
        async with connection.transaction():
            if migration.drops_function_sets:
                await _drop_function_sets(connection)
            await connection.execute(migration.sql)
            await connection.execute("UPDATE schema_info SET version = $1", migration.number)
            await connection.execute(
                "INSERT INTO applied_migrations (number, name, sha256) VALUES ($1, $2, $3)",
                migration.number,
                migration.name,
                migration.sha256,
            )
            if migration.drops_function_sets:
                # Code that is older would go on calling functions that are gone.
                least = await connection.fetchval("SELECT min_version FROM schema_info")
                if least < migration.number:
                    raise StartRefused(
                        f"Migration {migration.number:04} ({migration.name}) drops the functions of older code but "
                        f"does not raise min_version to {migration.number}."
                    )
    except asyncpg.PostgresError as error:
        raise StartRefused(
            f"Migration {migration.number:04} ({migration.name}) failed: {error}",
            detail="Nothing of it was applied; the migrations before it were.",
        ) from error


async def _refuse_edited(connection: "Connection", migrations: tuple[Migration, ...]) -> None:
    applied = {
        row["number"]: row["sha256"] for row in await connection.fetch("SELECT number, sha256 FROM applied_migrations")
    }
    for migration in migrations:
        if applied.get(migration.number, migration.sha256) != migration.sha256:
            raise StartRefused(
                f"Migration {migration.number:04} ({migration.name}) was changed after this database applied it.",
                detail="Put its old text back and write a new migration for the change.",
            )


async def _drop_function_sets(connection: "Connection") -> None:
    for row in await connection.fetch("DELETE FROM function_sets RETURNING schema_name"):
        await connection.execute(f'DROP SCHEMA IF EXISTS "{row["schema_name"]}" CASCADE')


async def _install(connection: "Connection", functions: FunctionSet) -> None:
    if await connection.fetchval("SELECT true FROM function_sets WHERE schema_name = $1", functions.schema):
        return
    async with connection.transaction():
        await connection.execute(f'CREATE SCHEMA "{functions.schema}"')
        await connection.execute(f'SET LOCAL search_path = "{functions.schema}", public')
        for name, source in functions.sources:
            try:
                await connection.execute(source)
            except asyncpg.PostgresError as error:
                raise StartRefused(f"The SQL of {name} can't be installed: {error}") from error
        await connection.execute("INSERT INTO function_sets (schema_name) VALUES ($1)", functions.schema)
