"""What the configuration of a model may say to Anthropic's Messages API, and what follows from a model's name."""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from chatd.core.errors import InvalidRequest
from chatd.core.model import ModelRequest, ProtocolName
from chatd.core.parts import ReasoningPart


class ThinkingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`adaptive` lets the model decide, `enabled` has a budget, `between_tools` is the least that some models do.
    Left out, the model's version decides."""

    type: Literal["adaptive", "enabled", "between_tools", "disabled"] | None = None
    budget_tokens: int | None = None


class AnthropicOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`ModelRequest.options`, decoded. Fields of other vendors are ignored."""

    thinking: ThinkingOptions | None = None
    thinking_display: Literal["summarized", "omitted"] | None = None  # summarized, where the model has a choice
    effort: str | None = None  # in the vendor's words, instead of what the request's reasoning effort becomes
    send_reasoning: bool = True  # whether thinking is replayed
    disable_parallel_tool_use: bool | None = None  # else the request's parallel_tool_calls
    web_search_enabled: bool = False  # adds the web search if the request does not have it
    web_search_max_uses: int | None = None
    allowed_domains: tuple[str, ...] = ()  # of the web search; one of these two
    blocked_domains: tuple[str, ...] = ()
    cache_ttl: Literal["5m", "1h"] | None = None  # 5 minutes unless it says more
    stop_sequences: tuple[str, ...] = ()
    service_tier: str | None = None
    context_1m_enabled: bool = False
    betas: tuple[str, ...] = ()
    extra_body: Mapping[str, msgspec.Raw] = {}  # fields of the body as the vendor names them; they win over all others


_OPTIONS: Final = msgspec.json.Decoder(AnthropicOptions)


def read_options(text: str) -> AnthropicOptions:
    """Raises InvalidRequest, which says what is wrong."""
    try:
        options = _OPTIONS.decode(text or "{}")
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidRequest("The model's options for Anthropic can't be read.", detail=str(error)) from error
    if options.allowed_domains and options.blocked_domains:
        raise InvalidRequest("The web search takes allowed domains or blocked domains, not both.")
    return options


# What a provider's tool is called in a request, and the beta that it needs. Its own options may name another type.
_TOOL_TYPES: Final[Mapping[str, str]] = {
    "web_search": "web_search_20250305",
    "web_fetch": "web_fetch_20250910",
    "code_execution": "code_execution_20250825",
    "bash": "bash_20250124",
    "memory": "memory_20250818",
    "str_replace_based_edit_tool": "text_editor_20250728",
    "tool_search_tool_regex": "tool_search_tool_regex_20251119",
    "tool_search_tool_bm25": "tool_search_tool_bm25_20251119",
    "advisor": "advisor_20260301",
}
_TOOL_BETAS: Final[Mapping[str, str]] = {
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
    "advisor_20260301": "advisor-tool-2026-03-01",
    "mcp_toolset": "mcp-client-2025-11-20",
}
_CONTEXT_1M: Final = "context-1m-2025-08-07"
_BINDING: Final = "thinking-binding-controls-2026-08-01"
# claude-opus-4-5-20251101, anthropic.claude-sonnet-4-6, claude-opus-4.7, claude-3-7-sonnet-latest
_VERSION: Final = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_BEDROCK: Final = "anthropic."  # how its names of models begin, or go on after a region


def model_version(model: str) -> tuple[int, int] | None:
    """(4, 6) of `claude-opus-4-6`; None of a name that does not tell."""
    found = _VERSION.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def is_always_thinking(model: str) -> bool:
    return "mythos" in model or "fable" in model


def binds_thoughts(model: str) -> bool:
    """Whether thinking that goes back is refused once anything before it has changed: a message, a tool, the system."""
    version = model_version(model)
    return version is not None and version >= ((5, 1) if is_always_thinking(model) else (5, 5))


def tool_type(name: str, model: str) -> str:
    """The type of a tool that the vendor knows; its name if we do not."""
    return _computer(model) if name == "computer" else _TOOL_TYPES.get(name, name)


def _computer(model: str) -> str:
    version = model_version(model)
    if version is None:
        return "computer_20251124"
    if version < (4, 5) or (version == (4, 5) and "opus" not in model):
        return "computer_20250124"
    has_toolset = version >= (5, 5) and _BEDROCK not in model  # Bedrock goes on with the single tool
    return "computer_toolset_20260801" if has_toolset else "computer_20251124"


class _ToolType(msgspec.Struct, frozen=True):
    type: str = ""


_TOOL_TYPE: Final = msgspec.json.Decoder(_ToolType)


def betas(request: ModelRequest) -> tuple[str, ...]:
    """What the header `anthropic-beta` must name, without repeats. Raises InvalidRequest for bad options."""
    options = read_options(request.options)
    wanted = list(options.betas)
    if options.context_1m_enabled:
        wanted.append(_CONTEXT_1M)
    if binds_thoughts(request.model) and _has_thoughts(request):
        wanted.append(_BINDING)
    for tool in request.provider_tools:
        try:
            named = _TOOL_TYPE.decode(tool.options or "{}").type
        except (msgspec.DecodeError, ValueError, RecursionError):
            named = ""  # the body says what is wrong with it
        wanted.append(_TOOL_BETAS.get(named or tool_type(tool.name, request.model), ""))
    return tuple(dict.fromkeys(beta for beta in wanted if beta))


def _has_thoughts(request: ModelRequest) -> bool:
    return any(
        isinstance(part, ReasoningPart) and ProtocolName.ANTHROPIC_MESSAGES in part.provider_metadata
        for message in request.messages
        if message.origin == request.provider
        for part in message.parts
    )
