"""The models that chats run with: configuration, provider and catalogue put together, cached until one changes."""

from typing import Final
from uuid import UUID

import msgspec

from chatd.core.access import MODEL_KEEPER
from chatd.core.cost import Prices
from chatd.core.errors import NotFound
from chatd.core.model import Capabilities
from chatd.core.model_options import ModelOptions
from chatd.core.provider_kind import ProviderKind
from chatd.core.reasoning import ReasoningEffort
from chatd.providers.catalogue import Catalogue, KnownModel
from chatd.providers.hosts import Host, Outbound, ProviderAccess, host_of
from chatd.providers.option_checks import option_key
from chatd.providers.protocols.protocol import VendorProtocol
from chatd.providers.stream import StreamLimits
from chatd.store.actor import acting_as
from chatd.store.queries import ListOfferedModelsRow, ModelConfig, Provider
from chatd.store.store import Store

DEFAULT_OUTPUT_TOKENS: Final = 32_000
_MOST_CACHED: Final = 1000  # configured models; a deployment has a few dozen
# They have models of many vendors: how long an answer may be differs, and the signatures of one are nothing to another.
_COMPATIBLE: Final = (ProviderKind.OPENAI_COMPAT, ProviderKind.OPENROUTER, ProviderKind.VERCEL)
# A deployment on Azure is called what its owner likes: what an unknown one can write is not known either.
_NAMED_BY_OTHERS: Final = (*_COMPATIBLE, ProviderKind.AZURE)


