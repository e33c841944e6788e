"""What Gemini's API refuses: unknown fields, settings, tools. Contents are in `gemini_contents`."""

import re
from collections.abc import Mapping
from typing import Any, Final

from chatd.testing.vendors.gemini_contents import check_contents
from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.refusal import a_name, a_text, an_object, objects, require

_TOP: Final = frozenset(
    ("contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent",
     "labels", "serviceTier", "store")
)  # fmt: skip
_GENERATION: Final = frozenset(
    ("maxOutputTokens", "temperature", "topP", "topK", "presencePenalty", "frequencyPenalty", "stopSequences", "seed",
     "responseModalities", "responseMimeType", "responseSchema", "responseJsonSchema", "candidateCount",
     "mediaResolution", "thinkingConfig", "speechConfig", "imageConfig", "responseLogprobs", "logprobs")
)  # fmt: skip
_TOOLS: Final = frozenset(
    ("functionDeclarations", "googleSearch", "codeExecution", "urlContext", "googleMaps", "fileSearch", "computerUse",
     "googleSearchRetrieval", "mcpServers")
)  # fmt: skip
_SCHEMA: Final = frozenset(
    ("type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required",
     "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering",
     "default", "items", "minimum", "maximum")
)  # fmt: skip
_TYPES: Final = frozenset(("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"))
_LEVELS: Final = ("minimal", "low", "medium", "high")
_NAME: Final = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$")
_VERSION: Final = re.compile(r"gemini-(\d+)")


def check_gemini(given: Mapping[str, Any], model: str, issued: Issued, *, on_vertex: bool = False) -> None:
    """Fields may be in snake case or camel case, as in every API of Google's."""
    body = {_camel(name): value for name, value in given.items()}
    _known(body, _TOP, "")
    found = _VERSION.search(model)
    since_3 = found is None or int(found[1]) >= 3
    _generation(an_object(body.get("generationConfig", {}), "generation_config"), model, since_3=since_3)
    names, has_own = _tools(objects(body.get("tools", []), "tools"), since_3=since_3)
    config = an_object(body.get("toolConfig", {}), "tool_config")
    told = "includeServerSideToolInvocations"
    fields = ("functionCallingConfig", "retrievalConfig", *(() if on_vertex else (told,)))
    _known(config, frozenset(fields), "tool_config")
    both = bool(names and has_own) and not on_vertex
    require(
        not both or config.get(told), f"Please enable tool_config.{told} to use Built-in tools with Function calling."
    )
    mode = an_object(config.get("functionCallingConfig", {}), "tool_config").get("mode", "AUTO")
    require(mode in ("AUTO", "ANY", "NONE", "VALIDATED"), f"Invalid value at 'tool_config.mode': {mode}")
    require(mode != "ANY" or names, "Function calling config is set without function_declarations.")
    if "systemInstruction" in body:
        parts = objects(an_object(body["systemInstruction"], "system_instruction").get("parts"), "system_instruction")
        require(parts, "* GenerateContentRequest.system_instruction.parts: must not be empty")
        for part in parts:
            require(a_text(part.get("text"), "system_instruction").strip(), "system_instruction: empty text parameter")
    check_contents(objects(body.get("contents"), "contents"), issued, since_3=since_3)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _known(fields: Mapping[str, object], allowed: frozenset[str], at: str) -> None:
    for name in fields:
        where = f" at '{at}'" if at else ""
        said = f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'
        require(_camel(name) in allowed, said, at=at)


def _generation(config: Json, model: str, *, since_3: bool) -> None:
    _known(config, _GENERATION, "generation_config")
    temperature = config.get("temperature", 0)
    require(0 <= temperature <= 2, f"Invalid value at 'generation_config.temperature': {temperature}")
    thinking = an_object(config.get("thinkingConfig", {}), "generation_config.thinking_config")
    _known(thinking, frozenset(("thinkingBudget", "thinkingLevel", "includeThoughts")), "thinking_config")
    both = "thinkingBudget" in thinking and "thinkingLevel" in thinking
    require(not both, "You can only set only one of thinking budget and thinking level.")
    level = str(thinking.get("thinkingLevel", "low")).lower()
    is_pro = "pro" in model
    levels = ("low", "high") if "gemini-3-pro" in model else ("low", "medium", "high") if is_pro else _LEVELS
    require(level in levels, f"Thinking level {level} is not supported for this model.")
    require(since_3 or "thinkingLevel" not in thinking, "Thinking level is not supported for this model.")
    budget = thinking.get("thinkingBudget", -1)
    least, most = (128, 32_768) if is_pro else (512 if "lite" in model else 0, 24_576)
    off = budget == -1 or (budget == 0 and not is_pro)
    require(off or least <= budget <= most, f"The thinking budget {budget} is invalid. Choose {least} to {most}.")


def _tools(tools: list[Json], *, since_3: bool) -> tuple[list[str], bool]:
    """The names of functions, and whether there are tools of the vendor's own."""
    names: list[str] = []
    own = False
    for number, tool in enumerate(tools):
        at = f"tools[{number}]"
        _known(tool, _TOOLS, at)
        own = own or any(_camel(name) != "functionDeclarations" for name in tool)
        declared = tool.get("functionDeclarations", tool.get("function_declarations", []))
        for place, function in enumerate(objects(declared, at)):
            names.append(_declaration(function, f"{at}.function_declarations[{place}]"))
    require(len(names) == len(set(names)), "Duplicate function declaration found.")
    require(since_3 or not (own and names), "Tool use with function calling is unsupported by the model.")
    return names, own


def _declaration(function: Json, at: str) -> str:
    allowed = ("name", "description", "parameters", "parametersJsonSchema", "response", "behavior")
    _known(function, frozenset(allowed), at)
    name = a_name(function.get("name"), _NAME, f"{at}.name")
    if "parameters" in function:
        schema = an_object(function["parameters"], f"{at}.parameters")
        require(str(schema.get("type")).upper() == "OBJECT", f"{at}.parameters.type: should be OBJECT")
        _schema(schema, f"{at}.parameters", is_whole=True)
    json_schema = function.get("parametersJsonSchema", function.get("parameters_json_schema", {"type": "object"}))
    require(an_object(json_schema, at).get("type") == "object", f"{at}.parameters_json_schema: should be an object")
    return name


def _schema(schema: Json, at: str, *, is_whole: bool = False) -> None:
    """A function may have no parameters, but no object within them is empty."""
    _known(schema, _SCHEMA, at)
    kind = str(schema.get("type", "")).upper()
    require(kind in _TYPES or "anyOf" in schema, f"Invalid value at '{at}.type': {schema.get('type')!r}")
    properties = an_object(schema.get("properties", {}), f"{at}.properties")
    is_empty = kind == "OBJECT" and not properties and not is_whole
    require(not is_empty, f"* {at}.properties: should be non-empty for OBJECT type")
    for name in schema.get("required", []):
        require(name in properties, f"* {at}.required: property is not defined: {name}")
    require("enum" not in schema or kind == "STRING", f"* {at}.enum: only allowed for STRING type")
    require("" not in schema.get("enum", []), f"* {at}.enum: cannot be empty")
    require(kind != "ARRAY" or "items" in schema, f"* {at}.items: missing field.")
    for name, value in properties.items():
        _schema(an_object(value, at), f"{at}.properties[{name}]")
    if "items" in schema:
        _schema(an_object(schema["items"], at), f"{at}.items")
    for number, option in enumerate(objects(schema.get("anyOf", []), at)):
        _schema(option, f"{at}.any_of[{number}]")
