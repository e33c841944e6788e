"""What the doctor finds in a deployment that is well, and in each way that one can be unwell."""

import asyncio
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

from chatd.clock import Clock, SystemClock
from chatd.core.secret import Secret
from chatd.push.vapid import SECRET_NAME as PUSH_KEY
from chatd.server.doctor import doctor, reaching
from chatd.server.doctor.database import check_replicas, check_server
from chatd.server.doctor.doctor import examine_all
from chatd.server.doctor.findings import Finding, Grade
from chatd.server.doctor.place import check_address, check_settings
from chatd.server.relay.credentials import SECRET_NAME as RELAY
from chatd.server.relay.credentials import _new_authority
from chatd.server.settings import LoadedSettings, load_settings
from chatd.store.cipher import Cipher, EncryptionKey, new_key_text
from chatd.store.examine import FoundReplica, examine
from chatd.store.keys import KEY_FILE, read_key_file
from chatd.testing.fake_clock import FakeClock
from chatd.testing.push_server import push_server
from chatd.testing.vendors.script import Refuse
from server.chat_api import chat_api
from server.running import running_server
from store.world import new_id


def loaded(dsn: str, data_dir: Path, **more: str) -> LoadedSettings:
    environ = {"CHATD_DATABASE_URL": dsn, "CHATD_DATA_DIR": str(data_dir), **more}
    return load_settings(environ=environ, flags={}, cwd=data_dir)


async def found(settings: LoadedSettings, *, clock: Clock | None = None, asks_models: bool = False) -> list[Finding]:
    checks = examine_all(settings, clock=clock or SystemClock(), asks_models=asks_models)
    return [finding async for finding in checks]


def bad(findings: list[Finding]) -> dict[str, str]:
    """By check; the advice where there is some."""
    return {one.check: f"{one.found} {one.advice}" for one in findings if one.grade is Grade.BAD}


async def change(dsn: str, sql: str, *values: Any) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql, *values)
    finally:
        await connection.close()


async def has_run(database: Any, data_dir: Path) -> None:
    """A server has been here."""
    async with running_server(database.dsn, data_dir):
        pass


async def test_a_deployment_that_runs_is_well(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path) as chats:
        url = chats.running.api.url
        findings = await found(loaded(database.dsn, tmp_path, CHATD_PUBLIC_URL=url), asks_models=True)

    assert bad(findings) == {}
    grades = {one.check: one.grade for one in findings}
    assert {check for check, grade in grades.items() if grade is Grade.GOOD} >= {
        *("settings", "data directory", "disk", "address", "database", "connections", "clock", "schema", "hints"),
        *("encryption keys", "replicas", "server", "push", "models"),
    }
    assert "answers after" in next(one.found for one in findings if one.check == "models")
    assert all("relay" in one.check for one in findings if one.grade is not Grade.GOOD), findings


async def test_nothing_is_changed_by_looking(empty_database: Any, tmp_path: Path):
    data_dir = tmp_path / "nothing"
    findings = await found(loaded(empty_database.dsn, data_dir))
    connection = await asyncpg.connect(empty_database.dsn)
    try:
        tables = await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    finally:
        await connection.close()

    assert bad(findings) == {}
    assert "no chatd in the database" in next(one.found for one in findings if one.check == "schema")
    assert (tables, data_dir.exists()) == (0, False)


async def test_models_are_not_asked_unless_that_is_wanted(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Refuse(500, "no")]) as chats:
        findings = await found(loaded(database.dsn, tmp_path))
        asked = len(chats.vendor.asked)

    assert (bad(findings), asked) == ({}, 0)


async def test_a_model_that_refuses_is_wrong(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Refuse(401, "no such key")], side=None):
        findings = await found(loaded(database.dsn, tmp_path), asks_models=True)

    assert "models" in bad(findings)


def _folder_is_a_file(folder: Path) -> None:
    folder.rmdir()
    folder.touch()


PLACES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a file": (_folder_is_a_file, "data directory", "not a folder"),
    "open to others": (lambda folder: folder.chmod(0o777), "data directory", "Others may write"),
    "open keys": (
        lambda folder: [(folder / KEY_FILE).write_text(new_key_text()), (folder / KEY_FILE).chmod(0o644)],
        "data directory",
        "chmod 600",
    ),
    "no keys in the file": (lambda folder: (folder / KEY_FILE).write_text("x\n"), "encryption keys", KEY_FILE),
}


@pytest.mark.parametrize("place", PLACES)
async def test_a_data_directory_that_is_unfit_is_wrong(database: Any, tmp_path: Path, place: str):
    spoil, check, words = PLACES[place]
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    spoil(folder)
    findings = await found(loaded(database.dsn, folder))

    assert words in bad(findings)[check]


