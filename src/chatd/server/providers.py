"""What owners do with model providers: make, change, delete and test them. Keys go in and are not read back."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from uuid import UUID

import asyncpg
import msgspec
from msgspec import UNSET

from chatd.clock import Clock
from chatd.core import model_checks
from chatd.core.access import MODEL_KEEPER, Action, Actor, Kind, Person, Resource, may
from chatd.core.cost import Prices
from chatd.core.errors import Conflict, InvalidRequest, NotAuthorized, NotFound, Validation
from chatd.core.failure import not_configured
from chatd.core.model_options import ModelOptions
from chatd.core.provider_kind import ProviderKind
from chatd.core.secret import Secret
from chatd.engine.models import access_of, capabilities_of, prices_of, read_model_options
from chatd.minting import uuid7
from chatd.observe.engine_metrics import OTHER, EngineMetrics
from chatd.providers.catalogue import Catalogue, KnownModel
from chatd.providers.hosts import Outbound, ProviderAccess, host_of
from chatd.providers.option_checks import model_option_problems, option_key, provider_option_problems
from chatd.providers.probe import CountedProbe, ProbeResult, probe
from chatd.providers.transport import Transport
from chatd.server.shown_models import shown_known
from chatd.store.actor import acting_as
from chatd.store.constraints import UniqueConstraint
from chatd.store.queries import GetProviderRow, ModelConfig
from chatd.store.store import Store
from chatd.wire import models as wire


class Providers:
    def __init__(
        self,
        store: Store,
        catalogue: Catalogue,
        transport: Transport,
        outbound: Outbound,
        clock: Clock,
        metrics: EngineMetrics,
    ) -> None:
        self._metrics = metrics
        self._store = store
        self._catalogue = catalogue
        self._transport = transport
        self._outbound = outbound
        self._clock = clock

    async def create(self, asked: wire.CreateProvider) -> GetProviderRow:
        model_checks.check_provider(name=asked.name, display_name=asked.display_name, base_url=asked.base_url)
        access = _access(asked.type, asked.name, asked.base_url, asked.api_key, asked.options)
        model_checks.refuse(provider_option_problems(access))
        id = uuid7(self._clock.now())
        with _taken_name_refused():
            await self._store.insert_provider(
                id=id,
                name=access.name,
                kind=access.kind,
                display_name=asked.display_name,
                base_url=access.base_url,
                api_key=access.api_key,
                options=access.options,
                enabled=asked.enabled,
            )
        return await _get(self._store, id)

    async def change(self, id: UUID, asked: wire.UpdateProvider) -> GetProviderRow:
        async with models_locked(self._store) as tx:
            row = await _get(tx, id)
            changed = msgspec.structs.replace(row, **_given(asked, "name", "display_name", "base_url", "enabled"))
            model_checks.check_provider(name=changed.name, display_name=changed.display_name, base_url=changed.base_url)
            _require_key_again(row, changed.base_url, asked.api_key)
            options = row.options if asked.options is UNSET else _json(asked.options)
            key = None if asked.api_key is UNSET else asked.api_key
            access = _access(ProviderKind(row.kind), changed.name, changed.base_url, key, {})
            access = msgspec.structs.replace(access, options=options)
            model_checks.refuse(provider_option_problems(access))
            if options != row.options:
                await self._check_models(tx, id, access)
            with _taken_name_refused():
                await tx.update_provider(
                    id=id,
                    name=changed.name,
                    display_name=changed.display_name,
                    base_url=changed.base_url,
                    options=options,
                    enabled=changed.enabled,
                )
            if asked.api_key is not UNSET:
                await tx.update_provider_key(id=id, api_key=access.api_key)
            return await _get(tx, id)

    async def delete(self, id: UUID) -> None:
        """With its models. Another becomes the default if one of them was."""
        async with models_locked(self._store) as tx:
            if not await tx.delete_provider(id=id):
                raise NotFound("Provider")
            with acting_as(MODEL_KEEPER):
                await tx.elect_default_model_config()

    def known_models(self, kind: ProviderKind, person: Person) -> list[wire.KnownModel]:
        _require(person, Action.READ)
        return [shown_known(model, kind) for model in self._catalogue.of(kind)]

    async def test(self, id: UUID, asked: wire.TestSavedProvider, person: Actor) -> tuple[str, ProbeResult]:
        """One small call with what is stored, or with what is about to be. Gives the model and what came of it."""
        _require(person, Action.UPDATE)
        row = await _get(self._store, id)
        with acting_as(MODEL_KEEPER):
            stored = await self._store.get_provider_with_key(id=id)
            configs = await self._store.list_model_configs()
        if stored is None:
            raise NotFound("Provider")
        access = access_of(stored)
        if asked.base_url is not UNSET:
            model_checks.check_provider(name=row.name, display_name="", base_url=asked.base_url)
            _require_key_again(row, asked.base_url, asked.api_key)
            access = msgspec.structs.replace(access, base_url=asked.base_url)
        if asked.api_key is not UNSET:
            key = _secret(asked.api_key, access.kind)
            access = msgspec.structs.replace(access, api_key=key)
        if asked.options is not UNSET:
            access = msgspec.structs.replace(access, options=_json(asked.options))
        model_checks.refuse(provider_option_problems(access))
        own = [config for config in configs if config.provider_id == id and config.enabled]
        return await self._probe(access, row.display_name or row.name, asked.model, own)

    async def test_unsaved(self, asked: wire.TestNewProvider, person: Person) -> tuple[str, ProbeResult]:
        _require(person, Action.CREATE)
        model_checks.check_provider(name="new", display_name="", base_url=asked.base_url)
        access = _access(asked.type, "", asked.base_url, asked.api_key, asked.options)
        model_checks.refuse(provider_option_problems(access))
        return await self._probe(access, asked.type, asked.model, [])

    async def _probe(
        self, access: ProviderAccess, called: str, model: str | None, configs: list[ModelConfig]
    ) -> tuple[str, ProbeResult]:
        config = next((one for one in configs if one.model == model or model is None), None)
        name = model or (config.model if config else None) or self._suggested(access.kind)
        if name is None:
            raise InvalidRequest(
                "Name a model to test with.", validations=[Validation("model", "no model is configured yet")]
            )
        model_checks.check_model(model=name, display_name="", context_limit=None, compression_threshold=0)
        options = read_model_options(config.options) if config else ModelOptions()
        vendor = (options.provider_options or {}).get(option_key(access, name), {})
        try:
            host = host_of(access, self._outbound)
        except InvalidRequest as error:
            return name, ProbeResult(failure=not_configured(error, provider=called))
        known = self._catalogue.lookup(access.kind, name)
        # A name that is only being tried must not become a label.
        metrics = self._metrics.of(access.kind, config.model if config else OTHER)
        result = await probe(
            host,
            provider=called,
            model=name,
            transport=self._transport,
            clock=self._clock,
            capabilities=capabilities_of(options, known, access.kind),
            options=_json(dict(vendor)),
            counted=CountedProbe(metrics, _prices(config, known, access.kind)),
        )
        return name, result

    def _suggested(self, kind: ProviderKind) -> str | None:
        return next((model.name for model in self._catalogue.suggested(kind)), None)

    async def _check_models(self, tx: Store, id: UUID, access: ProviderAccess) -> None:
        """Other options may mean another API, which reads other options of models."""
        for config in await tx.list_model_configs():
            given = read_model_options(config.options).provider_options
            if config.provider_id != id or not given:
                continue
            if problems := model_option_problems(access, config.model, given, field="provider_options"):
                raise InvalidRequest(
                    f"The options of the model {config.model} would not fit any more.",
                    detail="Change them first.",
                    validations=[Validation("options", f"{problems[0].field}: {problems[0].detail}")],
                )


def _prices(config: ModelConfig | None, known: KnownModel | None, kind: ProviderKind) -> Prices:
    if config is not None:
        return prices_of(config, known, kind)
    return Prices() if known is None else known.prices_at(kind)


@asynccontextmanager
async def models_locked(store: Store) -> AsyncIterator[Store]:
    """A transaction in which nobody else changes providers and models."""
    async with store.transaction() as tx:
        with acting_as(MODEL_KEEPER):
            await tx.lock_models()
        yield tx


@contextmanager
def _taken_name_refused() -> Iterator[None]:
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != UniqueConstraint.PROVIDERS_NAME_KEY:
            raise
        taken = Validation("name", "already used by another provider")
        raise Conflict("That name is taken.", validations=[taken]) from error


async def _get(store: Store, id: UUID) -> GetProviderRow:
    row = await store.get_provider(id=id)
    if row is None:
        raise NotFound("Provider")
    return row


def _given(asked: wire.UpdateProvider, *names: str) -> dict[str, object]:
    return {name: getattr(asked, name) for name in names if getattr(asked, name) is not UNSET}


def _access(kind: ProviderKind, name: str, base_url: str, key: str | None, options: wire.Options) -> ProviderAccess:
    return ProviderAccess(kind=kind, name=name, base_url=base_url, api_key=_secret(key, kind), options=_json(options))


def _secret(key: str | None, kind: ProviderKind) -> Secret | None:
    if key is None:
        return None
    model_checks.check_api_key(key, kind)
    return Secret(key)


def _json(options: wire.Options) -> str:
    return msgspec.json.encode(options).decode()


def _require_key_again(row: GetProviderRow, base_url: str, key: object) -> None:
    """A stored key never goes to a server that it was not given for."""
    if row.has_key and key is UNSET and not model_checks.same_address(row.base_url, base_url):
        raise InvalidRequest(
            "The stored key was given for another server.",
            detail="Give the key again together with the new address, or take it away with null.",
            validations=[Validation("api_key", "give it again: it was for another server")],
        )


def _require(person: Actor, action: Action) -> None:
    """For what no layer of the store sees: calls to a vendor, and the catalogue."""
    if not may(person, action, Resource(Kind.PROVIDER)):
        raise NotAuthorized(action=action, resource=Kind.PROVIDER)
