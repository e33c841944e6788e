"""What a check has found: how it is, in words, and what to do about it."""

from enum import StrEnum

import msgspec


class Grade(StrEnum):
    GOOD = "good"
    DOUBTFUL = "doubtful"  # it works, or will; someone should know
    BAD = "bad"


class Finding(msgspec.Struct, frozen=True):
    """`advice` is empty where there is nothing to do. Neither text ever holds a secret."""

    check: str
    grade: Grade
    found: str
    advice: str = ""


def good(check: str, found: str) -> Finding:
    return Finding(check, Grade.GOOD, found)


def doubtful(check: str, found: str, advice: str = "") -> Finding:
    return Finding(check, Grade.DOUBTFUL, found, advice)


def bad(check: str, found: str, advice: str = "") -> Finding:
    return Finding(check, Grade.BAD, found, advice)
