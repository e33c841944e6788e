"""What servers that are compatible with Chat Completions take otherwise than OpenAI, told by the model's name.

Behind a gateway the name is all that says whose model it is. An operator's options win over it.

- OpenAI's models refuse `max_tokens`; Mistral refuses its new name, and many servers know only the old one.
- Mistral refuses `stream_options` (it counts unasked), ids of calls that are not nine letters and digits, a user after
  a tool, and the system after an assistant.
- DeepSeek and Kimi refuse an assistant's message without `reasoning_content` while they think; empty will do.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Final, Literal, cast

import msgspec

from chatd.core.model import Capabilities
from chatd.providers.protocols.openai.prompt import JsonObject

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]

_OPENAI: Final = re.compile(r"(ft:)?(gpt-(?!oss)|chatgpt-|o\d|codex-)")
_THINKERS: Final = re.compile(r"(deepseek|kimi)(?!.*distill)")
_MISTRAL: Final = re.compile(r"(mistral|mixtral|codestral|devstral|magistral|ministral|pixtral|voxtral)")
# As Mistral itself calls them (`mistral-large-latest`, `labs-devstral-small-2512`). Others who serve these models have
# an owner, a tag or capitals in the name, and must be asked to count.
_MISTRAL_ITSELF: Final = re.compile(r"(labs-|open-)?[a-z]+(-[a-z0-9]+)+")
_MISTRAL_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")
_NOTHING_TO_SAY: Final = "OK."


class ChatDialect(msgspec.Struct, frozen=True):
    max_tokens_field: MaxTokensField = "max_tokens"
    include_usage: bool = True
    demands_reasoning: bool = False
    is_mistral: bool = False


def dialect_of(model: str, capabilities: Capabilities, otherwise: MaxTokensField = "max_tokens") -> ChatDialect:
    """`otherwise` is what a server calls the limit whose model's name says nothing."""
    name = model.rpartition("/")[2].lower()
    if _MISTRAL.search(name):
        return ChatDialect(include_usage=_MISTRAL_ITSELF.fullmatch(model) is None, is_mistral=True)
    if _THINKERS.search(name):
        return ChatDialect(demands_reasoning=True)
    # A model that takes no temperature is most likely one of OpenAI's, whatever an Azure deployment calls it.
    if _OPENAI.match(name) or not capabilities.temperature:
        return ChatDialect(max_tokens_field="max_completion_tokens")
    return ChatDialect(max_tokens_field=otherwise)


def for_mistral(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The messages with ids and in an order that Mistral takes."""
    changed: list[JsonObject] = []
    for said in messages:
        message, before = said, changed[-1]["role"] if changed else ""
        if before in ("tool", "assistant") and said["role"] not in ("tool", "assistant"):
            message = {**said, "role": "user"}
            if before == "tool":
                changed.append({"role": "assistant", "content": _NOTHING_TO_SAY})
        match message:
            case {"tool_call_id": str(id)}:
                changed.append({**message, "tool_call_id": _mistral_id(id)})
            case {"tool_calls": calls}:
                renamed = [{**call, "id": _mistral_id(str(call["id"]))} for call in cast("list[JsonObject]", calls)]
                changed.append({**message, "tool_calls": renamed})
            case _:
                changed.append(message)
    return changed


def _mistral_id(id: str) -> str:
    """The same id always becomes the same one, as prompt caches need."""
    if _MISTRAL_ID.fullmatch(id):
        return id
    return hashlib.blake2b(id.encode("utf-8", "replace"), digest_size=5).hexdigest()[:9]
