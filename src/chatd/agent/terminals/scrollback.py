"""The last bytes of a terminal, and how far each who looks at it has read. Pure.

A reader that is too slow loses the bytes that are dropped before it comes to them, and is told how many.
"""

from typing import Final

KEPT_BYTES: Final = 128 * 1024  # at least, and up to twice as much: what a page that was loaded anew shows
_CHUNK_BYTES: Final = 32 * 1024  # of one frame
_LINE_BYTES: Final = 4096  # looked through for a beginning of a line


class Scrollback:
    def __init__(self) -> None:
        self.total = 0
        self._kept = bytearray()

    @property
    def first(self) -> int:
        """The number of the oldest byte that is kept."""
        return self.total - len(self._kept)

    def append(self, output: bytes) -> None:
        self.total += len(output)
        self._kept += output
        if len(self._kept) > 2 * KEPT_BYTES:  # not each time: what stays has to be moved
            del self._kept[: len(self._kept) - KEPT_BYTES]

    def beginning(self) -> int:
        """Where a new reader begins: with all there is; where something was dropped, with a whole line."""
        if not self.first:
            return 0
        end = self._kept.find(b"\n", 0, _LINE_BYTES)
        return self.first + end + 1

    def after(self, number: int) -> tuple[int, bytes]:
        """How many bytes are lost to who has read up to there, and the next ones."""
        lost = max(0, self.first - number)
        begin = max(number, self.first) - self.first
        return lost, bytes(self._kept[begin : begin + _CHUNK_BYTES])
