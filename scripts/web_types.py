"""The web app's types: every schema and route of the API document, and the events of a chat's stream, as TypeScript."""

import re
from collections.abc import Iterator
from typing import Any, Final, cast, get_args

import msgspec
from routes_table import METHODS, published_document

from chatd.client.events import Event, UnknownEvent
from chatd.core.parts import (
    ContextFilePart,
    FilePart,
    FileReferencePart,
    ReasoningPart,
    SkillPart,
    SourcePart,
    TextPart,
)
from chatd.core.preview import CallPiece
from chatd.core.shown_parts import ShownCall, ShownResult
from chatd.wire.git import GitEvent

_REF: Final = "#/components/schemas/"
_HEADER: Final = "// Written by `make gen` (scripts/web_types.py) from {source}. Do not edit.\n"
# What a message holds, as clients are shown it. Live output of a tool is a result that is not there yet.
_PARTS: Final = {
    "TextPart": TextPart,
    "ReasoningPart": ReasoningPart,
    "ToolCallPart": ShownCall,
    "ToolResultPart": ShownResult,
    "SourcePart": SourcePart,
    "FilePart": FilePart,
    "FileReferencePart": FileReferencePart,
    "ContextFilePart": ContextFilePart,
    "SkillPart": SkillPart,
}
# `server/stream/loop.py` writes it without a type.
_LIVE: Final = """/** What a running tool says now, all of it. */
export interface ToolOutput {
  type: "tool-result"
  tool_call_id: string
  result_delta: string
  result_reset: true
}

export type LivePiece = Part | ToolCallDelta | ToolOutput
"""
_INTERNAL: Final = "provider_metadata"
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")


def schema_module() -> str:
    """`web/src/api/schema.ts`: the components of the document, and its routes by method and path."""
    document = published_document()
    schemas = document["components"]["schemas"]
    parts = [_HEADER.format(source="the API document"), 'import type { Part } from "./events"\n']
    parts += [_declaration(name, schemas[name]) for name in sorted(schemas) if name not in ("StreamEvent", "GitEvent")]
    parts.append("export interface Routes {\n" + "".join(_routes(document)) + "}\n")
    return "\n".join(parts)


def events_module() -> str:
    """`web/src/api/events.ts`: the parts of messages, and the events that bring them."""
    kinds = [kind for kind in get_args(Event) if kind is not UnknownEvent]
    roots = (*_PARTS.values(), CallPiece, *kinds, GitEvent)
    _, components = msgspec.json.schema_components(roots, ref_template=_REF + "{name}")
    published = published_document()["components"]["schemas"]
    renamed = {kind.__name__: name for name, kind in _PARTS.items()} | {"CallPiece": "ToolCallDelta"}
    renamed |= {name: f"Told{name.lstrip('_')}" for name in components if _is_another(name, components, published)}
    shared = set(published) - set(renamed) - {"GitEvent"}
    declared = {renamed.get(name, name.lstrip("_")): schema for name, schema in components.items()}
    used: set[str] = set()
    lines = [
        _declaration(name, _without_internal(schema), renamed, used)
        for name, schema in sorted(declared.items())
        if name not in shared
    ]
    imported = ", ".join(sorted(used & shared))
    return "\n".join(
        [
            _HEADER.format(source="`client/events.py` and `core/shown_parts.py`"),
            f'import type {{ {imported} }} from "./schema"\n',
            *lines,
            _LIVE,
            "/** What a message is made of. A newer server may have more. */",
            f"export type Part = {' | '.join(_PARTS)}\n",
            "export type StreamEvent = " + " | ".join(kind.__name__ for kind in kinds) + "\n",
        ]
    )


def _is_another(name: str, components: dict[str, Any], published: dict[str, Any]) -> bool:
    """Whether the document has something else by this name: private ones lose their underscore; there are two roles."""
    if name.startswith("_"):
        return True
    return name in published and set(components[name].get("enum", ())) != set(published[name].get("enum", ()))


