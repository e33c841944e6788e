"""Prices and models of the catalogue as clients see them."""

from chatd.core.cost import Prices
from chatd.core.provider_kind import ProviderKind
from chatd.providers.catalogue import KnownModel
from chatd.wire import models as wire


def shown_prices(prices: Prices) -> wire.ModelPrices:
    return wire.ModelPrices(**prices.texts())


def shown_long_prompt_prices(prices: Prices) -> wire.LongPromptPrices | None:
    long = prices.long_prompt
    return None if long is None else wire.LongPromptPrices(above=long.above, **long.texts())


def shown_known(model: KnownModel, kind: ProviderKind) -> wire.KnownModel:
    prices = model.prices_at(kind)
    return wire.KnownModel(
        model=model.name,
        display_name=model.display_name,
        context_limit=model.context_limit,
        max_output_tokens=model.max_output_tokens,
        efforts=list(model.efforts),
        default_effort=model.default_effort,
        images=model.images,
        pdfs=model.pdfs,
        text_files=model.text_files,
        tools=model.tools,
        prices=shown_prices(prices),
        long_prompt_prices=shown_long_prompt_prices(prices),
        suggested=model.suggested,
    )
