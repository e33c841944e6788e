"""What the Responses API refuses: fields, tools, and above all items without those that they depend on."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.openai_tools import check_settings, function_tool
from chatd.testing.vendors.refusal import Refusal, a_text, an_image_url, no_others, objects, require

_TOP: Final = frozenset(
    ("model", "input", "instructions", "stream", "stream_options", "store", "tools", "tool_choice", "metadata",
     "parallel_tool_calls", "max_output_tokens", "max_tool_calls", "temperature", "top_p", "top_logprobs", "reasoning",
     "include", "text", "truncation", "service_tier", "user", "safety_identifier", "prompt_cache_key", "prompt",
     "prompt_cache_retention", "previous_response_id", "conversation", "background", "context_management", "moderation")
)  # fmt: skip
_PREFIXES: Final[Mapping[str, str]] = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "web_search_call": "ws",
    "code_interpreter_call": "ci",
}
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "message": ("id", "role", "content", "status", "phase"),
    "reasoning": ("id", "summary", "content", "encrypted_content", "status"),
    "function_call": ("id", "call_id", "name", "arguments", "status"),
    "function_call_output": ("id", "call_id", "output", "status"),
    "web_search_call": ("id", "status", "action"),
    "code_interpreter_call": ("id", "status", "code", "container_id", "outputs"),
    "compaction": ("id", "encrypted_content"),
}
_CONTENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "input_text": ("text",),
    "input_image": ("image_url", "file_id", "detail"),
    "input_file": ("filename", "file_data", "file_id", "file_url"),
    "output_text": ("text", "annotations", "logprobs"),
    "refusal": ("refusal",),
}
_CALL_ID: Final = re.compile(r"^.{1,64}$", re.S)
_LEAST_OUTPUT: Final = 16


def check_responses(body: Mapping[str, Any], issued: Issued) -> None:
    for name in body:
        require(name in _TOP, f"Unknown parameter: '{name}'.", at=name)
    require(a_text(body.get("model", ""), "model"), "Missing required parameter: 'model'.", at="model")
    require(body.get("stream") is True, "This server answers with a stream only.", at="stream")
    most = body.get("max_output_tokens", _LEAST_OUTPUT)
    require(type(most) is int and most >= _LEAST_OUTPUT, "Invalid 'max_output_tokens': below the minimum of 16.")
    check_settings(body, _functions(objects(body.get("tools", []), "tools")))
    given = body.get("input")
    if isinstance(given, str):
        require(given, "Missing required parameter: 'input'.", at="input")
        return
    items = objects(given, "input")
    require(items, "Missing required parameter: 'input'.", at="input")
    for number, item in enumerate(items):
        _item(item, f"input[{number}]")
    _distinct(items)
    _paired(items)
    _reasoned(items, issued)


def _functions(tools: Sequence[Json]) -> list[str]:
    """Their names. What the vendor runs itself has a type only."""
    names: list[str] = []
    for number, tool in enumerate(tools):
        at = f"tools[{number}]"
        if a_text(tool.get("type"), f"{at}.type") == "function":
            no_others(tool, ("type", "name", "description", "parameters", "strict"), at)
            names.append(function_tool(tool, at))
        elif tool["type"] == "computer":
            no_others(tool, ("type",), at)
        elif tool["type"] == "computer_use_preview":
            for name in ("display_width", "display_height", "environment"):
                require(name in tool, f"Missing required parameter: '{at}.{name}'.", at=at)
    return names


def _item(item: Json, at: str) -> None:
    item.setdefault("type", "message")
    kind = a_text(item["type"], f"{at}.type")
    require(kind in _FIELDS, f"Invalid value: '{kind}' for '{at}.type'.", at=at)
    for name in item:
        require(name in ("type", *_FIELDS[kind]), f"Unknown parameter: '{at}.{name}'.", at=f"{at}.{name}")
    id, prefix = item.get("id"), _PREFIXES.get(kind, "")
    if id is not None:
        known = f"Invalid '{at}.id': '{id}'. Expected an ID that begins with '{prefix}'."
        require(a_text(id, f"{at}.id").startswith(prefix), known, at=f"{at}.id")
    elif kind not in ("message", "function_call", "function_call_output"):
        raise Refusal(f"Missing required parameter: '{at}.id'.", at=f"{at}.id")
    match kind:
        case "message":
            _message(item, at)
        case "function_call":
            function_tool({"name": item.get("name")}, at)
            a_text(item.get("arguments"), f"{at}.arguments")
            require(_CALL_ID.match(a_text(item.get("call_id"), f"{at}.call_id")), f"Invalid '{at}.call_id'.", at=at)
        case "function_call_output":
            output = item.get("output")
            if not isinstance(output, str):
                _contents(output, "user", f"{at}.output")
        case "reasoning":
            for summary in objects(item.get("summary"), f"{at}.summary"):
                require(summary.get("type") == "summary_text", f"Invalid value for '{at}.summary'.", at=at)
        case _:
            pass


def _message(item: Json, at: str) -> None:
    role = item.get("role")
    require(role in ("user", "system", "developer", "assistant"), f"Invalid value: '{role}' for '{at}.role'.", at=at)
    content = item.get("content")
    if isinstance(content, str):
        require(content.strip(), f"Invalid '{at}.content': empty string.", at=at)
    else:
        require(content, f"Invalid '{at}.content': empty array.", at=at)
        _contents(content, str(role), f"{at}.content")


def _contents(value: object, role: str, at: str) -> None:
    for number, piece in enumerate(objects(value, at)):
        place = f"{at}[{number}]"
        kind = a_text(piece.get("type"), f"{place}.type")
        said = ("output_text", "refusal")
        allowed = kind in said if role == "assistant" else kind in _CONTENTS and kind not in said
        require(allowed, f"Invalid value: '{kind}' for '{place}.type'.", at=place)
        for name in piece:
            require(name in ("type", *_CONTENTS[kind]), f"Unknown parameter: '{place}.{name}'.", at=place)
        if kind in ("input_text", "output_text"):
            require(a_text(piece.get("text"), place).strip(), f"Invalid '{place}.text': empty string.", at=place)
        elif kind == "input_image" and "file_id" not in piece:
            an_image_url(piece.get("image_url"), f"{place}.image_url")


def _distinct(items: Sequence[Json]) -> None:
    seen: set[str] = set()
    for item in items:
        id = item.get("id")
        require(
            id is None or id not in seen,
            f"Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
            at="input",
        )
        seen.add(str(id))


def _paired(items: Sequence[Json]) -> None:
    waiting: list[str] = []
    for item in items:
        call = str(item.get("call_id"))
        if item["type"] == "function_call":
            require(call not in waiting, f"Duplicate function call with call_id {call}.", at="input")
            waiting.append(call)
        elif item["type"] == "function_call_output":
            missing = f"No tool call found for function call output with call_id {call}."
            require(call in waiting, missing, at="input")
            waiting.remove(call)
    require(not waiting, f"No tool output found for function call {', '.join(waiting)}.", at="input")


def _reasoned(items: Sequence[Json], issued: Issued) -> None:
    present = {str(item.get("id")) for item in items}
    for number, item in enumerate(items):
        id, kind = str(item.get("id")), item["type"]
        needed = issued.reasoning_of.get(id)
        require(
            needed is None or needed in present,
            f"Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'.",
            at="input",
        )
        if kind != "reasoning":
            continue
        encrypted = item.get("encrypted_content")
        require(
            id in issued.stored or encrypted is not None,
            f"Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with "
            "`store` set to true, or remove this item from your input.",
            at="input",
        )
        genuine = encrypted is None or issued.signed.get(encrypted) == ("reasoning", id)
        require(genuine, f"The encrypted content for item {id} could not be verified.", at="input")
        following = items[number + 1].get("id") if number + 1 < len(items) else None
        require(
            following is not None and following == issued.follower_of.get(id),
            f"Item '{id}' of type 'reasoning' was provided without its required following item.",
            at="input",
        )
        shown = _words(issued.items.get(id, {}))
        require(_words(item) == shown, f"Item '{id}' of type 'reasoning' was changed.", at="input")


def _words(reasoning: Json) -> list[str]:
    """A summary's parts may come back as one."""
    return [word for part in reasoning.get("summary", ()) for word in str(part["text"]).split()]
