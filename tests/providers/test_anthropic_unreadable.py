"""What no vendor should send: it is refused or means nothing, with bounded memory."""

import json
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from providers.anthropic_streams import Event, answer_of, block, delta, encode, text
from providers.reading import pieces, read


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b'"text"',
        b"null",
        b"\xff",
        b'{"type":7}',
        b'{"type":"content_block_stop"}',
        b'{"type":"content_block_stop","index":0}',
        b'{"type":"content_block_stop","index":"0"}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":7}}',
        b'{"type":"content_block_delta","index":0,"delta":"x"}',
        b'{"type":"content_block_delta","index":0}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":7}}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"\xff"}}',
        b'{"type":"content_block_start","index":0,"content_block":7}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"","name":"n"}}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"i"}}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"x_tool_result","tool_use_id":7}}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"x_tool_result","content":"\xff"}}',
        b'{"type":"message_start","message":{"usage":{"input_tokens":"many"}}}',
        b'{"type":"message_delta","delta":{"stop_reason":7}}',
        b'{"type":"error","error":"text"}',
        b'{"type":"ping"' + b"[" * 5000,
    ],
)
def test_what_no_vendor_should_send_is_unreadable(data: bytes) -> None:
    reader = AnthropicMessages().reader()
    with pytest.raises(UnreadableStream):
        reader.read(WireEvent("", data))


def test_a_piece_of_another_kind_than_its_block_is_unreadable() -> None:
    with pytest.raises(UnreadableStream, match="another type"):
        answer_of(*block(0, {"type": "thinking", "thinking": ""}, {"type": "text_delta", "text": "x"}))


def test_a_block_that_begins_twice_is_unreadable() -> None:
    with pytest.raises(UnreadableStream, match="twice"):
        answer_of(text(0)[0], text(0)[0])


def test_blocks_without_end_are_unreadable_and_bounded() -> None:
    with pytest.raises(UnreadableStream, match="too many"):
        answer_of(*(text(index)[0] for index in range(2000)))


def test_what_is_kept_beside_text_is_bounded() -> None:
    reader = AnthropicMessages().reader()
    reader.read(WireEvent("", json.dumps(block(0, {"type": "thinking"})[0]).encode()))
    signature = json.dumps(delta(0, type="signature_delta", signature="x" * 1_000_000)).encode()
    with pytest.raises(UnreadableStream, match="beside its text"):
        _ = [reader.read(WireEvent("", signature)) for _ in range(40)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
kinds = st.sampled_from(
    [
        *("message_start", "message_delta", "message_stop", "ping", "error", "x"),
        *("content_block_start", "content_block_delta", "content_block_stop"),
    ]
)
inner_kinds = st.sampled_from(
    [
        *("text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result", "x"),
        *("text_delta", "thinking_delta", "input_json_delta", "signature_delta", "citations_delta"),
    ]
)
names = st.sampled_from(
    [
        *("text", "thinking", "signature", "partial_json", "citation", "citations", "data", "id", "name", "input"),
        *("tool_use_id", "content", "is_error", "stop_reason", "stop_details", "usage", "message", "error"),
    ]
)
inner = json_values | st.builds(
    lambda kind, fields: {"type": kind, **fields}, inner_kinds, st.dictionaries(names, json_values, max_size=4)
)
wild_events = st.builds(
    lambda kind, index, fields: {"type": kind, "index": index, **fields},
    kinds,
    st.integers(0, 2) | json_values,
    st.dictionaries(st.sampled_from(["delta", "content_block", "message", "usage", "error"]), inner, max_size=3),
)


@settings(deadline=None)
@given(st.lists(wild_events, max_size=12))
def test_events_of_wrong_types_are_unreadable_or_nothing_and_never_anything_else(events: list[Event]) -> None:
    with suppress(UnreadableStream):
        read(AnthropicMessages(), SseFraming(), [encode(events)])


@settings(deadline=None)
@given(st.binary(max_size=200), st.lists(st.integers(0), max_size=5))
def test_random_bytes_never_finish(data: bytes, cuts: list[int]) -> None:
    with suppress(UnreadableStream):
        assert not read(AnthropicMessages(), SseFraming(), pieces(b"data: " + data + b"\n\n", cuts)).finished


@settings(deadline=None)
@given(st.integers(0))
def test_truncated_json_is_unreadable(place: int) -> None:
    whole = json.dumps(delta(0, type="text_delta", text="Hello")).encode()
    reader = AnthropicMessages().reader()
    with pytest.raises(UnreadableStream):
        reader.read(WireEvent("", whole[: place % len(whole)]))


def test_an_event_of_20_megabytes_is_refused_with_bounded_memory() -> None:
    data = b"data: " + json.dumps(delta(0, type="text_delta", text="x" * 20_000_000)).encode() + b"\n\n"
    chunks = [data[place : place + 65536] for place in range(0, len(data), 65536)]
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableStream):
            read(AnthropicMessages(), SseFraming(), chunks)
        assert tracemalloc.get_traced_memory()[1] < 64 * 1024 * 1024
    finally:
        tracemalloc.stop()
