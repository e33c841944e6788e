"""The prompt of a history in flight and of the same history read back are the same, to the byte."""

from datetime import UTC, datetime
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.messages import Message, NewMessage, Role, Visibility, read_content
from chatd.core.model import PromptMessage
from chatd.core.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart, UnknownPart
from chatd.core.prompt import prompt_of
from chatd.core.step import local_calls
from chatd.core.stored_parts import CONTENT_VERSION, encode_parts
from chatd.core.vendor_order import vendor_first
from core.part_strategies import PARTS

ORIGIN = "provider-1"
MODEL = UUID(int=1)


def origin_of(model: UUID | None) -> str:
    return ORIGIN if model else ""


def read_back(message: NewMessage) -> Message:
    """As the database gives it: encoded, stored, decoded."""
    stored = encode_parts(message.parts)
    return Message(
        id=1,
        chat_id=UUID(int=2),
        created_at=datetime(2030, 1, 1, tzinfo=UTC),
        revision=1,
        role=message.role,
        parts=read_content(CONTENT_VERSION, message.role, stored),
        visibility=message.visibility,
        model_config_id=message.model_config_id,
    )


messages = st.builds(
    NewMessage,
    role=st.sampled_from(Role),
    parts=st.lists(PARTS, max_size=4).map(tuple),
    visibility=st.sampled_from(Visibility),
    model_config_id=st.sampled_from([MODEL, None]),
)


@pytest.mark.behaviour("LOOP-3")
@given(st.lists(messages, max_size=6))
def test_a_history_in_flight_gives_the_prompt_of_the_stored_one(history: list[NewMessage]):
    in_flight = prompt_of(history, origin_of)
    rebuilt = prompt_of([read_back(message) for message in history], origin_of)

    assert in_flight == rebuilt


def test_what_models_must_not_see_and_what_nobody_can_read_is_left_out():
    hidden = NewMessage(role=Role.USER, parts=(TextPart(text="for people"),), visibility=Visibility.USER)
    odd = NewMessage(role=Role.USER, parts=(TextPart(text="hello"), UnknownPart('{"type":"hologram"}')))
    deleted = msgspec.structs.replace(read_back(odd), deleted=True)

    prompt = prompt_of([hidden, odd, deleted], origin_of)

    assert prompt.messages == (PromptMessage(Role.USER, (TextPart(text="hello"),)),)
    assert prompt.left_out == ((1, "hologram"),)


def searched(id: str) -> tuple[ToolCallPart, ToolResultPart]:
    call = ToolCallPart(tool_call_id=id, tool_name="web_search", provider_executed=True)
    return call, ToolResultPart(tool_call_id=id, tool_name="web_search", result="[]", provider_executed=True)


@pytest.mark.behaviour("LOOP-3")
def test_what_the_provider_ran_stands_after_its_call_and_before_our_calls():
    first, first_result = searched("s1")
    second, second_result = searched("s2")
    mine, text = ToolCallPart(tool_call_id="c", tool_name="look"), TextPart(text="so")

    parts = vendor_first((first, mine, second, first_result, text, second_result))

    assert parts == (first, first_result, second, second_result, mine, text)
    assert local_calls(parts) == (mine,)


def test_a_result_of_an_id_that_was_used_twice_stands_once():
    call, result = searched("s")

    assert vendor_first((call, call, result)) == (call, result, call)


def test_all_else_keeps_its_order():
    """Vendors sign a call together with the thought before it."""
    thoughts = [ReasoningPart(text=f"{n}") for n in range(3)]
    calls = [ToolCallPart(tool_call_id=f"c{n}", tool_name="look") for n in range(2)]
    call, result = searched("s")
    said = (thoughts[0], calls[0], thoughts[1], calls[1], TextPart(text="a"))

    assert vendor_first(said) == said
    assert vendor_first((*said, thoughts[2], call, result)) == (
        thoughts[0],
        call,
        result,
        *said[1:],
        thoughts[2],
    )


def test_an_answer_in_order_stays_as_it_is():
    call, result = searched("s")
    parts = (TextPart(text="a"), call, result, TextPart(text="b"), ToolCallPart(tool_call_id="c", tool_name="t"))

    assert vendor_first(parts) == parts


@given(st.lists(PARTS, max_size=8))
def test_ordering_loses_nothing(parts: list[Part]):
    once = vendor_first(parts)

    assert vendor_first(once) == once
    assert sorted(map(repr, once)) == sorted(map(repr, parts))
    assert local_calls(once) == local_calls(parts)


@given(st.lists(PARTS, max_size=8))
def test_ordering_is_the_same_after_a_call_of_the_vendor(parts: list[Part]):
    """Where the vendor ran nothing, there is nothing to order."""
    pair = searched("an id of its own")

    assert vendor_first([*pair, *parts]) == (*pair, *vendor_first(parts))
