"""A small shop's store in a folder of its own: what dbgen is tried on."""

import importlib
import secrets
import sys
import textwrap
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from dbgen.__main__ import run
from dbgen.files import replace_stale
from dbgen.generate import generate
from dbgen.layout import Layout

from chatd.store.postgres_binaries import find_binaries
from chatd.testing.postgres import Database

ROOT = Path(__file__).parents[2]
STORE = '''
    """The shop's store."""

    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager, asynccontextmanager
    from typing import Any, Protocol, Self

    from {package}.custom_queries import CustomQueries, SqlCustomQueries
    from {package}.queries import Queries, SqlQueries


    class Store(Queries, CustomQueries, Protocol):
        def transaction(self) -> "AbstractAsyncContextManager[Store]": ...
        async def ping(self) -> None: ...


    class SqlStore(SqlQueries, SqlCustomQueries):
        def __init__(self, db: Any) -> None:
            super().__init__(db)

        @asynccontextmanager
        async def transaction(self) -> AsyncGenerator[Self]:
            async with self._db.transaction():
                yield self

        async def ping(self) -> None:
            await self._db.execute("SELECT 1")
    '''
CUSTOM = '''
    """Queries written by hand."""

    from collections.abc import Sequence
    from typing import Any, Protocol


    class CustomQueries(Protocol):
        async def search(self, words: Sequence[str], *, limit: int = 10) -> list[str]: ...
        async def forget(self) -> None: ...


    class SqlCustomQueries:
        _db: Any

        async def search(self, words: Sequence[str], *, limit: int = 10) -> list[str]:
            return [*words][:limit]

        async def forget(self) -> None:
            return None
    '''


def dedented(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def pg_bin() -> Path:
    """The programs beside the server that the tests run on."""
    return find_binaries().bin


@dataclass(frozen=True)
class Shop:
    """A package with a store, and a database without migrations."""

    layout: Layout
    dsn: str

    def migrate(self, sql: str) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(sql.encode())

    def sql(self, file: str, text: str) -> None:
        (self.layout.sql / file).write_text(dedented(text))

    def write(self, file: str, text: str) -> None:
        self.layout.file(file).write_text(dedented(text).replace("{package}", self.layout.package))

    def read(self, file: str) -> str:
        return self.layout.file(file).read_text()

    def files(self) -> dict[str, str]:
        """Everything in the store's folder that is no cache."""
        return {
            str(path.relative_to(self.layout.store)): path.read_text()
            for path in sorted(self.layout.store.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    def generate(self) -> None:
        replace_stale(generate(self.dsn, self.layout, pg_bin() / "pg_dump"))

    def command(self, *arguments: str) -> int:
        return run([*arguments, "--dsn", self.dsn, "--pg-bin", str(pg_bin())], self.layout)

    def module(self, name: str) -> Any:
        """Import a generated file."""
        importlib.invalidate_caches()
        module: ModuleType = importlib.import_module(self.layout.module(name))
        return module


def _layout(folder: Path) -> Layout:
    package = f"shop_{secrets.token_hex(8)}"
    store = folder / package
    (store / "sql").mkdir(parents=True)
    return Layout(root=ROOT, store=store, package=package)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """An empty store's folder; there is no database."""
    return _layout(tmp_path)


@pytest.fixture
def shop(tmp_path: Path, empty_database: Database, monkeypatch: pytest.MonkeyPatch) -> Generator[Shop]:
    """A store's folder with its hand-written parts, and an empty database."""
    made = Shop(_layout(tmp_path), empty_database.dsn)
    made.write("__init__.py", '"""The shop."""\n')
    made.write("store.py", STORE)
    made.write("custom_queries.py", CUSTOM)
    for name, what in (("filters", "render"), ("cipher", "Cipher"), ("authorizer", "Authorizer")):
        made.write(f"{name}.py", f'"""As in chatd."""\n\nfrom chatd.store.{name} import {what} as {what}\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    yield made
    for name in [name for name in sys.modules if name.split(".")[0] == made.layout.package]:
        del sys.modules[name]
