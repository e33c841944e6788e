"""A fresh Postgres database for every test, cloned in milliseconds from a migrated template.

One embedded Postgres serves all test processes of a run. Environment:
`CHATD_TEST_PGDATA` its data directory, kept afterwards (default: a new one, in memory if possible, removed);
`CHATD_TEST_POSTGRES_BIN` the folder of the Postgres programs, to run the same tests on another version.
"""

import asyncio
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from chatd.clock import SystemClock
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.paths import traversable_mode
from chatd.store.keeper.process import identify

_PGDATA = "CHATD_TEST_PGDATA"
_BIN = "CHATD_TEST_POSTGRES_BIN"
_PREFIX = "chatd-test-"
_MEMORY = Path("/dev/shm")  # noqa: S108 - files in memory: a clone takes a tenth of the time on a disk
_MEMORY_BYTES = 2_000_000_000  # the server, its log of changes, and a database of 8 MB per running test fit easily
_STOP_SECONDS = 60.0  # stopping takes a fraction of a second; a stuck keeper must not stop the test run from ending
_LOCK = 0x63686174_64000002  # one process at a time makes the template
_SETTINGS = {
    # Nothing of a test survives the machine.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_wal_size": "256MB",
    "shared_buffers": "128MB",
    "pg_stat_statements.track": "none",  # but where a test counts: see `statements.py`
}
_CREATED_DIRECTORY = pytest.StashKey[Path]()


class Database(msgspec.Struct, frozen=True):
    """One test's own database. `dsn` is for asyncpg and psycopg alike."""

    name: str
    dsn: str


class PostgresKit:
    """Makes and drops databases on the shared server."""

    def __init__(self, dsn: str, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._dsn = dsn
        self._connection = connection
        self._template = ""

    def dsn(self, database: str) -> str:
        return urlsplit(self._dsn)._replace(path=f"/{database}").geturl()

    async def create(self, *, migrated: bool = True) -> Database:
        """A new database, with the schema of this code or with nothing in it."""
        if migrated and not self._template:
            self._template = await self._make_template()
        name = f"test_{os.getpid()}_{secrets.token_hex(4)}"
        template = self._template if migrated else "template0"
        # Copying files is fastest where they are in memory; the checkpoint it needs is free without fsync.
        await self._connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
        return Database(name, self.dsn(name))

    async def drop(self, database: Database) -> None:
        """Also when somebody is still connected."""
        await self._connection.execute(f'DROP DATABASE IF EXISTS "{database.name}" WITH (FORCE)')

    async def _make_template(self) -> str:
        """Once for all processes and each state of the migrations; its name appears when it is complete."""
        from chatd.store import migrate

        content = repr((migrate.shipped_migrations(), migrate.shipped_functions())).encode()
        code = Path(migrate.__file__).read_bytes()  # noqa: ASYNC240 - once per process
        name = f"template_{hashlib.sha256(content + code).hexdigest()[:16]}"
        await self._connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        try:
            if await self._connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", name):
                return name
            unfinished = f"{name}_unfinished"
            await self._connection.execute(f'DROP DATABASE IF EXISTS "{unfinished}" WITH (FORCE)')
            await self._connection.execute(f'CREATE DATABASE "{unfinished}" TEMPLATE template0')
            connection = await asyncpg.connect(self.dsn(unfinished))
            try:
                await migrate.migrate(connection)
            finally:
                await connection.close()
            # Nobody may connect to it by mistake: a connection would make the next clone fail.
            await self._connection.execute(f'ALTER DATABASE "{unfinished}" ALLOW_CONNECTIONS false')
            await self._connection.execute(f'ALTER DATABASE "{unfinished}" RENAME TO "{name}"')
        finally:
            await self._connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)
        return name


@asynccontextmanager
async def postgres_kit() -> AsyncGenerator[PostgresKit]:
    """The shared server of this test run; outside of one, a server of its own that is removed afterwards."""
    clock = SystemClock()
    given = os.environ.get(_PGDATA)
    data_dir = Path(given) if given else _new_directory()
    programs = os.environ.get(_BIN)
    try:
        async with embedded_postgres(
            data_dir, clock=clock, server_settings=_SETTINGS, binaries=Path(programs) if programs else None
        ) as postgres:
            connection = await asyncpg.connect(postgres.dsn)
            try:
                yield PostgresKit(postgres.dsn, connection)
            finally:
                await connection.close()
    finally:
        if not given:
            await _remove(data_dir)


@asynccontextmanager
async def migrated_database() -> AsyncGenerator[str]:
    """The DSN of a database with the schema of this code, dropped at the end. Needs no pytest run."""
    async with postgres_kit() as kit:
        database = await kit.create()
        try:
            yield database.dsn
        finally:
            await kit.drop(database)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_postgres() -> AsyncGenerator[PostgresKit]:
    """The server; tests want `database` or `empty_database`."""
    async with postgres_kit() as kit:
        yield kit


@pytest_asyncio.fixture(loop_scope="session")
async def database(shared_postgres: PostgresKit) -> AsyncGenerator[Database]:
    """A database of this test's own, with the schema of this code."""
    made = await shared_postgres.create()
    yield made
    await shared_postgres.drop(made)


@pytest_asyncio.fixture(loop_scope="session")
async def empty_database(shared_postgres: PostgresKit) -> AsyncGenerator[Database]:
    """A database of this test's own with nothing in it, not even migrations."""
    made = await shared_postgres.create(migrated=False)
    yield made
    await shared_postgres.drop(made)


def pytest_configure(config: pytest.Config) -> None:
    """The main process names the data directory; workers inherit the name with the environment."""
    if not hasattr(config, "workerinput") and _PGDATA not in os.environ:
        _remove_abandoned()
        config.stash[_CREATED_DIRECTORY] = _new_directory()
        os.environ[_PGDATA] = str(config.stash[_CREATED_DIRECTORY])


def pytest_unconfigure(config: pytest.Config) -> None:
    created = config.stash.get(_CREATED_DIRECTORY, None)
    if created is not None:
        os.environ.pop(_PGDATA, None)
        asyncio.run(_remove(created))


def _new_directory() -> Path:
    """Not pytest's temporary folder, which the user that runs Postgres for root can't enter."""
    parent = Path(tempfile.gettempdir())
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _MEMORY_BYTES:
        parent = _MEMORY
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    folder.chmod(traversable_mode())
    return folder


async def _remove(folder: Path) -> None:
    clock = SystemClock()
    async with clock.timeout(_STOP_SECONDS, timer="testing.postgres.stopped"):
        await wait_stopped(folder, clock)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned() -> None:
    """What a killed run left in memory; its Postgres stopped when it was killed."""
    for parent in {_MEMORY, Path(tempfile.gettempdir())}:
        for folder in parent.glob(f"{_PREFIX}*-*"):
            pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if pid.isdigit() and identify(int(pid)) is None and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
