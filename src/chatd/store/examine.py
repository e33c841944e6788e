"""What a database is like: read without changing it, also where chatd has never been, or another version of it."""

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import asyncpg
import msgspec

from chatd.clock import Clock
from chatd.core.lease import LEASE_SECONDS
from chatd.store.migrate import shipped_functions, shipped_migrations

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

_ROUND_TRIPS: Final = 5  # the quickest of so many says how far away it is
READ_ONLY: Final = "SET default_transaction_read_only = on"
_SERVER: Final = """
SELECT current_database() AS name, current_setting('server_version') AS version,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
    pg_is_in_recovery() AS is_standby, to_regclass('public.schema_info') IS NOT NULL AS has_schema"""
_REPLICAS: Final = """
SELECT id, url, host, pid, version, extract(epoch FROM now() - heartbeat_at)::float8 AS silent
FROM replicas ORDER BY id"""


class FoundReplica(msgspec.Struct, frozen=True):
    """`silent`: seconds since its last heartbeat, by the database's clock; negative when that is in the future."""

    id: UUID
    url: str
    host: str
    pid: int
    version: str
    silent: float

    @property
    def is_live(self) -> bool:
        return self.silent <= LEASE_SECONDS


class FoundSchema(msgspec.Struct, frozen=True):
    """`edited` are migrations that were applied with another text; `pending` those that were not."""

    version: int
    min_version: int
    pending: int
    edited: tuple[str, ...]
    has_functions: bool

    @property
    def is_ours(self) -> bool:
        """Whether the queries of this code can be asked."""
        return self.has_functions and not self.pending and not self.edited


class FoundDatabase(msgspec.Struct, frozen=True):
    """`connections` are those that anyone but a superuser can have, `used` how many there are. `ahead`: by how many
    seconds its clock is before this machine's. No schema: chatd has never been there."""

    name: str
    version: str
    major: int
    is_standby: bool
    milliseconds: float
    ahead: float
    connections: int
    used: int
    schema: FoundSchema | None
    replicas: tuple[FoundReplica, ...]


async def examine(connection: "Connection", clock: Clock) -> FoundDatabase:
    """Raises what asyncpg does. Afterwards the connection can't write."""
    await connection.execute(READ_ONLY)
    milliseconds, ahead = await _distance(connection, clock)
    server = await connection.fetchrow(_SERVER)
    assert server is not None
    schema = await _schema(connection) if server["has_schema"] else None
    replicas = await connection.fetch(_REPLICAS) if schema and schema.version > 1 else []
    return FoundDatabase(
        server["name"],
        server["version"],
        connection.get_server_version().major,
        server["is_standby"],
        milliseconds,
        ahead,
        server["connections"],
        server["used"],
        schema,
        tuple(FoundReplica(**dict(row)) for row in replicas),
    )


async def _distance(connection: "Connection", clock: Clock) -> tuple[float, float]:
    best, ahead = float("inf"), 0.0
    for _ in range(_ROUND_TRIPS):
        sent, started = clock.now(), clock.monotonic()
        there: datetime = await connection.fetchval("SELECT clock_timestamp()")
        took = clock.monotonic() - started
        if took < best:
            best, ahead = took, (there - sent).total_seconds() - took / 2
    return best * 1000, ahead


async def _schema(connection: "Connection") -> FoundSchema:
    found = await connection.fetchrow("SELECT version, min_version FROM schema_info")
    rows = await connection.fetch("SELECT number, sha256 FROM applied_migrations")
    applied: dict[int, str] = {row["number"]: row["sha256"] for row in rows}
    shipped = shipped_migrations()
    version = found["version"] if found else 0
    edited = [one for one in shipped if applied.get(one.number, one.sha256) != one.sha256]
    installed = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM function_sets WHERE schema_name = $1)", shipped_functions().schema
    )
    return FoundSchema(
        version,
        found["min_version"] if found else 0,
        sum(one.number > version for one in shipped),
        tuple(f"{one.number:04} ({one.name})" for one in edited),
        bool(installed),
    )
