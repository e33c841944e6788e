"""Output within bounds: its head and its tail, with long lines cut, and how many bytes are missing where.

This is the only cut that a command's output sees: whoever needs less of it says how much (`Kept.shown`), and the same
rule is applied once. The rule, on UTF-8 with U+FFFD for what is none:

1. Of a line that is longer than `LINE_BYTES`, the first so many are kept, and a mark says how many are not.
2. Of what is left, the head is the longest beginning that fits on its side, in whole characters. If the rest fits on
   the other side, it follows, and nothing is added in between. Else its longest end that fits is the tail, and between
   them stands how many bytes are left out.
"""

from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

MOST_BYTES: Final = 32 * 1024  # shown at once, marks included: about 8000 tokens
LEAST_BYTES: Final = 1024  # below that the marks would take up the text
LINE_BYTES: Final = 2048  # minified code and data; nothing that is read line by line
_CUT_MARK: Final = " ... [{} bytes of this line are left out]"
_GAP_MARK: Final = "\n\n[{} bytes are left out here]\n\n"
_MARK_BYTES: Final = 64  # more than a mark takes with twenty digits in it


class Run(msgspec.Struct, frozen=True):
    """Text, and how many bytes of its last line were cut off after it."""

    text: str
    cut: int = 0


class Shown(msgspec.Struct, frozen=True):
    """`omitted` of `total` bytes are not in the text; where they were, a mark says so."""

    text: str
    total: int
    omitted: int


class Kept(msgspec.Struct, frozen=True):
    """What is kept of an output: all of it when `gap` is 0, but for the cuts of lines."""

    head: tuple[Run, ...] = ()
    gap: int = 0
    tail: tuple[Run, ...] = ()
    total: int = 0

    def shown(self, most_bytes: int = MOST_BYTES) -> Shown:
        """At most that many bytes, but never fewer than `LEAST_BYTES` nor more than `MOST_BYTES`."""
        side = _side(min(max(most_bytes, LEAST_BYTES), MOST_BYTES))
        if self.gap:
            head, after = _split_after(self.head, side)
            before, tail = _split_before(self.tail, side)
            gap = self.gap + _weight(after) + _weight(before)
        else:
            head, rest = _split_after((*self.head, *self.tail), side)
            before, tail = _split_before(rest, side)
            gap = _weight(before)
        middle = _GAP_MARK.format(gap) if gap else ""
        omitted = gap + sum(run.cut for run in (*head, *tail))
        return Shown(_text(head) + middle + _text(tail), self.total, omitted)


class HeadTail:
    """Takes output as it comes, of any length, in bounded memory."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._total = 0
        self._column = 0  # bytes kept of the current line
        self._cutting = False
        self._head = _Side()
        self._head_is_full = False
        self._tail = _Side()
        self._gap = 0

    def append(self, output: bytes) -> None:
        self._take(self._decoder.decode(output).encode())

    def close(self) -> None:
        """No more comes: half a character at the end is one that is broken."""
        self._take(self._decoder.decode(b"", final=True).encode())

    def kept(self) -> Kept:
        return Kept(self._head.frozen(), self._gap, self._tail.frozen(), self._total)

    def _take(self, text: bytes) -> None:
        self._total += len(text)
        lines = text.split(b"\n")
        if not self._cutting and self._column + len(lines[0]) <= LINE_BYTES and max(map(len, lines)) <= LINE_BYTES:
            self._put(text)
            self._column = len(lines[-1]) + (self._column if len(lines) == 1 else 0)
            return
        for place, line in enumerate(lines):
            if place:
                self._put(b"\n")
                self._column = 0
                self._cutting = False
            self._take_within_line(line)

    def _take_within_line(self, piece: bytes) -> None:
        end = 0 if self._cutting else _boundary(piece, LINE_BYTES - self._column)
        self._put(piece[:end])
        self._column += end
        if end < len(piece):
            self._cutting = True
            (self._tail if self._tail.size else self._head).cut(len(piece) - end)

    def _put(self, text: bytes) -> None:
        if not self._head_is_full:
            end = _boundary(text, _SIDE - self._head.size)
            self._head.put(text[:end])
            self._head_is_full = end < len(text)
            text = text[end:]
        if text:
            self._tail.put(text)
            self._gap += self._tail.shorten(_SIDE)


class _Side:
    """Runs that grow at the end and shrink at the beginning. Their number is bounded: each but the first has a line."""

    def __init__(self) -> None:
        self.size = 0
        self._runs: deque[tuple[bytearray, list[int]]] = deque()  # the text, and in a list of one what was cut

    def put(self, text: bytes) -> None:
        if text:
            if not self._runs or self._runs[-1][1][0]:
                self._runs.append((bytearray(), [0]))
            self._runs[-1][0].extend(text)
            self.size += len(text)

    def cut(self, count: int) -> None:
        if not self._runs:
            self._runs.append((bytearray(), [0]))
        self._runs[-1][1][0] += count

    def shorten(self, most: int) -> int:
        """Drop from the beginning until the text is that short; the bytes that were dropped, cut ones too."""
        dropped = 0
        while self.size > most:
            text, cut = self._runs[0]
            excess = self.size - most
            if len(text) <= excess:
                self._runs.popleft()
                self.size -= len(text)
                dropped += len(text) + cut[0]
                continue
            end = _boundary_after(text, excess)
            del text[:end]
            self.size -= end
            dropped += end
        return dropped

    def frozen(self) -> tuple[Run, ...]:
        return tuple(Run(text.decode(), cut[0]) for text, cut in self._runs)


def _boundary(text: bytes, most: int) -> int:
    """The longest length up to `most` that ends with a whole character."""
    end = min(len(text), max(0, most))
    while 0 < end < len(text) and text[end] & 0xC0 == 0x80:
        end -= 1
    return end


def _boundary_after(text: bytes | bytearray, least: int) -> int:
    """The shortest length from `least` on that ends with a whole character."""
    end = least
    while end < len(text) and text[end] & 0xC0 == 0x80:
        end += 1
    return end


def _side(most_bytes: int) -> int:
    """What each side may have of text. A line that is cut has a mark, and so has the gap."""
    cuts = most_bytes // (LINE_BYTES - 3) + 2
    return (most_bytes - (cuts + 1) * _MARK_BYTES) // 2


_SIDE: Final = _side(MOST_BYTES)


def _split_after(runs: Sequence[Run], most: int) -> tuple[list[Run], list[Run]]:
    """The longest beginning that fits, and the rest. What was cut goes with the text before it."""
    first: list[Run] = []
    for place, run in enumerate(runs):
        text = run.text.encode()
        if len(text) > most:
            end = _boundary(text, most)
            return [*first, Run(text[:end].decode())], [Run(text[end:].decode(), run.cut), *runs[place + 1 :]]
        first.append(run)
        most -= len(text)
    return first, []


def _split_before(runs: Sequence[Run], most: int) -> tuple[list[Run], list[Run]]:
    """What does not fit, and the longest end that does."""
    side = _Side()
    for run in runs:
        side.put(run.text.encode())
        if run.cut:
            side.cut(run.cut)
    before = side.shorten(most)
    return [Run("", before)] if before else [], list(side.frozen())


def _weight(runs: Iterable[Run]) -> int:
    return sum(len(run.text.encode()) + run.cut for run in runs)


def _text(runs: Iterable[Run]) -> str:
    return "".join(run.text + (_CUT_MARK.format(run.cut) if run.cut else "") for run in runs)
