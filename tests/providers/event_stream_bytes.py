"""Writes Amazon's event stream messages for tests, from its description and not from our reader."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping

import msgspec

CHUNK = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}


def text_header(name: str, value: str) -> bytes:
    encoded = value.encode()
    return header_start(name, 7) + struct.pack(">H", len(encoded)) + encoded


def header_start(name: str, kind: int) -> bytes:
    return bytes([len(name.encode())]) + name.encode() + bytes([kind])


def message(headers: Mapping[str, str] | bytes, payload: bytes = b"") -> bytes:
    head = headers if isinstance(headers, bytes) else b"".join(text_header(*header) for header in headers.items())
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return body + struct.pack(">I", zlib.crc32(body))


def chunk(data: bytes) -> bytes:
    """What Bedrock sends for one event of a model's stream."""
    return message(CHUNK, msgspec.json.encode({"bytes": b64encode(data).decode(), "p": "abcdefgh"}))
