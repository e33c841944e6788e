"""What Anthropic's models refuse, each generation something else: ways to think, sampling, forced calls."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.refusal import require

_VERSION: Final = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
BINDING_BETA: Final = "thinking-binding-controls-2026-08-01"


def check_model(body: Mapping[str, Any], model: str) -> None:
    """A name that tells no version is taken for a model that takes everything."""
    found = _VERSION.search(model)
    if found is None:
        return
    version = int(found[1]), int(found[2] or 0)
    always = "fable" in model or "mythos" in model or (version >= (5, 5) and "haiku" not in model)
    thinking = body.get("thinking", {}).get("type")
    effort = body.get("output_config", {}).get("effort")
    refused = f'"thinking.type.{thinking}" is not supported for this model.'
    require(thinking != "enabled" or version < (4, 7), refused)
    require(thinking != "adaptive" or version >= (4, 6), refused)
    require(thinking != "disabled" or not always, refused)
    require(thinking != "between_tools" or (always and "sonnet" in model), refused)
    if version >= (5, 0) and thinking in ("disabled", "between_tools"):
        require(effort not in ("xhigh", "max"), f"output_config.effort: {effort} needs thinking")
    require(effort is None or version >= (4, 5), "This model does not support the effort parameter.")
    require(effort != "xhigh" or version >= (4, 7), "This model does not support effort level 'xhigh'.")
    if version >= (4, 7):
        for name in ("temperature", "top_p", "top_k"):
            require(name not in body, f"`{name}` is deprecated for this model.")
    forced = body.get("tool_choice", {}).get("type") in ("any", "tool")
    require(not forced or not (always and version >= (5, 1)), "tool_choice: forced tool use is not supported")
    if forced and version < (4, 8):
        thinks = thinking in ("enabled", "adaptive")
        require(not thinks, "Thinking may not be enabled when tool_choice forces tool use.")
    for tool in cast("list[Json]", body.get("tools", [])):
        old = tool.get("type") == "computer_20251124" and version >= (5, 5) and "anthropic." not in model
        require(not old, "tools: computer_20251124 is not supported for this model. Use computer_toolset_20260801.")


def before_answer(body: Mapping[str, Any]) -> str:
    """What a thought in the answer to this request is bound to."""
    messages = cast("list[Json]", body.get("messages", []))
    paused = bool(messages) and messages[-1]["role"] == "assistant"
    return _digest(body, messages[:-1] if paused else messages)


def check_bound(body: Mapping[str, Any], model: str, issued: Issued) -> None:
    """Thoughts of the newest models go back after what they came after, or are dropped where that was asked for."""
    found = _VERSION.search(model)
    least = (5, 1) if "fable" in model or "mythos" in model else (5, 5)
    may_drop = body.get("thinking", {}).get("block_binding", {}).get("prefix_mismatch_behavior") == "drop_block"
    if found is None or (int(found[1]), int(found[2] or 0)) < least or may_drop:
        return
    messages = cast("list[Json]", body["messages"])
    for number, message in enumerate(messages):
        blocks = cast("list[Json]", message["content"]) if isinstance(message["content"], list) else []
        for block in blocks:
            signature = block.get("signature") or block.get("data")
            signed = issued.signed.get(str(signature))
            bound = cast("tuple[object, ...]", signed)[-1] if isinstance(signed, tuple) else None
            same = bound is None or bound == _digest(body, messages[:number])
            require(same, f"messages.{number}: what came before this thinking block has changed")


def _digest(body: Mapping[str, Any], messages: Sequence[Json]) -> str:
    before = [body.get("system"), body.get("tools"), list(messages)]
    return hashlib.sha256(json.dumps(_unmarked(before)).encode()).hexdigest()


def _unmarked(value: Any) -> Any:
    """Without marks for the cache, which may move."""
    if isinstance(value, dict):
        fields = cast("Json", value)
        return {name: _unmarked(entry) for name, entry in fields.items() if name != "cache_control"}
    return [_unmarked(entry) for entry in cast("list[Any]", value)] if isinstance(value, list) else value
