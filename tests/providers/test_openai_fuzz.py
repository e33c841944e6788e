"""Anything at all, sent to the readers of both OpenAI protocols: an unreadable stream or nothing, never a hang."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.parts import ToolCallPart
from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.protocols.openai.responses import OpenAIResponses
from chatd.providers.protocols.protocol import VendorProtocol
from providers.openai_streams import call_piece, chunk, sse
from providers.reading import Read, fold, pieces, read

PROTOCOLS: list[VendorProtocol] = [OpenAIResponses(), OpenAIChat()]
both = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: str(protocol.name))
many = settings(max_examples=200, deadline=None)

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=4)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
kinds = st.sampled_from(
    [
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.refusal.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.function_call_arguments.delta",
        "response.output_text.annotation.added",
        "response.web_search_call.searching",
        "response.incomplete",
        "response.failed",
        "error",
    ]
)
few_texts = st.sampled_from(["", "a", '{"x":1}'])
items = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "reasoning", "function_call", "computer_call", "web_search_call", "new"])},
    optional={
        "id": st.sampled_from(["i", "j"]),
        "call_id": few_texts,
        "name": few_texts,
        "arguments": few_texts,
        "content": st.lists(st.fixed_dictionaries({"type": st.just("output_text"), "text": few_texts}), max_size=2),
        "encrypted_content": few_texts,
    },
)
# Events that are well formed one by one, in orders that no vendor would send.
response_events = st.fixed_dictionaries(
    {"type": kinds},
    optional={
        "output_index": st.integers(0, 2),
        "content_index": st.integers(0, 1),
        "summary_index": st.integers(0, 1),
        "item_id": st.sampled_from(["i", "j"]),
        "delta": few_texts,
        "item": items,
        "annotation": st.just({"type": "url_citation", "url": "u"}),
        "response": st.fixed_dictionaries({}, optional={"output": st.lists(items, max_size=3)}),
    },
)
call_pieces = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(0, 2) | st.none(),
        "id": st.sampled_from(["", "a", "b"]) | st.none(),
        "function": st.fixed_dictionaries({}, optional={"name": few_texts, "arguments": few_texts}),
    },
)
deltas = st.fixed_dictionaries(
    {},
    optional={
        "content": few_texts | st.none(),
        "reasoning": few_texts,
        "refusal": few_texts,
        "tool_calls": st.lists(call_pieces, max_size=3),
        "reasoning_details": st.lists(
            st.fixed_dictionaries({"type": few_texts}, optional={"data": few_texts, "text": few_texts}), max_size=2
        ),
    },
)


def read_or_none(protocol: VendorProtocol, data: bytes, cuts: list[int]) -> Read | None:
    try:
        return read(protocol, SseFraming(), pieces(data, cuts))
    except UnreadableStream:
        return None


@both
@many
@given(data=st.binary(max_size=400), cuts=st.lists(st.integers(0, 400), max_size=5))
def test_random_bytes(protocol: VendorProtocol, data: bytes, cuts: list[int]):
    for framed in (data, b"data: " + data + b"\n\n"):
        result = read_or_none(protocol, framed, cuts)
        assert result is None or not result.finished


@both
@many
@given(value=values, field=st.sampled_from(["choices", "delta", "item", "response", "usage", "error", "type"]))
def test_json_of_the_wrong_types(protocol: VendorProtocol, value: Any, field: str):
    read_or_none(protocol, sse(value, {field: value}, {"type": "response.completed", field: value}), [])
    read_or_none(protocol, sse({"choices": [{"delta": {field: value}}]}, {"choices": [{field: value}]}), [])


@both
@many
@given(place=st.integers(0, 10_000))
def test_json_that_is_cut(protocol: VendorProtocol, place: int):
    event = chunk(content="a", tool_calls=[call_piece(index=0, id="c", name="ls", arguments="{}")])
    data = json.dumps({**event, "type": "response.output_text.delta", "delta": "a"}).encode()
    cut = data[: place % len(data)]

    assert read_or_none(protocol, b"data: " + cut + b"\n\n", []) is None or not cut


@many
@given(events=st.lists(response_events, max_size=12))
def test_a_responses_stream_in_any_order_can_be_folded(events: list[Any]):
    result = read_or_none(OpenAIResponses(), sse(*events, {"type": "response.completed", "response": {}}), [])

    assert result is None or result.finished or result.failures or result.answer.finish is None


@many
@given(events=st.lists(deltas, max_size=12))
def test_a_chat_stream_in_any_order_can_be_folded(events: list[Any]):
    result = read_or_none(OpenAIChat(), sse(*(chunk(**delta) for delta in events), chunk("stop"), "[DONE]"), [])

    assert result is not None
    assert result.finished


@both
def test_an_event_of_20_megabytes_is_refused(protocol: VendorProtocol):
    megabyte = b"a" * (1 << 20)
    parts = [b'data: {"choices":[{"delta":{"content":"', *[megabyte] * 20, b'"}}]}\n\n']

    with pytest.raises(UnreadableStream):
        read(protocol, SseFraming(), parts)
    with pytest.raises(UnreadableStream):
        protocol.reader().read(WireEvent("", megabyte * 20))


def test_a_name_with_every_piece_of_long_arguments_is_read():
    reader = OpenAIChat().reader()
    pieces_of_it = ['{"a":"', *["{}"] * 20_000, '"}']
    chunks = [chunk(tool_calls=[call_piece(index=0, name="ls", arguments=piece)]) for piece in pieces_of_it]
    events = [event for said in chunks for event in reader.read(WireEvent("", json.dumps(said).encode()))]
    (part,) = fold(OpenAIChat(), [*events, *reader.read(WireEvent("", b"[DONE]"))]).parts

    assert isinstance(part, ToolCallPart)
    assert part.args == "".join(pieces_of_it)


def test_thousands_of_calls_are_read():
    calls = 2_000
    reader = OpenAIChat().reader()
    events = [
        event
        for number in range(calls)
        for event in reader.read(
            WireEvent(
                "",
                json.dumps(
                    chunk(tool_calls=[call_piece(index=number, id=f"c{number}", name="ls", arguments="{}")])
                ).encode(),
            )
        )
    ]
    answer = fold(OpenAIChat(), [*events, *reader.read(WireEvent("", b"[DONE]"))])

    assert len(answer.parts) == calls
