"""What Gemini should never send: it is refused or means nothing, with bounded memory."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.model import Finished
from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.google.gemini import GoogleGemini
from providers.google_streams import answer_of, chunk
from providers.reading import pieces, read


def sse(*events: bytes) -> bytes:
    return b"".join(b"data: " + event + b"\n\n" for event in events)


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
        b'{"candidates":7}',
        b'{"candidates":[7]}',
        b'{"candidates":[{"content":[]}]}',
        b'{"candidates":[{"content":{"parts":7}}]}',
        b'{"candidates":[{"content":{"parts":["x"]}}]}',
        b'{"candidates":[{"content":{"parts":[{"text":7}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"text":"\xff"}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"text":"x","thought":"yes"}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"thoughtSignature":7}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"functionCall":7}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":"\xff"}}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"executableCode":7}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"toolResponse":{"id":7}}]}}]}',
        b'{"candidates":[{"finishReason":7}]}',
        b'{"error":"text"}',
        b'{"error":{"code":"x"}}',
        b'{"candidates":' + b"[" * 5000,
    ],
)
def test_what_no_vendor_should_send_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableStream):
        GoogleGemini().reader().read(WireEvent("", data))


def test_a_body_that_is_no_stream_finishes_nothing() -> None:
    body = json.dumps([{"error": {"code": 503, "status": "UNAVAILABLE"}}]).encode()
    assert not read(GoogleGemini(), SseFraming(), [body]).finished


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_random_bytes_finish_nothing(chunks: list[bytes]) -> None:
    with suppress(UnreadableStream):
        assert not read(GoogleGemini(), SseFraming(), chunks).finished
    with suppress(UnreadableStream):
        assert not read(GoogleGemini(), SseFraming(), [sse(*chunks)]).finished


TEXTS = st.sampled_from(("", "a", "b"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "text": TEXTS,
        "thought": st.booleans(),
        "thoughtSignature": TEXTS,
        "functionCall": st.fixed_dictionaries({"name": st.just("ls")}, optional={"id": TEXTS, "args": VALUES}),
        "executableCode": st.fixed_dictionaries({}, optional={"id": TEXTS, "code": TEXTS}),
        "codeExecutionResult": st.fixed_dictionaries({}, optional={"id": TEXTS, "outcome": TEXTS}),
        "toolCall": st.fixed_dictionaries({}, optional={"id": TEXTS, "toolType": TEXTS, "args": VALUES}),
        "toolResponse": st.fixed_dictionaries({}, optional={"id": TEXTS, "toolType": TEXTS, "response": VALUES}),
        "inlineData": st.fixed_dictionaries({}, optional={"mimeType": TEXTS, "data": TEXTS}),
        "hologram": VALUES,
    },
)
CANDIDATES = st.fixed_dictionaries(
    {},
    optional={
        "content": st.fixed_dictionaries({}, optional={"parts": st.lists(PARTS, max_size=3)}),
        "groundingMetadata": VALUES,
        "citationMetadata": VALUES,
        "urlContextMetadata": VALUES,
        "finishReason": st.sampled_from(("STOP", "OTHER", "NEW")),
    },
)
CHUNKS = st.fixed_dictionaries(
    {},
    optional={
        "candidates": st.lists(CANDIDATES, max_size=2),
        "usageMetadata": VALUES,
        "responseId": TEXTS,
        "x": VALUES,
    },
)


@settings(max_examples=200, deadline=None)
@given(st.lists(CHUNKS, max_size=5), st.lists(st.integers(0, 1 << 16), max_size=6))
def test_any_order_of_parts_is_read_whatever_the_pieces(chunks: list[dict[str, Any]], cuts: list[int]) -> None:
    """The accumulator raises for a piece of a block that is not open."""
    data = sse(*(json.dumps(one).encode() for one in chunks))
    whole = read(GoogleGemini(), SseFraming(), [data])
    assert read(GoogleGemini(), SseFraming(), pieces(data, cuts)) == whole
    has_reason = any("finishReason" in one for body in chunks for one in body.get("candidates", [])[:1])
    assert whole.finished == has_reason
    assert [isinstance(event, Finished) for event in whole.events].count(True) == int(has_reason)


@settings(deadline=None)
@given(VALUES, st.sampled_from(("candidates", "error", "promptFeedback", "usageMetadata", "responseId")))
def test_wrong_types_are_unreadable_or_mean_nothing(value: object, name: str) -> None:
    with suppress(UnreadableStream):
        assert not answer_of(json.dumps({name: value}).encode()).finished


def test_the_vendors_own_calls_without_results_are_bounded() -> None:
    reader = GoogleGemini().reader()
    calls = [{"toolCall": {"id": str(number)}} for number in range(1001)]
    with pytest.raises(UnreadableStream, match="Too many"):
        reader.read(WireEvent("", chunk(*calls)))
