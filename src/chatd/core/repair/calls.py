"""Calls of our own tools and their results: each call has exactly one result, right after the message with the call.

Results keep their order and the messages that they came in. What else stood between comes after them.
"""

from collections.abc import Sequence
from typing import Final, TypeGuard

import msgspec

from chatd.core.model import PromptMessage
from chatd.core.parts import Part, TextPart, ToolCallPart, ToolResultPart
from chatd.core.repair.warnings import Loss, RepairWarning
from chatd.core.repair.words import result_in_words
from chatd.core.roles import Role

Numbered = tuple[int, PromptMessage]  # with its place in the history that was given
Place = tuple[int, int]  # of a part: the message, and the part in it

MISSING_RESULT: Final = '{"error":"The tool was stopped before it had a result."}'


def pair_calls(messages: Sequence[Numbered], warnings: list[RepairWarning]) -> list[Numbered]:
    answers = _answers(messages)
    answering = frozenset(answers.values())
    repaired: list[Numbered] = []
    for index, (place, message) in enumerate(messages):
        if message.role is not Role.TOOL and not any(map(_is_ours, message.parts)):
            if message.parts:
                repaired.append((place, message))
            continue
        orphans = [
            (number, part)
            for number, part in enumerate(message.parts)
            if _is_result(part) and (index, number) not in answering
        ]
        texts = [text for _, orphan in orphans for text in _as_texts(place, orphan, warnings)]
        rest = [part for part in message.parts if not _is_result(part)]
        # A message of a tool has results only, and an assistant did not say what its tools gave.
        role = Role.USER if message.role is Role.TOOL else message.role
        if role is Role.USER:
            rest.extend(texts)
        if rest:
            repaired.append((place, _with(message, role, rest)))
        calls = {(index, number): part for number, part in enumerate(message.parts) if _is_call(part)}
        repaired.extend(_results(messages, calls, answers))
        missing = [call for call_place, call in calls.items() if call_place not in answers]
        if missing:
            names = ", ".join(call.tool_name for call in missing)
            warnings.append(RepairWarning(place, Loss.MISSING_RESULT, names))
            repaired.append((place, PromptMessage(Role.TOOL, tuple(map(_missing, missing)))))
        if texts and role is not Role.USER:
            repaired.append((place, PromptMessage(Role.USER, tuple(texts))))
    return repaired


def _answers(messages: Sequence[Numbered]) -> dict[Place, Place]:
    """By call, its result: the first that comes after it. Vendors repeat ids, so the newest message with it counts."""
    waiting: dict[str, list[Place]] = {}
    answers: dict[Place, Place] = {}
    for index, (_, message) in enumerate(messages):
        for number, part in enumerate(message.parts):
            if _is_call(part):
                waiting.setdefault(part.tool_call_id, []).append((index, number))
            elif _is_result(part) and (calls := waiting.get(part.tool_call_id)):
                newest = calls[-1][0]
                call = next(call for call in calls if call[0] == newest)
                calls.remove(call)
                answers[call] = (index, number)
    return answers


def _results(
    messages: Sequence[Numbered], calls: dict[Place, ToolCallPart], answers: dict[Place, Place]
) -> list[Numbered]:
    """The results of these calls, in the order and in the messages that they came in."""
    found = sorted((answers[place], call) for place, call in calls.items() if place in answers)
    by_message: dict[int, list[Part]] = {}
    for (index, number), call in found:
        result = messages[index][1].parts[number]
        if _is_result(result):
            by_message.setdefault(index, []).append(_for_call(result, call))
    return [(messages[index][0], _with(messages[index][1], Role.TOOL, parts)) for index, parts in by_message.items()]


def _is_ours(part: Part) -> bool:
    return isinstance(part, ToolCallPart | ToolResultPart) and not part.provider_executed


def _is_call(part: Part) -> TypeGuard[ToolCallPart]:
    return isinstance(part, ToolCallPart) and not part.provider_executed


def _is_result(part: Part) -> TypeGuard[ToolResultPart]:
    return isinstance(part, ToolResultPart) and not part.provider_executed


def _for_call(result: ToolResultPart, call: ToolCallPart) -> ToolResultPart:
    if result.tool_name == call.tool_name:
        return result
    return msgspec.structs.replace(result, tool_name=call.tool_name)


def _missing(call: ToolCallPart) -> ToolResultPart:
    return ToolResultPart(
        tool_call_id=call.tool_call_id, tool_name=call.tool_name, result=MISSING_RESULT, is_error=True
    )


def _as_texts(place: int, orphan: ToolResultPart, warnings: list[RepairWarning]) -> list[TextPart]:
    """What a tool said to nobody's call is still worth reading, if it says which tool; media is not."""
    warnings.append(RepairWarning(place, Loss.ORPHAN_RESULT, orphan.tool_name or "a tool without a name"))
    if orphan.is_media or not orphan.tool_name.strip() or not orphan.result.strip():
        return []
    return [TextPart(text=result_in_words(orphan))]


def _with(message: PromptMessage, role: Role, parts: Sequence[Part]) -> PromptMessage:
    if message.role is role and message.parts == tuple(parts):
        return message
    return msgspec.structs.replace(message, role=role, parts=tuple(parts))
