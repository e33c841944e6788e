"""Unified diffs, as `patch` takes them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Final, Literal

from chatd.agent.edits.lines import count_of_lines, lines_of

MOST_CHARACTERS: Final = 256 * 1024  # of one file's diff; what is longer nobody reads
MOST_LINES: Final = 4000  # that are compared each with each, on both sides together: a second at most
MOST_PAIRS: Final = 50_000  # of lines that are the same among them; each costs in every round of the comparison
MOST_SPLIT_LINES: Final = 200_000  # of a file; each takes about 200 bytes while it is compared
_CONTEXT: Final = 3  # lines around a change, as everywhere
_NO_END: Final = "\n\\ No newline at end of file\n"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")

_How = Literal["replace", "delete", "insert", "equal"]
_Step = tuple[_How, int, int, int, int]


def unified(path: str, before: str, after: str) -> str:
    """Empty when nothing has changed. What is too long to compare or to show is said in its place."""
    if before == after:
        return ""
    label = _CONTROL.sub("?", path)
    head = f"--- {label}\n+++ {label}\n"
    unshown = f"{head}(The file has too many lines to show what has changed.)\n"
    if max(count_of_lines(before), count_of_lines(after)) > MOST_SPLIT_LINES:
        return unshown
    old, new = ([line.text for line in lines_of(text)] for text in (before, after))
    hunks = _hunks(_steps(old, new), old, new)
    diff = head + "".join([line if line.endswith("\n") else line + _NO_END for line in hunks])
    if len(diff) <= MOST_CHARACTERS:
        return diff
    return diff[:MOST_CHARACTERS] + f"\n(The diff has {len(diff)} characters; this is its beginning.)\n"


class _Found(SequenceMatcher[str]):
    """Steps that were found elsewhere, to be grouped."""

    def __init__(self, steps: list[_Step]) -> None:
        super().__init__()
        self._steps = steps

    def get_opcodes(self) -> list[_Step]:
        return self._steps


def _steps(old: Sequence[str], new: Sequence[str]) -> list[_Step]:
    """How the one becomes the other. Only what is between the first and the last difference is compared: most edits are
    small, most files are not."""
    most = min(len(old), len(new))
    begin = 0
    while begin < most and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < most - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    old_end, new_end = len(old) - end, len(new) - end
    steps: list[_Step] = [("equal", 0, begin, 0, begin)] if begin else []
    for how, a, b, c, d in _between(old[begin:old_end], new[begin:new_end]):
        steps.append((how, a + begin, b + begin, c + begin, d + begin))
    if end:
        steps.append(("equal", old_end, len(old), new_end, len(new)))
    return steps


def _between(old: Sequence[str], new: Sequence[str]) -> list[_Step]:
    """The shortest way where it can be found soon, else line against line, or all against all: right, only longer."""
    if len(old) + len(new) <= MOST_LINES and _pairs(old, new) <= MOST_PAIRS:
        return SequenceMatcher(None, old, new).get_opcodes()
    if len(old) != len(new):
        return [("replace", 0, len(old), 0, len(new))]
    steps: list[_Step] = []
    at = 0
    for is_same, run in groupby(zip(old, new, strict=True), lambda pair: pair[0] == pair[1]):
        size = sum(1 for _ in run)
        steps.append(("equal" if is_same else "replace", at, at + size, at, at + size))
        at += size
    return steps


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    there = Counter(new)
    return sum(there[line] for line in old)


def _hunks(steps: list[_Step], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for group in _Found(steps).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{_numbers(first[1], last[2])} +{_numbers(first[3], last[4])} @@\n"
        for how, old_begin, old_end, new_begin, new_end in group:
            if how == "equal":
                yield from (" " + line for line in old[old_begin:old_end])
            else:
                yield from ("-" + line for line in old[old_begin:old_end])
                yield from ("+" + line for line in new[new_begin:new_end])


def _numbers(begin: int, end: int) -> str:
    """The first line and how many there are; the line before where there are none."""
    size = end - begin
    return f"{begin + 1}" if size == 1 else f"{begin + 1 if size else begin},{size}"
