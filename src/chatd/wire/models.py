"""Model providers and configured models as a client sees them. Keys go in and never come out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chatd.core import model_checks
from chatd.core.cost import PRICE_PATTERN
from chatd.core.model_options import CapabilityOverrides, ModelOptions
from chatd.core.provider_kind import ProviderKind
from chatd.core.reasoning import ReasoningEffort
from chatd.wire.users import RULES

_LONGEST = 16_384  # longer than any valid value, so that core/model_checks.py can say what is wrong


def _documented(**schema: object) -> Meta:
    """Rules that the API document states and core/model_checks.py checks."""
    return Meta(max_length=_LONGEST, extra_json_schema={RULES: schema})


ProviderName = Annotated[str, _documented(pattern=model_checks.PROVIDER_NAME_PATTERN)]
DisplayName = Annotated[str, _documented(maxLength=model_checks.DISPLAY_NAME_LONGEST)]
BaseUrl = Annotated[str, _documented(maxLength=model_checks.BASE_URL_LONGEST)]
ApiKey = Annotated[
    str, _documented(format="password", minLength=1, maxLength=model_checks.API_KEY_LONGEST, writeOnly=True)
]
ModelName = Annotated[str, _documented(minLength=1, maxLength=model_checks.MODEL_LONGEST)]
Options = dict[str, Any]
ContextLimit = Annotated[int, Meta(ge=1, le=model_checks.MOST_CONTEXT)]
Threshold = Annotated[int, Meta(ge=0, le=100)]
Price = Annotated[str, Meta(max_length=64, extra_json_schema={RULES: {"pattern": PRICE_PATTERN}})]


class Provider(msgspec.Struct):
    """Where models come from. `base_url` is empty for the vendor's own; of the key only `has_api_key` is told."""

    id: UUID
    type: ProviderKind
    name: str
    display_name: str
    base_url: str
    options: Options
    enabled: bool
    has_api_key: bool
    created_at: datetime
    updated_at: datetime


class CreateProvider(msgspec.Struct, forbid_unknown_fields=True):
    """`options` depend on the type; docs/models.md lists them."""

    type: ProviderKind
    name: ProviderName
    display_name: DisplayName = ""
    base_url: BaseUrl = ""
    api_key: ApiKey | None = None
    options: Options = {}
    enabled: bool = True


class UpdateProvider(msgspec.Struct, forbid_unknown_fields=True):
    """What is left out stays; `api_key: null` takes the key away. Another server in `base_url` needs the key again."""

    name: ProviderName | UnsetType = UNSET
    display_name: DisplayName | UnsetType = UNSET
    base_url: BaseUrl | UnsetType = UNSET
    api_key: ApiKey | UnsetType | None = UNSET
    options: Options | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class TestSavedProvider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is left out is as it is stored. `model`: one that is configured for the provider, unless it is named."""

    model: ModelName | None = None
    base_url: BaseUrl | UnsetType = UNSET
    api_key: ApiKey | UnsetType | None = UNSET
    options: Options | UnsetType = UNSET


class TestNewProvider(msgspec.Struct, forbid_unknown_fields=True):
    """A provider that is not stored. `model` may be left out where the catalogue has one for the type."""

    type: ProviderKind
    base_url: BaseUrl = ""
    api_key: ApiKey | None = None
    options: Options = {}
    model: ModelName | None = None


class ProviderTest(msgspec.Struct):
    """What came of one small call. When it failed, `message` says in words what is wrong, and `detail` is the vendor's
    own explanation."""

    ok: bool
    model: str
    message: str
    first_event_ms: int | None = None
    kind: str | None = None
    detail: str | None = None
    status_code: int | None = None


class ModelPrices(msgspec.Struct, forbid_unknown_fields=True):
    """Dollars per million tokens, as decimal strings. null is not known, "0" is free."""

    input: Price | None = None
    output: Price | None = None
    cache_read: Price | None = None
    cache_write: Price | None = None


class LongPromptPrices(msgspec.Struct):
    """As ModelPrices, for all tokens of a call whose prompt has more tokens than `above`."""

    above: int
    input: str | None = None
    output: str | None = None
    cache_read: str | None = None
    cache_write: str | None = None


class KnownModel(msgspec.Struct):
    """A model of the catalogue: what a model config gets of it unless it says otherwise. Empty `efforts`: it does not
    reason. `prices` are those of this type of provider, as far as they are known."""

    model: str
    display_name: str
    context_limit: int
    max_output_tokens: int | None
    efforts: list[ReasoningEffort]
    default_effort: ReasoningEffort | None
    images: bool
    pdfs: bool
    text_files: bool
    tools: bool
    prices: ModelPrices
    long_prompt_prices: LongPromptPrices | None
    suggested: bool


class ClosedCapabilities(CapabilityOverrides, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the model takes, where the catalogue does not know or is wrong."""


class ModelCallConfig(ModelOptions, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How the model is called. `provider_options` has one key, the vendor's, with options for its API."""

    capabilities: ClosedCapabilities | None = None
    provider_options: Mapping[str, Mapping[str, Any]] | None = None


class ModelConfig(msgspec.Struct):
    """A model that chats can use. Who may not see providers is not told `model_config`.

    `price_source` says whose the prices are: this configuration's, or the catalogue's, which alone may know other ones
    for long prompts. `reasoning_efforts` are those that one may ask for.
    """

    id: UUID
    ai_provider_id: UUID
    provider_type: ProviderKind
    provider_name: str
    model: str
    display_name: str
    enabled: bool
    is_default: bool
    context_limit: int
    compression_threshold: int
    model_config: ModelCallConfig | None
    reasoning_efforts: list[ReasoningEffort]
    prices: ModelPrices
    long_prompt_prices: LongPromptPrices | None
    price_source: Literal["config", "catalogue", "unknown"]
    created_at: datetime
    updated_at: datetime


class CreateModelConfig(msgspec.Struct, forbid_unknown_fields=True):
    """What is left out is the catalogue's, where it knows the model. The first model becomes the default."""

    ai_provider_id: UUID
    model: ModelName
    display_name: DisplayName | UnsetType = UNSET
    enabled: bool = True
    is_default: bool = False
    context_limit: ContextLimit | UnsetType = UNSET
    compression_threshold: Threshold = 70
    model_config: ModelCallConfig | UnsetType | None = UNSET
    prices: ModelPrices | None = None


class UpdateModelConfig(msgspec.Struct, forbid_unknown_fields=True):
    """What is left out stays. `prices: null` goes back to the catalogue's."""

    ai_provider_id: UUID | UnsetType = UNSET
    model: ModelName | UnsetType = UNSET
    display_name: DisplayName | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET
    context_limit: ContextLimit | UnsetType = UNSET
    compression_threshold: Threshold | UnsetType = UNSET
    model_config: ModelCallConfig | UnsetType | None = UNSET
    prices: ModelPrices | UnsetType | None = UNSET
