"""One event as large as a vendor can make it, in any of the protocols: its text is read, its crowds are refused."""

import json
import tracemalloc
from typing import Any

import pytest

from chatd.core.model import TextDelta
from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from chatd.providers.protocols.bounds import MOST_BLOCKS
from chatd.providers.protocols.google.gemini import GoogleGemini
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.protocols.openai.responses import OpenAIResponses
from chatd.providers.protocols.protocol import VendorProtocol
from providers.reading import pieces, read

SIZE = 10 * 1024 * 1024
CHUNK = 64 * 1024  # as a socket gives them

ANTHROPIC, CHAT, RESPONSES, GEMINI = AnthropicMessages(), OpenAIChat(), OpenAIResponses(), GoogleGemini()


ADDED = {"type": "response.output_item.added"}


def parts(*given: Any) -> Any:
    return {"candidates": [{"content": {"parts": given}}]}


def delta(**fields: Any) -> Any:
    return {"choices": [{"index": 0, "delta": fields}]}


def completed(*output: Any) -> Any:
    return {"type": "response.completed", "response": {"output": output}}


def begun(**block: Any) -> Any:
    return {"type": "content_block_start", "index": 0, "content_block": block}


TEXTS: list[tuple[VendorProtocol, list[Any]]] = [
    (
        ANTHROPIC,
        [
            begun(type="text", text=""),
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * SIZE}},
        ],
    ),
    (CHAT, [delta(content="x" * SIZE)]),
    (RESPONSES, [{"type": "response.output_text.delta", "output_index": 0, "delta": "x" * SIZE}]),
    (GEMINI, [parts({"text": "x" * SIZE})]),
]
# Each is repeated until the event has 10 MB; what is around it comes from `whole`.
CROWDS: dict[str, tuple[VendorProtocol, Any, Any]] = {
    "citations": (ANTHROPIC, {}, lambda many: begun(type="text", text="", citations=many)),
    "hits": (
        ANTHROPIC,
        {"url": "u"},
        lambda many: begun(type="web_search_tool_result", tool_use_id="t", content=many),
    ),
    "calls": (CHAT, {"function": {"name": "ls", "arguments": "}"}}, lambda many: delta(tool_calls=many)),
    "contents": (CHAT, {"text": "x"}, lambda many: delta(content=many)),
    "thoughts": (CHAT, {"text": "x"}, lambda many: delta(content=[{"thinking": many}])),
    "details": (CHAT, {"data": "x"}, lambda many: delta(reasoning_details=many)),
    "annotations": (CHAT, {"url_citation": {"url": "u"}}, lambda many: delta(annotations=many)),
    "choices": (CHAT, {}, lambda many: {"choices": many}),
    "items": (RESPONSES, {"type": "function_call", "name": "ls"}, lambda many: completed(*many)),
    "messages": (RESPONSES, {"type": "message"}, lambda many: completed(*many)),
    "pieces": (
        RESPONSES,
        {"type": "output_text", "text": "x"},
        lambda many: completed({"type": "message", "content": many}),
    ),
    "parts": (GEMINI, {"text": "x"}, lambda many: parts(*many)),
    "functions": (GEMINI, {"functionCall": {"name": "ls"}}, lambda many: parts(*many)),
    "sources": (
        GEMINI,
        {"web": {"uri": "u"}},
        lambda many: {"candidates": [{"groundingMetadata": {"groundingChunks": many}}]},
    ),
}


def peak_of(protocol: VendorProtocol, *events: Any) -> tuple[int, Any]:
    """The most memory that reading them took, and what came of it."""
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    chunks = pieces(data, range(0, len(data), CHUNK))
    tracemalloc.start()
    try:
        try:
            result: Any = read(protocol, SseFraming(), chunks)
        except UnreadableStream as error:
            result = error
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("protocol", "events"), TEXTS, ids=[protocol.name for protocol, _ in TEXTS])
def test_ten_megabytes_of_text_cost_a_small_multiple_of_their_size(protocol: VendorProtocol, events: list[Any]):
    peak, result = peak_of(protocol, *events)

    assert sum(len(event.text) for event in result.events if isinstance(event, TextDelta)) == SIZE
    assert peak < 8 * SIZE  # the event, its pieces, the text and its copies


@pytest.mark.parametrize("crowd", CROWDS)
def test_ten_megabytes_of_small_things_are_refused_before_each_becomes_one(crowd: str):
    protocol, one, whole = CROWDS[crowd]
    count = SIZE // len(json.dumps(one))

    peak, result = peak_of(protocol, whole([one] * count))

    assert isinstance(result, UnreadableStream)
    assert peak < 8 * SIZE


@pytest.mark.parametrize(
    ("protocol", "event"),
    [
        (CHAT, lambda place: delta(tool_calls=[{"index": place, "id": f"c{place}", "function": {"name": "ls"}}])),
        (CHAT, lambda place: delta(**{("content", "reasoning")[place % 2]: "x"})),
        (RESPONSES, lambda place: {**ADDED, "output_index": place, "item": {"type": "function_call", "name": "ls"}}),
        (RESPONSES, lambda place: {**ADDED, "output_index": place, "item": {"type": "message"}}),
        (GEMINI, lambda place: parts({"functionCall": {"name": "ls"}})),
    ],
    ids=["calls", "texts and thoughts", "items", "messages", "functions"],
)
def test_blocks_without_end_are_refused(protocol: VendorProtocol, event: Any):
    reader = protocol.reader()
    events = [WireEvent("", json.dumps(event(place)).encode()) for place in range(MOST_BLOCKS + 1)]
    for one in events[:-1]:
        reader.read(one)

    with pytest.raises(UnreadableStream, match="blocks"):
        reader.read(events[-1])
