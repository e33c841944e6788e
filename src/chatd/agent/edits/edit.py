"""One edit of a text: three passes, each more forgiving, and none that guesses between two places."""

from collections.abc import Sequence
from typing import Final

import msgspec

from chatd.agent.edits.indents import unit_of
from chatd.agent.edits.lines import LF, Line, count_of_lines, inner_ending, joined, lines_of, main_ending
from chatd.agent.edits.matching import Pass, apart, places
from chatd.agent.edits.misses import hints
from chatd.agent.edits.splicing import Splice

MOST_FORGIVEN_LINES: Final = 200_000  # of a file that is compared line by line: each line takes about 200 bytes then


class Edit(msgspec.Struct, frozen=True):
    """`search` becomes `replacement`: once, where it is exactly once, or everywhere."""

    search: str
    replacement: str
    replace_all: bool = False


class EditRefused(Exception):
    """Nothing was changed. The text is for the model."""


def edited(content: str, edit: Edit, *, most_characters: int | None = None) -> str:
    """The content with the edit made. Raises EditRefused, also for what would become longer than `most_characters`."""
    if not edit.search:
        raise EditRefused("The text to look for is empty.")
    searched, wanted = lines_of(edit.search), lines_of(edit.replacement)
    found = content.count(edit.search)
    if found and not edit.replace_all and content.find(edit.search, content.index(edit.search) + 1) >= 0:
        raise EditRefused(_ambiguous(max(found, 2)))  # they may overlap
    if found:
        fitted = _fitted(content, edit, searched, wanted)
        _bounded(len(content) + found * (len(fitted) - len(edit.search)), most_characters)
        return content.replace(edit.search, fitted)
    if count_of_lines(content) > MOST_FORGIVEN_LINES:
        raise EditRefused(
            "The text was not found in the file. The file has too many lines to look for it with other blanks: give "
            "the text exactly as it is in the file."
        )
    lines = lines_of(content)
    endings = inner_ending(searched), inner_ending(wanted)
    means_endings = None not in endings and endings[0] != endings[1]
    for how in () if means_endings else Pass:
        if at := places(lines, searched, how):
            if len(at) > 1 and not edit.replace_all:
                raise EditRefused(_ambiguous(len(at)))
            chosen = apart(at, len(searched))
            _bounded(len(content) + len(chosen) * len(edit.replacement), most_characters)
            return _spliced(lines, chosen, searched, wanted)
    raise EditRefused(" ".join(["The text was not found in the file.", *hints(lines, edit.search, edit.replacement)]))


def _ambiguous(count: int) -> str:
    return (
        f"The text is {count} times in the file. Give more of the lines around it, so that it is there once, or set "
        "replace_all."
    )


def _bounded(characters: int, most: int | None) -> None:
    """Before it is built: a short text that is there a million times can become one that fills the memory."""
    if most is not None and characters > most:
        raise EditRefused(f"The file would become longer than {most} characters, the most that an edit may make.")


def _fitted(content: str, edit: Edit, searched: Sequence[Line], wanted: Sequence[Line]) -> str:
    """The replacement, with lines that end as the file's do, unless the search says which endings are meant."""
    ending = main_ending(content)
    if ending is None or inner_ending(wanted) is None or inner_ending(searched) is not None:
        return edit.replacement
    return joined([*(Line(line.body, ending) for line in wanted[:-1]), *wanted[-1:]])


def _spliced(lines: Sequence[Line], places: Sequence[int], searched: Sequence[Line], wanted: Sequence[Line]) -> str:
    unit, ending, size = unit_of(lines), main_ending(joined(lines)) or inner_ending(wanted) or LF, len(searched)
    pieces: list[str] = []
    after = 0
    for at in places:
        found = lines[at : at + size]
        splice = Splice(found, searched, wanted, unit or unit_of(found), ending, at + size == len(lines))
        pieces += [joined(lines[after:at]), splice.text()]
        after = at + size
    return "".join([*pieces, joined(lines[after:])])