class ResolvedModel(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a call needs. `provider` is the name in failures; `origin` and `vendor_options` are what a
    ModelRequest calls `provider` and `options`. Without `max_output_tokens` the vendor decides."""

    config_id: UUID
    provider_id: UUID
    provider: str
    origin: str
    kind: ProviderKind
    model: str
    is_enabled: bool  # itself, and its provider
    context_limit: int
    compression_threshold: int
    host: Host
    protocol: VendorProtocol
    capabilities: Capabilities
    prices: Prices
    limits: StreamLimits
    options: ModelOptions
    max_output_tokens: int | None
    vendor_options: str = "{}"
    efforts: tuple[ReasoningEffort, ...] = tuple(ReasoningEffort)  # what the model can be told

    def effort(self, asked: ReasoningEffort | None) -> ReasoningEffort | None:
        """What to think with when this was asked for; None = the model is not told."""
        allowed = self.options.reasoning_effort if self.capabilities.reasoning else None
        return allowed.clamp(asked, self.efforts) if allowed else None


class Models:
    """`forget` is called when the area `models` changes, here or on another replica. `limits` are for models that have
    none of their own."""

    def __init__(
        self, store: Store, catalogue: Catalogue, outbound: Outbound, limits: StreamLimits | None = None
    ) -> None:
        self._store = store
        self._limits = limits or StreamLimits()
        self._catalogue = catalogue
        self._outbound = outbound
        self._cached: dict[UUID, ResolvedModel] = {}
        self._origins: dict[UUID, str] | None = None
        self._generation = 0

    @property
    def generation(self) -> int:
        """Another number whenever anything about models has changed."""
        return self._generation

    def forget(self) -> None:
        self._generation += 1
        self._cached.clear()
        self._origins = None

    async def origins(self) -> dict[UUID, str]:
        """Who answered with each configuration there ever was, as `PromptMessage.origin` names it."""
        if self._origins is not None:
            return self._origins
        generation = self._generation
        with acting_as(MODEL_KEEPER):
            rows = await self._store.list_model_origins()
        origins = {row.id: _origin(ProviderKind(row.kind), row.provider_id, row.model) for row in rows}
        if generation == self._generation:
            self._origins = origins
        return origins

    async def model_for(self, config_id: UUID) -> ResolvedModel:
        """Raises NotFound when it was deleted, InvalidRequest when its provider can't be asked as it is configured."""
        if found := self._cached.get(config_id):
            return found
        generation = self._generation
        with acting_as(MODEL_KEEPER):
            config = await self._store.get_model_config(id=config_id)
            provider = config and await self._store.get_provider_with_key(id=config.provider_id)
        if config is None or provider is None:
            raise NotFound("Model")
        resolved = resolve(config, provider, self._catalogue, self._outbound, self._limits)
        # What was read before a change must not outlive it.
        if generation == self._generation and len(self._cached) < _MOST_CACHED:
            self._cached[config_id] = resolved
        return resolved

    async def default_model(self) -> ResolvedModel | None:
        """The default, or the oldest that can be used; None when no model is configured."""
        with acting_as(MODEL_KEEPER):
            config = await self._store.get_default_model_config()
        return None if config is None else await self.model_for(config.id)


def resolve(
    config: ModelConfig, provider: Provider, catalogue: Catalogue, outbound: Outbound, limits: StreamLimits
) -> ResolvedModel:
    access = access_of(provider)
    host = host_of(access, outbound)
    known = catalogue.lookup(access.kind, config.model)
    options = read_model_options(config.options)
    vendor_options = (options.provider_options or {}).get(option_key(access, config.model), {})
    return ResolvedModel(
        config_id=config.id,
        provider_id=provider.id,
        provider=provider.display_name or provider.name,
        origin=_origin(access.kind, provider.id, config.model),
        kind=access.kind,
        model=config.model,
        is_enabled=config.enabled and provider.enabled,
        context_limit=config.context_limit,
        compression_threshold=config.compression_threshold,
        host=host,
        protocol=host.protocol(config.model),
        capabilities=capabilities_of(options, known, access.kind),
        prices=prices_of(config, known, access.kind),
        limits=StreamLimits(
            first_event=options.first_event_seconds or limits.first_event,
            silence=options.silence_seconds or limits.silence,
        ),
        options=options,
        max_output_tokens=options.max_output_tokens or _output_tokens(known, access.kind),
        vendor_options=msgspec.json.encode(vendor_options).decode(),
        efforts=known.efforts if known and known.efforts else tuple(ReasoningEffort),
    )


def access_of(provider: Provider) -> ProviderAccess:
    return ProviderAccess(
        kind=ProviderKind(provider.kind),
        name=provider.name,
        base_url=provider.base_url,
        api_key=provider.api_key,
        options=provider.options,
    )


def read_model_options(stored: str) -> ModelOptions:
    return msgspec.json.decode(stored, type=ModelOptions)


def prices_of(row: ModelConfig | ListOfferedModelsRow, known: KnownModel | None, kind: ProviderKind) -> Prices:
    """The operator's if there is any: list prices are not mixed into them."""
    own = Prices(
        input=row.input_price,
        output=row.output_price,
        cache_read=row.cache_read_price,
        cache_write=row.cache_write_price,
    )
    return own if own != Prices() or known is None else known.prices_at(kind)


def capabilities_of(options: ModelOptions, known: KnownModel | None, kind: ProviderKind) -> Capabilities:
    if known is not None:
        capabilities = known.capabilities
    else:
        reads_pdfs = kind in (ProviderKind.ANTHROPIC, ProviderKind.BEDROCK, ProviderKind.GOOGLE, ProviderKind.VERTEX)
        capabilities = Capabilities(pdfs=reads_pdfs, reasoning=options.reasoning_effort is not None)
    return options.capabilities.apply(capabilities) if options.capabilities else capabilities


def _origin(kind: ProviderKind, provider_id: UUID, model: str) -> str:
    return f"{provider_id}/{model}" if kind in _COMPATIBLE else str(provider_id)


def _output_tokens(known: KnownModel | None, kind: ProviderKind) -> int | None:
    most = known.max_output_tokens if known else None
    if most is None:
        return None if kind in _NAMED_BY_OTHERS else DEFAULT_OUTPUT_TOKENS
    return min(DEFAULT_OUTPUT_TOKENS, most)
