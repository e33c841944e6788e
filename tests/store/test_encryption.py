"""Secrets at rest: what is stored, which key reads it, and how keys are exchanged."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.clock import SystemClock
from chatd.core.access import KEYRING
from chatd.core.errors import StartRefused, UnreadableSecret
from chatd.core.secret import Secret
from chatd.store.actor import acting_as
from chatd.store.announce import announced_key, announcement
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.cipher import Cipher, EncryptionKey, new_key_text
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


TABLES = """
    CREATE TABLE vault (id serial PRIMARY KEY, pin encrypted_text, "Odd name" encrypted_text);
    CREATE SCHEMA annex; CREATE TABLE annex.safe (code encrypted_text);
    CREATE TABLE split (part int, code encrypted_text) PARTITION BY LIST (part);
    CREATE TABLE split_0 PARTITION OF split FOR VALUES IN (0);
    CREATE TABLE split_1 PARTITION OF split FOR VALUES IN (1);
    CREATE TABLE child (extra encrypted_text) INHERITS (vault);
"""
secrets = st.lists(st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20), max_size=12)


async def _fill(sql: SqlStore, plain: list[str | None]) -> dict[str, list[str | None]]:
    """Put the secrets into every secret column there is, each with a mark of its row; returns what each must hold."""
    old = Cipher([OLD])
    expected: dict[str, list[str | None]] = {}

    def seal(text: str | None, place: str, number: int) -> str | None:
        full = None if text is None else f"{place} {number} {text}"
        expected.setdefault(place, []).append(full)
        return None if full is None else old.encrypt(Secret(full)).reveal()

    for number, text in enumerate(plain):
        await sql._db.execute(
            'INSERT INTO vault (pin, "Odd name") VALUES ($1, $2)', seal(text, "pin", number), seal(text, "odd", number)
        )
        await sql._db.execute("INSERT INTO annex.safe VALUES ($1)", seal(text, "safe", number))
        await sql._db.execute("INSERT INTO split VALUES ($1, $2)", number % 2, seal(text, f"split{number % 2}", number))
        await sql._db.execute(
            "INSERT INTO child (pin, extra) VALUES ($1, $2)", seal(text, "child", number), seal(text, "extra", number)
        )
        await sql._db.execute(
            "INSERT INTO secrets (name, value) VALUES ($1, $2)",
            str(number),
            seal(text or "", "secrets", number),
        )
    return expected


async def _held(sql: SqlStore, key: EncryptionKey) -> dict[str, list[str | None]]:
    """What every column holds, read with one key alone."""
    places = {
        "pin": "SELECT pin FROM ONLY vault ORDER BY id",
        "odd": 'SELECT "Odd name" FROM ONLY vault ORDER BY id',
        "safe": "SELECT code FROM annex.safe",
        "split0": "SELECT code FROM split_0",
        "split1": "SELECT code FROM split_1",
        "child": "SELECT pin FROM child ORDER BY id",
        "extra": "SELECT extra FROM child ORDER BY id",
        "secrets": "SELECT value FROM secrets ORDER BY length(name), name",
    }
    ring, held = Cipher([key]), dict[str, list[str | None]]()
    for place, query in places.items():
        values = [row[0] for row in await sql._db.fetch(query)]
        held[place] = [None if value is None else ring.decrypt(Secret(value)).reveal() for value in values]
    return held


def _unordered(held: dict[str, list[str | None]]) -> dict[str, list[str]]:
    """An update moves a row to the end of its table, so tables without an id are compared as sets of rows."""
    return {place: sorted(map(str, values)) for place, values in held.items() if values}


@pytest.mark.asyncio(loop_scope="session")  # where the fixture lives
async def test_after_a_rotation_the_new_key_alone_reads_every_secret_of_every_column(shared_postgres: Any):
    """A property of any contents: NULLs, several columns, other schemas, partitions, children, odd names."""

    @settings(max_examples=15, deadline=None, derandomize=True)
    @given(plain=secrets, many=st.sampled_from([0, 0, 0, 450]))
    def rotated(plain: list[str | None], many: int) -> None:
        generated.append([*plain, *map(str, range(many))])

    generated: list[list[str | None]] = []
    rotated()
    for plain in generated:
        database = await shared_postgres.create()
        async with open_sql(database.dsn) as sql:
            await sql._db.execute(TABLES)
            expected = await _fill(sql, plain)
            with acting_as(KEYRING):
                report = await rotate(layered(sql, NEW, OLD), Cipher([NEW, OLD]), progress=lambda *_: None)
            assert _unordered(await _held(sql, NEW)) == _unordered(expected)
            stored = sum(value is not None for values in expected.values() for value in values)
            assert sum(done.values for done in report) == stored
        await shared_postgres.drop(database)
    assert len(generated) == 15


async def test_a_rotation_that_was_stopped_goes_on_where_it_was(sql: SqlStore):
    for number in range(3):
        await layered(sql, OLD).insert_secret_if_absent(name=str(number), value=Secret("s"))
    ring, store = Cipher([NEW, OLD]), layered(sql, NEW, OLD)

    def stop(*_: object) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await rotate(store, ring, progress=stop)
    again = await rotate(store, ring, progress=lambda *_: None)

    assert sum(done.values for done in again) == 0


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
        async with asyncio.timeout(30):  # the server ends the closed connection in its own time
            while announcement(OLD.id) in await sql.list_announced_keys():
                await asyncio.get_running_loop().run_in_executor(None, os.sched_yield)
        await rotate(layered(sql, NEW, OLD), ring, progress=lambda *_: None)


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
    made = load_cipher([], tmp_path, in_use=[])

    assert load_cipher([], tmp_path, in_use=[]).primary.id == made.primary.id
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert len(read_key_file(tmp_path / KEY_FILE)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_configured_keys_win_over_the_file(tmp_path: Path):
    text = new_key_text()

    assert load_cipher([Secret(text)], tmp_path, in_use=[]).primary.id == EncryptionKey.from_text(text).id
    assert list(tmp_path.iterdir()) == []


def test_a_bad_key_is_refused_without_showing_it(tmp_path: Path):
    with pytest.raises(StartRefused) as caught:
        load_cipher([Secret("c2hvcnQ=")], tmp_path, in_use=[])

    assert "c2hvcnQ" not in caught.value.message


def test_a_draft_left_by_a_killed_server_does_not_hinder_the_next(tmp_path: Path):
    (tmp_path / f"{KEY_FILE}.{os.getpid()}").write_text("left over")

    load_cipher([], tmp_path, in_use=[])


def test_a_key_file_that_is_no_text_is_refused(tmp_path: Path):
    (tmp_path / KEY_FILE).write_bytes(b"\xff\xfe\x00")

    with pytest.raises(StartRefused):
        load_cipher([], tmp_path, in_use=[])


async def test_a_server_that_starts_while_keys_are_revoked_is_seen_or_sees_it(sql: SqlStore, database: Any):
    """Announced first, checked second: whatever the order of events, no key is forgotten that someone writes with."""
    store, ring = layered(sql, NEW, OLD), Cipher([NEW, OLD])
    await check_keys(layered(sql, OLD), Cipher([OLD]))
    await check_keys(store, ring)
    async with open_sql(database.dsn) as second, second.transaction() as revoking:
        await revoking.hold_announcements()
        entered = asyncio.Event()

        async def start_with_old_key() -> None:
            async with announced_key(database.dsn, OLD.id, clock=SystemClock()):
                await check_keys(layered(sql, OLD, NEW), Cipher([OLD, NEW]))
                entered.set()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(start_with_old_key())
            assert announcement(OLD.id) not in await revoking.list_announced_keys()
            await revoking.revoke_encryption_keys_except(id=NEW.id)
            assert not entered.is_set()
            await revoking._db.execute("COMMIT")
            await entered.wait()
            await revoking._db.execute("BEGIN")

    with pytest.raises(StartRefused):  # the old key is in use again, and nobody starts without it
        await check_keys(layered(sql, NEW), Cipher([NEW]))


def test_a_lost_key_file_is_not_replaced_by_a_useless_one(tmp_path: Path):
    with pytest.raises(StartRefused, match="0123"):
        load_cipher([], tmp_path, in_use=["0123"])

    assert list(tmp_path.iterdir()) == []
