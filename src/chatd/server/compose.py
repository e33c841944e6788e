"""The composition root: from settings to a store, and from a store to a running replica."""

import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import Final
from uuid import UUID

import msgspec
from argon2 import PasswordHasher

import chatd
from chatd.background import beside
from chatd.clock import Clock, SystemClock
from chatd.core.access import KEYRING, WORKER
from chatd.core.errors import Conflict
from chatd.demo.on_demand import demo_on_demand
from chatd.diffs.running import Diffs, running_diffs
from chatd.engine.models import Models
from chatd.minting import new_token, uuid7
from chatd.observe.logs import get_logger
from chatd.observe.metrics import Metrics
from chatd.providers.catalogue import Catalogue, load_catalogue
from chatd.providers.hosts import Outbound
from chatd.providers.stream import StreamLimits
from chatd.providers.transport import Transport, open_transport
from chatd.server.accounts import Accounts, Client
from chatd.server.discovery import discover_models
from chatd.server.engine_room import Engine, running_engine
from chatd.server.identity import Identity
from chatd.server.janitor import clean_forever
from chatd.server.metering import engine_meter
from chatd.server.passwords import open_passwords
from chatd.server.push import Push, running_push
from chatd.server.relay.address import open_relay_socket
from chatd.server.settings import Settings
from chatd.server.versions import Versions
from chatd.store.actor import acting_as
from chatd.store.announce import announced_key
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.cipher import Cipher
from chatd.store.embedded import embedded_postgres
from chatd.store.encrypted import EncryptedStore
from chatd.store.heartbeat import Lease, ReplicaRow, beating, dial
from chatd.store.hints import Hints, open_hints
from chatd.store.keys import check_keys, load_cipher
from chatd.store.metered import MeteredStore
from chatd.store.migrate import MigrationReport
from chatd.store.pool import migrate_database, open_pool
from chatd.store.store import SqlStore, Store
from chatd.workspaces.docker.provisioner import DockerProvisioner
from chatd.workspaces.host import read_host_id
from chatd.workspaces.local.provisioner import LocalProvisioner
from chatd.workspaces.provisioner import Provisioner
from chatd.workspaces.running import Workspaces, running_workspaces

_EXPIRE_SECONDS: Final = 3.0  # the lease of a dead replica ends soon anyway, and its successor waits for this
_log = get_logger("chatd.compose")


class OpenStore(msgspec.Struct, frozen=True):
    """A migrated database behind all layers. `dsn` holds a password and is never logged."""

    store: Store
    cipher: Cipher
    metrics: Metrics
    dsn: str
    migrations: MigrationReport
    notes: tuple[str, ...]


@asynccontextmanager
async def open_database(settings: Settings, *, clock: Clock) -> AsyncIterator[tuple[str, tuple[str, ...]]]:
    """The DSN of the configured database, or of the embedded one, which runs for as long as the block."""
    if settings.database_url is not None:
        yield settings.database_url.reveal(), ()
        return
    async with embedded_postgres(settings.data_dir, clock=clock, binaries=settings.postgres_binaries) as embedded:
        await embedded.wait_ready()
        yield embedded.dsn, embedded.notes


@asynccontextmanager
async def open_store(settings: Settings, *, clock: Clock, replica: str = "") -> AsyncIterator[OpenStore]:
    """What the server and the offline commands share: database, migrations, keys, layers."""
    async with AsyncExitStack() as stack:
        dsn, notes = await stack.enter_async_context(open_database(settings, clock=clock))
        migrations = await migrate_database(dsn)
        for migration in migrations.applied:
            _log.info("migrated", number=migration.number, migration=migration.name)
        pool = await stack.enter_async_context(
            open_pool(dsn, function_schema=migrations.function_schema, size=settings.pool_size)
        )
        metrics = Metrics(version=chatd.__version__, replica=replica)
        sql = SqlStore(pool)
        known = [key.id for key in await sql.list_encryption_keys() if key.revoked_at is None]
        cipher = load_cipher(settings.encryption_keys, settings.data_dir, in_use=known)
        store: Store = AuthorizedStore(EncryptedStore(MeteredStore(sql, metrics), cipher), RoleAuthorizer())
        # First announced, then checked: see announced_key.
        await stack.enter_async_context(announced_key(dsn, cipher.primary.id, clock=clock))
        with acting_as(KEYRING):
            await check_keys(store, cipher)
        yield OpenStore(store, cipher, metrics, dsn, migrations, notes)


