"""Where a piece of text is in a file, line by line: blanks that a model got wrong are forgiven, words are not."""

from collections.abc import Callable, Sequence
from enum import Enum

from chatd.agent.edits.lines import Line


class Pass(Enum):
    """What is compared of two lines. Each forgives more than the one before; endings are never compared."""

    TRAILING = "trailing blanks apart"
    SURROUNDING = "blanks around it apart"

    def of(self, line: Line) -> str:
        return line.core if self is Pass.SURROUNDING else line.lead + line.core


def places(lines: Sequence[Line], searched: Sequence[Line], how: Pass) -> list[int]:
    """The numbers of all lines at which the searched ones begin, from 0 on. They may overlap."""
    wanted = [how.of(line) for line in searched]
    if not wanted:
        return []
    # Knuth, Morris and Pratt: a file of many lines that are alike must not take time by the square.
    back = _borders(wanted)
    found: list[int] = []
    matched = 0
    for at, line in enumerate(lines):
        compared = how.of(line)
        while matched and (matched == len(wanted) or compared != wanted[matched]):
            matched = back[matched - 1]
        if compared == wanted[matched]:
            matched += 1
        if matched == len(wanted):
            found.append(at + 1 - matched)
    return found


def _borders(wanted: Sequence[str]) -> list[int]:
    """For each line how many of the first ones the lines up to it end with."""
    back = [0] * len(wanted)
    matched = 0
    for at in range(1, len(wanted)):
        while matched and wanted[at] != wanted[matched]:
            matched = back[matched - 1]
        if wanted[at] == wanted[matched]:
            matched += 1
        back[at] = matched
    return back


def apart(found: Sequence[int], size: int) -> list[int]:
    """Those that do not overlap, from the first one on."""
    chosen: list[int] = []
    for at in found:
        if not chosen or at >= chosen[-1] + size:
            chosen.append(at)
    return chosen


def common(one: Sequence[Line], other: Sequence[Line], same: Callable[[Line, Line], bool]) -> tuple[int, int]:
    """How many lines both begin with, and how many of the rest both end with."""
    most = min(len(one), len(other))
    begin = 0
    while begin < most and same(one[begin], other[begin]):
        begin += 1
    end = 0
    while end < most - begin and same(one[-1 - end], other[-1 - end]):
        end += 1
    return begin, end
