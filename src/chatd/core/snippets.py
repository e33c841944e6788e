"""A piece of a text around what was looked for in it, with the places of the words that were found."""

from typing import Final

import msgspec

from chatd.core.stored_text import unescape
from chatd.core.valid_text import valid_text

# What the database puts around each word. Texts have none of these: they are taken out before.
BEGIN: Final = "\x01"
END: Final = "\x02"
LESS: Final = "\ue002"  # in place of `<`, which would begin a tag of HTML


class Snippet(msgspec.Struct, frozen=True):
    """`marks` are pairs of places in `text`, counted in characters: from the first of a word to after its last."""

    text: str
    marks: tuple[tuple[int, int], ...]


def read_snippet(marked: str) -> Snippet:
    """Of what the database wrote. White space becomes single spaces, so that it is one line."""
    text, marks = "", list[tuple[int, int]]()
    for place, piece in enumerate(marked.split(BEGIN)):
        word, found, rest = piece.partition(END)
        if not place or not found:
            word, rest = "", piece
        text += _line(word[: len(word) - len(word.lstrip())], after=text)
        start = len(text)
        text += _line(word.strip(), after=text)
        if len(text) > start:
            marks.append((start, len(text)))
            rest = word[len(word.rstrip()) :] + rest
        text += _line(rest.replace(END, ""), after=text)
    return Snippet(text.rstrip(), tuple(marks))


def _line(piece: str, *, after: str) -> str:
    """The piece on one line, to be put after another."""
    said = " ".join(valid_text(unescape(piece.replace(LESS, "<"))).split())
    has_gap = piece[:1].isspace() and after and not after.endswith(" ")
    return (" " if has_gap else "") + said + (" " if said and piece[-1:].isspace() else "")
