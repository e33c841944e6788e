"""Providers and models out of the keys that the environment has, at the first start. Once per key, for all replicas."""

from collections.abc import Sequence
from typing import Final

import msgspec

from chatd.clock import Clock
from chatd.core.access import MODEL_KEEPER
from chatd.core.model_checks import same_address
from chatd.core.provider_kind import ProviderKind
from chatd.core.secret import Secret
from chatd.minting import uuid7
from chatd.observe.logs import get_logger
from chatd.providers.catalogue import Catalogue
from chatd.server.model_configs import default_options
from chatd.server.providers import models_locked
from chatd.server.settings import Settings
from chatd.store.actor import acting_as
from chatd.store.store import Store

DEMO: Final = "demo"  # the name of the demo's provider, which does not count: who gives a key wants a real model
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


async def discover(store: Store, catalogue: Catalogue, keys: Sequence[FoundKey], clock: Clock) -> bool:
    """Set up what was found, where there is no provider yet. What was set up once and then deleted stays away.

    Gives whether anything was made.
    """
    if not keys:
        return False
    with acting_as(MODEL_KEEPER):
        async with models_locked(store) as tx:
            known = await tx.get_site_setting(key=_REMEMBERED)
            remembered = msgspec.json.decode(known, type=list[str]) if known else []
            providers = await tx.list_providers()
            new = [key for key in keys if key.name not in remembered]
            if not new or any(provider.name.lower() != DEMO for provider in providers):
                return False
            for key in new:
                await _set_up(tx, catalogue, key, clock)
            value = msgspec.json.encode([*remembered, *(key.name for key in new)]).decode()
            await tx.upsert_site_setting(key=_REMEMBERED, value=value)
            await _settle_default(tx)
    for key in new:
        models = [model.name for model in catalogue.suggested(key.vendor)]
        _log.info("set up a provider from the environment", provider=key.name, type=key.kind, models=models)
    return True


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


async def _settle_default(tx: Store) -> None:
    """The oldest real model, also in place of the demo's."""
    demo = {provider.id for provider in await tx.list_providers() if provider.name.lower() == DEMO}
    configs = await tx.list_model_configs()
    if any(config.is_default and config.provider_id not in demo for config in configs):
        return
    first = next((config for config in configs if config.provider_id not in demo), None)
    if first is not None:
        await tx.set_default_model_config(id=first.id)
