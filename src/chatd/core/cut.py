"""The one way in which a text that is too long is cut: its head and its tail are kept, and it says what is missing."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

import msgspec

from chatd.core.valid_text import valid_text

_MARKER_BYTES: Final = 256  # room for the sentence in the middle
_SMALLEST: Final = 512  # below that a sentence would take up the text itself: only the head is kept


class Cut(msgspec.Struct, frozen=True):
    """`removed` is the number of bytes of UTF-8 that are missing; 0 when the text is whole."""

    text: str
    removed: int = 0


def utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def json_bytes(text: str) -> int:
    """What a text takes up within a JSON string, escapes included."""
    return len(msgspec.json.encode(text)) - 2


def cut_middle(text: str, most_bytes: int, *, hint: str = "", weigh: Callable[[str], int] = utf8_bytes) -> Cut:
    """At most that many bytes: two thirds from the head, one from the tail. Never half a character.

    `weigh` says how many bytes a piece takes up: at least one for each character, and of two pieces as much as of both
    together. `hint` tells the reader how to get at the rest; a sentence of at most 100 characters.
    """
    text = valid_text(text)
    if len(text) <= most_bytes and weigh(text) <= most_bytes:
        return Cut(text)
    if most_bytes <= _SMALLEST:
        head = _head(text, most_bytes, weigh)
        return Cut(head, utf8_bytes(text) - utf8_bytes(head))
    room = most_bytes - _MARKER_BYTES
    head = _head(text, room * 2 // 3, weigh)
    tail = _tail(text[len(head) :], room // 3, weigh)
    removed = utf8_bytes(text) - utf8_bytes(head) - utf8_bytes(tail)
    marker = f"\n\n[{removed} bytes are left out here.{' ' if hint else ''}{hint}]\n\n"
    return Cut(f"{head}{marker}{tail}", removed)


# Each character weighs at least a byte, so that no more characters than bytes have to be looked at, however long the
# text is.


def _head(text: str, most: int, weigh: Callable[[str], int]) -> str:
    sizes = range(min(len(text), max(0, most)) + 1)
    return text[: bisect_right(sizes, most, key=lambda size: weigh(text[:size])) - 1] if most > 0 else ""


def _tail(text: str, most: int, weigh: Callable[[str], int]) -> str:
    sizes = range(min(len(text), max(0, most)) + 1)
    size = bisect_right(sizes, most, key=lambda size: weigh(text[len(text) - size :])) - 1 if most > 0 else 0
    return text[len(text) - size :]
