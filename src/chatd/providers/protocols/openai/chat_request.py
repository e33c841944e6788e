"""Writes a request for Chat Completions, for OpenAI and for everything compatible."""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from chatd.core.model import ModelRequest, PromptMessage, ProviderTool
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.providers.protocols.openai.chat_chunks import given
from chatd.providers.protocols.openai.chat_dialect import ChatDialect, MaxTokensField, dialect_of, for_mistral
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
_TEXT_FILES: Final = False  # files are PDF files here: OpenAI refuses others


class OpenAIChatOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a model that is spoken to with Chat Completions.

    `max_tokens_field` and `include_usage` follow from the model's name (chat_dialect) if they are not said.
    `replay_reasoning`: `auto` sends reasoning back with calls of tools, in the field that it came in, and always where
    a server demands it; `always` and `never` say themselves. `strict_tools` enforces schemas that allow it.
    `extra_body` is merged into the request.
    """

    max_tokens_field: MaxTokensField | None = None
    system_role: Literal["system", "developer"] = "system"
    include_usage: bool | None = None
    strict_tools: bool = False
    replay_reasoning: Literal["auto", "always", "never"] = "auto"
    service_tier: str | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    prompt_cache_key: str | None = None
    extra_body: dict[str, msgspec.Raw] = {}


def chat_body(request: ModelRequest, max_tokens_field: MaxTokensField = "max_tokens") -> bytes:
    """Raises InvalidRequest for options that can't be used."""
    options = read_options(request.options, OpenAIChatOptions)
    dialect = dialect_of(request.model, request.capabilities, max_tokens_field)
    messages = _messages(request, options, dialect)
    if dialect.is_mistral:
        messages = for_mistral(messages)
    body: JsonObject = {"model": request.model, "messages": messages, "stream": True}
    if dialect.include_usage if options.include_usage is None else options.include_usage:
        body["stream_options"] = {"include_usage": True}
    tools, web_search = _tools(request, options)
    if tools:
        body["tools"] = tools
        body["tool_choice"] = str(request.tool_choice)
        if request.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = request.parallel_tool_calls
    if web_search is not None:
        body["web_search_options"] = web_search
    body.update(_settings(request, options, dialect))
    return msgspec.json.encode(merge(body, options.extra_body, fixed=_OURS))


def _settings(request: ModelRequest, options: OpenAIChatOptions, dialect: ChatDialect) -> JsonObject:
    takes_temperature = request.capabilities.temperature
    settings: JsonObject = {
        options.max_tokens_field or dialect.max_tokens_field: request.max_output_tokens,
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


def _messages(request: ModelRequest, options: OpenAIChatOptions, dialect: ChatDialect) -> list[JsonObject]:
    """What a user says in one go is one message: templates of many models take no two in a row."""
    messages: list[JsonObject] = []
    held: list[Content] = []  # of the user, and what nobody else may say: images of tools, what the system says
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
                held += contents(message.parts, text_files=_TEXT_FILES)
            case Role.ASSISTANT:
                if said := _assistant(message, request, options, dialect):
                    messages += [*_user(held), said]
                    held = []
            case Role.TOOL:
                for part in message.parts:
                    if isinstance(part, ToolResultPart) and not part.provider_executed:
                        messages.append(_result(part, held))
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


def _assistant(
    message: PromptMessage, request: ModelRequest, options: OpenAIChatOptions, dialect: ChatDialect
) -> JsonObject | None:
    """None for a message in which nothing is left to say. What the vendor ran itself has no form here."""
    text = "\n\n".join(clean(part.text) for part in message.parts if isinstance(part, TextPart) and part.text.strip())
    own = message.origin != "" and message.origin == request.provider
    calls = [
        _call(part, own=own) for part in message.parts if isinstance(part, ToolCallPart) and not part.provider_executed
    ]
    if not text and not calls:
        return None
    said: JsonObject = {"role": "assistant", "content": text or None}
    if options.replay_reasoning != "never":
        thoughts = [part for part in message.parts if own and isinstance(part, ReasoningPart)]
        if details := [detail for part in thoughts for detail in metadata_of(part).details]:
            said["reasoning_details"] = details
        if dialect.demands_reasoning:
            said["reasoning_content"] = _joined(thoughts)
        elif not details and (calls or options.replay_reasoning == "always"):
            said.update(_reasoning(thoughts))
    if calls:
        said["tool_calls"] = calls
    return said


def _call(part: ToolCallPart, *, own: bool) -> JsonObject:
    function = {"name": part.tool_name, "arguments": arguments(part.args)}
    call: JsonObject = {"id": part.tool_call_id, "type": "function", "function": function}
    if own and given(extra := metadata_of(part).extra_content):
        call["extra_content"] = extra
    return call


def _reasoning(thoughts: Sequence[ReasoningPart]) -> JsonObject:
    """In the fields that it came in."""
    by_field: dict[str, list[ReasoningPart]] = {}
    for part in thoughts:
        if (field := metadata_of(part).field) is not None:
            by_field.setdefault(field, []).append(part)
    return {field: text for field, parts in by_field.items() if (text := _joined(parts))}


def _joined(thoughts: Sequence[ReasoningPart]) -> str:
    return "\n\n".join(clean(part.text) for part in thoughts if part.text.strip())


def _result(part: ToolResultPart, shown: list[Content]) -> JsonObject:
    """A tool's message takes text only: what it showed goes to `shown`, for a user's message after all results."""
    said = tool_output(part, text_files=_TEXT_FILES)
    text = said.text
    if said.media is not None:
        shown += [f"Shown by {part.tool_name or 'the tool'} (call {part.tool_call_id}):", said.media]
        text = text or "Shown in the next message."
    return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
