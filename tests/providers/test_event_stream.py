"""Amazon's event stream messages come out the same however their bytes were cut, and damaged ones never do."""

import struct
import tracemalloc
import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.providers.framing.event_stream import EventStreamFraming
from chatd.providers.framing.wire_event import MOST_EVENT_BYTES, UnreadableStream, WireEvent
from providers.event_stream_bytes import CHUNK, chunk, header_start, message, text_header
from providers.reading import frame, pieces


def framed(*chunks: bytes) -> list[WireEvent]:
    return frame(EventStreamFraming(), chunks)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=8), st.lists(st.integers(0), max_size=20))
def test_chunks_in_any_pieces_give_the_same_events(contents: list[bytes], cuts: list[int]) -> None:
    data = b"".join(chunk(content) for content in contents)
    assert framed(*pieces(data, cuts)) == [WireEvent("", content) for content in contents]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=4), st.integers(0), st.integers(1, 255))
def test_no_damaged_byte_goes_unseen(contents: list[bytes], place: int, change: int) -> None:
    data = bytearray(b"".join(chunk(content) for content in contents))
    data[place % len(data)] ^= change
    try:
        events = framed(bytes(data))
    except UnreadableStream:
        return
    # A length that grew may make the stream look cut short, but nothing wrong comes out of it.
    assert events == [WireEvent("", content) for content in contents][: len(events)]
    assert len(events) < len(contents)


@settings(deadline=None)
@given(st.binary(max_size=300), st.lists(st.integers(0), max_size=5))
def test_random_bytes_are_unreadable_or_nothing(data: bytes, cuts: list[int]) -> None:
    with suppress(UnreadableStream):
        assert framed(*pieces(data, cuts)) == []


def test_a_message_that_is_cut_short_is_no_event() -> None:
    data = chunk(b"one") + chunk(b"two")
    for end in range(len(data) - len(chunk(b"two")), len(data)):
        assert framed(data[:end]) == [WireEvent("", b"one")]


def test_an_exception_keeps_its_name_and_payload() -> None:
    headers = {":exception-type": "throttlingException", ":message-type": "exception"}
    assert framed(message(headers, b'{"message":"Too many requests"}')) == [
        WireEvent("exception:throttlingException", b'{"message":"Too many requests"}')
    ]


def test_an_error_is_told_like_an_exception() -> None:
    headers = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": 'It "broke".'}
    assert framed(message(headers)) == [
        WireEvent("exception:InternalFailure", b'{"message":"It \\"broke\\"."}'),
    ]


def test_other_events_keep_their_name_and_payload() -> None:
    headers = {":message-type": "event", ":event-type": "initial-response"}
    assert framed(message(headers, b"{}")) == [WireEvent("initial-response", b"{}")]


def test_headers_of_every_type_are_stepped_over() -> None:
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    others = b"".join(header_start("x", kind) + b"\x01" * size for kind, size in sizes.items())
    binary = header_start("y", 6) + struct.pack(">H", 3) + b"\xff\x00\xff"
    name = text_header(":event-type", "chunk")
    assert framed(message(others + binary + name, b'{"bytes":"aGk="}')) == [WireEvent("", b"hi")]


@pytest.mark.parametrize(
    "headers",
    [
        header_start("x", 200),
        b"\x05ab",
        header_start("x", 7) + b"\x00",
        header_start("x", 7) + struct.pack(">H", 9) + b"ab",
        header_start("x", 9) + b"ab",
    ],
)
def test_headers_that_make_no_sense_are_unreadable(headers: bytes) -> None:
    with pytest.raises(UnreadableStream, match="headers"):
        framed(message(headers))


@pytest.mark.parametrize("payload", [b"", b"{}", b"[]", b'{"bytes":7}', b'{"bytes":"*"}', b'{"bytes":"aGk="', b"\xff"])
def test_a_chunk_without_bytes_is_unreadable(payload: bytes) -> None:
    with pytest.raises(UnreadableStream, match="chunk"):
        framed(message(CHUNK, payload))


def test_a_message_that_says_it_is_too_large_is_refused_before_it_comes() -> None:
    whole = message(CHUNK, b"x" * MOST_EVENT_BYTES)
    with pytest.raises(UnreadableStream, match="too much"):
        framed(whole[:16])


def test_a_message_shorter_than_its_headers_is_unreadable() -> None:
    prelude = struct.pack(">II", 20, 40)
    crc = struct.pack(">I", zlib.crc32(prelude))
    with pytest.raises(UnreadableStream, match="shorter"):
        framed(prelude + crc + b"\x00" * 8)


def test_a_large_message_in_small_pieces_costs_its_own_size() -> None:
    content = b"x" * (4 * 1024 * 1024)
    data = chunk(content)
    tracemalloc.start()
    try:
        events = framed(*(data[place : place + 512] for place in range(0, len(data), 512)))
        assert tracemalloc.get_traced_memory()[1] < 8 * len(content)
    finally:
        tracemalloc.stop()
    assert events == [WireEvent("", content)]
