"""Ids and names of calls that the vendor takes, each id used once: vendors repeat theirs from answer to answer.

What a vendor wants to see again has its own ids in its metadata; those stay.
"""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from string import ascii_letters, digits
from typing import Final

import msgspec

from chatd.core.model import TOOL_NAME_LONGEST, PromptMessage, ProtocolName
from chatd.core.parts import Part, ToolCallPart, ToolResultPart
from chatd.core.roles import Role

LONGEST_ID: Final = 64  # of OpenAI's Responses API, the smallest but for Chat Completions
_NOT_ALLOWED: Final = re.compile(r"[^a-zA-Z0-9_-]")  # Anthropic's rule, the strictest but for Mistral's
_NAMELESS: Final = "call"
# Chat Completions is spoken by many. Each takes its own ids back, and some want them as they were (Kimi's
# `functions.ls:0`), up to OpenAI's limit; Mistral takes ids of nine letters and digits only, which all others do too.
_OWN_CHAT_ID: Final = re.compile(r"[!-~]{1,40}")
_ANY_CHAT_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")
_NINE: Final = 9
_ALPHABET: Final = digits + ascii_letters


def distinct_ids(messages: Sequence[PromptMessage], protocol: ProtocolName, provider: str) -> tuple[PromptMessage, ...]:
    """Each result must come after its call and before the next message of an assistant, as pair_calls leaves it."""
    ids = _Ids(protocol)
    repaired: list[PromptMessage] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            ids.is_own = message.origin == provider
        parts = tuple(map(ids.renamed, message.parts))
        repaired.append(message if parts == message.parts else msgspec.structs.replace(message, parts=parts))
    return tuple(repaired)


class _Ids:
    def __init__(self, protocol: ProtocolName) -> None:
        self._is_chat = protocol is ProtocolName.OPENAI_CHAT
        self.is_own = False  # whether the message whose calls come next is this provider's
        self._used: set[str] = set()
        self._repeats: Counter[str] = Counter()
        self._waiting: dict[tuple[str, bool], list[str]] = {}  # for results: new ids, first call first

    def renamed(self, part: Part) -> Part:
        if not isinstance(part, ToolCallPart | ToolResultPart):
            return part
        waiting = self._waiting.setdefault((part.tool_call_id, part.provider_executed), [])
        if isinstance(part, ToolCallPart):
            new = self._fresh(part.tool_call_id)
            waiting.append(new)
        else:
            new = waiting.pop(0) if waiting else part.tool_call_id
        # A vendor's own tools are called as it calls them.
        name = part.tool_name if part.provider_executed else _NOT_ALLOWED.sub("_", part.tool_name)[:TOOL_NAME_LONGEST]
        if (new, name) == (part.tool_call_id, part.tool_name):
            return part
        return msgspec.structs.replace(part, tool_call_id=new, tool_name=name)

    def _fresh(self, wanted: str) -> str:
        new = plain = self._acceptable(wanted)
        while new in self._used:
            self._repeats[plain] += 1
            new = self._another(plain, self._repeats[plain] + 1)
        self._used.add(new)
        return new

    def _acceptable(self, wanted: str) -> str:
        if not self._is_chat:
            return _NOT_ALLOWED.sub("_", wanted)[:LONGEST_ID] or _NAMELESS
        taken = _OWN_CHAT_ID if self.is_own else _ANY_CHAT_ID
        return wanted if taken.fullmatch(wanted) else _nine(wanted)

    def _another(self, plain: str, number: int) -> str:
        if self._is_chat:
            return _nine(f"{plain} {number}")
        end = f"_{number}"
        return plain[: LONGEST_ID - len(end)] + end


def _nine(text: str) -> str:
    """Nine letters and digits that are always the same for a text."""
    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
    written = ""
    for _ in range(_NINE):
        number, place = divmod(number, len(_ALPHABET))
        written += _ALPHABET[place]
    return written
