"""What servers that are compatible with Chat Completions refuse beyond OpenAI's rules, by the model's name."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.refusal import require

_REASONS: Final = re.compile(r"(gpt-5|o\d)")
_MISTRAL_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")
_MISTRAL_UNKNOWN: Final = ("stream_options", "max_completion_tokens", "store", "user", "service_tier")
_MISTRAL_AFTER: Final[Mapping[str, tuple[str, ...]]] = {
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool"),
}
REASONING: Final = "reasoning_content:"


def signs_calls(model: str) -> bool:
    return "gemini" in model


def check_dialect(body: Mapping[str, Any], messages: Sequence[Json], issued: Issued) -> None:
    model = str(body["model"])
    if _REASONS.match(model):
        used = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        require("max_tokens" not in body, used, at="max_tokens")
        require(body.get("temperature", 1) == 1, "Unsupported value: 'temperature' does not support this.")
    elif "mistral" in model:
        _mistral(body, messages)
    elif "deepseek" in model and any(len(key) > len(REASONING) for key in issued.signed if key.startswith(REASONING)):
        for message in messages:
            given = message["role"] != "assistant" or "reasoning_content" in message
            require(given, "The `reasoning_content` in the thinking mode must be passed back to the API.")
    elif signs_calls(model):
        _signed(messages, issued)


def _mistral(body: Mapping[str, Any], messages: Sequence[Json]) -> None:
    for name in _MISTRAL_UNKNOWN:
        require(name not in body, f"Extra inputs are not permitted: {name}", at=name)
    before = ""
    for message in messages:
        allowed = _MISTRAL_AFTER.get(before, (message["role"],))
        require(message["role"] in allowed, f"Unexpected role '{message['role']}' after role '{before}'")
        before = message["role"]
        for id in (message.get("tool_call_id"), *(call["id"] for call in message.get("tool_calls", ()))):
            known = id is None or _MISTRAL_ID.fullmatch(id)
            require(known, f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.")
    require(before in ("user", "tool"), f"Expected last role User or Tool for serving but got {before}")


def _signed(messages: Sequence[Json], issued: Issued) -> None:
    for message in messages:
        for call in message.get("tool_calls", ()):
            signature = call.get("extra_content", {}).get("google", {}).get("thought_signature")
            genuine = issued.signed.get(str(signature)) == ("call", call["function"]["name"])
            require(genuine, "Function call is missing a thought_signature in functionCall parts.")
