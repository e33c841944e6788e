"""Puts a replacement where lines were found that differ from the searched ones in blanks: in the style of the file.

Whatever search and replacement agree about (indentation, blanks at the end, endings) the model did not mean to change,
so the file's own is kept. What they disagree about is meant, and is taken from the replacement.
"""

from collections.abc import Sequence

import msgspec

from chatd.agent.edits.indents import level_of, unit_of
from chatd.agent.edits.lines import Line, inner_ending, joined
from chatd.agent.edits.matching import common


class Splice(msgspec.Struct, frozen=True):
    """One place: the lines of the file that were found, and what was searched for and is to be there."""

    found: Sequence[Line]
    searched: Sequence[Line]
    wanted: Sequence[Line]
    file_unit: str | None  # of the whole file
    ending: str  # what lines of the file end with
    is_at_end: bool  # nothing follows in the file

    def text(self) -> str:
        """What replaces the found lines."""
        begin, end = common(self.searched, self.wanted, lambda one, other: one.core == other.core)
        pairs = _pairs(begin, end, len(self.searched), len(self.wanted))
        own = unit_of([*self.searched, *self.wanted])
        lines = [
            self._inserted(line, begin, end, own) if pair is None else self._paired(line, pair, own)
            for line, pair in zip(self.wanted, pairs, strict=True)
        ]
        return joined([*lines[:-1], *(Line(last.body, self._last_ending()) for last in lines[-1:])])

    def _paired(self, line: Line, pair: int, own: str | None) -> Line:
        searched, found = self.searched[pair], self.found[pair]
        ending = found.ending if line.ending == searched.ending else ""
        if not line.core:
            return Line(line.body, ending or self._inner(line))
        lead = found.lead if line.lead == searched.lead else self._moved(line, pair, own)
        trail = found.trail if line.trail == searched.trail else line.trail
        return Line(lead + line.core + trail, ending or self._inner(line))

    def _moved(self, line: Line, pair: int, own: str | None) -> str:
        lead = self._indent(line, pair, own)
        return line.lead if lead is None else lead

    def _inserted(self, line: Line, begin: int, end: int, own: str | None) -> Line:
        """It has no line in the search, so it is indented like a neighbour that has one."""
        if not line.core:
            return Line(line.body, self._inner(line))
        before = begin - 1 if begin else None
        after = len(self.searched) - end if end else None
        if after is not None and line.lead == self.searched[after].lead:
            near = after
        elif before is not None and line.lead == self.searched[before].lead:
            near = before
        else:
            near = next(place for place in (after, before, min(begin, len(self.searched) - 1)) if place is not None)
        lead = self._indent(line, near, own)
        return Line((self.found[near].lead if lead is None else lead) + line.core + line.trail, self._inner(line))

    def _indent(self, line: Line, near: int, own: str | None) -> str | None:
        """As much deeper than a line of the file as the model wrote it deeper than the one it looked for, in the file's
        unit. None when levels can't be told."""
        searched, found = self.searched[near].lead, self.found[near].lead
        if searched == found:
            return line.lead  # the model has the file's indentation right
        if own is None or self.file_unit is None:
            return None
        there, here, sought = level_of(found, self.file_unit), level_of(line.lead, own), level_of(searched, own)
        if there is None or here is None or sought is None:
            return None
        return self.file_unit * max(0, there + here - sought)

    def _inner(self, line: Line) -> str:
        """How a line of the replacement ends that others follow: as the file's do, unless it mixes both on purpose."""
        return self.ending if inner_ending(self.wanted) is not None else line.ending or self.ending

    def _last_ending(self) -> str:
        """What the search leaves out stays; what follows in the file is not joined to the last line."""
        found, is_searched, is_wanted = self.found[-1].ending, self.searched[-1].ending, self.wanted[-1].ending
        if bool(is_searched) == bool(is_wanted):
            return found
        if is_wanted:
            return found or self.ending
        return "" if self.is_at_end else self.ending


def _pairs(begin: int, end: int, searched: int, wanted: int) -> list[int | None]:
    """For each wanted line the searched one that it stands for: those that both begin and end with, and what is between
    one after the other, as long as there are any."""
    pairs: list[int | None] = []
    for place in range(wanted):
        if place < begin:
            pairs.append(place)
        elif place >= wanted - end:
            pairs.append(searched - (wanted - place))
        else:
            pairs.append(place if place < searched - end else None)
    return pairs
