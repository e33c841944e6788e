"""All checks, one after the other; what one finds wrong spares those that could not succeed."""

from collections.abc import AsyncIterator, Iterator
from typing import Final

from chatd.clock import Clock
from chatd.core.access import OPERATOR
from chatd.observe.metrics import Metrics
from chatd.providers.catalogue import load_catalogue
from chatd.providers.hosts import Outbound
from chatd.providers.transport import open_transport
from chatd.server.doctor.agents import check_agents
from chatd.server.doctor.database import (
    Opened,
    check_cipher,
    check_keys,
    check_push,
    check_replicas,
    check_schema,
    check_server,
    layered,
    opened_database,
)
from chatd.server.doctor.findings import Finding, Grade, bad
from chatd.server.doctor.place import check_address, check_data_dir, check_settings
from chatd.server.doctor.reaching import check_hints, check_http, check_providers, check_relay
from chatd.server.providers import Providers
from chatd.server.settings import LoadedSettings, Settings
from chatd.store.actor import acting_as
from chatd.store.cipher import Cipher, EncryptionKey, new_key_text
from chatd.store.store import Store

_CHECK_SECONDS: Final = 60.0  # for one check; a probe of a model takes the longest, 30


async def examine_all(loaded: LoadedSettings, *, clock: Clock, asks_models: bool = False) -> AsyncIterator[Finding]:
    """Never raises for what is wrong with the deployment, and changes nothing."""
    settings = loaded.settings
    for check in (check_settings(loaded), check_data_dir(settings), check_address(settings)):
        for finding in _sync(check):
            yield finding
    async with opened_database(settings, clock) as opened:
        if isinstance(opened, Finding):
            yield opened
            cipher = check_cipher(settings)
            if isinstance(cipher, Finding):
                yield cipher
            async for finding in _each(clock, server=check_http(settings, (), clock)):
                yield finding
            return
        with acting_as(OPERATOR):
            async for finding in _of_database(opened, settings, clock, asks_models=asks_models):
                yield finding


async def _of_database(
    opened: Opened, settings: Settings, clock: Clock, *, asks_models: bool
) -> AsyncIterator[Finding]:
    found = opened.found
    for finding in (*check_server(found, settings), *check_schema(found), *check_replicas(found.replicas)):
        yield finding
    hints, server = check_hints(settings, opened.dsn, clock), check_http(settings, found.replicas, clock)
    async for finding in _each(clock, hints=hints, server=server):
        yield finding
    if found.schema is None or not found.schema.is_ours:
        return  # what is stored can't be read by this code
    cipher = check_cipher(settings)
    # Without keys of ours it can still be seen under which ones something is stored.
    store = layered(opened.connection, _any_cipher() if isinstance(cipher, Finding) else cipher)
    opens = not isinstance(cipher, Finding)
    async for finding in _each(clock, encryption_keys=check_keys(store, cipher)):
        opens = opens and finding.grade is not Grade.BAD
        yield finding
    if not opens:
        return
    relay, push = check_relay(store, found.replicas, clock), check_push(store)
    models = _models(store, settings, clock, asks=asks_models)
    agents = check_agents(store, settings.data_dir, clock, unconfined=settings.local_workspaces == "unconfined")
    async for finding in _each(clock, relay=relay, push=push, models=models, agents=agents):
        yield finding


async def _each(clock: Clock, **checks: AsyncIterator[Finding]) -> AsyncIterator[Finding]:
    for name, check in checks.items():
        async for finding in _guarded(name.replace("_", " "), check, clock):
            yield finding


async def _models(store: Store, settings: Settings, clock: Clock, *, asks: bool) -> AsyncIterator[Finding]:
    no_proxy = ",".join(settings.outbound_no_proxy)
    outbound = Outbound(settings.outbound_proxy, settings.outbound_ca, None, no_proxy)
    catalogue = load_catalogue(settings.model_catalogue)
    async with open_transport(proxy=outbound.proxy, no_proxy=no_proxy, ca=outbound.ca) as transport:
        providers = Providers(store, catalogue, transport, outbound, clock, Metrics().engine)
        async for finding in check_providers(store, providers, asks=asks):
            yield finding


async def _guarded(check: str, findings: AsyncIterator[Finding], clock: Clock) -> AsyncIterator[Finding]:
    """A check that fails in a way that nobody thought of is a finding too."""
    while True:
        try:
            async with clock.timeout(_CHECK_SECONDS, timer="doctor"):
                finding = await anext(findings, None)
        except Exception as error:  # noqa: BLE001 - said to the operator
            yield bad(check, f"It can't be checked: {_words(error)}")
            return
        if finding is None:
            return
        yield finding


def _sync(findings: Iterator[Finding]) -> Iterator[Finding]:
    try:
        yield from findings
    except OSError as error:
        yield bad("data directory", f"The system refused: {error.strerror or error}")


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _any_cipher() -> Cipher:
    return Cipher([EncryptionKey.from_text(new_key_text())])
