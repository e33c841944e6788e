r"""Patterns that a value must match, checked so that no value takes long.

Python's engine tries ways one after the other, and some patterns have very many. Those are refused when a template is
stored: what repeats may hold neither a repetition nor alternatives, there are no look-arounds and back references, and
the ways that are left are counted. With values as short as here they are tried soon.
"""

import re
import warnings
from typing import Final

MOST_PATTERN: Final = 256  # characters; longer ones are no help to whom they refuse
MOST_MATCHED: Final = 256  # characters of a value that has a pattern: the cost grows with their third power
_MOST_WAYS: Final = (MOST_MATCHED + 1) ** 3  # three repetitions without an end: a second at the very worst
_GROUP: Final = re.compile(r"\((\?:)?(?!\?)")
_CLASS: Final = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_QUANTIFIER: Final = re.compile(r"[*+?]\??|\{\d*(,\d*)?\}\??")


def pattern_problem(pattern: str) -> str | None:
    """Why a template can't have this pattern; None when it can."""
    if len(pattern) > MOST_PATTERN:
        return f"is longer than {MOST_PATTERN} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # for what will mean something else in a later Python
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        return f"is no regular expression: {error}"
    return _cost_problem(pattern)


def matches(pattern: str, value: str) -> bool:
    """Whether the whole value matches. A pattern that was never checked matches nothing."""
    return len(value) <= MOST_MATCHED and pattern_problem(pattern) is None and bool(re.fullmatch(pattern, value))


def _cost_problem(pattern: str) -> str | None:
    at, ways = 0, 1
    open_groups = [_Group()]  # the first is the pattern itself
    was_varied = False  # whether the item before holds repetitions or alternatives
    while at < len(pattern):
        group = open_groups[-1]
        if pattern[at] == "\\":
            if pattern[at + 1 : at + 2].isdigit() and pattern[at + 1] != "0":
                return "has a back reference"
            at, was_varied = at + 2, False
        elif pattern[at] == "[" and (found := _CLASS.match(pattern, at)):
            at, was_varied = found.end(), False
        elif pattern[at] == "(":
            found = _GROUP.match(pattern, at)
            if found is None:
                return "has a group other than (…) and (?:…)"
            open_groups.append(_Group())
            at, was_varied = found.end(), False
        elif pattern[at] == ")":
            ways *= open_groups.pop().branches
            was_varied = group.is_varied
            open_groups[-1].is_varied |= was_varied
            at += 1
        elif found := _QUANTIFIER.match(pattern, at):
            most = _most(found[0])
            if most > 1 and was_varied:
                return "repeats what holds a repetition or alternatives"
            ways *= most + 1
            group.is_varied = was_varied = True
            at = found.end()
        else:
            if pattern[at] == "|":
                group.branches += 1
                group.is_varied = True
            at, was_varied = at + 1, False
    return None if ways * open_groups[0].branches <= _MOST_WAYS else "has too many repetitions and alternatives"


class _Group:
    def __init__(self) -> None:
        self.is_varied = False
        self.branches = 1


def _most(quantifier: str) -> int:
    """How often it may repeat, as far as a value goes."""
    if quantifier[0] == "?":
        return 1
    highest = quantifier.strip("{}?*+").split(",")[-1]
    return min(int(highest), MOST_MATCHED) if highest else MOST_MATCHED
