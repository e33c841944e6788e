"""Writes a request for Chat Completions, for OpenAI and for everything compatible."""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from chatd.core.model import ModelRequest, PromptMessage, ProviderTool
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.providers.protocols.openai.chat_metadata import metadata_of
from chatd.providers.protocols.openai.prompt import (
    Content,
    FileContent,
    ImageContent,
    JsonObject,
    arguments,
    clean,
    contents,
    joined_text,
    merge,
    read_options,
    tool_output,
)
from chatd.providers.protocols.openai.schemas import acceptable

_OURS: Final = frozenset({"model", "messages", "stream"})
_WEB_SEARCH: Final = "web_search"


class OpenAIChatOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a model that is spoken to with Chat Completions.

    `max_tokens_field`: OpenAI refuses the old name, and Mistral, DeepSeek and Ollama know no other. `replay_reasoning`:
    `auto` sends reasoning back with calls of tools, in the field that it came in, as DeepSeek demands; `always` and
    `never` say themselves. `strict_tools` enforces schemas that allow it. `extra_body` is merged into the request.
    """

    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    system_role: Literal["system", "developer"] = "system"
    include_usage: bool = True
    strict_tools: bool = False
    replay_reasoning: Literal["auto", "always", "never"] = "auto"
    service_tier: str | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    prompt_cache_key: str | None = None
    extra_body: dict[str, msgspec.Raw] = {}


def chat_body(request: ModelRequest) -> bytes:
    """Raises InvalidRequest for options that can't be used."""
    options = read_options(request.options, OpenAIChatOptions)
    body: JsonObject = {"model": request.model, "messages": _messages(request, options), "stream": True}
    if options.include_usage:
        body["stream_options"] = {"include_usage": True}
    tools, web_search = _tools(request, options)
    if tools:
        body["tools"] = tools
        body["tool_choice"] = str(request.tool_choice)
        if request.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = request.parallel_tool_calls
    if web_search is not None:
        body["web_search_options"] = web_search
    body.update(_settings(request, options))
    return msgspec.json.encode(merge(body, options.extra_body, fixed=_OURS))


def _settings(request: ModelRequest, options: OpenAIChatOptions) -> JsonObject:
    takes_temperature = request.capabilities.temperature
    settings: JsonObject = {
        options.max_tokens_field: request.max_output_tokens,
        "temperature": request.temperature if takes_temperature else None,
        "top_p": request.top_p if takes_temperature else None,
        "top_k": request.top_k,
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
        "reasoning_effort": None if request.reasoning_effort is None else str(request.reasoning_effort),
        "service_tier": options.service_tier,
        "verbosity": options.verbosity,
        "prompt_cache_key": options.prompt_cache_key,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _tools(request: ModelRequest, options: OpenAIChatOptions) -> tuple[list[JsonObject], JsonObject | None]:
    """The tools, and apart from them the search that OpenAI's search models always do."""
    if not request.capabilities.tools:
        return [], None
    tools: list[JsonObject] = []
    for tool in request.tools:
        schema = acceptable(tool.input_schema)
        function: JsonObject = {"name": tool.name, "description": tool.description, "parameters": schema.json}
        if options.strict_tools and schema.strict:
            function["strict"] = True
        tools.append({"type": "function", "function": function})
    web_search: JsonObject | None = None
    for tool in request.provider_tools:
        if tool.name == _WEB_SEARCH:
            web_search = _tool_options(tool)
        else:
            tools.append({"type": tool.name, **_tool_options(tool)})
    return tools, web_search


def _tool_options(tool: ProviderTool) -> JsonObject:
    return {**read_options(tool.options, dict[str, msgspec.Raw])}


def _messages(request: ModelRequest, options: OpenAIChatOptions) -> list[JsonObject]:
    messages: list[JsonObject] = []
    held: list[Content] = []  # what goes before a user's next words: nobody else may say it
    for message in request.messages:
        match message.role:
            case Role.SYSTEM:
                text = joined_text(message.parts)
                if text and not request.capabilities.system_messages:
                    held.append(text)
                elif text:
                    messages += _user(held)
                    held = []
                    messages.append({"role": options.system_role, "content": text})
            case Role.USER:
                messages += _user([*held, *contents(message.parts, request.capabilities)])
                held = []
            case Role.ASSISTANT:
                if messages and messages[-1]["role"] == "tool":
                    messages += _user(held)
                    held = []
                messages += _assistant(message, request, options)
            case Role.TOOL:
                for part in message.parts:
                    if isinstance(part, ToolResultPart) and not part.provider_executed:
                        messages.append(_result(part, request, held))
    return [*messages, *_user(held)]


def _user(said: Sequence[Content]) -> list[JsonObject]:
    return [{"role": "user", "content": _content(said)}] if said else []


def _content(said: Sequence[Content]) -> str | list[JsonObject]:
    """A plain text where it is nothing else: some servers take no lists."""
    texts = [content for content in said if isinstance(content, str)]
    if len(texts) == len(said):
        return "\n\n".join(texts)
    return [_piece(content) for content in said]


def _piece(content: Content) -> JsonObject:
    match content:
        case ImageContent(url):
            return {"type": "image_url", "image_url": {"url": url}}
        case FileContent(name, url):
            return {"type": "file", "file": {"filename": name, "file_data": url}}
        case _:
            return {"type": "text", "text": content}


def _assistant(message: PromptMessage, request: ModelRequest, options: OpenAIChatOptions) -> list[JsonObject]:
    """Nothing for a message in which nothing is left to say. What the vendor ran itself has no form here."""
    text = "\n\n".join(clean(part.text) for part in message.parts if isinstance(part, TextPart) and part.text.strip())
    calls: list[JsonObject] = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": arguments(part.args)},
        }
        for part in message.parts
        if isinstance(part, ToolCallPart) and not part.provider_executed
    ]
    if not text and not calls:
        return []
    said: JsonObject = {"role": "assistant", "content": text or None}
    if message.origin and message.origin == request.provider:
        said.update(_reasoning(message, options, has_calls=bool(calls)))
    if calls:
        said["tool_calls"] = calls
    return [said]


def _reasoning(message: PromptMessage, options: OpenAIChatOptions, *, has_calls: bool) -> JsonObject:
    replayed: JsonObject = {}
    details: list[msgspec.Raw] = []
    for part in message.parts:
        if not isinstance(part, ReasoningPart):
            continue
        metadata = metadata_of(part)
        details += metadata.details
        wanted = options.replay_reasoning == "always" or (options.replay_reasoning == "auto" and has_calls)
        if wanted and metadata.field is not None and part.text.strip():
            before = replayed.get(metadata.field)
            text = clean(part.text)
            replayed[metadata.field] = f"{before}\n\n{text}" if before else text
    if details and options.replay_reasoning != "never":
        return {"reasoning_details": details}
    return replayed


def _result(part: ToolResultPart, request: ModelRequest, shown: list[Content]) -> JsonObject:
    """A tool's message takes text only: what it showed goes to `shown`, for a user's message after all results."""
    said = tool_output(part, request.capabilities)
    text = said.text
    if said.media is not None:
        shown += [f"Shown by {part.tool_name or 'the tool'} (call {part.tool_call_id}):", said.media]
        text = text or "Shown in the next message."
    return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