async def test_a_data_directory_that_can_not_be_written_or_is_full_is_wrong(
    database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(os, "access", lambda *_: False)
    findings = bad(await found(loaded(database.dsn, tmp_path)))

    assert "can't be written" in findings["data directory"]
    assert "0.0 GiB" in findings["disk"]


@pytest.mark.parametrize(
    ("dsn", "words"),
    [
        ("postgresql://ada:hunter2@127.0.0.1:1/chatd", "can't be reached"),
        ("postgresql://ada@/chatd?host=127.0.0.1&port=hunter2", "can't be understood"),
        ("{missing}", "does not exist"),
    ],
)
async def test_a_database_that_can_not_be_reached_is_wrong_and_its_password_stays_secret(
    database: Any, tmp_path: Path, dsn: str, words: str
):
    missing = database.dsn.replace(f"/{database.name}", "/missing")
    findings = await found(loaded(dsn.replace("{missing}", missing), tmp_path))

    assert words in bad(findings)["database"]
    assert "hunter2" not in str(findings)


async def test_a_database_that_can_not_be_read_is_wrong(empty_database: Any, tmp_path: Path):
    await change(empty_database.dsn, "CREATE TABLE schema_info (something text)")
    findings = await found(loaded(empty_database.dsn, tmp_path))

    assert "can't be read" in bad(findings)["database"]


@pytest.mark.parametrize(
    ("fields", "check", "words"),
    [
        ({"major": 14}, "database", "15 or newer"),
        ({"is_standby": True}, "database", "primary"),
        ({"connections": 5}, "connections", "max_connections"),
        ({"ahead": -90.0}, "clock", "90.0 s apart"),
    ],
)
async def test_a_database_that_does_not_suit_is_wrong(
    database: Any, tmp_path: Path, fields: dict[str, Any], check: str, words: str
):
    connection = await asyncpg.connect(database.dsn)
    try:
        well = await examine(connection, SystemClock())
    finally:
        await connection.close()
    settings = loaded(database.dsn, tmp_path).settings

    assert bad(list(check_server(well, settings))) == {}
    assert words in bad(list(check_server(msgspec.structs.replace(well, **fields), settings)))[check]


async def test_a_clock_that_is_wrong_is_noticed_by_the_databases(database: Any, tmp_path: Path):
    clock = FakeClock(SystemClock().now() - timedelta(hours=1))
    findings = await found(loaded(database.dsn, tmp_path), clock=clock)

    assert "3600" in bad(findings)["clock"]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE schema_info SET version = 9999, min_version = 9999", "9999"),
        ("UPDATE applied_migrations SET sha256 = 'x' WHERE number = 1", "0001"),
    ],
)
async def test_a_schema_that_does_not_fit_is_wrong(database: Any, tmp_path: Path, sql: str, words: str):
    await change(database.dsn, sql)
    findings = await found(loaded(database.dsn, tmp_path))

    assert words in bad(findings)["schema"]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE schema_info SET version = version - 1", "1 migration(s)"),
        ("DELETE FROM function_sets", "functions"),
    ],
)
async def test_what_the_next_start_does_is_said(database: Any, tmp_path: Path, sql: str, words: str):
    await change(database.dsn, sql)
    findings = await found(loaded(database.dsn, tmp_path))

    assert bad(findings) == {}
    assert words in next(one.found for one in findings if one.check == "schema")


async def test_hints_that_do_not_come_back_are_wrong(database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reaching, "SECONDS", 0.3)
    findings = await found(loaded(database.dsn, tmp_path, CHATD_HINTS_URL="nats://ada:hunter2@127.0.0.1:1"))

    assert "NATS" in bad(findings)["hints"]
    assert "hunter2" not in str(findings)


async def test_keys_that_are_missing_wrong_or_do_not_open_are_said_to_be(database: Any, tmp_path: Path):
    await has_run(database, tmp_path)
    [key] = read_key_file(tmp_path / KEY_FILE)
    well = await found(loaded(database.dsn, tmp_path))
    missing = await found(loaded(database.dsn, tmp_path / "other"))
    wrong = await found(loaded(database.dsn, tmp_path, CHATD_ENCRYPTION_KEYS=new_key_text()))
    await change(database.dsn, "UPDATE encryption_keys SET canary = $1", EncryptionKey.from_text(key).seal("x"))
    damaged = await found(loaded(database.dsn, tmp_path))

    assert bad(well) == {}
    assert "There are none" in bad(missing)["encryption keys"]
    assert "not among the configured keys" in bad(wrong)["encryption keys"]
    assert "damaged" in bad(damaged)["encryption keys"]
    assert key not in str([well, missing, wrong, damaged])


