"""Secrets at rest: what is stored, which key reads it, and how keys are exchanged."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from chatd.clock import SystemClock
from chatd.core.access import KEYRING
from chatd.core.errors import StartRefused, UnreadableSecret
from chatd.core.secret import Secret
from chatd.store.actor import acting_as
from chatd.store.announce import announced_key
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.cipher import Cipher, EncryptionKey, new_key_text
from chatd.store.custom_queries import EncryptedColumn
from chatd.store.encrypted import EncryptedStore
from chatd.store.keys import KEY_FILE, check_keys, load_cipher, read_key_file
from chatd.store.rotation import rotate
from chatd.store.store import SqlStore, Store
from store.world import open_sql

pytestmark = pytest.mark.behaviour("STORE-3")

OLD, NEW, OTHER = (EncryptionKey(bytes([number]) * 32) for number in (1, 2, 3))


def layered(sql: SqlStore, *keys: EncryptionKey) -> Store:
    return AuthorizedStore(EncryptedStore(sql, Cipher(keys)), RoleAuthorizer())


@pytest_asyncio.fixture
async def sql(database: Any) -> AsyncIterator[SqlStore]:
    async with open_sql(database.dsn) as sql:
        with acting_as(KEYRING):
            yield sql


@given(st.text(max_size=200) | st.text(alphabet=st.characters(codec=None, categories=["Cs"]), max_size=5))
def test_what_goes_in_comes_out_and_never_looks_the_same_twice(plain: str):
    cipher = Cipher([OLD])
    first, second = cipher.encrypt(Secret(plain)), cipher.encrypt(Secret(plain))

    assert cipher.decrypt(first).reveal() == cipher.decrypt(second).reveal() == plain
    assert first != second


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_is_noticed(position: int, change: int):
    cipher = Cipher([OLD])
    head, _, body = cipher.encrypt(Secret("a secret")).reveal().rpartition(":")
    raw = bytearray(base64.b64decode(body))
    raw[position % len(raw)] ^= change

    with pytest.raises(UnreadableSecret):
        cipher.decrypt(Secret(f"{head}:{base64.b64encode(raw).decode()}"))


def test_a_missing_key_is_named():
    with pytest.raises(UnreadableSecret) as caught:
        Cipher([NEW]).decrypt(Cipher([OLD]).encrypt(Secret("s")))

    assert caught.value.key_id == OLD.id


def test_a_secret_shows_itself_nowhere():
    secret = Secret("hunter2")

    assert "hunter2" not in f"{secret!r} {secret!s} {[secret]}"
    with pytest.raises(TypeError):
        msgspec.json.encode(secret)


def test_the_id_of_a_key_does_not_tell_the_key():
    assert OLD.id not in base64.b64encode(b"\1" * 32).decode()
    assert repr(OLD) == f"EncryptionKey({OLD.id})"


async def test_a_secret_is_stored_as_ciphertext(sql: SqlStore):
    store = layered(sql, OLD)
    await store.insert_secret_if_absent(name="cluster", value=Secret("plain words"))

    assert await store.get_secret(name="cluster") == Secret("plain words")
    stored = await sql.get_secret(name="cluster")
    assert stored is not None
    assert stored.reveal().startswith(f"enc1:{OLD.id}:")


async def test_the_database_itself_refuses_plain_text_in_a_secret_column(sql: SqlStore):
    with pytest.raises(asyncpg.CheckViolationError):
        await sql.insert_secret_if_absent(name="cluster", value=Secret("plain words"))


async def test_inside_a_transaction_secrets_are_encrypted_too(sql: SqlStore):
    async with layered(sql, OLD).transaction() as tx:
        await tx.insert_secret_if_absent(name="a", value=Secret("s"))
        assert await tx.get_secret(name="a") == Secret("s")


async def _add_secret_columns(sql: SqlStore) -> None:
    """Columns that nobody told the rotation about: NULLs, several in one table, a name that needs quotes."""
    await sql._db.execute(
        """
        CREATE TABLE vault (id serial PRIMARY KEY, pin encrypted_text, "Odd name" encrypted_text NOT NULL);
        CREATE SCHEMA annex; CREATE TABLE annex.safe (code encrypted_text);
        """
    )


async def _all_values(sql: SqlStore) -> list[tuple[EncryptedColumn, str | None]]:
    return [
        (column, row[0])
        for column in await sql.list_encrypted_columns()
        for row in await sql._db.fetch(f"SELECT {column.column} FROM {column.table} ORDER BY ctid")  # noqa: S608
    ]


@pytest.mark.parametrize("rows", [0, 1, 7, 450])
async def test_after_a_rotation_the_new_key_alone_reads_every_secret_of_every_column(sql: SqlStore, rows: int):
    await _add_secret_columns(sql)
    old, ring = Cipher([OLD]), Cipher([NEW, OLD])
    plain = [f"secret {number} \N{KEY}" for number in range(rows)]
    for number, text in enumerate(plain):
        pin = None if number % 3 == 0 else old.encrypt(Secret(text)).reveal()
        await sql._db.execute(
            'INSERT INTO vault (pin, "Odd name") VALUES ($1, $2)', pin, old.encrypt(Secret(text)).reveal()
        )
        await sql._db.execute("INSERT INTO annex.safe VALUES ($1)", old.encrypt(Secret(text)).reveal())
        await layered(sql, OLD).insert_secret_if_absent(name=str(number), value=Secret(text))
    before = [old.decrypt(Secret(value)).reveal() if value else None for _, value in await _all_values(sql)]
    progress: list[tuple[EncryptedColumn, int]] = []

    report = await rotate(layered(sql, NEW, OLD), ring, progress=lambda *step: progress.append(step))

    new = Cipher([NEW])
    after = [new.decrypt(Secret(value)).reveal() if value else None for _, value in await _all_values(sql)]
    assert sorted(map(str, after)) == sorted(map(str, before))
    assert {column.column for column in (done.column for done in report)} == {"value", "pin", '"Odd name"', "code"}
    assert sum(done.values for done in report) == sum(value is not None for value in before)
    assert bool(progress) == bool(rows)


async def test_a_rotation_that_was_stopped_goes_on_where_it_was(sql: SqlStore):
    for number in range(3):
        await layered(sql, OLD).insert_secret_if_absent(name=str(number), value=Secret("s"))
    ring, store = Cipher([NEW, OLD]), layered(sql, NEW, OLD)

    def stop(*_: object) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await rotate(store, ring, progress=stop)
    again = await rotate(store, ring, progress=lambda *_: None)

    assert [done.values for done in again] == [0]


async def test_a_rotation_without_the_old_key_changes_nothing_and_names_it(sql: SqlStore):
    await layered(sql, OLD).insert_secret_if_absent(name="a", value=Secret("s"))

    with pytest.raises(UnreadableSecret) as caught:
        await rotate(layered(sql, NEW), Cipher([NEW]), progress=lambda *_: None)

    assert caught.value.key_id == OLD.id
    assert await layered(sql, OLD).get_secret(name="a") == Secret("s")


async def test_a_rotation_waits_for_servers_that_use_another_key(sql: SqlStore, database: Any):
    ring = Cipher([NEW, OLD])
    async with announced_key(database.dsn, OLD.id, clock=SystemClock()):
        with pytest.raises(StartRefused):
            await rotate(layered(sql, NEW, OLD), ring, progress=lambda *_: None)
    async with announced_key(database.dsn, NEW.id, clock=SystemClock()):
        while OLD_NUMBER in await sql.list_announced_keys():
            pass  # the server ends the closed connection in its own time
        await rotate(layered(sql, NEW, OLD), ring, progress=lambda *_: None)


OLD_NUMBER = int(OLD.id[:8], 16) & 0x7FFFFFFF


async def test_a_server_with_the_wrong_key_is_refused_and_told_which_is_missing(sql: SqlStore):
    await check_keys(layered(sql, OLD), Cipher([OLD]))
    await check_keys(layered(sql, OLD), Cipher([OLD]))

    with pytest.raises(StartRefused) as caught:
        await check_keys(layered(sql, OTHER), Cipher([OTHER]))

    assert OLD.id in caught.value.message


async def test_after_a_rotation_the_old_key_is_not_needed_to_start(sql: SqlStore):
    ring, store = Cipher([NEW, OLD]), layered(sql, NEW, OLD)
    await check_keys(layered(sql, OLD), Cipher([OLD]))
    await check_keys(store, ring)

    await rotate(store, ring, progress=lambda *_: None)

    await check_keys(layered(sql, NEW), Cipher([NEW]))
    with pytest.raises(StartRefused):
        await check_keys(layered(sql, OLD), Cipher([OLD]))


async def test_a_damaged_canary_is_refused(sql: SqlStore):
    await check_keys(layered(sql, OLD), Cipher([OLD]))
    await sql._db.execute("UPDATE encryption_keys SET canary = 'x'")

    with pytest.raises(StartRefused):
        await check_keys(layered(sql, OLD), Cipher([OLD]))


def test_a_key_file_is_made_once_and_for_its_owner_only(tmp_path: Path):
    made = load_cipher([], tmp_path)

    assert load_cipher([], tmp_path).primary.id == made.primary.id
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert len(read_key_file(tmp_path / KEY_FILE)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_configured_keys_win_over_the_file(tmp_path: Path):
    text = new_key_text()

    assert load_cipher([Secret(text)], tmp_path).primary.id == EncryptionKey.from_text(text).id
    assert list(tmp_path.iterdir()) == []


def test_a_bad_key_is_refused_without_showing_it(tmp_path: Path):
    with pytest.raises(StartRefused) as caught:
        load_cipher([Secret("c2hvcnQ=")], tmp_path)

    assert "c2hvcnQ" not in caught.value.message
