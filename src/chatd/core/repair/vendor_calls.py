"""Calls that a vendor made and answered itself: within one message, each with its result right behind it.

They come before our own calls, since the results of those are in the messages that follow.
"""

from collections import Counter

import msgspec

from chatd.core.model import PromptMessage, ProtocolName
from chatd.core.parts import Part, ToolCallPart, ToolResultPart
from chatd.core.repair.warnings import Loss, RepairWarning
from chatd.core.roles import Role

# These write a call and its result from what each has in its metadata, and the vendor refuses one without the other.
_BOTH_FROM_METADATA = frozenset((ProtocolName.ANTHROPIC_MESSAGES,))


def pair_vendor_calls(
    place: int, message: PromptMessage, protocol: ProtocolName, warnings: list[RepairWarning]
) -> PromptMessage:
    """Anything but a pair of one call and, later, one result of the same id is left out."""
    results = _results_of_pairs(message, protocol)
    kept: list[Part] = []
    after_local: list[Part] = []
    first_local: int | None = None
    for part in message.parts:
        if not isinstance(part, ToolCallPart | ToolResultPart) or not part.provider_executed:
            if isinstance(part, ToolCallPart) and first_local is None:
                first_local = len(kept)
            kept.append(part)
        elif isinstance(part, ToolCallPart) and part.tool_call_id in results:
            (kept if first_local is None else after_local).extend((part, results[part.tool_call_id]))
        elif part.tool_call_id not in results:
            warnings.append(RepairWarning(place, Loss.VENDOR_CALL, f"{part.tool_name}: not a complete pair"))
    if first_local is not None:
        kept[first_local:first_local] = after_local
    parts = tuple(kept)
    return message if parts == message.parts else msgspec.structs.replace(message, parts=parts)


def _results_of_pairs(message: PromptMessage, protocol: ProtocolName) -> dict[str, ToolResultPart]:
    """By id, the results of complete pairs."""
    if message.role is not Role.ASSISTANT:
        return {}
    calls: dict[str, ToolCallPart] = {}
    results: dict[str, ToolResultPart] = {}
    seen: Counter[str] = Counter()
    for part in message.parts:
        if isinstance(part, ToolCallPart) and part.provider_executed:
            seen[part.tool_call_id] += 1
            calls[part.tool_call_id] = part
        elif isinstance(part, ToolResultPart) and part.provider_executed:
            seen[part.tool_call_id] += 1
            if part.tool_call_id in calls:
                results[part.tool_call_id] = part
    needs_both = protocol in _BOTH_FROM_METADATA
    return {
        call_id: _named(result, calls[call_id].tool_name)
        for call_id, result in results.items()
        if seen[call_id] == 2  # one call and one result
        and not (needs_both and not (calls[call_id].provider_metadata and result.provider_metadata))
    }


def _named(result: ToolResultPart, name: str) -> ToolResultPart:
    return result if result.tool_name == name else msgspec.structs.replace(result, tool_name=name)
