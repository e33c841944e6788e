"""Indentation as levels of a unit, so that lines written in one style can be set in another."""

from collections.abc import Sequence
from math import gcd

from chatd.agent.edits.lines import Line


def unit_of(lines: Sequence[Line]) -> str | None:
    """What one level is: a tab, or some spaces. None when nothing is indented, or both are used."""
    leads = [line.lead for line in lines if line.core and line.lead]
    if not leads or any(set(lead) != set(leads[0]) for lead in leads):
        return None
    if set(leads[0]) == {"\t"}:
        return "\t"
    if set(leads[0]) == {" "}:
        return " " * gcd(*[len(lead) for lead in leads])
    return None


def level_of(lead: str, unit: str) -> int | None:
    """How often the unit is in it; None when it is not made of it."""
    level, rest = divmod(len(lead), len(unit))
    return level if not rest and lead == unit * level else None
