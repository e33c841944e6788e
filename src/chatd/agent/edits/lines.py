"""Lines of a text with their endings, which are LF or CRLF. A carriage return alone ends nothing."""

from collections.abc import Sequence
from typing import Final

import msgspec

LF: Final = "\n"
CRLF: Final = "\r\n"
_BLANKS: Final = " \t"


class Line(msgspec.Struct, frozen=True, gc=False):
    """`ending` is empty for the last line of a text that does not end with one."""

    body: str
    ending: str

    @property
    def text(self) -> str:
        return self.body + self.ending

    @property
    def lead(self) -> str:
        return self.body[: len(self.body) - len(self.body.lstrip(_BLANKS))]

    @property
    def trail(self) -> str:
        """The blanks at its end; none for a line of blanks, which are all at its beginning."""
        return self.body[len(self.body.rstrip(_BLANKS)) :] if self.core else ""

    @property
    def core(self) -> str:
        return self.body.strip(_BLANKS)


def lines_of(text: str) -> list[Line]:
    """An empty text has none; one that ends with an ending has no empty line behind it."""
    *ended, last = text.split(LF)
    lines = [Line(body[:-1], CRLF) if body.endswith("\r") else Line(body, LF) for body in ended]
    return [*lines, Line(last, "")] if last else lines


def joined(lines: Sequence[Line]) -> str:
    return "".join([line.text for line in lines])


def inner_ending(lines: Sequence[Line]) -> str | None:
    """The ending that lines share, apart from a last one that has none. None for a single line, and for a mixture."""
    if len(lines) < 2:
        return None
    endings = {line.ending for line in lines if line.ending}
    return endings.pop() if len(endings) == 1 else None


def main_ending(text: str) -> str | None:
    """What most lines of a file end with; LF if as many end with the one as with the other, None if none ends."""
    ended, with_crlf = text.count(LF), text.count(CRLF)
    if not ended:
        return None
    return CRLF if with_crlf > ended - with_crlf else LF


def count_of_lines(text: str) -> int:
    """As many as `lines_of` gives, without making them."""
    return text.count(LF) + (1 if text and not text.endswith(LF) else 0)
