"""Anthropic's streams, written by hand, for tests of how they are read."""

import json
from collections.abc import Iterable
from typing import Any

from chatd.core.accumulate import Answer
from chatd.providers.framing.sse import SseFraming
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from providers.reading import Read, read

ANTHROPIC = "anthropic-messages"
Event = dict[str, Any]

STOP: Event = {"type": "message_stop"}
PING: Event = {"type": "ping"}


def start(usage: Event | None = None) -> Event:
    return {"type": "message_start", "message": {"id": "msg_1", "content": [], "usage": usage or {"input_tokens": 5}}}


def delta(index: int, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def block(index: int, began: Event, *deltas: Event) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": began},
        *({"type": "content_block_delta", "index": index, "delta": fields} for fields in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *texts: str) -> list[Event]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": said} for said in texts))


def end(reason: str = "end_turn", usage: Event | None = None, **fields: Any) -> list[Event]:
    changed = {"stop_reason": reason, "stop_sequence": None, **fields}
    return [{"type": "message_delta", "delta": changed, "usage": usage or {"output_tokens": 7}}, STOP]


def encode(events: Iterable[Event]) -> bytes:
    return b"".join(f"event: {event.get('type')}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def read_events(*events: Event) -> Read:
    return read(AnthropicMessages(), SseFraming(), [encode(events)])


def answer_of(*blocks: Event) -> Answer:
    result = read_events(start(), *blocks, *end())
    assert result.finished
    return result.answer
