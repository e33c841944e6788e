"""What owners do with configured models, and what everyone sees of them. Exactly one is the default."""

from decimal import Decimal
from typing import Literal
from uuid import UUID

import msgspec
from msgspec import UNSET

from chatd.clock import Clock
from chatd.core import model_checks
from chatd.core.access import MODEL_KEEPER
from chatd.core.cost import Prices
from chatd.core.errors import InvalidRequest, NotFound, Validation
from chatd.core.model_options import EffortRange, ModelOptions, effort_problems, without_empty
from chatd.core.provider_kind import ProviderKind
from chatd.core.reasoning import ReasoningEffort
from chatd.engine.models import prices_of, read_model_options
from chatd.minting import uuid7
from chatd.providers.catalogue import Catalogue, KnownModel
from chatd.providers.hosts import ProviderAccess
from chatd.providers.hosts.demo import is_demo
from chatd.providers.option_checks import model_option_problems
from chatd.server.providers import models_locked
from chatd.server.shown_models import shown_long_prompt_prices, shown_prices
from chatd.store.actor import acting_as
from chatd.store.queries import GetProviderRow, ListOfferedModelsRow, ListProvidersRow, ModelConfig
from chatd.store.store import Store
from chatd.wire import models as wire


class ModelConfigs:
    def __init__(self, store: Store, catalogue: Catalogue, clock: Clock) -> None:
        self._store = store
        self._catalogue = catalogue
        self._clock = clock

    async def list_all(self) -> list[wire.ModelConfig]:
        providers = {row.id: row for row in await self._store.list_providers()}
        rows = await self._store.list_model_configs()
        return [self._shown(row, providers[row.provider_id]) for row in rows if row.provider_id in providers]

    async def list_offered(self) -> list[wire.ModelConfig]:
        return [self._offered(row) for row in await self._store.list_offered_models()]

    async def get(self, id: UUID) -> wire.ModelConfig:
        row = await _get(self._store, id)
        provider = await self._store.get_provider(id=row.provider_id)
        if provider is None:
            raise NotFound("Model")
        return self._shown(row, provider)

    async def get_offered(self, id: UUID) -> wire.ModelConfig:
        for row in await self._store.list_offered_models():
            if row.id == id:
                return self._offered(row)
        raise NotFound("Model")

    async def create(self, asked: wire.CreateModelConfig) -> wire.ModelConfig:
        async with models_locked(self._store) as tx:
            provider = await _usable_provider(tx, asked.ai_provider_id)
            kind = ProviderKind(provider.kind)
            known = self._catalogue.lookup(kind, asked.model)
            display_name = asked.display_name
            if display_name is UNSET:
                display_name = known.display_name if known else ""
            limit = (known.context_limit if known else None) if asked.context_limit is UNSET else asked.context_limit
            model_checks.check_model(
                model=asked.model,
                display_name=display_name,
                context_limit=limit,
                compression_threshold=asked.compression_threshold,
            )
            if limit is None:
                raise InvalidRequest(
                    "Check context_limit.",
                    validations=[Validation("context_limit", "needed: the catalogue does not know this model")],
                )
            options = default_options(known) if asked.model_config is UNSET else asked.model_config or ModelOptions()
            _check_call(provider, asked.model, options, known)
            row = await tx.insert_model_config(
                id=uuid7(self._clock.now()),
                provider_id=provider.id,
                model=asked.model,
                display_name=display_name,
                enabled=asked.enabled,
                context_limit=limit,
                compression_threshold=asked.compression_threshold,
                options=_json(options),
                **_price_columns(_prices(asked.prices)),
            )
            await _settle_default(tx, row.id if asked.is_default or await _is_first_real(tx, row) else None)
            return self._shown(await _get(tx, row.id), provider)

    async def change(self, id: UUID, asked: wire.UpdateModelConfig) -> wire.ModelConfig:
        async with models_locked(self._store) as tx:
            row = await _get(tx, id)
            if asked.is_default is False and row.is_default:
                raise InvalidRequest(
                    "There is always a default model. Make another one the default instead.",
                    validations=[Validation("is_default", "true for another model")],
                )
            moved = asked.ai_provider_id is not UNSET and asked.ai_provider_id != row.provider_id
            provider = await (_usable_provider if moved else _provider)(
                tx, row.provider_id if asked.ai_provider_id is UNSET else asked.ai_provider_id
            )
            names = ("model", "display_name", "enabled", "context_limit", "compression_threshold")
            given = {name: getattr(asked, name) for name in names if getattr(asked, name) is not UNSET}
            changed = msgspec.structs.replace(row, **given)
            kept = asked.model_config is UNSET
            options = read_model_options(row.options) if kept else asked.model_config or ModelOptions()
            model_checks.check_model(
                model=changed.model,
                display_name=changed.display_name,
                context_limit=changed.context_limit,
                compression_threshold=changed.compression_threshold,
            )
            known = self._catalogue.lookup(ProviderKind(provider.kind), changed.model)
            _check_call(provider, changed.model, options, known)
            prices = _own_prices(row) if asked.prices is UNSET else _prices(asked.prices)
            await tx.update_model_config(
                id=id,
                provider_id=provider.id,
                model=changed.model,
                display_name=changed.display_name,
                enabled=changed.enabled,
                context_limit=changed.context_limit,
                compression_threshold=changed.compression_threshold,
                options=row.options if kept else _json(options),  # also what a newer chatd has written
                **_price_columns(prices),
            )
            await _settle_default(tx, id if asked.is_default is True else None)
            return self._shown(await _get(tx, id), provider)

    async def delete(self, id: UUID) -> None:
        """Another becomes the default if this one was: one that can be used, if there is any."""
        async with models_locked(self._store) as tx:
            if not await tx.delete_model_config(id=id):
                raise NotFound("Model")
            await _settle_default(tx, None)

    def _shown(self, row: ModelConfig, provider: GetProviderRow | ListProvidersRow) -> wire.ModelConfig:
        options = read_model_options(row.options)
        config = msgspec.convert(msgspec.to_builtins(options), wire.ModelCallConfig)
        return self._view(row, provider.kind, provider.display_name or provider.name, row.enabled, options, config)

    def _offered(self, row: ListOfferedModelsRow) -> wire.ModelConfig:
        effort = msgspec.json.decode(row.reasoning_effort, type=EffortRange) if row.reasoning_effort else None
        provider_name = row.provider_display_name or row.provider_name
        return self._view(row, row.kind, provider_name, True, ModelOptions(reasoning_effort=effort), None)

    def _view(
        self,
        row: ModelConfig | ListOfferedModelsRow,
        kind_name: str,
        provider_name: str,
        enabled: bool,
        options: ModelOptions,
        config: wire.ModelCallConfig | None,
    ) -> wire.ModelConfig:
        kind = ProviderKind(kind_name)
        known = self._catalogue.lookup(kind, row.model)
        prices = prices_of(row, known, kind)
        source: Literal["config", "catalogue", "unknown"] = "config"
        if _own_prices(row) == Prices():
            source = "unknown" if prices == Prices() else "catalogue"
        return wire.ModelConfig(
            id=row.id,
            ai_provider_id=row.provider_id,
            provider_type=kind,
            provider_name=provider_name,
            model=row.model,
            display_name=row.display_name,
            enabled=enabled,
            is_default=row.is_default,
            context_limit=row.context_limit,
            compression_threshold=row.compression_threshold,
            model_config=None if config == wire.ModelCallConfig() else config,
            reasoning_efforts=_selectable(options.reasoning_effort, known),
            prices=shown_prices(prices),
            long_prompt_prices=shown_long_prompt_prices(prices),
            price_source=source,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


def default_options(known: KnownModel | None) -> ModelOptions:
    """For a model of which nothing was said: it thinks as its vendor would have it, and may be asked for all it can."""
    if known is None or not known.efforts:
        return ModelOptions()
    middle = ReasoningEffort.MEDIUM if ReasoningEffort.MEDIUM in known.efforts else known.efforts[0]
    return ModelOptions(reasoning_effort=EffortRange(known.default_effort or middle, known.efforts[-1]))


def _check_call(provider: GetProviderRow, model: str, options: ModelOptions, known: KnownModel | None) -> None:
    """Whether a model of this provider can be called so."""
    access = ProviderAccess(
        kind=ProviderKind(provider.kind), name=provider.name, base_url=provider.base_url, options=provider.options
    )
    problems = effort_problems(options.reasoning_effort, field="model_config.reasoning_effort")
    told = options.capabilities.reasoning if options.capabilities else None
    if options.reasoning_effort and not (told or (told is None and (known is None or known.efforts))):
        rule = "this model does not reason; if it does, set capabilities.reasoning to true"
        problems.append(Validation("model_config.reasoning_effort", rule))
    problems += model_option_problems(
        access, model, options.provider_options or {}, field="model_config.provider_options"
    )
    if access.kind is ProviderKind.OPENAI and "openrouter" in access.base_url and "/" in model:
        problems.append(Validation("model", "names with a slash need a provider of type openrouter"))
    model_checks.refuse(problems)


async def _settle_default(tx: Store, wanted: UUID | None) -> None:
    """The wanted one is the default from now on, or there is one anyway."""
    if wanted is not None:
        await tx.set_default_model_config(id=wanted)
    with acting_as(MODEL_KEEPER):
        await tx.elect_default_model_config()


async def _is_first_real(tx: Store, new: ModelConfig) -> bool:
    """Whether all others are the demo's: who sets up a model wants no demo."""
    with acting_as(MODEL_KEEPER):
        demo = {provider.id for provider in await tx.list_providers() if is_demo(provider.base_url)}
        others = [config for config in await tx.list_model_configs() if config.id != new.id]
    return new.provider_id not in demo and all(other.provider_id in demo for other in others)


async def _get(store: Store, id: UUID) -> ModelConfig:
    row = await store.get_model_config(id=id)
    if row is None:
        raise NotFound("Model")
    return row


async def _provider(tx: Store, id: UUID) -> GetProviderRow:
    with acting_as(MODEL_KEEPER):
        provider = await tx.get_provider(id=id)
    if provider is None:
        raise InvalidRequest("Check ai_provider_id.", validations=[Validation("ai_provider_id", "no such provider")])
    return provider


async def _usable_provider(tx: Store, id: UUID) -> GetProviderRow:
    provider = await _provider(tx, id)
    if not provider.enabled:
        raise InvalidRequest(
            "Check ai_provider_id.", validations=[Validation("ai_provider_id", "this provider is switched off")]
        )
    return provider


def _selectable(effort: EffortRange | None, known: KnownModel | None) -> list[ReasoningEffort]:
    if effort is None:
        return []
    return list(effort.selectable(known.efforts) if known and known.efforts else effort.selectable())


def _prices(asked: wire.ModelPrices | None) -> Prices:
    if asked is None:
        return Prices()
    try:
        return Prices.parse(**msgspec.structs.asdict(asked))
    except InvalidRequest as error:
        named = [Validation(f"prices.{one.field}", one.detail) for one in error.validations]
        raise InvalidRequest(error.message, validations=named) from error


def _own_prices(row: ModelConfig | ListOfferedModelsRow) -> Prices:
    return prices_of(row, None, ProviderKind.OPENAI_COMPAT)


def _price_columns(prices: Prices) -> dict[str, Decimal | None]:
    return {
        "input_price": prices.input,
        "output_price": prices.output,
        "cache_read_price": prices.cache_read,
        "cache_write_price": prices.cache_write,
    }


def _json(options: ModelOptions) -> str:
    return msgspec.json.encode(without_empty(options)).decode()
