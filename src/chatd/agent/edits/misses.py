"""Why a text was not found, as far as that can be guessed: what a model can do better next time."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from chatd.agent.edits.lines import Line, lines_of
from chatd.agent.edits.matching import Pass, places

MOST_HINTS: Final = 3
MOST_LINES: Final = 5  # that a hint names
MOST_COMPARED: Final = 2_000_000  # characters of the file: what a guess may cost
MOST_TRIED: Final = 20_000  # pairs of lines that are looked at closely
_LONG: Final = 80  # characters of a line that are shown
_PLAIN: Final = re.compile(r"\s+")


def hints(lines: Sequence[Line], search: str, replacement: str) -> list[str]:
    """Empty when nothing comes to mind."""
    return _miscounts(lines, search) or _swapped(lines, replacement)


def _miscounts(lines: Sequence[Line], search: str) -> list[str]:
    """A line that is there, but for how often one character is repeated: rules of `====` are hard to count."""
    if sum(len(line.body) for line in lines) > MOST_COMPARED:
        return []
    by_shape: dict[tuple[str, ...], list[int]] = {}
    for number, line in enumerate(lines, 1):
        if line.core:
            by_shape.setdefault(_shape(line.core), []).append(number)
    known = {line.core for line in lines}
    found: list[str] = []
    left = MOST_TRIED
    for wanted in lines_of(search):
        if not wanted.core or wanted.core in known:
            continue
        alike = by_shape.get(_shape(wanted.core), [])[:left]
        left -= len(alike)
        numbers = [number for number in alike if _differ_once(wanted.core, lines[number - 1].core)]
        if numbers:
            like = f"is like {_shown(wanted.core)}, but repeats a character another number of times"
            found.append(f"Line {_listed(numbers)} of the file {like}.")
        if len(found) == MOST_HINTS or not left:
            break
    return found


def _swapped(lines: Sequence[Line], replacement: str) -> list[str]:
    """The new text is there already: the edit was made before, or its two texts are in each other's place."""
    if not replacement.strip():
        return []
    numbers = _exact_lines("".join(line.text for line in lines), replacement)
    for how in Pass:
        numbers = numbers or [at + 1 for at in places(lines, lines_of(replacement), how)]
    if not numbers:
        return []
    where = ", ".join(map(str, numbers[:MOST_LINES]))
    return [
        f"The new text is in the file already, at line {where}: was the edit made before, or are the texts swapped?"
    ]


def _exact_lines(content: str, text: str) -> list[int]:
    numbers: list[int] = []
    at = content.find(text)
    while at >= 0 and len(numbers) < MOST_LINES:
        numbers.append(content.count("\n", 0, at) + 1)
        at = content.find(text, at + 1)
    return numbers


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:MOST_LINES]))


def _shape(core: str) -> tuple[str, ...]:
    """The line with every run of a character as one."""
    return tuple(character for character, _ in groupby(core))


def _differ_once(one: str, other: str) -> bool:
    """Of the same shape: whether one run alone has another length, and is a run on one side at least."""
    runs = [
        (len(list(first)), len(list(second)))
        for (_, first), (_, second) in zip(groupby(one), groupby(other), strict=True)
    ]
    differing = [pair for pair in runs if pair[0] != pair[1]]
    return len(differing) == 1 and max(differing[0]) > 1


def _shown(core: str) -> str:
    plain = _PLAIN.sub(" ", core)
    return f"“{plain[:_LONG]}…”" if len(plain) > _LONG else f"“{plain}”"