def _without_internal(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {name: of for name, of in schema.get("properties", {}).items() if name != _INTERNAL}
    if schema.get("title") == "LivePart":
        properties["part"] = {"$ref": f"{_REF}LivePiece"}
    return {**schema, "properties": properties} if "properties" in schema else schema


def _declaration(
    name: str, schema: dict[str, Any], renamed: dict[str, str] | None = None, used: set[str] | None = None
) -> str:
    note = _note(schema.get("description", ""))
    if "properties" not in schema or schema.get("type") != "object":
        return f"{note}export type {name} = {_type(schema, renamed, used)}\n"
    required = set(schema.get("required", ()))
    fields = "".join(
        f"{_note(of.get('description', ''), '  ')}  {_key(field)}{'' if field in required else '?'}: "
        f"{_type(of, renamed, used)}\n"
        for field, of in schema["properties"].items()
    )
    return f"{note}export interface {name} {{\n{fields}}}\n"


def _note(text: str, indent: str = "") -> str:
    words = " ".join(text.split()).replace("*/", "* /")
    return f"{indent}/** {words} */\n" if words else ""


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else f'"{name}"'


def _type(schema: dict[str, Any], renamed: dict[str, str] | None = None, used: set[str] | None = None) -> str:
    def inner(of: dict[str, Any]) -> str:
        return _type(of, renamed, used)

    if "$ref" in schema:
        ref: str = schema["$ref"].removeprefix(_REF)
        name = (renamed or {}).get(ref) or ref.lstrip("_")
        if used is not None:
            used.add(name)
        return name
    if schema.get("description", "").startswith("Parts in order."):
        return "Part[]"
    if "const" in schema:
        return msgspec.json.encode(schema["const"]).decode()
    if "enum" in schema:
        return " | ".join(msgspec.json.encode(value).decode() for value in schema["enum"])
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(inner(of) for of in schema[several]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(inner({**schema, "type": one}) for one in cast("list[str]", kind)))
    match kind:
        case "array":
            if "prefixItems" in schema:
                return "[" + ", ".join(inner(of) for of in schema["prefixItems"]) + "]"
            of = inner(schema.get("items", {}) or {})
            return f"({of})[]" if " | " in of else f"{of}[]"
        case "object":
            return _object(schema, inner)
        case _:
            plain = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
            return plain.get(str(kind), "unknown")


def _object(schema: dict[str, Any], inner: Any) -> str:
    if "properties" in schema:
        required = set(schema.get("required", ()))
        fields = (
            f"{_key(name)}{'' if name in required else '?'}: {inner(of)}" for name, of in schema["properties"].items()
        )
        return "{ " + "; ".join(fields) + " }"
    values = schema.get("additionalProperties")
    return f"Record<string, {inner(values) if isinstance(values, dict) else 'unknown'}>"


def _routes(document: dict[str, Any]) -> Iterator[str]:
    for path, item in sorted(document["paths"].items()):
        for method in METHODS:
            if method in item:
                yield f'  "{method.upper()} {path}": {_route(item[method])}\n'


def _route(operation: dict[str, Any]) -> str:
    parameters = [of for of in operation.get("parameters", ()) if of["in"] in ("path", "query")]
    fields: list[str] = []
    for place in ("path", "query"):
        of_place = [of for of in parameters if of["in"] == place]
        if of_place:
            named = "; ".join(f"{of['name']}{'' if of['required'] else '?'}: {_type(of['schema'])}" for of in of_place)
            optional = "" if any(of["required"] for of in of_place) else "?"
            fields.append(f"{place}{optional}: {{ {named} }}")
    body = operation.get("requestBody")
    if body and "application/json" in body["content"]:
        optional = "" if body.get("required") else "?"
        fields.append(f"body{optional}: {_type(body['content']['application/json']['schema'])}")
    fields.append(f"answer: {_answer(operation['responses'])}")
    return "{ " + "; ".join(fields) + " }"


def _answer(responses: dict[str, Any]) -> str:
    kinds: list[str] = []
    for status in sorted(responses):
        if status.startswith("2"):
            schema = responses[status].get("content", {}).get("application/json", {}).get("schema")
            kinds.append(_type(schema) if schema else "null")
    return " | ".join(dict.fromkeys(kinds)) or "null"
