"""The asyncpg pool: where connections get their search path, limits and statement cache."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg

from chatd.core.errors import StartRefused
from chatd.store.connections import Connections
from chatd.store.migrate import MigrationReport, migrate

_CONNECT_SECONDS: Final = 10.0  # a database that does not answer by then is reported, not waited for
_COMMAND_SECONDS: Final = 30.0  # no query of ours takes a tenth of it; a stuck one must not hold a connection
_LOCK_SECONDS: Final = 5  # a row is locked for milliseconds; who waits longer must not keep connections from others
_IDLE_SECONDS: Final = 60  # a transaction that does nothing for so long was forgotten, and holds locks
_CACHED_STATEMENTS: Final = 1024  # more than there are queries, so that every one stays prepared


def connect_options(
    dsn: str, *, function_schema: str | None = None, command_seconds: float | None = _COMMAND_SECONDS
) -> dict[str, Any]:
    """Arguments for asyncpg's connect and create_pool alike."""
    search_path = f'"{function_schema}", public' if function_schema else "public"
    return {
        "dsn": dsn,
        "timeout": _CONNECT_SECONDS,
        "command_timeout": command_seconds,
        "statement_cache_size": _CACHED_STATEMENTS,
        "max_cached_statement_lifetime": 0,
        "server_settings": {
            "search_path": search_path,
            "application_name": "chatd",
            "timezone": "UTC",
            # Transitions count on seeing what was committed before they won a lock, whatever the database's default is.
            "default_transaction_isolation": "read committed",
        },
    }


async def connect(
    dsn: str, *, function_schema: str | None = None, command_seconds: float | None = _COMMAND_SECONDS
) -> "asyncpg.Connection[asyncpg.Record]":
    """One connection of its own, with the same settings as those of the pool."""
    options = connect_options(dsn, function_schema=function_schema, command_seconds=command_seconds)
    return await asyncpg.connect(**options)


async def migrate_database(dsn: str) -> MigrationReport:
    """Migrate over a connection of its own, without a time limit: a large migration may take minutes."""
    try:
        connection = await connect(dsn, command_seconds=None)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise StartRefused(
            f"The database can't be reached: {error or type(error).__name__}",
            detail="Check CHATD_DATABASE_URL and that the server runs and accepts this user.",
        ) from error
    try:
        return await migrate(connection)
    except asyncpg.InsufficientPrivilegeError as error:
        raise StartRefused(
            f"The database can't be migrated: {error}.", detail="The user of CHATD_DATABASE_URL must own its database."
        ) from error
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise StartRefused(
            f"The database can't be migrated: {error or type(error).__name__}.",
            detail="Try again; the server's log says more.",
        ) from error
    finally:
        await connection.close()


async def _nothing_to_reset(_connection: object) -> None:
    """Saves the round trip by which asyncpg makes the server forget session state after every query.

    Pooled connections keep none: no session locks, listeners or settings. What a cancelled task leaves open, asyncpg
    rolls back before it calls this.
    """


@asynccontextmanager
async def open_pool(dsn: str, *, function_schema: str, size: int) -> AsyncIterator[Connections]:
    """At most `size` connections on a migrated database."""
    options = connect_options(dsn, function_schema=function_schema)
    options["server_settings"] |= {
        "lock_timeout": f"{_LOCK_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{_IDLE_SECONDS}s",
    }
    async with asyncpg.create_pool(
        **options,
        min_size=1,
        max_size=size,
        max_inactive_connection_lifetime=300.0,  # five quiet minutes, then the server gets its memory back
        max_queries=1_000_000,  # a fresh connection now and then, whatever a backend may leak
        reset=_nothing_to_reset,
    ) as pool:
        connections = Connections(pool, size)
        try:
            yield connections
        finally:
            await connections.give_back()