@pytest.mark.parametrize(
    ("name", "value", "check"), [(PUSH_KEY, "", "push"), (PUSH_KEY, "é", "push"), (RELAY, "none", "relay")]
)
async def test_a_stored_secret_that_is_none_is_wrong(database: Any, tmp_path: Path, name: str, value: str, check: str):
    async with running_server(database.dsn, tmp_path):
        [key] = read_key_file(tmp_path / KEY_FILE)
        sealed = Cipher([EncryptionKey.from_text(key)]).encrypt(Secret(value)).reveal()
        await change(
            database.dsn,
            "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2",
            name,
            sealed,
        )
        findings = await found(loaded(database.dsn, tmp_path))

    assert check in bad(findings)


async def test_a_secret_under_a_key_that_is_lost_is_wrong(database: Any, tmp_path: Path):
    await has_run(database, tmp_path)
    sealed = Cipher([EncryptionKey.from_text(new_key_text())]).encrypt(Secret("x")).reveal()
    await change(database.dsn, "UPDATE secrets SET value = $1 WHERE name = $2", sealed, PUSH_KEY)
    findings = await found(loaded(database.dsn, tmp_path))

    assert "Restore" in bad(findings)["push"]


async def test_a_replica_that_others_can_not_reach_is_wrong(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path):
        [key] = read_key_file(tmp_path / KEY_FILE)
        await change(
            database.dsn,
            "INSERT INTO replicas (id, url, host, pid, version, beating_since, heartbeat_at) "
            "VALUES ($1, 'tls://127.0.0.1:1', 'elsewhere', 1, '9.9', now(), now())",
            new_id(),
        )
        await _with_authority(database.dsn, key)
        findings = await found(loaded(database.dsn, tmp_path))

    assert "elsewhere does not answer at tls://127.0.0.1:1" in bad(findings)["relay"]
    assert any("9.9" in one.found for one in findings if one.check == "replicas" and one.grade is Grade.DOUBTFUL)


async def _with_authority(dsn: str, key: str) -> None:
    """What the first replica with a relay makes."""
    sealed = Cipher([EncryptionKey.from_text(key)]).encrypt(_new_authority()).reveal()
    await change(dsn, "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", RELAY, sealed)


def test_replicas_that_are_silent_or_of_the_future_are_named():
    here = FoundReplica(new_id(), "", "here", 1, "0.1.0", 1.0)
    silent, early = (msgspec.structs.replace(here, silent=seconds) for seconds in (60.0, -30.0))
    said = [one.found for one in check_replicas((silent, early))]

    assert "silent for 60 s" in said[0]
    assert "in the future" in said[1]
    assert [one.found for one in check_replicas(())] == ["None runs"]


async def test_an_address_that_leads_elsewhere_is_wrong(database: Any, tmp_path: Path):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        elsewhere = await found(loaded(database.dsn, tmp_path, CHATD_PUBLIC_URL=url))
    async with push_server(tmp_path) as secure:
        untrusted = await found(loaded(database.dsn, tmp_path, CHATD_PUBLIC_URL=secure.url))

    assert "404" in bad(elsewhere)["server"]
    assert "certificate" in bad(untrusted)["server"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"CHATD_PUBLIC_URL": "https://chat.example.com"}, "CHATD_TRUSTED_PROXIES"),
        ({"CHATD_PUBLIC_URL": "http://chat.example.com"}, "TLS"),
        ({"CHATD_HOST": "0.0.0.0"}, "CHATD_PUBLIC_URL"),  # noqa: S104
        ({"CHATD_PORT": "0"}, "CHATD_PORT"),
        ({"CHATD_ALLOWED_HOSTS": "*"}, "CHATD_ALLOWED_HOSTS"),
    ],
)
async def test_an_address_that_is_doubtful_is_said_to_be(tmp_path: Path, given: dict[str, str], words: str):
    settings = loaded("postgresql://x", tmp_path, **given).settings

    assert any(words in one.advice for one in check_address(settings) if one.grade is Grade.DOUBTFUL)


def test_chats_that_are_switched_off_are_said_to_be(tmp_path: Path):
    given = loaded("postgresql://x", tmp_path, CHATD_EXPERIMENTS="")

    assert any("switched off" in one.found for one in check_settings(given))


async def test_a_check_that_fails_itself_is_a_finding(database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def broken(*_: Any) -> Any:
        raise RuntimeError("no idea")
        yield

    monkeypatch.setattr(doctor, "check_hints", broken)
    findings = await found(loaded(database.dsn, tmp_path))

    assert "no idea" in bad(findings)["hints"]
    assert any(one.check == "replicas" for one in findings)


async def test_a_deployment_without_models_is_doubtful(database: Any, tmp_path: Path):
    await has_run(database, tmp_path)
    findings = await found(loaded(database.dsn, tmp_path))

    assert next(one for one in findings if one.check == "models").grade is Grade.DOUBTFUL
