"""A query's pieces as the text that Postgres gets, remembering which line of the file each part came from."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from dbgen.lexer import Piece, Token


@dataclass(frozen=True, slots=True)
class Rendered:
    """The statement with `$n` for parameters."""

    text: str
    _offsets: tuple[int, ...]
    _lines: tuple[int, ...]

    def line_at(self, position: int) -> int:
        """The file's line for a character position (from 1) that Postgres complained about."""
        return self._lines[max(bisect_right(self._offsets, position - 1) - 1, 0)]


def render(pieces: Sequence[Piece], parameters: Sequence[str], filter_text: str = "") -> Rendered:
    """Number the parameters as in `parameters` and put `filter_text` in the filter's place."""
    numbers = {name: f"${number}" for number, name in enumerate(parameters, start=1)}
    texts: list[str] = []
    offsets: list[int] = []
    length = 0
    for piece in pieces:
        text = piece.text
        if piece.token is Token.PARAMETER:
            text = numbers[piece.text[1:]]
        elif piece.token is Token.LINE_COMMENT:
            text = filter_text
        offsets.append(length)
        length += len(text)
        texts.append(text)
    return Rendered("".join(texts), tuple(offsets), tuple(piece.line for piece in pieces))


def around_filter(pieces: Sequence[Piece]) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """What stands before and after the filter's place (the only comment that is left in a body)."""
    place = next((at for at, piece in enumerate(pieces) if piece.token is Token.LINE_COMMENT), len(pieces))
    return pieces[:place], pieces[place + 1 :]
