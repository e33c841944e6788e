"""The command writes all files or none, only what changed, and can check without writing."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dbgen.__main__ import run
from dbgen.files import replace_stale
from dbgen.layout import own_layout
from dbgen.outputs.schema import normalised

from chatd.store.postgres_binaries import find_binaries
from chatd.testing.postgres import Database

SCHEMA = """
    CREATE DOMAIN encrypted_text AS text CONSTRAINT ciphertext_only CHECK (VALUE LIKE 'enc1:%');
    CREATE TABLE owners (id int PRIMARY KEY, email text NOT NULL CONSTRAINT owners_email_key UNIQUE);
    CREATE UNIQUE INDEX owners_by_lower_email ON owners (lower(email));
    CREATE TABLE cats (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        owner_id int NOT NULL CONSTRAINT cats_owner_id_fkey REFERENCES owners (id),
        lives int NOT NULL CONSTRAINT cats_lives_check CHECK (lives BETWEEN 0 AND 9),
        chip encrypted_text
    );
    CREATE SCHEMA chatd_fn_abc;
    CREATE FUNCTION chatd_fn_abc.purr(loud bool) RETURNS text LANGUAGE sql AS $$ SELECT 'prr' $$;
    CREATE DOMAIN chatd_fn_abc.loudness AS int CONSTRAINT set_check CHECK (VALUE > 0);
    CREATE TYPE chatd_fn_abc.sound AS (volume chatd_fn_abc.loudness, text text);
    CREATE TABLE chatd_fn_abc.sounds (
        id int CONSTRAINT set_key PRIMARY KEY CONSTRAINT set_fkey REFERENCES chatd_fn_abc.sounds (id)
    );
