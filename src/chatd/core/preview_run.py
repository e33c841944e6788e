"""Pieces of a text that were shown one after the other, joined, for readers who come later or come back."""

from array import array
from collections.abc import Sequence

from chatd.core.preview import Preview, continues, text_of, with_text


class PreviewRun:
    """Neighbouring pieces of one text, or one part that is whole. `first` and `last` are their numbers.

    Where each piece ends is kept: a reader who has seen some of them gets the rest, and nothing twice.
    """

    def __init__(self, first: int, pieces: Sequence[Preview]) -> None:
        self.first = first
        self.last = first + len(pieces) - 1
        self._preview = pieces[0]
        self._ends = array("Q")
        if len(pieces) > 1:
            texts = [text_of(piece) for piece in pieces]
            end = 0
            for text in texts:
                end += len(text)
                self._ends.append(end)
            self._preview = with_text(pieces[0], "".join(texts))

    @property
    def size(self) -> int:
        """In characters of its text."""
        return self._ends[-1] if self._ends else 0

    def after(self, number: int) -> Preview:
        """All that follows this number, which is below `last`."""
        seen = number - self.first + 1
        if seen <= 0:
            return self._preview
        return with_text(self._preview, text_of(self._preview)[self._ends[seen - 1] :])

    def piece(self, number: int) -> Preview:
        """The part that had this number, as it was."""
        if not self._ends:
            return self._preview
        place = number - self.first
        begin = self._ends[place - 1] if place else 0
        return with_text(self._preview, text_of(self._preview)[begin : self._ends[place]])


def runs_of(previews: Sequence[Preview], first: int) -> list[PreviewRun]:
    """Of parts that are numbered from `first` on."""
    runs: list[PreviewRun] = []
    begin = 0
    for place in range(1, len(previews) + 1):
        if place == len(previews) or not continues(previews[place - 1], previews[place]):
            runs.append(PreviewRun(first + begin, previews[begin:place]))
            begin = place
    return runs
