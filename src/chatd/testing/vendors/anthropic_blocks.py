"""What Anthropic's Messages API refuses in a history: order, pairs of calls and results, thinking that was changed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.refusal import (
    IMAGE_TYPES,
    Refusal,
    a_name,
    a_text,
    an_object,
    no_others,
    objects,
    require,
    some_base64,
)

_ID: Final = re.compile(r"^[a-zA-Z0-9_-]+$")
_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]{1,200}$")
_THOUGHTS: Final = frozenset(("thinking", "redacted_thinking"))
_USER: Final = frozenset(("text", "image", "document", "tool_result", "search_result"))
_MOST_IMAGE_SIZE: Final = 5 * 1024 * 1024  # as base64
_IMAGE_MARKS: Final[Mapping[str, bytes]] = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"WEBP",
}
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text", "citations"),
    "image": ("source",),
    "document": ("source", "title", "context", "citations"),
    "tool_result": ("tool_use_id", "content", "is_error", "toolset_name"),
    "tool_use": ("id", "name", "input", "caller", "toolset_name"),
    "server_tool_use": ("id", "name", "input", "caller"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
}


def check_messages(messages: Sequence[Json], issued: Issued, body: Mapping[str, Any], *, alternate: bool) -> None:
    require(messages, "messages: at least one message is required", at="messages")
    require(messages[0].get("role") == "user", 'messages: first message must use the "user" role')
    seen: set[str] = set()
    before: list[Json] = []
    for number, message in enumerate(messages):
        at = f"messages.{number}"
        no_others(message, ("role", "content"), at)
        role = message.get("role")
        require(role in ("user", "assistant"), f"{at}.role: Input should be 'user' or 'assistant'", at=at)
        if alternate and number and role == messages[number - 1].get("role"):
            raise Refusal(f'messages: roles must alternate, but found multiple "{role}" roles in a row', at=at)
        blocks = _blocks(message, at)
        for place, block in enumerate(blocks):
            _block(block, role, f"{at}.content.{place}", issued)
        if role == "user":
            _results(blocks, before, at)
        else:
            _calls(blocks, seen, at, is_last=number == len(messages) - 1)
            _vendor_calls(blocks, at, may_be_open=_goes_on(messages[number + 1 :]))
        before = blocks
    if messages[-1]["role"] == "assistant":  # it goes on only from what it was doing itself
        paused = before[-1]["type"].endswith(("_tool_use", "_tool_result"))
        require(paused, "This model does not support assistant message prefill. The conversation must end with a user.")
    _latest_thoughts(messages, issued, body)


def check_text(block: Json, at: str) -> None:
    text = a_text(block.get("text"), f"{at}.text")
    require(text, "messages: text content blocks must be non-empty", at=at)
    require(text.strip(), "messages: text content blocks must contain non-whitespace text", at=at)


def _blocks(message: Json, at: str) -> list[Json]:
    content = message.get("content")
    blocks: list[Json] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else objects(content, f"{at}.content")
    )
    require(blocks, f"{at}: all messages must have non-empty content", at=at)
    return blocks


def _block(block: Json, role: object, at: str, issued: Issued) -> None:
    kind = a_text(block.get("type"), f"{at}.type")
    is_vendors = kind.endswith("_tool_result")
    allowed = kind in _USER if role == "user" else kind in _FIELDS or is_vendors
    require(allowed and (role == "user" or kind not in _USER - {"text"}), f"{at}.type: {kind!r} is not allowed here")
    if kind in _FIELDS:
        marks = () if kind in _THOUGHTS else ("cache_control",)
        no_others(block, ("type", *marks, *_FIELDS[kind]), at)
    match kind:
        case "text":
            check_text(block, at)
            for citation in objects(block.get("citations") or [], f"{at}.citations"):
                require("file_id" not in citation, f"{at}.citations: file_id: Extra inputs are not permitted", at=at)
                index = citation.get("encrypted_index")
                require(index in issued.signed, f"{at}.citations: Invalid `encrypted_index`", at=at)
        case "thinking":
            signed = issued.signed.get(a_text(block.get("signature"), f"{at}.signature"))
            unchanged = isinstance(signed, tuple) and signed[:2] == ("thinking", block.get("thinking"))
            require(unchanged, f"{at}: Invalid `signature` in `thinking` block", at=at)
        case "redacted_thinking":
            require(block.get("data") in issued.signed, f"{at}: Invalid `data` in `redacted_thinking` block", at=at)
        case "tool_use" | "server_tool_use":
            a_name(block.get("id"), _ID, f"{at}.{kind}.id")
            a_name(block.get("name"), _NAME, f"{at}.{kind}.name")
            an_object(block.get("input"), f"{at}.{kind}.input")
        case "tool_result":
            _result_content(block, at)
        case "image" | "document":
            _media(block, at)
        case _:
            given = {name: value for name, value in block.items() if name != "cache_control"}
            known = issued.results.get(a_text(block.get("tool_use_id"), at))
            require(given == known, f"{at}: Invalid `encrypted_content` in `{kind}` block", at=at)


def _result_content(block: Json, at: str) -> None:
    a_name(block.get("tool_use_id"), _ID, f"{at}.tool_result.tool_use_id")
    content = block.get("content", "")
    require(
        content or not block.get("is_error"), f"{at}.tool_result: content cannot be empty if `is_error` is true", at=at
    )
    for number, piece in enumerate([] if isinstance(content, str) else objects(content, f"{at}.content")):
        kind = piece.get("type")
        require(kind in _USER - {"tool_result"}, f"{at}.content.{number}.type: {kind!r} is not allowed here")
        words = kind == "text" or not block.get("is_error")
        require(words, f"{at}.tool_result: all content must be type `text` if `is_error` is true", at=at)
        _block(piece, "user", f"{at}.content.{number}", Issued())


def _media(block: Json, at: str) -> None:
    source = an_object(block.get("source"), f"{at}.source")
    kind = source.get("type")
    if kind == "base64":
        allowed = IMAGE_TYPES if block["type"] == "image" else {"application/pdf"}
        require(source.get("media_type") in allowed, f"{at}.source.base64.media_type: Input should be {allowed}")
        content = some_base64(source.get("data"), f"{at}.source.base64.data")
        if block["type"] == "image":
            require(len(source["data"]) <= _MOST_IMAGE_SIZE, f"{at}: image exceeds 5 MB maximum", at=at)
            mark = _IMAGE_MARKS[source["media_type"]]
            require(mark in content[:12], f"{at}: Image does not match the provided media type", at=at)
        else:
            require(b"%PDF-" in content[:1024], f"{at}: The PDF specified was not valid.", at=at)
    elif kind == "text" and block["type"] == "document":
        require(source.get("media_type") == "text/plain", f"{at}.source.text.media_type: Input should be 'text/plain'")
        require(a_text(source.get("data"), at).strip(), f"{at}.source.text.data: must not be empty")
    else:
        require(kind in ("url", "file"), f"{at}.source.type: {kind!r} is not known", at=at)


def _results(blocks: Sequence[Json], before: Sequence[Json], at: str) -> None:
    """Every call of the message before has one result here, and the results come first."""
    called = [block["id"] for block in before if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for answer in answered:
        require(
            answer in called,
            f"{at}: unexpected `tool_use_id` found in `tool_result` blocks: {answer}. Each `tool_result` block must "
            "have a corresponding `tool_use` block in the previous message.",
            at=at,
        )
    require(len(answered) == len(set(answered)), f"{at}: each tool_use must have a single result", at=at)
    _unanswered([call for call in called if call not in answered], at)
    kinds = [block["type"] == "tool_result" for block in blocks]
    require(kinds == sorted(kinds, reverse=True), f"{at}: `tool_result` blocks must come first", at=at)


def _calls(blocks: Sequence[Json], seen: set[str], at: str, *, is_last: bool) -> None:
    ids = [block["id"] for block in blocks if block["type"] in ("tool_use", "server_tool_use")]
    repeated = [id for number, id in enumerate(ids) if id in seen or id in ids[:number]]
    require(not repeated, f"{at}: `tool_use` ids must be unique: {repeated}", at=at)
    seen.update(ids)
    if is_last:
        _unanswered([block["id"] for block in blocks if block["type"] == "tool_use"], at)


def _unanswered(calls: Sequence[str], at: str) -> None:
    require(
        not calls,
        f"{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(calls)}. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message.",
        at=at,
    )


def _goes_on(after: Sequence[Json]) -> bool:
    """Whether a call of the vendor's own may be open before these: it paused, or waits for the results of ours."""
    return len(after) <= 1 and all(block.get("type") == "tool_result" for one in after for block in _blocks(one, ""))


