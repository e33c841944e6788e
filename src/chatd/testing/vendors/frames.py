"""Events as bytes: server-sent events as each vendor spaces them, and Amazon's event stream for Bedrock.

Written from their descriptions and not from our readers, which they test.
"""

import json
import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

import msgspec

SSE: Final = "text/event-stream; charset=utf-8"
AMAZON: Final = "application/vnd.amazon.eventstream"
_TEXT_HEADER: Final = 7  # the type of a header that is a string


class Frame(msgspec.Struct, frozen=True):
    """One event: `name` for vendors that name theirs; `data` is JSON, or the text of a mark such as [DONE]."""

    name: str
    data: Mapping[str, Any] | str


def named_sse(frame: Frame) -> bytes:
    """Anthropic and Responses."""
    return f"event: {frame.name}\ndata: {_compact(frame.data)}\n\n".encode()


def plain_sse(frame: Frame) -> bytes:
    """Chat Completions."""
    return f"data: {_compact(frame.data)}\n\n".encode()


def google_sse(frame: Frame) -> bytes:
    """With carriage returns, and spaces after colons only."""
    text = json.dumps(frame.data, ensure_ascii=False, separators=(",", ": "))
    return f"data: {text}\r\n\r\n".encode()


def amazon_chunk(frame: Frame) -> bytes:
    """One event of a model's stream on Bedrock: base64 within JSON, padded so that lengths tell nothing."""
    within = json.dumps({"bytes": b64encode(_compact(frame.data).encode()).decode(), "p": "abcdefghijk"}).encode()
    return amazon_message(
        {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}, within
    )


def amazon_exception(kind: str, message: str) -> bytes:
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return amazon_message(headers, json.dumps({"message": message}).encode())


def amazon_message(headers: Mapping[str, str], payload: bytes) -> bytes:
    head = b"".join(
        bytes([len(name)]) + name.encode() + bytes([_TEXT_HEADER]) + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    lengths = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    start = lengths + struct.pack(">I", zlib.crc32(lengths)) + head + payload
    return start + struct.pack(">I", zlib.crc32(start))


def _compact(data: Mapping[str, Any] | str) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
