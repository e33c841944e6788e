"""The first providers and models: out of the keys that the environment has, else the demo. Once, for all replicas."""

from decimal import Decimal
from typing import Final

import msgspec

from chatd.clock import Clock
from chatd.core.access import MODEL_KEEPER
from chatd.core.model_checks import same_address
from chatd.core.provider_kind import ProviderKind
from chatd.core.secret import Secret
from chatd.demo.brain import MODEL
from chatd.minting import uuid7
from chatd.observe.logs import get_logger
from chatd.providers.catalogue import Catalogue
from chatd.providers.hosts.demo import DEMO_URL, is_demo
from chatd.server.model_configs import default_options
from chatd.server.providers import models_locked
from chatd.server.settings import Settings
from chatd.store.actor import acting_as
from chatd.store.store import Store

_DEMO: Final = "demo"  # how it is remembered
_FREE: Final = Decimal(0)
_DEMO_CONTEXT: Final = 128_000  # tokens: it has no limit, but a meter needs one
_REMEMBERED: Final = "models.discovered"
_OPENAI_URL: Final = "https://api.openai.com"
_log = get_logger("chatd.discovery")


class FoundKey(msgspec.Struct, frozen=True):
    """A key, and what its provider will be. `vendor` is whose models it gets."""

    name: str
    display_name: str
    kind: ProviderKind
    vendor: ProviderKind
    key: Secret
    base_url: str = ""


def found_keys(settings: Settings) -> list[FoundKey]:
    found: list[FoundKey] = []
    if settings.anthropic_api_key:
        anthropic = ProviderKind.ANTHROPIC
        found.append(FoundKey("anthropic", "Anthropic", anthropic, anthropic, settings.anthropic_api_key))
    if settings.openai_api_key:
        url = settings.openai_base_url or ""
        own = not url or same_address(url, _OPENAI_URL)
        # Few of those who imitate OpenAI have more than the older of its two APIs.
        kind = ProviderKind.OPENAI if own else ProviderKind.OPENAI_COMPAT
        found.append(FoundKey("openai", "OpenAI", kind, ProviderKind.OPENAI, settings.openai_api_key, url))
    if settings.gemini_api_key:
        google = ProviderKind.GOOGLE
        found.append(FoundKey("google", "Google", google, google, settings.gemini_api_key))
    return found


async def discover_models(store: Store, settings: Settings, catalogue: Catalogue, clock: Clock) -> bool:
    """Set up what keys are found for, where there is no provider yet; where there is no key either, the demo.

    What was set up once and then deleted stays away. The demo's provider does not count: who gives a key wants a real
    model. Gives whether anything was made.
    """
    keys = found_keys(settings)
    with acting_as(MODEL_KEEPER):
        async with models_locked(store) as tx:
            known = await tx.get_site_setting(key=_REMEMBERED)
            remembered = msgspec.json.decode(known, type=list[str]) if known else []
            providers = await tx.list_providers()
            if any(not is_demo(provider.base_url) for provider in providers):
                return False
            new = [key for key in keys if key.name not in remembered]
            for key in new:
                await _set_up(tx, catalogue, key, clock)
            names = [key.name for key in new]
            if settings.demo_model == "auto" and not keys and not providers and _DEMO not in remembered:
                await _set_up_demo(tx, clock)
                names = [_DEMO]
            if not names:
                return False
            value = msgspec.json.encode([*remembered, *names]).decode()
            await tx.upsert_site_setting(key=_REMEMBERED, value=value)
            await _settle_default(tx)
    if names == [_DEMO]:
        _log.info("set up the demo model: no key and no provider is configured")
    for key in new:
        models = [model.name for model in catalogue.suggested(key.vendor)]
        _log.info("set up a provider from the environment", provider=key.name, type=key.kind, models=models)
    return True


async def has_only_demo(store: Store) -> bool:
    """Whether the demo is all that there is to talk to."""
    with acting_as(MODEL_KEEPER):
        providers = await store.list_providers()
    return bool(providers) and all(is_demo(provider.base_url) for provider in providers)


async def _set_up(tx: Store, catalogue: Catalogue, found: FoundKey, clock: Clock) -> None:
    provider_id = uuid7(clock.now())
    await tx.insert_provider(
        id=provider_id,
        name=found.name,
        kind=found.kind,
        display_name=found.display_name,
        base_url=found.base_url,
        api_key=found.key,
        options="{}",
        enabled=True,
    )
    for model in catalogue.suggested(found.vendor):
        await tx.insert_model_config(
            id=uuid7(clock.now()),
            provider_id=provider_id,
            model=model.name,
            display_name=model.display_name,
            enabled=True,
            context_limit=model.context_limit,
            compression_threshold=70,
            options=msgspec.json.encode(default_options(model)).decode(),
            input_price=None,  # those of the catalogue, also after it has learned better
            output_price=None,
            cache_read_price=None,
            cache_write_price=None,
        )


async def _set_up_demo(tx: Store, clock: Clock) -> None:
    provider_id = uuid7(clock.now())
    await tx.insert_provider(
        id=provider_id,
        name="Demo",
        kind=ProviderKind.OPENAI_COMPAT,
        display_name="",
        base_url=DEMO_URL,
        api_key=None,
        options="{}",
        enabled=True,
    )
    await tx.insert_model_config(
        id=uuid7(clock.now()),
        provider_id=provider_id,
        model=MODEL,
        display_name="Demo",
        enabled=True,
        context_limit=_DEMO_CONTEXT,
        compression_threshold=70,
        options="{}",
        input_price=_FREE,
        output_price=_FREE,
        cache_read_price=_FREE,
        cache_write_price=_FREE,
    )


async def _settle_default(tx: Store) -> None:
    """The oldest real model, also in place of the demo's."""
    demo = {provider.id for provider in await tx.list_providers() if is_demo(provider.base_url)}
    configs = await tx.list_model_configs()
    if any(config.is_default and config.provider_id not in demo for config in configs):
        return
    real = [config for config in configs if config.provider_id not in demo]
    for first in (real or configs)[:1]:
        await tx.set_default_model_config(id=first.id)
