"""The models that chatd knows by name: limits, capabilities, efforts, prices. An operator's file can say otherwise."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from chatd.core.cost import PRICE_PATTERN, LongPromptRates, Prices, parse_rates
from chatd.core.errors import StartRefused
from chatd.core.model import Capabilities
from chatd.core.model_checks import DISPLAY_NAME_LONGEST, MODEL_LONGEST
from chatd.core.provider_kind import ProviderKind
from chatd.core.reasoning import ReasoningEffort

_SHIPPED: Final = "catalogue.toml"
_MOST_BYTES: Final = 4 * 1024 * 1024  # twenty thousand models

Vendor = Literal["anthropic", "openai", "google", "open"]
_Tokens = Annotated[int, Meta(ge=1, le=10**12)]
_Price = Annotated[str, Meta(pattern=PRICE_PATTERN)]

# Whose models a kind of provider has. Prices are the vendor's own: what others charge for its models is not known.
_SOLD_BY: Final[Mapping[ProviderKind, tuple[Vendor, ...]]] = {
    ProviderKind.ANTHROPIC: ("anthropic",),
    ProviderKind.OPENAI: ("openai",),
    ProviderKind.AZURE: ("openai",),
    ProviderKind.BEDROCK: ("anthropic",),
    ProviderKind.GOOGLE: ("google",),
    ProviderKind.VERTEX: ("google", "anthropic"),
    ProviderKind.OPENAI_COMPAT: ("open", "openai", "anthropic", "google"),
    ProviderKind.OPENROUTER: ("open", "openai", "anthropic", "google"),
    ProviderKind.VERCEL: ("open", "openai", "anthropic", "google"),
}
_OWN: Final[Mapping[ProviderKind, Vendor]] = {
    ProviderKind.ANTHROPIC: "anthropic",
    ProviderKind.OPENAI: "openai",
    ProviderKind.GOOGLE: "google",
}


class ListPrices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    input: _Price | None = None
    output: _Price | None = None
    cache_read: _Price | None = None
    cache_write: _Price | None = None


class LongPromptListPrices(ListPrices, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For calls whose prompt has more tokens than `above`. What is left out is not known: nothing is taken over."""

    above: _Tokens


class KnownModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of the catalogue. Without `efforts` the model does not reason."""

    vendor: Vendor
    name: Annotated[str, Meta(min_length=1, max_length=MODEL_LONGEST)]
    display_name: Annotated[str, Meta(max_length=DISPLAY_NAME_LONGEST)] = ""
    context_limit: _Tokens
    max_output_tokens: _Tokens | None = None
    efforts: tuple[ReasoningEffort, ...] = ()
    default_effort: ReasoningEffort | None = None
    images: bool = True
    pdfs: bool = False
    text_files: bool = False
    tools: bool = True
    temperature: bool = True
    system_messages: bool = True
    suggested: bool = False
    prices: ListPrices = ListPrices()
    long_prompt_prices: LongPromptListPrices | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            images=self.images,
            pdfs=self.pdfs,
            text_files=self.text_files,
            tools=self.tools,
            reasoning=bool(self.efforts),
            temperature=self.temperature,
            system_messages=self.system_messages,
        )

    def prices_at(self, kind: ProviderKind) -> Prices:
        """What this kind of provider charges, as far as it is known."""
        if _OWN.get(kind) != self.vendor:
            return Prices()
        long = None
        if self.long_prompt_prices is not None:
            texts = msgspec.structs.asdict(self.long_prompt_prices)
            long = LongPromptRates(above=texts.pop("above"), **parse_rates(**texts))
        return Prices(**parse_rates(**msgspec.structs.asdict(self.prices)), long_prompt=long)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: tuple[KnownModel, ...] = ()


class Catalogue:
    def __init__(self, models: Sequence[KnownModel]) -> None:
        # The last of a name wins, in the place of the first.
        self._models = {(model.vendor, model.name.lower()): model for model in models}

    def lookup(self, kind: ProviderKind, model: str) -> KnownModel | None:
        """The entry of a model as this kind of provider calls it: with a region, a path, a date or a version."""
        for name in _names(model):
            for vendor in _SOLD_BY[kind]:
                if found := self._models.get((vendor, name)):
                    return found
        return None

    def of(self, kind: ProviderKind) -> tuple[KnownModel, ...]:
        """All that this kind of provider may have."""
        return tuple(model for vendor in _SOLD_BY[kind] for model in self._models.values() if model.vendor == vendor)

    def suggested(self, kind: ProviderKind) -> tuple[KnownModel, ...]:
        """What to set up for a provider of which only the key is known. The first is the best default."""
        vendor = _OWN.get(kind)
        return tuple(model for model in self._models.values() if model.suggested and model.vendor == vendor)


def load_catalogue(path: Path | None = None) -> Catalogue:
    """The shipped one, with an operator's file over it. Raises StartRefused, which says what is wrong with the file."""
    shipped = files("chatd.providers").joinpath(_SHIPPED).read_bytes()
    return Catalogue([*_read(shipped), *(_read_own(path) if path else ())])


def _read_own(path: Path) -> tuple[KnownModel, ...]:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise StartRefused(f"The model catalogue {path} is larger than {_MOST_BYTES} bytes.")
        return _read(content)
    except OSError as error:
        raise StartRefused(
            f"The model catalogue {path} can't be read: {error.strerror or error}.",
            detail="Correct CHATD_MODEL_CATALOGUE, or leave it out for the catalogue that came with chatd.",
        ) from error
    except ValueError as error:  # bad TOML, bad UTF-8, wrong fields
        raise StartRefused(f"The model catalogue {path} is wrong: {error}", detail="See docs/models.md.") from error


def _read(content: bytes) -> tuple[KnownModel, ...]:
    return msgspec.convert(tomllib.loads(content.decode()), _File).models


# What a name may have around it, taken off one after the other.
_SHORTER: Final[Sequence[tuple[re.Pattern[str], str]]] = (
    # Bedrock: us.anthropic.claude-opus-4-6-v1:0
    (re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google)\."), ""),
    (re.compile(r"(?:-v\d{1,2})?(?::[a-z0-9.-]{1,32})?$"), ""),  # and :free of OpenRouter
    (re.compile(r"@[a-z0-9-]{1,32}$"), ""),  # Vertex: claude-opus-4-5@20251101
    (re.compile(r"^(claude-[a-z0-9-]{0,32}\d)\.(\d)"), r"\1-\2"),  # OpenRouter: claude-opus-4.7
    (re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|preview-\d{2}-\d{2,4})$"), ""),
)


def _names(model: str) -> list[str]:
    """What an entry for this model could be called, the most exact first."""
    name = model.strip().lower()
    names = [name]
    name = name.rpartition("/")[2]  # models/gemini-…, openai/gpt-…, publishers/google/models/…
    names.append(name)
    for pattern, replacement in _SHORTER:
        name = pattern.sub(replacement, name, count=1)
        names.append(name)
    return list(dict.fromkeys(name for name in names if name))
