"""How much one event and one answer may hold, whatever the protocol: nobody else is served while an event is read."""

from typing import Final

from chatd.providers.framing.wire_event import MOST_EVENT_BYTES, UnreadableStream

# A model spends a token on each object that it writes, and the longest answers have 128 000 tokens.
MOST_OBJECTS: Final = 128_000
MOST_BLOCKS: Final = 10_000  # texts, thoughts and calls of one answer; the longest have hundreds
LARGE_EVENT: Final = MOST_OBJECTS  # bytes; a smaller event holds fewer objects and needs no look


def check_large(data: bytes) -> None:
    """For events above LARGE_EVENT: raises UnreadableStream before a crowd of objects is made of one."""
    if len(data) > MOST_EVENT_BYTES:
        raise UnreadableStream(f"An event is larger than {MOST_EVENT_BYTES} bytes.")
    if data.count(b"{") > MOST_OBJECTS:
        raise UnreadableStream(f"An event has more than {MOST_OBJECTS} objects.")


def check_blocks(count: int) -> None:
    if count > MOST_BLOCKS:
        raise UnreadableStream(f"An answer has more than {MOST_BLOCKS} blocks.")
