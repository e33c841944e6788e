"""Makes a history legal for the vendor that will get it: pure, for any history, and the same if done twice.

What a vendor would refuse is changed or left out; the stored history stays as it is, so that switching back to the
vendor that wrote a message restores what only it understands. The order of work:

  1. each part on its own (parts): empties, files, what only people see, metadata of others; calls and results in words
     for a model that takes no tools (words)
  2. our calls and their results across messages (calls): each call has one result, right after its message
  3. the vendor's own calls (vendor_calls): complete pairs within a message, before our own calls
  4. ids and names that the vendor takes, each id used once (ids)

Ids and texts depend on what came before only, so a growing history keeps its beginning, as prompt caches need.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from chatd.core.model import Capabilities, PromptMessage, ProtocolName
from chatd.core.parts import ToolCallPart, ToolResultPart
from chatd.core.repair.calls import pair_calls
from chatd.core.repair.ids import distinct_ids
from chatd.core.repair.parts import repair_parts
from chatd.core.repair.vendor_calls import pair_vendor_calls
from chatd.core.repair.warnings import RepairWarning
from chatd.core.repair.words import in_words
from chatd.core.roles import Role

__all__ = ["RepairWarning", "Repaired", "repair"]

_CALLS: Final = (ToolCallPart, ToolResultPart)


class Repaired(msgspec.Struct, frozen=True):
    """`warnings` name what is lost for this vendor, for whoever can log."""

    messages: tuple[PromptMessage, ...]
    warnings: tuple[RepairWarning, ...] = ()


def repair(
    messages: Sequence[PromptMessage], *, protocol: ProtocolName, provider: str, capabilities: Capabilities
) -> Repaired:
    """`provider` is whom the request goes to, as in `PromptMessage.origin`."""
    warnings: list[RepairWarning] = []
    numbered = [
        (place, repair_parts(place, message, protocol, provider, capabilities, warnings))
        for place, message in enumerate(messages)
    ]
    if not _has_calls(numbered):
        return Repaired(tuple(message for _, message in numbered if message.parts), tuple(warnings))
    if not capabilities.tools:
        numbered = [(place, in_words(message)) for place, message in numbered]
    # A message with only files of a tool may stand between calls and results, and is empty by now.
    paired = pair_calls([(place, message) for place, message in numbered if message.parts], warnings)
    paired = pair_vendor_calls(paired, protocol, warnings)
    left = [message for _, message in paired if message.parts]
    return Repaired(distinct_ids(left, protocol, provider), tuple(warnings))


def _has_calls(messages: Sequence[tuple[int, PromptMessage]]) -> bool:
    """Most chats have none: nothing to pair or to name then. A message of a tool is never left as it is."""
    return any(
        message.role is Role.TOOL or any(isinstance(part, _CALLS) for part in message.parts) for _, message in messages
    )
