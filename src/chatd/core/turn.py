"""What a running chat does next: decided from its history alone, by whoever runs it.

The history is that of a prompt: system messages, the newest summary, and what follows it, in order, nothing deleted.
"""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from chatd.core.messages import Message
from chatd.core.parts import ToolCallPart, ToolResultPart
from chatd.core.roles import Role, Visibility

MOST_STEPS: Final = 1200  # model calls in one turn: days of work, and an end to a model that goes in circles


class CallModel(msgspec.Struct, frozen=True):
    """Ask for the next answer."""


class AnswerCalls(msgspec.Struct, frozen=True):
    """Calls of ours in the last answer that were never answered: nobody knows any more what came of them."""

    calls: tuple[ToolCallPart, ...]


class AwaitClient(msgspec.Struct, frozen=True):
    """Calls of tools that the client runs."""

    calls: tuple[ToolCallPart, ...]


class CompactNow(msgspec.Struct, frozen=True):
    """The user has asked for it."""


class FinishTurn(msgspec.Struct, frozen=True):
    pass


class StopAtLimit(msgspec.Struct, frozen=True):
    """The turn had all the steps that it may have."""

    steps: int


Next = CallModel | AnswerCalls | AwaitClient | CompactNow | FinishTurn | StopAtLimit


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What besides the history matters. `stopping_tools` end a turn when they have done their work."""

    client_tools: frozenset[str] = frozenset()
    stopping_tools: frozenset[str] = frozenset()
    compaction_requested: bool = False
    steps_before: int = 0  # of this turn, before the newest summary


def decide(history: Sequence[Message], situation: Situation) -> Next:
    rows = [message for message in history if not message.compressed]
    if pending := unanswered(rows):
        ours = tuple(call for call in pending if call.tool_name not in situation.client_tools)
        return AnswerCalls(ours) if ours else AwaitClient(pending)
    if situation.compaction_requested:
        return CompactNow() if any(row.role is Role.ASSISTANT for row in rows) else FinishTurn()
    turn = current_turn(rows)
    if _has_stopped(turn, situation.stopping_tools):
        return FinishTurn()
    last = next((row for row in reversed(turn) if row.role is not Role.SYSTEM), None)
    if last is not None and last.role is Role.ASSISTANT:
        return FinishTurn()
    steps = situation.steps_before + _steps(turn)
    return StopAtLimit(steps) if steps >= MOST_STEPS else CallModel()


def steps_of_turn(history: Sequence[Message]) -> int:
    """As far as the history goes back: those before the newest summary are not in it."""
    return _steps(current_turn([message for message in history if not message.compressed]))


def _steps(turn: Sequence[Message]) -> int:
    return sum(row.role is Role.ASSISTANT for row in turn)


def current_turn(rows: Sequence[Message]) -> Sequence[Message]:
    """What came after the user's last message: all of it, if that is not among the rows."""
    for place in range(len(rows) - 1, -1, -1):
        row = rows[place]
        if row.role is Role.USER and row.visibility is not Visibility.MODEL and not row.compressed:
            return rows[place + 1 :]
    return rows


def unanswered(rows: Sequence[Message]) -> tuple[ToolCallPart, ...]:
    """The local calls of the last answer that have no result, in order."""
    answered: set[str] = set()
    for row in reversed(rows):
        for part in row.parts:
            if isinstance(part, ToolResultPart):
                answered.add(part.tool_call_id)
        if row.role is Role.ASSISTANT:
            return tuple(
                part
                for part in row.parts
                if isinstance(part, ToolCallPart) and not part.provider_executed and part.tool_call_id not in answered
            )
        if row.role is Role.USER and row.visibility is not Visibility.MODEL:
            break
    return ()


def _has_stopped(turn: Sequence[Message], stopping: Collection[str]) -> bool:
    return bool(stopping) and any(
        isinstance(part, ToolResultPart) and part.tool_name in stopping and not part.is_error
        for row in turn
        if row.role is Role.TOOL
        for part in row.parts
    )
