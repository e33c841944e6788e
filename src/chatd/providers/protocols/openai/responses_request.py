"""Writes a request for the Responses API.

A history may come back in two ways. With `store` (the default) OpenAI keeps its reasoning itself, and reasoning items
are not sent: messages and calls go without their ids, as new ones, since an id obliges to send the reasoning item that
led to it. Without `store` reasoning goes back encrypted, with the ids of all that depends on it.
"""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from chatd.core.model import ModelRequest, PromptMessage, ProviderTool
from chatd.core.parts import ToolResultPart
from chatd.core.roles import Role
from chatd.providers.protocols.openai.prompt import (
    Content,
    FileContent,
    ImageContent,
    JsonObject,
    contents,
    joined_text,
    merge,
    read_options,
    tool_output,
)
from chatd.providers.protocols.openai.responses_replay import AssistantItems, InputItem
from chatd.providers.protocols.openai.schemas import acceptable

_OURS: Final = frozenset({"model", "input", "stream"})
_ENCRYPTED: Final = "reasoning.encrypted_content"
_LEAST_OUTPUT_TOKENS: Final = 16  # OpenAI refuses less
# The first model with a computer has a tool of its own, which must be told of the screen and truncated; later ones take
# the tool without any options.
_COMPUTER: Final = "computer"
_COMPUTER_PREVIEW: Final = "computer_use_preview"
_PREVIEW_MODEL: Final = "computer-use-preview"


class OpenAIOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a model that is spoken to with the Responses API.

    `reasoning_summary` needs an organization that OpenAI has verified. `include` names more of the output to send
    (`web_search_call.action.sources`, `code_interpreter_call.outputs`). `strict_tools` false never enforces a schema.
    `extra_body` is merged into the request as it is.
    """

    store: bool = True
    reasoning_summary: Literal["auto", "concise", "detailed"] | None = None
    text_verbosity: Literal["low", "medium", "high"] | None = None
    service_tier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    safety_identifier: str | None = None
    truncation: Literal["auto", "disabled"] | None = None
    max_tool_calls: int | None = None
    include: tuple[str, ...] = ()
    system_role: Literal["system", "developer"] = "system"
    strict_tools: bool = True
    extra_body: dict[str, msgspec.Raw] = {}


def responses_body(request: ModelRequest) -> bytes:
    """Raises InvalidRequest for options that can't be used."""
    options = read_options(request.options, OpenAIOptions)
    instructions, items = _input(request, options)
    body: JsonObject = {"model": request.model, "stream": True, "store": options.store}
    if instructions:
        body["instructions"] = instructions
    body["input"] = items
    tools = _tools(request, options)
    if tools:
        body["tools"] = tools
        body["tool_choice"] = str(request.tool_choice)
        if request.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = request.parallel_tool_calls
    body.update(_settings(request, options))
    return msgspec.json.encode(merge(body, options.extra_body, fixed=_OURS))


def _settings(request: ModelRequest, options: OpenAIOptions) -> JsonObject:
    reasons = request.capabilities.reasoning or request.reasoning_effort is not None
    reasoning = {
        "effort": None if request.reasoning_effort is None else str(request.reasoning_effort),
        "summary": options.reasoning_summary if reasons else None,
    }
    include = list(options.include)
    # Models that don't reason refuse to be asked for it.
    if not options.store and reasons and _ENCRYPTED not in include:
        include.append(_ENCRYPTED)
    takes_temperature = request.capabilities.temperature
    least = None if request.max_output_tokens is None else max(request.max_output_tokens, _LEAST_OUTPUT_TOKENS)
    preview = any(_tool_type(tool, request.model) == _COMPUTER_PREVIEW for tool in request.provider_tools)
    settings: JsonObject = {
        "reasoning": {name: value for name, value in reasoning.items() if value is not None} or None,
        "include": include or None,
        "max_output_tokens": least,
        "temperature": request.temperature if takes_temperature else None,
        "top_p": request.top_p if takes_temperature else None,
        "text": {"verbosity": options.text_verbosity} if options.text_verbosity else None,
        "service_tier": options.service_tier,
        "prompt_cache_key": options.prompt_cache_key,
        "prompt_cache_retention": options.prompt_cache_retention,
        "safety_identifier": options.safety_identifier,
        "max_tool_calls": options.max_tool_calls,
        "truncation": options.truncation or ("auto" if preview else None),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _tools(request: ModelRequest, options: OpenAIOptions) -> list[JsonObject]:
    if not request.capabilities.tools:
        return []
    tools: list[JsonObject] = []
    for tool in request.tools:
        schema = acceptable(tool.input_schema)
        tools.append(
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": schema.json,
                # Said always: what is not said is enforced.
                "strict": schema.strict and options.strict_tools,
            }
        )
    return [*tools, *(_provider_tool(tool, request.model) for tool in request.provider_tools)]


