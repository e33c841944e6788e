"""Server-sent events come out the same however their bytes were cut."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import MOST_EVENT_BYTES, UnreadableStream, WireEvent
from providers.reading import frame, pieces


def framed(*chunks: bytes) -> list[WireEvent]:
    return frame(SseFraming(), chunks)


def by_the_standard(data: bytes) -> list[WireEvent]:
    """The standard's steps, one line at a time, as an oracle."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events: list[WireEvent] = []
    name, values = b"", list[bytes]()
    for line in text.split(b"\n")[:-1]:
        if not line:
            if values:
                events.append(WireEvent(name.decode("utf-8", "replace"), b"\n".join(values)))
            name, values = b"", []
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            values.append(value)
        elif field == b"event":
            name = value
    return events


tokens = st.sampled_from(
    [
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n", b"\xef\xbb\xbf", b":", b" ", b"\xc3", b"\xa9"),
        *(b"data", b"data:", b"data: ", b"event", b"event:", b"event: ", b"id: 7", b": note", b"retry: 5", b"x", b"{}"),
    ]
)


@settings(deadline=None)
@given(st.lists(tokens, max_size=40).map(b"".join), st.lists(st.integers(0), max_size=20))
def test_any_bytes_in_any_pieces_are_read_as_the_standard_says(data: bytes, cuts: list[int]) -> None:
    assert framed(*pieces(data, cuts)) == by_the_standard(data)


@settings(deadline=None)
@given(st.lists(tokens, max_size=20).map(b"".join))
def test_bytes_one_by_one_give_the_same_events(data: bytes) -> None:
    assert framed(*(data[place : place + 1] for place in range(len(data)))) == by_the_standard(data)


def test_a_named_event_has_its_name_and_data() -> None:
    assert framed(b'event: ping\ndata: {"a":1}\n\n') == [WireEvent("ping", b'{"a":1}')]


def test_the_space_after_the_colon_is_not_needed_and_only_one_is_taken() -> None:
    assert framed(b"data:x\n\ndata:  y\n\n") == [WireEvent("", b"x"), WireEvent("", b" y")]


def test_lines_of_data_are_joined() -> None:
    assert framed(b"data: a\ndata\ndata: b\n\n") == [WireEvent("", b"a\n\nb")]


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_ends_an_event_at_once(line_end: bytes) -> None:
    framing = SseFraming()
    assert framing.feed(b"event: e" + line_end + b"data: d" + line_end) == []
    assert framing.feed(line_end) == [WireEvent("e", b"d")]


def test_a_cr_and_lf_that_come_apart_are_one_line_end() -> None:
    assert framed(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [WireEvent("", b"a\nb")]


def test_comments_and_unknown_fields_are_no_events() -> None:
    assert framed(b": OPENROUTER PROCESSING\n\nid: 1\nretry: 3\n\n: x\ndata: y\n\n") == [WireEvent("", b"y")]


def test_a_byte_order_mark_may_come_in_pieces() -> None:
    assert framed(b"\xef", b"\xbb", b"\xbfdata: x\n\n") == [WireEvent("", b"x")]


def test_data_without_its_blank_line_is_no_event() -> None:
    assert framed(b"data: a\n\ndata: b\n") == [WireEvent("", b"a")]


def test_an_event_without_data_is_none() -> None:
    assert framed(b"event: lonely\n\ndata: x\n\n") == [WireEvent("", b"x")]


def test_an_event_of_the_largest_size_is_read_in_any_pieces() -> None:
    data = b"data: " + b"x" * (MOST_EVENT_BYTES - 6)
    size = 1024 * 1024
    assert len(framed(data + b"\n\n")[0].data) == MOST_EVENT_BYTES - 6
    chunks = [data[place : place + size] for place in range(0, len(data), size)]
    assert len(framed(*chunks, b"\n", b"\n")[0].data) == MOST_EVENT_BYTES - 6


def test_a_larger_event_is_refused_whole_or_in_pieces() -> None:
    data = b"data: " + b"x" * (MOST_EVENT_BYTES - 5)
    with pytest.raises(UnreadableStream, match="larger than"):
        framed(data + b"\n\n")
    with pytest.raises(UnreadableStream, match="larger than"):
        framed(data, b"\n", b"\n")


def test_an_endless_event_is_refused_before_it_takes_more_memory() -> None:
    framing = SseFraming()
    chunk = b"x" * (1024 * 1024)
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableStream):
            frame(framing, (chunk for _ in range(40)))
        assert tracemalloc.get_traced_memory()[1] < 3 * MOST_EVENT_BYTES
    finally:
        tracemalloc.stop()


def test_the_work_is_linear_in_the_bytes_of_one_event() -> None:
    # 4 MiB in pieces of 64 bytes: copying what is there for each piece would move 140 GB.
    data = b"data: " + b"x" * (4 * 1024 * 1024)
    chunks = (data[place : place + 64] for place in range(0, len(data), 64))
    assert len(framed(*chunks, b"\n\n")[0].data) == len(data) - 6
