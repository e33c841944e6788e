"""The one way in which a text that is too long is cut: its head and its tail are kept, and it says what is missing."""

from typing import Final

import msgspec

_MARKER_BYTES: Final = 256  # room for the sentence in the middle
_SMALLEST: Final = 512  # below that a sentence would take up the text itself: only the head is kept


class Cut(msgspec.Struct, frozen=True):
    """`removed` is the number of bytes that are missing; 0 when the text is whole."""

    text: str
    removed: int = 0


def cut_middle(text: str, most_bytes: int) -> Cut:
    """At most that many bytes of UTF-8: two thirds from the head, one from the tail. Never half a character."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= most_bytes:
        return Cut(text)
    if most_bytes <= _SMALLEST:
        head = _whole(encoded[:most_bytes])
        return Cut(head, len(encoded) - len(head.encode()))
    room = most_bytes - _MARKER_BYTES
    head = _whole(encoded[: room * 2 // 3])
    tail = _whole(encoded[len(encoded) - room // 3 :])
    removed = len(encoded) - len(head.encode()) - len(tail.encode())
    marker = f"\n\n[{removed} bytes are left out here. Ask for less: a range, a filter, a narrower question.]\n\n"
    return Cut(f"{head}{marker}{tail}", removed)


def _whole(piece: bytes) -> str:
    return piece.decode("utf-8", "ignore")
