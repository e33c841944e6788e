"""Lengths of time as people and models write them: 90s, 5m, 1h30m, 500ms."""

import re
from typing import Final

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PIECE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m|h)", re.ASCII)
_SHAPE: Final = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,9})?(?:ms|s|m|h)){1,4}", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", re.ASCII)


def seconds_of(text: str) -> float:
    """A number without a unit is seconds. Raises ValueError for what is no length of time."""
    given = text.strip().lower()
    if _NUMBER.fullmatch(given):
        return float(given)
    if not _SHAPE.fullmatch(given):
        raise ValueError(f"{text[:50]!r} is no length of time: write it like 90s, 5m or 1h30m.")
    return sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(given))


def shown_seconds(seconds: float) -> str:
    """The same way round: 1h30m, 90 seconds as 1m30s, half a second as 500ms."""
    milliseconds = round(seconds * 1000)
    if milliseconds < 1000:
        return f"{milliseconds}ms" if milliseconds else "0s"
    whole, rest = divmod(milliseconds, 1000)
    if rest and whole < 60:
        return f"{milliseconds / 1000:g}s"
    pieces = ((whole // 3600, "h"), (whole // 60 % 60, "m"), (whole % 60, "s"))
    return "".join(f"{count}{unit}" for count, unit in pieces if count)