@contextmanager
def open_accounts(
    opened: OpenStore, settings: Settings, *, clock: Clock, hasher: PasswordHasher | None = None
) -> Iterator[Accounts]:
    with open_passwords(hasher or PasswordHasher()) as passwords:
        lifetime = timedelta(hours=settings.session_lifetime_hours)
        yield Accounts(opened.store, passwords, clock, session_lifetime=lifetime)


class Replica(msgspec.Struct, frozen=True):
    """One replica's parts, running. `lease` says whether it may run chats."""

    id: UUID
    opened: OpenStore
    accounts: Accounts
    identity: Identity
    versions: Versions
    hints: Hints
    clock: Clock
    lease: Lease
    catalogue: Catalogue
    models: Models
    transport: Transport
    outbound: Outbound
    engine: Engine
    push: Push
    workspaces: Workspaces
    diffs: Diffs


def _keep_audit(settings: Settings) -> timedelta | None:
    return timedelta(days=settings.audit_retention_days) or None


@asynccontextmanager
async def running_replica(
    settings: Settings,
    *,
    clock: Clock,
    replica: str = "",
    replica_id: UUID | None = None,
    place: int = 0,
    hasher: PasswordHasher | None = None,
) -> AsyncIterator[Replica]:
    """Everything a replica does besides HTTP: heartbeat, hints, version polls, clean-up. Ends when the block ends.

    `replica_id` is new at every start: None mints one, a parent that will notice the death gives one, and a `place`.
    `hasher` is for tests, which can't wait for passwords to be hashed as hard as they should be.
    """
    id = replica_id or uuid7(clock.now())
    catalogue = load_catalogue(settings.model_catalogue)
    async with AsyncExitStack() as stack:
        demo = None
        if settings.demo_model == "auto":
            demo = await stack.enter_async_context(demo_on_demand(api_key=new_token(), clock=clock))
        no_proxy = ",".join(settings.outbound_no_proxy)
        outbound = Outbound(settings.outbound_proxy, settings.outbound_ca, demo, no_proxy)
        opened = await stack.enter_async_context(open_store(settings, clock=clock, replica=replica))
        hints_url = settings.hints_url.reveal() if settings.hints_url else None
        hints = await stack.enter_async_context(open_hints(hints_url, dsn=lambda: opened.dsn, clock=clock))
        accounts = stack.enter_context(open_accounts(opened, settings, clock=clock, hasher=hasher))
        identity = Identity(opened.store, clock, cache_seconds=settings.token_cache_seconds)
        versions = Versions(opened.store, hints, clock)
        versions.on_change("auth", identity.forget)
        limits = StreamLimits(settings.model_first_event_seconds, settings.model_silence_seconds)
        models = Models(opened.store, catalogue, outbound, limits)
        versions.on_change("models", models.forget)
        transport = await stack.enter_async_context(
            open_transport(proxy=outbound.proxy, no_proxy=outbound.no_proxy, ca=outbound.ca)
        )
        await bootstrap_admin(settings, accounts)
        if await discover_models(opened.store, settings, catalogue, clock):
            versions.changed("models")
        relay_socket, relay_url = open_relay_socket(settings, place)
        stack.callback(relay_socket.close)
        host_id = read_host_id(settings.data_dir)
        provisioners = _provisioners(settings, host_id, clock)
        row = ReplicaRow(
            id,
            relay_url,
            socket.gethostname(),
            os.getpid(),
            chatd.__version__,
            host_id,
            tuple(each.kind for each in provisioners),
        )
        lease = await stack.enter_async_context(_heartbeat(opened, row, clock=clock))
        meter = await stack.enter_async_context(engine_meter(opened.metrics, settings, clock=clock, replica=replica))
        push = await stack.enter_async_context(
            running_push(
                opened.store,
                versions,
                outbound,
                settings=settings,
                clock=clock,
                counted=opened.metrics.engine.pushes,
            )
        )
        workspaces = await stack.enter_async_context(
            running_workspaces(
                opened.store,
                hints,
                provisioners,
                opened.metrics.workspaces,
                clock=clock,
                replica_id=id,
                host_id=host_id,
                keeps_agents=settings.agents_at_stop == "keep",
                most_per_user=settings.workspaces_per_user,
            )
        )
        diffs = await stack.enter_async_context(
            running_diffs(
                opened.store,
                hints,
                clock=clock,
                proxy=outbound.proxy,
                no_proxy=outbound.no_proxy,
                ca=outbound.ca,
                counted=opened.metrics.git_hosts.asked,
            )
        )
        engine = await stack.enter_async_context(
            running_engine(
                opened.store,
                hints,
                lease,
                settings=settings,
                versions=versions,
                models=models,
                transport=transport,
                clock=clock,
                replica_id=id,
                meter=meter,
                push=push.pushes.start,
                relay_socket=relay_socket,
                metrics=opened.metrics.streams,
                workspaces=workspaces,
                visits=diffs.local,
            )
        )
        background = {
            "poll versions": versions.poll_forever(),
            "flush last used": identity.flush_forever(),
            "janitor": clean_forever(opened.store, clock, keep_audit=_keep_audit(settings)),
        }
        async with beside(background):
            yield Replica(
                id,
                opened,
                accounts,
                identity,
                versions,
                hints,
                clock,
                lease,
                catalogue,
                models,
                transport,
                outbound,
                engine,
                push,
                workspaces,
                diffs,
            )
            await identity.flush()


