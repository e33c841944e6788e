"""Server-sent events, read from bytes that arrive in any pieces.

As the HTML standard has it: a line ends with CR, LF or CRLF; a blank line ends an event; `data` lines are joined with
LF; comments and unknown fields are skipped; an event without data is none, and so is one that the stream ends within.
"""

from typing import Final

from chatd.providers.framing.wire_event import MOST_EVENT_BYTES, UnreadableStream, WireEvent

_BOM: Final = b"\xef\xbb\xbf"
_CR: Final = 13  # looked for as a number, which takes a fifth of the time


class SseFraming:
    """One stream. Memory is bounded by the largest event allowed and one chunk; work is linear in the bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()  # of an event that has not ended, with LF for every line end
        self._searched = 0  # so much of the rest has no blank line
        self._at_start = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[WireEvent]:
        """The events that this chunk completes. Raises UnreadableStream for one that is too large."""
        if self._at_start:
            chunk = self._without_bom(chunk)
        if self._after_cr or _CR in chunk:
            chunk = self._with_plain_line_ends(chunk)
        if not self._rest:
            blocks = chunk.split(b"\n\n")
        else:
            self._rest += chunk
            if self._rest.find(b"\n\n", self._searched) < 0:
                self._remember_search()
                return []
            blocks = bytes(self._rest).split(b"\n\n")
            self._rest.clear()
        left = blocks.pop()
        if left:
            self._rest += left
            self._remember_search()
        return [event for block in blocks if (event := _event(block)) is not None]

    def end(self) -> list[WireEvent]:
        """The bytes have ended: an event without its blank line may be cut short, and is none."""
        self._rest.clear()
        return []

    def _remember_search(self) -> None:
        size = len(self._rest)
        if size > MOST_EVENT_BYTES + 1:  # one more for a first half of its blank line
            raise _too_large()
        self._searched = size - 1  # the last byte may be that half

    def _without_bom(self, chunk: bytes) -> bytes:
        begun = bytes(self._rest) + chunk
        self._rest.clear()
        if len(begun) < len(_BOM) and _BOM.startswith(begun):
            self._rest += begun
            return b""
        self._at_start = False
        return begun.removeprefix(_BOM)

    def _with_plain_line_ends(self, chunk: bytes) -> bytes:
        if not chunk:
            return chunk
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _event(block: bytes) -> WireEvent | None:
    """The lines between two blank ones. A first line may be empty, where more than one blank line stood."""
    if len(block) > MOST_EVENT_BYTES:
        raise _too_large()
    lines = block.split(b"\n")
    if len(lines) == 2 and lines[0].startswith(b"event: ") and lines[1].startswith(b"data: "):
        return WireEvent(lines[0][7:].decode("utf-8", "replace"), lines[1][6:])  # nearly every event of some vendors
    name = b""
    data: list[bytes] = []
    for line in lines:
        if line.startswith(b"data:"):
            data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
        elif line.startswith(b"event:"):
            name = line[7:] if line.startswith(b" ", 6) else line[6:]
        elif line == b"data":
            data.append(b"")
        elif line == b"event":
            name = b""
    if not data:
        return None
    return WireEvent(name.decode("utf-8", "replace"), data[0] if len(data) == 1 else b"\n".join(data))


def _too_large() -> UnreadableStream:
    return UnreadableStream(f"An event is larger than {MOST_EVENT_BYTES} bytes.")
