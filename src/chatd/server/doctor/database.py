"""The database: whether it can be reached and used, what it holds, and whether the keys fit."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

import asyncpg
import msgspec

import chatd
from chatd.clock import Clock
from chatd.core.errors import ChatdError, StartRefused, UnreadableSecret
from chatd.push.vapid import SECRET_NAME as PUSH_KEY
from chatd.push.vapid import PushKey
from chatd.server.doctor.findings import Finding, bad, doubtful, good
from chatd.server.settings import Settings
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.cipher import Cipher
from chatd.store.embedded import running_postgres
from chatd.store.encrypted import EncryptedStore
from chatd.store.examine import FoundDatabase, FoundReplica, examine
from chatd.store.keys import check_canaries, stored_cipher
from chatd.store.migrate import OLDEST_POSTGRES, shipped_functions, shipped_migrations
from chatd.store.pool import connect
from chatd.store.store import SqlStore, Store

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

_SLOW_MS: Final = 5.0  # a turn asks three times, and the first of them is waited for by a person
_BESIDE_POOL: Final = 3  # connections of a replica for its heartbeat, its hints, and the announcement of its key
_SKEW: Final = 2.0  # seconds that nobody notices
_MUCH_SKEW: Final = 60.0  # then logins and signed messages expire at the wrong time
_UNREACHED: Final = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


class Opened(msgspec.Struct, frozen=True):
    """A database that answers. `dsn` holds a password."""

    dsn: str
    found: FoundDatabase
    connection: "Connection"


@asynccontextmanager
async def opened_database(settings: Settings, clock: Clock) -> AsyncIterator[Opened | Finding]:
    """The configured database or the embedded one that runs; otherwise why there is none."""
    if settings.database_url is not None:
        async with _examined(settings.database_url.reveal(), clock, "Check CHATD_DATABASE_URL.") as opened:
            yield opened
        return
    async with AsyncExitStack() as stack:
        try:
            dsn = await stack.enter_async_context(running_postgres(settings.data_dir))
        except StartRefused as refused:
            yield bad("database", refused.message, refused.detail or "")
            return
        if dsn is None:
            yield doubtful(
                "database",
                f"The embedded Postgres of {settings.data_dir} does not run, since no server does",
                "What is stored can be looked at once `chatd serve` runs.",
            )
            return
        advice = f"See {settings.data_dir / 'keeper.log'}."
        yield await stack.enter_async_context(_examined(dsn, clock, advice))


@asynccontextmanager
async def _examined(dsn: str, clock: Clock, advice: str) -> AsyncIterator[Opened | Finding]:
    try:
        connection = await connect(dsn, function_schema=shipped_functions().schema)
    except ValueError:  # whose words may quote a part of the URL, which holds a password
        yield bad("database", "Its URL can't be understood", advice)
        return
    except _UNREACHED as error:
        said = error.strerror if isinstance(error, OSError) else None
        yield bad("database", f"It can't be reached: {said or error or type(error).__name__}", advice)
        return
    try:
        try:
            found = await examine(connection, clock)
        except _UNREACHED as error:
            yield bad("database", f"It can't be read: {error or type(error).__name__}", advice)
            return
        yield Opened(dsn, found, connection)
    finally:
        await connection.close()


def check_server(found: FoundDatabase, settings: Settings) -> Iterator[Finding]:
    said = f"Postgres {found.version}, {found.milliseconds:.1f} ms away"
    if found.major < OLDEST_POSTGRES:
        yield bad("database", said, f"chatd needs Postgres {OLDEST_POSTGRES} or newer.")
    elif found.is_standby:
        yield bad(
            "database", f"{said}; it is a standby and can't be written", "Name the primary in CHATD_DATABASE_URL."
        )
    elif found.milliseconds > _SLOW_MS:
        yield doubtful("database", said, "Every turn waits for it several times: bring it nearer.")
    else:
        yield good("database", said)
    replicas = max(settings.replicas, sum(one.is_live for one in found.replicas))
    wanted = replicas * (settings.pool_size + _BESIDE_POOL)
    said = f"{found.used} of {found.connections} in use; {replicas} replica(s) may take {wanted}"
    if wanted > found.connections:
        yield bad("connections", said, "Raise max_connections of Postgres, or lower CHATD_POOL_SIZE.")
    else:
        yield good("connections", said)
    yield _clock(found)


def _clock(found: FoundDatabase) -> Finding:
    apart = abs(found.ahead)
    said = f"This machine and the database are {apart:.1f} s apart"
    if apart > _MUCH_SKEW:
        return bad("clock", said, "Set the clocks, with NTP best: logins expire at the wrong time.")
    if apart > _SKEW:
        return doubtful("clock", said, "Set the clocks, with NTP best.")
    return good("clock", said)


def check_schema(found: FoundDatabase) -> Iterator[Finding]:
    known = shipped_migrations()[-1].number
    schema = found.schema
    if schema is None:
        yield doubtful(
            "schema", f"There is no chatd in the database {found.name} yet", "`chatd serve` makes its tables."
        )
    elif known < schema.min_version:
        yield bad(
            "schema",
            f"It is at {schema.version} and this chatd knows {known}, which can't use it",
            f"Run a chatd that knows at least {schema.min_version}.",
        )
    elif schema.edited:
        yield bad(
            "schema",
            f"Migration {schema.edited[0]} was changed after this database applied it",
            "Put its old text back and write a new migration for the change.",
        )
    elif schema.pending or not schema.has_functions:
        what = f"{schema.pending} migration(s)" if schema.pending else "this version's functions"
        yield doubtful("schema", f"At {schema.version}; {what} will be added", "The next `chatd serve` does it.")
    elif schema.version > known:
        yield doubtful("schema", f"At {schema.version}, made by a newer chatd; this one ({known}) can use it")
    else:
        yield good("schema", f"At {schema.version}, with this version's functions")


def check_replicas(replicas: tuple[FoundReplica, ...]) -> Iterator[Finding]:
    if not any(one.is_live for one in replicas):
        yield doubtful("replicas", "None runs", "Chats wait until `chatd serve` runs.")
    for one in replicas:
        said = f"{one.host}, process {one.pid}, chatd {one.version}"
        if one.silent < -_SKEW:
            yield doubtful(
                "replicas", f"{said}: its last heartbeat is in the future", "The database's clock was set back."
            )
        elif not one.is_live:
            yield doubtful(
                "replicas",
                f"{said}: silent for {one.silent:.0f} s",
                "It has died, or can't reach the database. Others have taken its chats.",
            )
        elif one.version != chatd.__version__:
            yield doubtful("replicas", f"{said}; this is {chatd.__version__}", "Fine during an upgrade. Finish it.")
        else:
            yield good("replicas", said)


def check_cipher(settings: Settings) -> Cipher | Finding:
    try:
        cipher = stored_cipher(settings.encryption_keys, settings.data_dir)
    except StartRefused as refused:
        return bad("encryption keys", refused.message, refused.detail or "")
    if cipher is None:
        return doubtful("encryption keys", "There are none", "`chatd serve` makes a key file if nothing is stored yet.")
    return cipher


def layered(connection: "Connection", cipher: Cipher) -> Store:
    return AuthorizedStore(EncryptedStore(SqlStore(connection), cipher), RoleAuthorizer())


async def check_keys(store: Store, cipher: Cipher | Finding) -> AsyncIterator[Finding]:
    """Against what is stored. The store need not be able to decrypt."""
    in_use = [row.id for row in await store.list_encryption_keys() if row.revoked_at is None]
    if isinstance(cipher, Finding):
        if in_use and cipher.grade != "bad":
            named = ", ".join(in_use)
            yield bad(
                "encryption keys",
                f"There are none, and this database holds secrets under {named}",
                "Restore encryption.keys from a backup, or set CHATD_ENCRYPTION_KEYS.",
            )
        else:
            yield cipher
        return
    try:
        await check_canaries(store, cipher)
    except StartRefused as refused:
        yield bad("encryption keys", refused.message, refused.detail or "")
        return
    others = len(in_use) - (cipher.primary.id in in_use)
    if others > 0:
        yield doubtful(
            "encryption keys",
            f"{cipher.primary.id} encrypts, {others} more are in use",
            "`chatd keys rotate` ends that.",
        )
    else:
        yield good("encryption keys", f"{cipher.primary.id} opens what is stored")


async def check_push(store: Store) -> AsyncIterator[Finding]:
    try:
        stored = await store.get_secret(name=PUSH_KEY)
        if stored is None:
            yield doubtful("push", "There is no key pair yet", "The next `chatd serve` makes it.")
            return
        key = PushKey.read(stored)
    except UnreadableSecret as error:
        yield bad("push", error.message, "Restore the encryption key that it was stored under.")
    except (ChatdError, ValueError):
        yield bad(
            "push",
            "The key pair can't be read",
            f"Delete the row {PUSH_KEY} of the table secrets and restart: browsers have to subscribe again.",
        )
    else:
        yield good("push", f"The key pair is there: {key.public[:12]}…")