def _provider_tool(tool: ProviderTool, model: str) -> JsonObject:
    kind = _tool_type(tool, model)
    options: JsonObject = {**read_options(tool.options, dict[str, msgspec.Raw])}
    if kind == _COMPUTER:
        return {"type": kind}
    if kind == "code_interpreter":
        options.setdefault("container", {"type": "auto"})
    return {"type": kind, **options}


def _tool_type(tool: ProviderTool, model: str) -> str:
    return _COMPUTER_PREVIEW if tool.name == _COMPUTER and _PREVIEW_MODEL in model else tool.name


def _input(request: ModelRequest, options: OpenAIOptions) -> tuple[str, list[InputItem]]:
    """The instructions (all that the system says before anyone else) and the items after them."""
    leading: list[str] = []
    held: list[Content] = []  # of the system, for a model that hears users only
    items: list[InputItem] = []
    assistant = AssistantItems(request, store=options.store)
    for message in request.messages:
        match message.role:
            case Role.SYSTEM:
                text = joined_text(message.parts)
                if text and not request.capabilities.system_messages:
                    held.append(text)
                elif text and not items:
                    leading.append(text)
                elif text:
                    items.append(_message(options.system_role, [text]))
            case Role.USER:
                if said := [*held, *contents(message.parts, text_files=True)]:
                    items.append(_message("user", said))
                    held = []
            case Role.ASSISTANT:
                items += assistant.of(message)
            case Role.TOOL:
                items += _results(message, assistant)
    if held:
        items.append(_message("user", held))
    if leading and not items:  # instructions alone are no input
        return "", [_message(options.system_role, leading)]
    return "\n\n".join(leading), items


def _message(role: str, said: Iterable[Content]) -> JsonObject:
    return {"type": "message", "role": role, "content": [_content(content) for content in said]}


def _content(content: Content) -> JsonObject:
    match content:
        case ImageContent(url):
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case FileContent(name, url):
            return {"type": "input_file", "filename": name, "file_data": url}
        case _:
            return {"type": "input_text", "text": content}


def _results(message: PromptMessage, assistant: AssistantItems) -> list[JsonObject]:
    items: list[JsonObject] = []
    for part in message.parts:
        if not isinstance(part, ToolResultPart) or part.provider_executed:
            continue
        said = tool_output(part, text_files=True)
        if part.tool_call_id in assistant.told:
            shown: list[Content] = [f"Result of the computer action {part.tool_call_id}: {said.text}"]
            items.append(_message("user", shown if said.media is None else [*shown, said.media]))
        elif (checks := assistant.computer_checks(part.tool_call_id)) is not None and said.media is not None:
            item: JsonObject = {
                "type": "computer_call_output",
                "call_id": part.tool_call_id,
                "output": {"type": "computer_screenshot", "image_url": said.media.url},
            }
            items.append({**item, "acknowledged_safety_checks": checks} if checks else item)
        else:
            output: object = said.text
            if said.media is not None:
                texts: list[Content] = [said.text] if said.text else []
                output = [_content(content) for content in (*texts, said.media)]
            items.append({"type": "function_call_output", "call_id": part.tool_call_id, "output": output})
    return items
