"""Some lines of a file of any length, numbered, out of chunks that pass by.

A newline ends a line and begins none: a file that ends with one has no empty line behind it.
A page that is full is no error: it says where the next one begins, so that nothing of it has to be asked for again.
"""

from typing import Final

import msgspec

MOST_LINES: Final = 2000  # of a page; as much as a model can use
MOST_LINE_BYTES: Final = 1024  # of a line, before its end is left out: minified files have one of megabytes
MOST_PAGE_BYTES: Final = 32 * 1024  # numbers and marks included; what one tool result should cost


class Page(msgspec.Struct, frozen=True):
    """`lines` were seen in the file. `is_lossy`: not all of the page is text; U+FFFD stands for what is not."""

    content: str
    read: int
    lines: int
    next_line: int | None
    is_lossy: bool


class PageReader:
    """Takes the file's bytes in order, and keeps no more than a page of them."""

    def __init__(self, first: int, most: int) -> None:
        self._first = first
        self._most = min(most, MOST_LINES)
        self._ended = 0  # lines whose end was seen
        self._line = bytearray()  # the beginning of the current one, if it is on the page
        self._line_bytes = 0  # of all of the current one
        self._page: list[str] = []
        self._page_bytes = 0
        self._next: int | None = None
        self._is_lossy = False

    @property
    def is_full(self) -> bool:
        """The rest of the file changes nothing but the count of lines."""
        return self._next is not None

    def feed(self, chunk: bytes) -> None:
        at = self._skip(chunk)
        while at < len(chunk) and not self.is_full:
            if len(self._page) == self._most:
                self._next = self._ended + 1
                break
            end = chunk.find(b"\n", at)
            stop = len(chunk) if end < 0 else end
            self._line += chunk[at : min(stop, at + MOST_LINE_BYTES + 1 - len(self._line))]
            self._line_bytes += stop - at
            if end < 0:
                return
            self._end_line()
            at = end + 1
        self._count(chunk[at:])

    def page(self) -> Page:
        """Once, at the end of the file or when `is_full`."""
        if self._line_bytes:
            self._end_line()
        return Page("\n".join(self._page), len(self._page), self._ended, self._next, self._is_lossy)

    def _skip(self, chunk: bytes) -> int:
        """Past the lines before the page; how many bytes of the chunk they take."""
        missing = self._first - 1 - self._ended
        if missing <= 0:
            return 0
        newlines = chunk.count(b"\n")
        if newlines < missing:
            self._count(chunk)
            return len(chunk)
        self._ended += missing
        self._line_bytes = 0
        return len(chunk) - len(chunk.split(b"\n", missing)[-1])

    def _count(self, rest: bytes) -> None:
        if rest:
            self._ended += rest.count(b"\n")
            last = rest.rfind(b"\n")
            self._line_bytes = len(rest) - 1 - last if last >= 0 else self._line_bytes + len(rest)

    def _end_line(self) -> None:
        number = self._ended + 1
        self._ended = number
        line, size = bytes(self._line), self._line_bytes
        self._line.clear()
        self._line_bytes = 0
        if number < self._first or self.is_full:
            return
        text, is_lossy = _text(line)
        if size > MOST_LINE_BYTES:
            text = f"{text} [{size - len(_whole(line))} more bytes of this line are not shown]"
        numbered = f"{number}\t{text}"
        taken = len(numbered.encode()) + 1
        if self._page_bytes + taken > MOST_PAGE_BYTES:
            self._next = number
            return
        self._page.append(numbered)
        self._page_bytes += taken
        self._is_lossy = self._is_lossy or is_lossy


def _whole(line: bytes) -> bytes:
    """At most so many bytes, and no character cut in two."""
    if len(line) <= MOST_LINE_BYTES:
        return line
    end = MOST_LINE_BYTES
    while end > MOST_LINE_BYTES - 3 and line[end] & 0xC0 == 0x80:
        end -= 1
    return line[:end] if line[end] & 0xC0 != 0x80 else line[:MOST_LINE_BYTES]


def _text(line: bytes) -> tuple[str, bool]:
    kept = _whole(line)
    try:
        text = kept.decode()
    except UnicodeDecodeError:
        text = kept.decode(errors="replace")
        return text.replace("\0", "\ufffd"), True
    return text.replace("\0", "\ufffd"), "\0" in text
