"""Amazon's event stream encoding, in which Bedrock sends what other hosts send as server-sent events.

A message: its whole length and the length of its headers (4 bytes each, big endian), their CRC32, the headers, the
payload, the CRC32 of all that. A header: its name (length in 1 byte), a type, a value.

What a message becomes:

  :message-type  event, :event-type chunk   WireEvent("", the JSON inside of {"bytes": base64})
                 event, any other           WireEvent(:event-type, payload)
                 exception                  WireEvent("exception:" + :exception-type, payload)
                 error                      WireEvent("exception:" + :error-code, {"message": :error-message})

A reader makes a VendorError of every name that begins with EXCEPTION.
"""

import struct
from collections.abc import Mapping
from typing import Final
from zlib import crc32

import msgspec

from chatd.providers.framing.wire_event import MOST_EVENT_BYTES, UnreadableStream, WireEvent

EXCEPTION: Final = "exception:"

_PRELUDE: Final = struct.Struct(">III")
_CRC: Final = struct.Struct(">I")
_LENGTH: Final = struct.Struct(">H")
_LEAST_BYTES: Final = _PRELUDE.size + _CRC.size
_MOST_HEADER_BYTES: Final = 128 * 1024  # Amazon's own limit
_BYTES: Final = 6
_STRING: Final = 7
_FIXED_SIZES: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # by type of the value


class _Chunk(msgspec.Struct, frozen=True, gc=False):
    bytes: bytes


_CHUNK: Final = msgspec.json.Decoder(_Chunk)


class EventStreamFraming:
    """One stream. Memory is bounded by the largest message allowed and one chunk; work is linear in the bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._wanted = _LEAST_BYTES  # so many bytes make the next message, as far as is known

    def feed(self, chunk: bytes) -> list[WireEvent]:
        """The events that this chunk completes. Raises UnreadableStream for damaged or too large messages."""
        rest = self._rest
        rest += chunk
        if len(rest) < self._wanted:
            return []
        whole = bytes(rest)
        events: list[WireEvent] = []
        start = 0
        while len(whole) - start >= _LEAST_BYTES:
            total, headers_size = _lengths(whole, start)
            if len(whole) - start < total:
                self._wanted = total
                break
            events.append(_event(whole[start : start + total], headers_size))
            start += total
        else:
            self._wanted = _LEAST_BYTES
        del rest[:start]
        return events

    def end(self) -> list[WireEvent]:
        """The bytes have ended: a message that is not complete is no event."""
        self._rest.clear()
        return []


def _lengths(data: bytes, start: int) -> tuple[int, int]:
    total, headers_size, checksum = _PRELUDE.unpack_from(data, start)
    if crc32(data[start : start + _PRELUDE.size - _CRC.size]) != checksum:
        raise UnreadableStream("The prelude of a message does not match its checksum.")
    if total > MOST_EVENT_BYTES or headers_size > _MOST_HEADER_BYTES:
        raise UnreadableStream(f"A message has {total} bytes, {headers_size} of them headers, which is too much.")
    if total < _LEAST_BYTES + headers_size:
        raise UnreadableStream("A message is shorter than its headers.")
    return total, headers_size


def _event(message: bytes, headers_size: int) -> WireEvent:
    if crc32(message[: -_CRC.size]) != _CRC.unpack_from(message, len(message) - _CRC.size)[0]:
        raise UnreadableStream("A message does not match its checksum.")
    headers = _headers(message[_PRELUDE.size : _PRELUDE.size + headers_size])
    payload = message[_PRELUDE.size + headers_size : -_CRC.size]
    match headers.get(":message-type"):
        case "exception":
            return WireEvent(EXCEPTION + headers.get(":exception-type", ""), payload)
        case "error":
            text = headers.get(":error-message", "")
            return WireEvent(EXCEPTION + headers.get(":error-code", ""), msgspec.json.encode({"message": text}))
        case _ if headers.get(":event-type") == "chunk":
            return WireEvent("", _inner(payload))
        case _:
            return WireEvent(headers.get(":event-type", ""), payload)


def _inner(payload: bytes) -> bytes:
    try:
        return _CHUNK.decode(payload).bytes
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UnreadableStream(f"A chunk has no readable bytes: {error}") from error


def _headers(data: bytes) -> dict[str, str]:
    """The headers that are texts; the others are stepped over."""
    found: dict[str, str] = {}
    place = 0
    try:
        while place < len(data):
            name_end = place + 1 + data[place]
            name, kind = data[place + 1 : name_end], data[name_end]
            value_start = name_end + 1
            if kind in (_BYTES, _STRING):
                (size,) = _LENGTH.unpack_from(data, value_start)
                value_start += _LENGTH.size
            else:
                size = _FIXED_SIZES[kind]
            place = value_start + size
            if kind == _STRING:
                found[name.decode("utf-8", "replace")] = data[value_start:place].decode("utf-8", "replace")
    except (LookupError, ValueError, struct.error) as error:
        raise UnreadableStream("The headers of a message can't be read.") from error
    if place != len(data):
        raise UnreadableStream("The headers of a message are longer than they say.")
    return found
