"""What Chat Completions refuses: fields, tools, and calls without their results."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from chatd.testing.vendors.chat_dialects import check_dialect, signs_calls
from chatd.testing.vendors.chat_encode import reasoning_key
from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.openai_tools import check_settings, function_tool
from chatd.testing.vendors.refusal import a_text, an_image_url, an_object, no_others, objects, require

_TOP: Final = frozenset(
    ("model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "max_tokens",
     "max_completion_tokens", "temperature", "top_p", "presence_penalty", "frequency_penalty", "reasoning_effort",
     "verbosity", "stop", "seed", "n", "logprobs", "top_logprobs", "logit_bias", "response_format", "service_tier",
     "store", "metadata", "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "modalities",
     "web_search_options", "prediction", "audio", "moderation")
)  # fmt: skip
_ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "system": ("name",),
    "developer": ("name",),
    "user": ("name",),
    # Reasoning is what compatible servers add, and some want back.
    "assistant": ("name", "tool_calls", "refusal", "reasoning_content"),
    "tool": ("tool_call_id",),
}
_PIECES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image_url": ("image_url",),
    "file": ("file",),
    "refusal": ("refusal",),
}


def check_chat(body: Mapping[str, Any], issued: Issued) -> None:
    for name in body:
        require(name in _TOP, f"Unrecognized request argument supplied: {name}", at=name)
    require(a_text(body.get("model", ""), "model"), "you must provide a model parameter", at="model")
    require(body.get("stream") is True, "This server answers with a stream only.", at="stream")
    both = "max_tokens" in body and "max_completion_tokens" in body
    require(not both, "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    names: list[str] = []
    for number, tool in enumerate(objects(body.get("tools", []), "tools")):
        at = f"tools[{number}]"
        require(tool.get("type") == "function", f"Invalid value: '{tool.get('type')}' for '{at}.type'.", at=at)
        no_others(tool, ("type", "function"), at)
        function = an_object(tool.get("function"), f"{at}.function")
        no_others(function, ("name", "description", "parameters", "strict"), f"{at}.function")
        names.append(function_tool(function, f"{at}.function"))
    check_settings(body, names)
    messages = objects(body.get("messages"), "messages")
    require(messages, "Invalid 'messages': empty array. Expected an array with minimum length 1.", at="messages")
    for number, message in enumerate(messages):
        _message(message, f"messages[{number}]", issued, signs=signs_calls(body["model"]))
    _paired(messages)
    check_dialect(body, messages, issued)


def _message(message: Json, at: str, issued: Issued, *, signs: bool) -> None:
    role = a_text(message.get("role"), f"{at}.role")
    require(role in _ROLES, f"Invalid value: '{role}' for '{at}.role'.", at=f"{at}.role")
    no_others(message, ("role", "content", *_ROLES[role]), at)
    content = message.get("content")
    calls = message.get("tool_calls")
    if content is None:
        allowed = role == "assistant" and calls
        require(allowed, f"Invalid value for 'content': expected a string, got null. ({at})", at=f"{at}.content")
    elif isinstance(content, str):
        # A tool may say nothing.
        require(content.strip() or role == "tool", f"Invalid '{at}.content': empty string.", at=f"{at}.content")
    else:
        _pieces(objects(content, f"{at}.content"), role, f"{at}.content")
    if calls is not None:
        fields = ("id", "type", "function", *(("extra_content",) if signs else ()))
        _calls(objects(calls, f"{at}.tool_calls"), f"{at}.tool_calls", fields)
    if (thought := message.get("reasoning_content")) not in (None, ""):
        unchanged = reasoning_key(a_text(thought, at)) in issued.signed
        require(unchanged, f"The 'reasoning_content' of {at} is not what this server said.", at=at)


def _pieces(pieces: Sequence[Json], role: str, at: str) -> None:
    require(pieces, f"Invalid '{at}': empty array.", at=at)
    for number, piece in enumerate(pieces):
        place = f"{at}[{number}]"
        kind = a_text(piece.get("type"), f"{place}.type")
        allowed = kind in _PIECES if role == "user" else kind in ("text", "refusal")
        require(allowed, f"Invalid content type for role '{role}': '{kind}'. ({place})", at=place)
        no_others(piece, ("type", *_PIECES[kind]), place)
        if kind == "text":
            require(a_text(piece.get("text"), place).strip(), f"Invalid '{place}.text': empty string.", at=place)
        elif kind == "image_url":
            an_image_url(an_object(piece["image_url"], place).get("url"), f"{place}.image_url.url")


def _calls(calls: Sequence[Json], at: str, fields: Sequence[str]) -> None:
    require(calls, f"Invalid '{at}': empty array. Expected an array with minimum length 1.", at=at)
    for number, call in enumerate(calls):
        place = f"{at}[{number}]"
        no_others(call, fields, place)
        require(a_text(call.get("id"), f"{place}.id"), f"Invalid '{place}.id': empty string.", at=place)
        require(call.get("type") == "function", f"Missing required parameter: '{place}.type'.", at=place)
        function = an_object(call.get("function"), f"{place}.function")
        function_tool({"name": function.get("name")}, f"{place}.function")
        a_text(function.get("arguments"), f"{place}.function.arguments")


def _paired(messages: Sequence[Json]) -> None:
    """Every call is answered by a message of a tool before anyone else speaks."""
    waiting: list[str] = []
    end: Json = {"role": "end"}
    for message in (*messages, end):
        if message["role"] == "tool":
            call = message.get("tool_call_id")
            require(
                call in waiting,
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                f"'tool_calls'. ({call})",
                at="messages",
            )
            waiting.remove(str(call))
            continue
        require(
            not waiting,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}",
            at="messages",
        )
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        require(len(waiting) == len(set(waiting)), "Duplicate value for 'tool_call_id'.", at="messages")
