"""The body of a request to Anthropic's Messages API: settings, tools, thinking and marks for its cache."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from chatd.core.errors import InvalidRequest
from chatd.core.model import ModelRequest, ProviderTool, ToolChoice, ToolSpec
from chatd.core.roles import Role
from chatd.providers.protocols.anthropic.content import (
    Block,
    message_blocks,
    system_blocks,
    valid_text,
)
from chatd.providers.protocols.anthropic.options import AnthropicOptions, read_options, tool_type
from chatd.providers.protocols.anthropic.schema import input_schema
from chatd.providers.protocols.anthropic.thinking import (
    THOUGHTS,
    effort_of,
    rules_of,
    sends_thoughts,
    thinking_config,
)

DEFAULT_MAX_TOKENS: Final = 32_000  # as the reference has it: long answers fit, and every current model allows it
_LEAST_TOP_P: Final = 0.95  # the least that may be said to a model that thinks
_MOST_TEMPERATURE: Final = 1.0  # others go on to 2
_COMPUTER_TOOLSET: Final = "computer_toolset_20260801"
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BAD_JSON: Final = (msgspec.DecodeError, ValueError, RecursionError)


def anthropic_body(request: ModelRequest) -> bytes:
    """Raises InvalidRequest if the options of the model or of a tool can't be read."""
    options = read_options(request.options)
    messages = message_blocks(request, with_thoughts=sends_thoughts(request, options))
    max_tokens = request.max_output_tokens or DEFAULT_MAX_TOKENS
    thinking = thinking_config(request, options, messages, max_tokens)
    body: dict[str, Any] = {"model": request.model, "max_tokens": max_tokens}
    if request.capabilities.system_messages and (system := system_blocks(request.messages)):
        body["system"] = system
    body["messages"] = messages
    if request.cache_prompt:
        _mark(request, options, body)
    body |= _tools(request, options)
    if thinking is not None:
        body["thinking"] = thinking
    if (effort := effort_of(request, options, thinking)) is not None:
        body["output_config"] = {"effort": effort}
    body |= _sampling(request, is_thinking=thinking is not None and thinking["type"] != "disabled")
    if options.stop_sequences:
        body["stop_sequences"] = options.stop_sequences
    if options.service_tier is not None:
        body["service_tier"] = options.service_tier
    return msgspec.json.encode(body | {"stream": True} | dict(options.extra_body))


def _sampling(request: ModelRequest, *, is_thinking: bool) -> dict[str, float]:
    """Newer models refuse all three, and none takes both temperature and top_p any more: the temperature wins."""
    if not request.capabilities.temperature or not rules_of(request.model).sampling:
        return {}
    if is_thinking:
        return {"top_p": request.top_p} if request.top_p is not None and request.top_p >= _LEAST_TOP_P else {}
    top_p = request.top_p if request.temperature is None else None
    temperature = None if request.temperature is None else min(request.temperature, _MOST_TEMPERATURE)
    said = {"temperature": temperature, "top_p": top_p, "top_k": request.top_k}
    return {name: value for name, value in said.items() if value is not None}


def _tools(request: ModelRequest, options: AnthropicOptions) -> dict[str, Any]:
    if not request.capabilities.tools:
        return {}
    own = list(request.provider_tools)
    if options.web_search_enabled and all(tool.name != "web_search" for tool in own):
        own.append(ProviderTool("web_search"))
    tools = [*map(_tool, request.tools), *(_provider_tool(tool, request.model, options) for tool in own)]
    if not tools:
        return {}
    return {"tools": tools} | _tool_choice(request, options)


def _tool_choice(request: ModelRequest, options: AnthropicOptions) -> dict[str, Any]:
    alone = options.disable_parallel_tool_use
    if alone is None and request.parallel_tool_calls is not None:
        alone = not request.parallel_tool_calls
    forced = "any" if rules_of(request.model).can_force else "auto"
    kinds = {ToolChoice.AUTO: "auto", ToolChoice.NONE: "none", ToolChoice.REQUIRED: forced}
    choice: dict[str, Any] = {"type": kinds[request.tool_choice]}
    if alone and choice["type"] != "none":
        choice["disable_parallel_tool_use"] = True
    return {"tool_choice": choice} if choice != {"type": "auto"} else {}


def _tool(tool: ToolSpec) -> Block:
    block: Block = {"name": tool.name, "input_schema": input_schema(tool.input_schema)}
    return block | {"description": valid_text(tool.description)} if tool.description.strip() else block


def _provider_tool(tool: ProviderTool, model: str, options: AnthropicOptions) -> Block:
    """Its options win over what we would say."""
    block: Block = {"type": tool_type(tool.name, model), "name": tool.name}
    if tool.name == "web_search":
        block |= {"max_uses": options.web_search_max_uses} if options.web_search_max_uses else {}
        block |= {"allowed_domains": options.allowed_domains} if options.allowed_domains else {}
        block |= {"blocked_domains": options.blocked_domains} if options.blocked_domains else {}
    try:
        told = _FIELDS.decode(tool.options or "{}")
        kind = msgspec.json.decode(told["type"], type=str) if "type" in told else block["type"]
    except _BAD_JSON as error:
        raise InvalidRequest(f"The options of the tool {tool.name} are not a JSON object.") from error
    if kind == _COMPUTER_TOOLSET:  # it has its own name, and finds out the screen's size by itself
        return {"type": kind} | {name: value for name, value in told.items() if name in ("configs", "cache_control")}
    if "toolset" in kind:
        del block["name"]
    return block | told


def _mark(request: ModelRequest, options: AnthropicOptions, body: Mapping[str, Any]) -> None:
    """The ends of what stays the same: the leading instructions, and the last two messages, of which the vendor looks
    back to the end of the request before."""
    mark = {"type": "ephemeral"} | ({"ttl": options.cache_ttl} if options.cache_ttl else {})
    leading = 0
    for message in request.messages:
        if message.role is not Role.SYSTEM:
            break
        leading += len(system_blocks((message,)))
    marked: list[Iterable[Block]] = [body.get("system", [])[:leading]]
    marked += [message["content"] for message in body["messages"][-2:]]
    for blocks in marked:
        for block in reversed(list(blocks)):
            if block["type"] not in THOUGHTS:  # which can't carry one
                block["cache_control"] = mark
                break
