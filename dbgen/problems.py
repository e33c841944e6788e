"""What is wrong with the input, said so that one can go and fix it: file, line, query, message."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake. `line` and `query` are left out where there is none to name."""

    file: str
    line: int = 0
    query: str = ""
    message: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (place, self.query, self.message) if part)


class Refused(Exception):
    """Nothing was generated, because of these problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))
