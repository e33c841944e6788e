"""What a person reads about a failure: one sentence for each case, with the provider's name in it.

No status code, key, address or text of the vendor's is ever part of a sentence. Only what can't be retried comes with
advice; the rest is also shown while a retry is under way.
"""

from enum import StrEnum
from types import MappingProxyType
from typing import Final

from chatd.core.failure.detail import one_clean_line

_NAME_LIMIT: Final = 60  # characters of a provider's name in a sentence; a line of a dialog still holds the sentence
_NAMELESS: Final = "the AI provider"

_NAMES: Final = MappingProxyType(
    {
        "anthropic": "Anthropic",
        "azure": "Azure OpenAI",
        "bedrock": "AWS Bedrock",
        "google": "Google",
        "openai": "OpenAI",
        "openai-compat": "the OpenAI-compatible provider",
        "openrouter": "OpenRouter",
        "vercel": "Vercel AI Gateway",
        "vertex": "Google Vertex AI",
    }
)
_OTHER_SPELLINGS: Final = MappingProxyType(
    {
        "aws": "bedrock",
        "aws-bedrock": "bedrock",
        "azure-openai": "azure",
        "gemini": "google",
        "google-vertex": "vertex",
        "openai-compatible": "openai-compat",
    }
)
# A text that names a provider, the most specific first: compatible servers and Azure speak of OpenAI too.
_TRACES: Final = (
    ("openai-compat", "openai-compat"),
    ("openai_compat", "openai-compat"),
    ("azure", "azure"),
    ("openrouter", "openrouter"),
    ("bedrock", "bedrock"),
    ("vercel", "vercel"),
    ("anthropic", "anthropic"),
    ("claude", "anthropic"),
    ("vertex", "vertex"),
    ("google", "google"),
    ("gemini", "google"),
    ("openai", "openai"),
)


class Wording(StrEnum):
    """Which sentence."""

    UNAVAILABLE = "unavailable"
    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate_limited"
    STREAM_CLOSED = "stream_closed"
    NOT_STARTED = "not_started"
    SILENT = "silent"
    GARBLED = "garbled"
    BAD_TOOL_CALL = "bad_tool_call"
    UNEXPECTED = "unexpected"
    FAILED = "failed"
    CANCELLED = "cancelled"
    OUR_DEADLINE = "our_deadline"
    AUTH = "auth"
    CREDENTIALS = "credentials"
    USAGE_LIMIT = "usage_limit"
    CONFIG = "config"
    CONTEXT_TOO_LONG = "context_too_long"
    REQUEST_TOO_LARGE = "request_too_large"
    NO_TRUST = "no_trust"
    NOT_AN_API = "not_an_api"
    ADDRESS = "address"
    PROXY = "proxy"
    HISTORY = "history"
    CONTENT_FILTER = "content_filter"


_SENTENCES: Final = MappingProxyType(
    {
        Wording.UNAVAILABLE: "{who} is temporarily unavailable.",
        Wording.OVERLOADED: "{who} is temporarily overloaded.",
        Wording.RATE_LIMITED: "{who} is rate limiting requests.",
        Wording.STREAM_CLOSED: "{who} closed the stream before the answer was complete.",
        Wording.NOT_STARTED: "{who} did not start to answer in time.",
        Wording.SILENT: "{who} sent no data for too long.",
        Wording.GARBLED: "{who} sent an answer that can't be read.",
        Wording.BAD_TOOL_CALL: "{who} rejected a tool call that its model had written.",
        Wording.UNEXPECTED: "{who} returned an unexpected error.",
        Wording.FAILED: "The request to {who} failed unexpectedly.",
        Wording.CANCELLED: "The request to {who} was cancelled.",
        Wording.OUR_DEADLINE: "The request to {who} timed out. Send the message again.",
        Wording.AUTH: "{who} did not accept the credentials. Check the API key and its permissions.",
        Wording.CREDENTIALS: "There are no usable credentials for {who}. Check the provider's settings.",
        Wording.USAGE_LIMIT: "The AI usage limit is reached. Ask an administrator to check the budget and the billing.",
        Wording.CONFIG: "{who} rejected the model configuration. Check the model's settings.",
        Wording.CONTEXT_TOO_LONG: "The chat is too long for this model. Compact it, or choose a larger model.",
        Wording.REQUEST_TOO_LARGE: "The request is too large for {who}. Send less, or smaller files.",
        Wording.NO_TRUST: "There is no secure connection to {who}. Check its address and the trusted certificates.",
        Wording.NOT_AN_API: "What answered is not the API of {who}. Check the provider's address.",
        Wording.ADDRESS: "The address of {who} can't be used. Check the provider's address.",
        Wording.PROXY: "The outbound proxy did not let the request to {who} through. Check the proxy's settings.",
        Wording.HISTORY: "{who} did not accept the history of this chat. Edit an earlier message, or start a new chat.",
        Wording.CONTENT_FILTER: "The answer was blocked by the content policy of {who}.",
    }
)


def sentence(wording: Wording, provider: str) -> str:
    """The sentence about this provider, which may have no name."""
    said = _SENTENCES[wording].format(who=display_name(provider) or _NAMELESS)
    return said[:1].upper() + said[1:]


def provider_name(provider: str) -> str:
    """The name under which a kind of provider is known here; any other name is kept, as one short clean line."""
    spelled = "-".join(provider[: _NAME_LIMIT * 2].lower().replace("_", " ").replace("-", " ").split())
    spelled = _OTHER_SPELLINGS.get(spelled, spelled)
    return spelled if spelled in _NAMES else one_clean_line(provider, limit=_NAME_LIMIT)


def display_name(provider: str) -> str:
    name = provider_name(provider)
    return _NAMES.get(name, name)


def guess_provider(lowered_text: str) -> str:
    """The provider that a text seems to be about, or nothing. For want of better only."""
    return next((provider for trace, provider in _TRACES if trace in lowered_text), "")
