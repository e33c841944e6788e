"""What a running chat does next follows from its history."""

from datetime import UTC, datetime
from uuid import UUID

import msgspec
import pytest

from chatd.core.messages import Message
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role, Visibility
from chatd.core.turn import (
    MOST_STEPS,
    AnswerCalls,
    AwaitClient,
    CallModel,
    CompactNow,
    FinishTurn,
    Next,
    Situation,
    StopAtLimit,
    current_turn,
    decide,
)

CHAT, THEN = UUID(int=1), datetime(2030, 1, 1, tzinfo=UTC)
CALL = ToolCallPart(tool_call_id="1", tool_name="look", args="{}")
ASK = ToolCallPart(tool_call_id="2", tool_name="ask", args="{}")


def message(role: Role, *parts: TextPart | ToolCallPart | ToolResultPart) -> Message:
    return Message(id=1, chat_id=CHAT, created_at=THEN, revision=1, role=role, parts=parts or (TextPart(text="…"),))


def result(call: ToolCallPart, *, is_error: bool = False) -> Message:
    part = ToolResultPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, result="{}", is_error=is_error)
    return message(Role.TOOL, part)


SYSTEM, USER, ANSWER = message(Role.SYSTEM), message(Role.USER), message(Role.ASSISTANT)
HIDDEN = msgspec.structs.replace(USER, visibility=Visibility.MODEL)
SUMMARY = msgspec.structs.replace(HIDDEN, compressed=True)
SEARCH = msgspec.structs.replace(CALL, provider_executed=True)
CALLING, ASKING = message(Role.ASSISTANT, CALL), message(Role.ASSISTANT, ASK)
BOTH = message(Role.ASSISTANT, ASK, CALL)
CLIENT = Situation(client_tools=frozenset({"ask"}))
REQUESTED = Situation(compaction_requested=True)


@pytest.mark.parametrize(
    ("history", "situation", "expected"),
    [
        ([USER], Situation(), CallModel()),
        ([SYSTEM, USER], Situation(), CallModel()),
        ([USER, ANSWER], Situation(), FinishTurn()),
        ([USER, ANSWER, USER], Situation(), CallModel()),
        ([USER, ANSWER, SYSTEM], Situation(), FinishTurn()),  # a notice is no reason to go on
        ([USER, CALLING, result(CALL)], Situation(), CallModel()),
        ([USER, CALLING], Situation(), AnswerCalls((CALL,))),
        ([USER, message(Role.ASSISTANT, SEARCH)], Situation(), FinishTurn()),  # the vendor answers its own calls
        # Tools of the client: ours first, then the chat waits.
        ([USER, ASKING], CLIENT, AwaitClient((ASK,))),
        ([USER, BOTH], CLIENT, AnswerCalls((CALL,))),
        ([USER, BOTH, result(CALL)], CLIENT, AwaitClient((ASK,))),
        ([USER, BOTH, result(CALL), result(ASK)], CLIENT, CallModel()),
        # Calls of an earlier turn were answered by whoever went on.
        ([USER, CALLING, USER], Situation(), CallModel()),
        # After a summary the work goes on.
        ([SYSTEM, SUMMARY], Situation(), CallModel()),
        ([SUMMARY, ANSWER], Situation(), FinishTurn()),
        # A compaction that was asked for, if there is anything to compact.
        ([USER, ANSWER], REQUESTED, CompactNow()),
        ([USER, ANSWER, USER], REQUESTED, CompactNow()),
        ([SUMMARY], REQUESTED, FinishTurn()),
        ([USER], REQUESTED, FinishTurn()),
    ],
)
def test_what_is_next(history: list[Message], situation: Situation, expected: Next):
    assert decide(history, situation) == expected


@pytest.mark.parametrize("is_error", [False, True])
def test_a_tool_that_stops_the_turn_does_so_only_if_it_succeeded(is_error: bool):
    history = [USER, CALLING, result(CALL, is_error=is_error)]

    expected: Next = CallModel() if is_error else FinishTurn()
    assert decide(history, Situation(stopping_tools=frozenset({"look"}))) == expected


def test_the_limit_counts_the_steps_of_this_turn_also_those_before_a_summary():
    step = [CALLING, result(CALL)]

    assert decide([USER, *step * (MOST_STEPS - 1)], Situation()) == CallModel()
    assert decide([USER, *step * MOST_STEPS], Situation()) == StopAtLimit(MOST_STEPS)
    assert decide([USER, *step * MOST_STEPS, USER], Situation()) == CallModel()
    assert decide([SUMMARY, *step], Situation(steps_before=MOST_STEPS - 1)) == StopAtLimit(MOST_STEPS)


def test_a_turn_begins_after_what_the_user_said_last_not_after_what_only_the_model_sees():
    assert current_turn([USER, ANSWER, USER, HIDDEN, ANSWER]) == [HIDDEN, ANSWER]
    assert current_turn([HIDDEN, ANSWER]) == [HIDDEN, ANSWER]
