"""Calls that a vendor made and answered itself: within one message, each with its result right behind it.

A vendor may also leave a call of its own open and go on with it when it is asked again: it paused, or our tools run
first. Such a call stays while nobody has said anything since, and its result may come with the next answer.
"""

from collections.abc import Sequence
from typing import Final, TypeGuard

import msgspec

from chatd.core.model import PromptMessage, ProtocolName
from chatd.core.parts import Part, ToolCallPart, ToolResultPart
from chatd.core.repair.calls import Numbered
from chatd.core.repair.warnings import Loss, RepairWarning
from chatd.core.roles import Role
from chatd.core.vendor_order import vendor_first

# These write a call and its result from what each has in its metadata, and the vendor refuses one without the other.
_FROM_METADATA: Final = frozenset((ProtocolName.ANTHROPIC_MESSAGES,))
# These go on with a call that they left open.
_GOING_ON: Final = frozenset((ProtocolName.ANTHROPIC_MESSAGES,))


def pair_vendor_calls(
    messages: Sequence[Numbered], protocol: ProtocolName, warnings: list[RepairWarning]
) -> list[Numbered]:
    """Anything but a pair of one call and, later, one result of the same id is left out, and so is a call that the
    vendor can't go on with any more."""
    joined = _with_late_results(messages)
    latest = _last_but_tools(joined) if protocol in _GOING_ON else None
    return [
        (place, _paired(place, message, protocol, warnings, may_be_open=index == latest))
        for index, (place, message) in enumerate(joined)
    ]


def _paired(
    place: int, message: PromptMessage, protocol: ProtocolName, warnings: list[RepairWarning], *, may_be_open: bool
) -> PromptMessage:
    names = _names(message, protocol, may_be_open=may_be_open)
    kept: list[Part] = []
    for part in message.parts:
        if not _is_vendors(part):
            kept.append(part)
        elif part.tool_call_id in names:
            kept.append(_named(part, names[part.tool_call_id]))
        else:
            warnings.append(RepairWarning(place, Loss.VENDOR_CALL, f"{part.tool_name}: not a complete pair"))
    parts = vendor_first(kept)
    return message if parts == message.parts else msgspec.structs.replace(message, parts=parts)


def _names(message: PromptMessage, protocol: ProtocolName, *, may_be_open: bool) -> dict[str, str]:
    """By id, the names of the calls that stay."""
    if message.role is not Role.ASSISTANT:
        return {}
    by_id: dict[str, list[ToolCallPart | ToolResultPart]] = {}
    for part in message.parts:
        if _is_vendors(part):
            by_id.setdefault(part.tool_call_id, []).append(part)
    return {
        call_id: parts[0].tool_name
        for call_id, parts in by_id.items()
        if (_is_pair(parts) or (may_be_open and _is_open(parts)))
        and not (protocol in _FROM_METADATA and any(not part.provider_metadata for part in parts))
    }


def _is_pair(parts: Sequence[Part]) -> bool:
    return len(parts) == 2 and isinstance(parts[0], ToolCallPart) and isinstance(parts[1], ToolResultPart)


def _is_open(parts: Sequence[Part]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], ToolCallPart)


def _with_late_results(messages: Sequence[Numbered]) -> list[Numbered]:
    """A message that has the result of a call in the message right before it is one with that."""
    joined: list[Numbered] = []
    for place, message in messages:
        if joined and _goes_on(joined[-1][1], message):
            before_place, before = joined[-1]
            joined[-1] = (before_place, msgspec.structs.replace(before, parts=(*before.parts, *message.parts)))
        else:
            joined.append((place, message))
    return joined


def _goes_on(before: PromptMessage, message: PromptMessage) -> bool:
    if not before.role is message.role is Role.ASSISTANT:
        return False
    vendors = [part for part in before.parts if _is_vendors(part)]
    called = {part.tool_call_id for part in vendors if isinstance(part, ToolCallPart)}
    called -= {part.tool_call_id for part in vendors if isinstance(part, ToolResultPart)}
    return any(_is_vendors(part) and part.tool_call_id in called for part in message.parts)


def _last_but_tools(messages: Sequence[Numbered]) -> int | None:
    """The last message that is not a tool's."""
    spoken = [index for index, (_, message) in enumerate(messages) if message.role is not Role.TOOL]
    return spoken[-1] if spoken else None


def _is_vendors(part: Part) -> TypeGuard[ToolCallPart | ToolResultPart]:
    return isinstance(part, ToolCallPart | ToolResultPart) and part.provider_executed


def _named(part: ToolCallPart | ToolResultPart, name: str) -> Part:
    return part if part.tool_name == name else msgspec.structs.replace(part, tool_name=name)