def _vendor_calls(blocks: Sequence[Json], at: str, *, may_be_open: bool) -> None:
    waiting: list[str] = []
    for block in blocks:
        if block["type"] == "server_tool_use":
            waiting.append(block["id"])
        elif block["type"].endswith("_tool_result"):
            call = block["tool_use_id"]
            require(call in waiting, f"{at}: unexpected `tool_use_id` found in `{block['type']}` blocks: {call}", at=at)
            waiting.remove(call)
    require(
        not waiting or may_be_open, f"{at}: server tool use with id {waiting} was found without a corresponding result"
    )


def _latest_thoughts(messages: Sequence[Json], issued: Issued, body: Mapping[str, Any]) -> None:
    """While results go back to a call, the thoughts that led to it go back too, as they were; adaptive thinking takes
    none as well. With a budget, what the model said since the user last spoke begins with one."""
    latest = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    if latest is None or messages[-1]["role"] != "user":
        return
    blocks = _blocks(latest, "messages")
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if not calls:
        return
    thinking = body.get("thinking", {}).get("type")
    if thinking == "enabled":
        first = _first_since_the_user_spoke(messages)["type"]
        require(
            first in _THOUGHTS,
            f"Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is enabled, "
            "a final `assistant` message must start with a thinking block.",
        )
    known = next((issued.thoughts_before[call] for call in reversed(calls) if call in issued.thoughts_before), None)
    if known is not None and thinking in ("enabled", "adaptive"):
        last_call = max(number for number, block in enumerate(blocks) if block["type"] == "tool_use")
        given = [block for block in blocks[:last_call] if block["type"] in _THOUGHTS]
        require(
            not given or not known or given[-len(known) :] == known,
            "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks "
            "must remain as they were in the original response.",
        )


def _first_since_the_user_spoke(messages: Sequence[Json]) -> Json:
    """The first block that the model said, of a history that ends with results."""
    place = len(messages) - 2
    while place >= 2 and all(block["type"] == "tool_result" for block in _blocks(messages[place - 1], "messages")):
        place -= 2
    return _blocks(messages[place], "messages")[0]
