"""The body of a request to Gemini: settings, tools and thinking."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from chatd.core.errors import InvalidRequest
from chatd.core.model import ModelRequest, ProviderTool, ToolChoice, ToolSpec
from chatd.core.reasoning import ReasoningEffort
from chatd.providers.protocols.google.contents import acceptable_name, contents, system_parts, valid
from chatd.providers.protocols.google.options import GoogleOptions, is_since_3, model_version, read_options
from chatd.providers.protocols.google.schema import json_schema, reduced_schema

_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LEVELS: Final[Mapping[ReasoningEffort, str]] = {
    ReasoningEffort.NONE: "minimal",
    ReasoningEffort.MINIMAL: "minimal",
    ReasoningEffort.LOW: "low",
    ReasoningEffort.MEDIUM: "medium",
    ReasoningEffort.HIGH: "high",
    ReasoningEffort.XHIGH: "high",
    ReasoningEffort.MAX: "high",
}
# For models before 3, which know no levels: what the vendor itself takes for an effort, up to the most of the model.
_BUDGETS: Final[Mapping[ReasoningEffort, int]] = {
    ReasoningEffort.NONE: 0,
    ReasoningEffort.MINIMAL: 1024,
    ReasoningEffort.LOW: 1024,
    ReasoningEffort.MEDIUM: 8192,
    ReasoningEffort.HIGH: 24_576,
    ReasoningEffort.XHIGH: 32_768,
    ReasoningEffort.MAX: 32_768,
}
_MOST_BUDGET: Final = 24_576  # the vendor's, of all but the pro models
_MOST_BUDGET_OF_PRO: Final = 32_768
_LEAST_BUDGET_OF_PRO: Final = 128  # a pro model can't be told not to think
_TOOL_FIELDS: Final[Mapping[str, str]] = {
    "google_search": "googleSearch",
    "web_search": "googleSearch",
    "code_execution": "codeExecution",
    "url_context": "urlContext",
    "web_fetch": "urlContext",
    "google_maps": "googleMaps",
    "file_search": "fileSearch",
    "computer": "computerUse",
    "computer_use": "computerUse",
}


def google_body(request: ModelRequest, *, on_vertex: bool = False) -> bytes:
    """Raises InvalidRequest if the options of the model or of a tool can't be read."""
    options = read_options(request.options)
    body: dict[str, Any] = {}
    if request.capabilities.system_messages and (system := system_parts(request.messages)):
        body["systemInstruction"] = {"parts": system}
    body["contents"] = contents(request, options)
    body |= _tools(request, options, on_vertex=on_vertex)
    if config := _generation(request, options):
        body["generationConfig"] = config
    if options.safety_settings:
        body["safetySettings"] = options.safety_settings
    if options.cached_content:
        body["cachedContent"] = options.cached_content
    if options.labels:
        body["labels"] = options.labels
    return msgspec.json.encode(body | dict(options.extra_body))


def _generation(request: ModelRequest, options: GoogleOptions) -> dict[str, Any]:
    said: dict[str, Any] = {
        "maxOutputTokens": request.max_output_tokens,
        "presencePenalty": request.presence_penalty,
        "frequencyPenalty": request.frequency_penalty,
        "stopSequences": options.stop_sequences or None,
        "responseModalities": options.response_modalities or None,
        "mediaResolution": options.media_resolution,
        "seed": options.seed,
        "thinkingConfig": _thinking(request, options) or None,
    }
    if request.capabilities.temperature:
        said |= {"temperature": request.temperature, "topP": request.top_p, "topK": request.top_k}
    return {name: value for name, value in said.items() if value is not None}


def _thinking(request: ModelRequest, options: GoogleOptions) -> dict[str, Any]:
    asked = options.thinking_config
    said: dict[str, Any] = {}
    if request.capabilities.reasoning:
        effort = request.reasoning_effort
        said["includeThoughts"] = effort is not ReasoningEffort.NONE
        if asked is None or (asked.thinking_budget is None and asked.thinking_level is None):
            said |= _effort(effort, request.model) if effort is not None else {}
    if asked is not None:
        told = {
            "thinkingBudget": asked.thinking_budget,
            "thinkingLevel": asked.thinking_level,
            "includeThoughts": asked.include_thoughts,
        }
        said |= {name: value for name, value in told.items() if value is not None}
    return said


def _effort(effort: ReasoningEffort, model: str) -> dict[str, Any]:
    is_pro = "pro" in model
    if is_since_3(model):
        level = _LEVELS[effort]
        if is_pro and level == "minimal":
            level = "low"
        if is_pro and level == "medium" and model_version(model) == (3, 0):
            level = "high"  # of 3.0, the pro model knows low and high only
        return {"thinkingLevel": level}
    budget = _BUDGETS[effort]
    budget = max(min(budget, _MOST_BUDGET_OF_PRO), _LEAST_BUDGET_OF_PRO) if is_pro else min(budget, _MOST_BUDGET)
    return {"thinkingBudget": budget}


def _tools(request: ModelRequest, options: GoogleOptions, *, on_vertex: bool) -> dict[str, Any]:
    if not request.capabilities.tools:
        return {}
    own = list(request.provider_tools)
    if options.web_search_enabled and all(_field(tool.name) != "googleSearch" for tool in own):
        own.append(ProviderTool("google_search"))
    if request.tools and not is_since_3(request.model):
        own = []  # these models refuse a request that has both
    tools: list[dict[str, Any]] = [{_field(tool.name): _tool_options(tool)} for tool in own]
    if request.tools:
        tools.append({"functionDeclarations": [_declaration(tool, options) for tool in request.tools]})
    if not tools:
        return {}
    config = _tool_config(request, options, tells_of_own=bool(own and request.tools) and not on_vertex)
    return {"tools": tools} | ({"toolConfig": config} if config else {})


def _tool_config(request: ModelRequest, options: GoogleOptions, *, tells_of_own: bool) -> dict[str, Any]:
    config: dict[str, Any] = {}
    modes = {ToolChoice.NONE: "NONE", ToolChoice.REQUIRED: "ANY"}
    if request.tools and request.tool_choice in modes:
        config["functionCallingConfig"] = {"mode": modes[request.tool_choice]}
    told = options.include_server_side_tool_invocations
    if told or (told is None and tells_of_own):
        config["includeServerSideToolInvocations"] = True
    return config


def _declaration(tool: ToolSpec, options: GoogleOptions) -> dict[str, Any]:
    """A function without parameters has none, since an object without properties is refused by some models."""
    said: dict[str, Any] = {"name": acceptable_name(tool.name), "description": valid(tool.description)}
    if options.tool_schemas == "json":
        said["parametersJsonSchema"] = json_schema(tool.input_schema)
    elif (schema := reduced_schema(tool.input_schema)).get("properties"):
        said["parameters"] = schema
    return said


def _field(name: str) -> str:
    """What a tool of the vendor's is called in a request; a name that we do not know is taken for its own."""
    return _TOOL_FIELDS.get(name, name)


def _tool_options(tool: ProviderTool) -> Mapping[str, msgspec.Raw]:
    try:
        return _FIELDS.decode(tool.options or "{}")
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"The options of the tool {tool.name} are not a JSON object.") from error