def _provisioners(settings: Settings, host_id: str, clock: Clock) -> list[Provisioner]:
    found: list[Provisioner] = []
    if settings.local_workspaces != "off":
        local = LocalProvisioner(
            settings.data_dir / "workspaces",
            host_id=host_id,
            clock=clock,
            unconfined=settings.local_workspaces == "unconfined",
            user=settings.workspace_user,
            private_networks=settings.workspace_private_networks,
        )
        found.append(local)
    if settings.docker_url is not None:
        docker = DockerProvisioner(
            settings.docker_url,
            settings.data_dir / "containers",
            host_id=host_id,
            clock=clock,
            connect=settings.docker_connect,
            publish_on=settings.docker_publish_on,
            reach_at=settings.docker_reach_at,
        )
        found.append(docker)
    return found


def _heartbeat(opened: OpenStore, row: ReplicaRow, *, clock: Clock) -> AbstractAsyncContextManager[Lease]:
    schema = opened.migrations.function_schema
    return beating(lambda: dial(opened.dsn, row, function_schema=schema), clock=clock, thread_clock=SystemClock())


async def expire_replica(opened: OpenStore, replica_id: UUID, *, clock: Clock) -> None:
    """Someone saw this replica die: others may take its chats at once. What goes wrong is only logged."""
    try:
        with acting_as(WORKER):
            async with clock.timeout(_EXPIRE_SECONDS, timer="expire replica"):
                await opened.store.expire_replica(id=replica_id)
    except Exception as error:  # noqa: BLE001 - without this the lease ends by itself
        _log.warning("the lease of a dead replica can't be ended", error=str(error) or type(error).__name__)


async def bootstrap_admin(settings: Settings, accounts: Accounts) -> None:
    """The owner that the operator configured, on an empty deployment only. Of several replicas one makes it."""
    email, password = settings.bootstrap_admin_email, settings.bootstrap_admin_password
    if email is None or password is None or await accounts.has_any_user():
        return
    with suppress(Conflict):
        await accounts.create_first_user(
            code=None,
            email=email,
            username="admin",
            display_name="",
            password=password,
            client=Client("operator"),
        )
        _log.info("created the configured owner", email=email, username="admin")
