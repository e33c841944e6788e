"""Ids and names of calls that every vendor takes, each id used once: vendors repeat theirs from answer to answer.

What a vendor wants to see again has its own ids in its metadata; those stay.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from chatd.core.model import PromptMessage
from chatd.core.parts import Part, ToolCallPart, ToolResultPart
from chatd.core.roles import Role

LONGEST_ID: Final = 64  # OpenAI's limit, the smallest
LONGEST_NAME: Final = 64  # likewise
_NOT_ALLOWED: Final = re.compile(r"[^a-zA-Z0-9_-]")  # Anthropic's rule, the strictest
_NAMELESS: Final = "call"


def distinct_ids(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Each result must come after its call and before the next message of an assistant, as repair_calls leaves it."""
    ids = _Ids()
    repaired: list[PromptMessage] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            ids.forget_calls()
        parts = tuple(map(ids.renamed, message.parts))
        repaired.append(message if parts == message.parts else msgspec.structs.replace(message, parts=parts))
    return tuple(repaired)


class _Ids:
    def __init__(self) -> None:
        self._used: set[str] = set()
        self._repeats: Counter[str] = Counter()
        self._waiting: dict[tuple[str, bool], list[str]] = {}  # of the newest message: new ids, first call first

    def forget_calls(self) -> None:
        self._waiting.clear()

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
        name = part.tool_name if part.provider_executed else _NOT_ALLOWED.sub("_", part.tool_name)[:LONGEST_NAME]
        if (new, name) == (part.tool_call_id, part.tool_name):
            return part
        return msgspec.structs.replace(part, tool_call_id=new, tool_name=name)

    def _fresh(self, wanted: str) -> str:
        plain = _NOT_ALLOWED.sub("_", wanted)[:LONGEST_ID] or _NAMELESS
        new = plain
        while new in self._used:
            self._repeats[plain] += 1
            end = f"_{self._repeats[plain] + 1}"
            new = plain[: LONGEST_ID - len(end)] + end
        self._used.add(new)
        return new
