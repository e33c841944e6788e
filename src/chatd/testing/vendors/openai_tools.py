"""What both OpenAI protocols refuse in tools and settings."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chatd.testing.vendors.issued import Json
from chatd.testing.vendors.refusal import a_name, a_strict_schema, a_text, an_object, require

_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))


def function_tool(function: Json, at: str) -> str:
    """Its name."""
    name = a_name(function.get("name"), _NAME, f"{at}.name")
    if function.get("description") is not None:
        a_text(function["description"], f"{at}.description")
    if "parameters" in function:
        schema = an_object(function["parameters"], f"{at}.parameters")
        said = f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"'"
        require(schema.get("type") == "object", said, at=f"{at}.parameters")
        require("properties" in schema, f"Invalid schema for function '{name}': object schema missing properties")
        for refused in ("oneOf", "anyOf", "allOf", "enum", "not"):
            require(refused not in schema, f"Invalid schema for function '{name}': no '{refused}' at the top level.")
        if function.get("strict"):
            a_strict_schema(schema, f"{at}.parameters")
        _valid(schema, f"Invalid schema for function '{name}'")
    return name


def _valid(schema: Any, said: str) -> None:
    """What is refused at any depth."""
    require(isinstance(schema, dict | bool), f"{said}: {schema!r} is not of type 'object', 'boolean'")
    if isinstance(schema, bool):
        return
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        require(kind in _TYPES, f"{said}: {kind!r} is not valid under any of the given schemas")
    require("array" not in kinds or "items" in schema, f"{said}: array schema missing items")
    require(isinstance(schema.get("required", []), list), f"{said}: 'required' is not of type 'array'")
    pattern = schema.get("pattern", "")
    require(isinstance(pattern, str) and "(?!" not in pattern, f"{said}: {pattern!r} is not a 'regex'")
    properties = schema.get("properties", {})
    require(isinstance(properties, dict), f"{said}: 'properties' is not of type 'object'")
    items = [schema["items"]] if "items" in schema else []
    for inner in (*properties.values(), *schema.get("$defs", {}).values(), *items, *schema.get("anyOf", [])):
        _valid(inner, said)


def check_settings(body: Mapping[str, Any], names: Sequence[str]) -> None:
    """`names` are those of the functions."""
    temperature = body.get("temperature", 1)
    require(0 <= temperature <= 2, f"Invalid 'temperature': expected 0 to 2, but got {temperature} instead.")
    for field in ("tool_choice", "parallel_tool_calls"):
        alone = field in body and not body.get("tools")
        require(not alone, f"Invalid value for '{field}': it is only allowed when 'tools' are specified.", at=field)
    require(len(names) == len(set(names)), "Tools with the same name were provided.", at="tools")
    choice = body.get("tool_choice", "auto")
    known = not isinstance(choice, str) or choice in ("auto", "none", "required")
    require(known, f"Invalid value: '{choice}' for 'tool_choice'.", at="tool_choice")