"""
GENERATED = {"queries.py", "constraints.py", "metered.py", "encrypted.py", "authorized.py", "schema.sql"}


@pytest.fixture
def cats(shop: Any) -> Any:
    """A shop with two query files."""
    shop.migrate(SCHEMA)
    shop.sql("owners.sql", "-- name: get_owner :one\nSELECT * FROM owners WHERE id = @id;\n")
    shop.sql(
        "cats.sql",
        "-- name: zap_cat :exec\nUPDATE cats SET lives = lives - 1 WHERE id = @id;\n"
        "-- name: get_cat :one\nSELECT * FROM cats WHERE id = @id;\n"
        "-- name: purr :one\n-- @notnull sound\nSELECT purr(loud => @loud) AS sound;\n",
    )
    for folder in ("types", "functions", "transitions"):
        (shop.layout.sql / folder).mkdir()
        shop.sql(f"{folder}/not_a_query.sql", "SELECT 1;")
    return shop


def methods_of(text: str, class_name: str) -> list[str]:
    lines = text[text.index(f"class {class_name}") :].splitlines()
    return [line.partition("def ")[2].partition("(")[0] for line in lines if "def " in line]


@pytest.mark.behaviour("STORE-1")
def test_all_files_are_written_in_the_order_of_files_then_queries_then_custom_ones(
    cats: Any, capsys: pytest.CaptureFixture[str]
):
    before = set(cats.files())

    assert cats.command() == 0

    assert set(cats.files()) - before == GENERATED
    written = ["zap_cat", "get_cat", "purr", "get_owner"]
    layer = ["__init__", "transaction", "ping"]
    assert methods_of(cats.read("queries.py"), "SqlQueries") == ["__init__", *written]
    assert methods_of(cats.read("metered.py"), "MeteredStore") == [*layer, *written, "search", "forget"]
    assert methods_of(cats.read("authorized.py"), "AuthorizedStore") == [*layer, *written, "search", "forget"]
    assert methods_of(cats.read("encrypted.py"), "EncryptedStore") == [
        *(*layer, "_decrypt_cat"),
        *(*written, "search", "forget"),
    ]
    assert sorted(line.rpartition("/")[2] for line in capsys.readouterr().out.splitlines()) == sorted(GENERATED)


@pytest.mark.behaviour("STORE-1")
def test_running_twice_changes_nothing(cats: Any, capsys: pytest.CaptureFixture[str]):
    cats.command()
    files = {name: cats.layout.file(name).stat() for name in GENERATED}
    capsys.readouterr()

    assert cats.command() == 0

    assert capsys.readouterr().out == ""
    for name, before in files.items():
        after = cats.layout.file(name).stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert cats.command("--check") == 0


@pytest.mark.behaviour("STORE-1")
def test_check_names_stale_files_and_writes_nothing(cats: Any, capsys: pytest.CaptureFixture[str]):
    cats.command()
    cats.sql("owners.sql", "-- name: get_owner_by_id :one\nSELECT * FROM owners WHERE id = @id;\n")
    cats.layout.file("constraints.py").unlink()
    before = cats.files()
    capsys.readouterr()

    assert cats.command("--check") == 1

    told = capsys.readouterr().err.splitlines()
    assert {line.rpartition("/")[2] for line in told[:-1]} == {
        f"{name} is stale" for name in GENERATED - {"schema.sql"}
    }
    assert told[-1] == "Run `make gen` and commit what it changes."
    assert cats.files() == before


@pytest.mark.behaviour("STORE-1")
def test_a_failing_run_tells_everything_and_leaves_all_files(cats: Any, capsys: pytest.CaptureFixture[str]):
    cats.command()
    cats.sql("owners.sql", "-- name: get_owner :one\nSELECT *\nFROM owners WHERE idd = @id;\n")
    cats.sql("more.sql", "-- name: get_more :many\nSELECT id FROM owners;\n\n-- name: get_most :many\nSELECT x;\n")
    before = cats.files()
    capsys.readouterr()

    assert cats.command() == 1

    assert capsys.readouterr().err.splitlines() == [
        'more.sql:5: get_most: column "x" does not exist',
        'owners.sql:3: get_owner: column "idd" does not exist (Perhaps you meant to reference the column "owners.id".)',
    ]
    assert cats.files() == before


def test_a_wrapper_that_cannot_be_kept_stops_the_other_files_too(cats: Any, capsys: pytest.CaptureFixture[str]):
    cats.command()
    for name in ("metered.py", "authorized.py"):
        text = cats.read(name).replace('with self._meter.query("purr"):', "if True:")
        cats.layout.file(name).write_text(text.replace('raise NotWritten("purr")', "return await self._inner.purr()"))
    cats.sql("cats.sql", "-- name: get_cat :one\nSELECT * FROM cats WHERE id = @id;\n")
    before = cats.files()
    capsys.readouterr()

    assert cats.command() == 1

    assert capsys.readouterr().err.splitlines() == [
        "authorized.py: purr: its query is gone; delete the method by hand",
        "metered.py: purr: its query is gone; delete the method by hand",
    ]
    assert cats.files() == before


def test_a_custom_query_with_the_name_of_a_generated_one_is_refused(cats: Any, capsys: pytest.CaptureFixture[str]):
    cats.sql("more.sql", "-- name: search :exec\nSELECT 1;\n")

    assert cats.command() == 1

    assert capsys.readouterr().err == "custom_queries.py: search: the name is taken by more.sql:1\n"


def test_the_encrypted_store_keeps_what_is_not_the_interfaces(cats: Any):
    cats.command()
    text = cats.read("encrypted.py").replace("    async def ping", "    # Only asks.\n    async def ping")
    cats.layout.file("encrypted.py").write_text(text.replace("get_cat(id=id)", "get_cat(id=id + 1)"))
    cats.sql("cats.sql", "-- name: get_cat :one\nSELECT id, lives FROM cats WHERE id = @id;\n")

    assert cats.command() == 0

    text = cats.read("encrypted.py")
    assert "# Only asks." in text
    assert "get_cat(id=id)" in text
    assert "_decrypt_" not in text
    assert "replace" not in text


def test_a_file_is_replaced_at_once_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.py"
    path.write_text("old")
    seen: list[str] = []

    def fail(source: Path, target: Path) -> Path:
        seen.append(source.read_text() + target.read_text())
        raise OSError("no")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="no"):
            replace_stale({path: "new"})

    assert seen == ["newold"]
    assert [file.name for file in tmp_path.iterdir()] == ["a.py"]
    assert replace_stale({path: "new"}) == [path]
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o644)
    assert replace_stale({path: "new"}) == []


@pytest.mark.behaviour("STORE-1")
def test_constraints_are_named_but_for_not_null(cats: Any):
    cats.command()
    constraints = cats.module("constraints")

    assert [str(name) for name in constraints.UniqueConstraint] == [
        "cats_pkey",
        "owners_by_lower_email",
        "owners_email_key",
        "owners_pkey",
    ]
    assert [str(name) for name in constraints.ForeignKeyConstraint] == ["cats_owner_id_fkey"]
    assert [str(name) for name in constraints.CheckConstraint] == ["cats_lives_check", "ciphertext_only"]
    assert constraints.CheckConstraint.CATS_LIVES_CHECK == "cats_lives_check"


def test_the_schema_is_only_what_it_is(cats: Any):
    cats.command()
    schema = cats.read("schema.sql")

    assert schema.startswith("-- Generated by dbgen from store/migrations; do not edit.\n\nCREATE DOMAIN")
    assert "CREATE TABLE public.cats (" in schema
    assert schema.endswith(";\n")
    for noise in ("chatd_fn_", "\\restrict", "Dumped", "\nSET ", "set_config", "-- Name:", "\n\n\n"):
        assert noise not in schema


def test_the_schema_of_two_versions_of_pg_dump_is_the_same():
    old = "--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 15.1\n\nSET lock_timeout = 0;\n\n"
    new = "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET transaction_timeout = 0;\n\n"
    banner = "--\n-- Name: f(); Type: FUNCTION; Schema: public; Owner: -\n--\n\n"
    body = f"{banner}CREATE FUNCTION f() AS $$\n-- why\nSET x = 1;\n$$;\n"

    assert normalised(old + body) == normalised(new + body + "\n\\unrestrict abc\n")
    assert normalised(old + body).endswith("\n\nCREATE FUNCTION f() AS $$\n-- why\nSET x = 1;\n$$;\n")


@pytest.mark.behaviour("STORE-1")
def test_the_generated_files_of_this_repository_are_fresh(database: Database):
    assert run(["--check", "--dsn", database.dsn, "--pg-bin", str(find_binaries().bin)], own_layout()) == 0


@pytest.mark.long
def test_generated_files_pass_the_type_checker_and_the_linter(cats: Any):
    cats.migrate("""
        CREATE TYPE message_role AS ENUM ('system', 'user', 'assistant', 'tool');
        CREATE TYPE toy AS (role message_role, tags text[]);
        CREATE TYPE basket AS (toys toy[], best toy, roles message_role[]);
        CREATE FUNCTION fill(toys toy[]) RETURNS SETOF basket LANGUAGE sql AS 'SELECT NULL::basket WHERE false';
    """)
    cats.sql(
        "toys.sql",
        "-- name: fill :one\nSELECT * FROM fill(@toys);\n-- name: find_fill :opt\nSELECT fill(@toys);\n"
        "-- name: empty :exec\n-- @optional baskets, best\nSELECT @baskets::basket[], @basket::basket, @best::toy;\n"
        "-- name: sort :batch\n-- @optional toy\nSELECT unnest(@toy::toy[]), unnest(@basket::basket[]) AS basket;\n"
        "-- name: list_baskets :many\nSELECT @baskets::basket[] AS baskets;",
    )
    assert cats.command() == 0
    layout = cats.layout
    settings = (layout.root / "pyproject.toml").read_text()
    assert 'typeCheckingMode = "strict"' in settings
    (layout.store.parent / "pyrightconfig.json").write_text(
        f'{{"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [".", "{layout.root / "src"}"]}}'
    )

    checked = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(layout.store.parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    linted = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", str(layout.root / "pyproject.toml")]
        + [str(layout.file(name)) for name in GENERATED - {"schema.sql"}],
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout
    assert linted.returncode == 0, linted.stdout
