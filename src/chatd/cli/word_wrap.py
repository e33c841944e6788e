"""Words that come in pieces onto lines of a terminal: each is shown at once, and moved if the rest of it does not fit.

Takes text with styles in it (`\\x1b[…m`), and nothing else that a terminal understands.
"""

import re
from typing import Final

from chatd.cli.terminal_text import cells

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")
_TOKENS: Final = re.compile(r"\x1b\[[0-9;]*m|[ \t]+|.", re.DOTALL)
_MARKER: Final = re.compile(r"[•>]|\d{1,4}[.)]")  # what an item of a list begins with
_TAB: Final = " " * 4
_NARROWEST: Final = 20  # columns: what is narrower shows letters, whatever is done


class WordWrap:
    """For lines of at most `width` columns. That is less than the terminal has: in its last one a cursor is in two
    places at once. `feed` gives what to print."""

    def __init__(self, width: int) -> None:
        self._width = max(width, _NARROWEST)
        self._begin_line()

    def feed(self, text: str, *, verbatim: bool = False) -> str:
        """`verbatim`: as it is, however long."""
        return "".join([self._next(token, verbatim) for token in _TOKENS.findall(text)]) + self._show()

    def _begin_line(self) -> None:
        self._column = 0
        self._indent: int | None = None  # of the lines that this one goes on in; told by its first word
        self._gap = 0  # spaces before the word
        self._begin_word()

    def _begin_word(self, text: str = "", width: int = 0) -> None:
        self._word = text  # with its styles
        self._cells = width
        self._shown = 0  # characters of it that are printed
        self._back = 0  # columns from the cursor to before its gap

    def _next(self, token: str, verbatim: bool) -> str:
        if token == "\n":
            said = self._end_word()
            self._begin_line()
            return f"{said}\n"
        if _STYLE.match(token):
            self._word += token
            return ""
        if token.isspace():
            said = self._end_word()
            self._gap += len(token.replace("\t", _TAB))
            return said
        width = cells(token)
        said = self._end_word() if width == 2 else ""  # scripts with such letters break anywhere
        self._word += token
        self._cells += width
        if not verbatim and self._column + self._gap + self._cells > self._width:
            said += self._break(token, width)
        return said

    def _break(self, token: str, width: int) -> str:
        indent = self._indent or 0
        if self._column > indent:
            said = f"\x1b[{self._back}D\x1b[K" if self._back else ""
            self._begin_word(self._word, self._cells)
        else:  # it is longer than a line
            self._word, self._cells = self._word.removesuffix(token), self._cells - width
            said = self._end_word()
            self._begin_word(token, width)
        self._column, self._gap = indent, 0
        return f"{said}\n{' ' * indent}"

    def _show(self) -> str:
        """What has come of the word so far."""
        rest = self._word[self._shown :]
        self._shown = len(self._word)
        if not rest or not self._cells:
            return rest  # styles at most: the gap waits for a word
        gap = "" if self._back else " " * self._gap
        self._back = self._gap + self._cells
        return gap + rest

    def _end_word(self) -> str:
        said = self._show()
        if self._cells:
            if self._indent is None:
                is_item = _MARKER.fullmatch(_STYLE.sub("", self._word))
                indent = self._gap + (self._cells + 1 if is_item else 0)
                self._indent = indent if indent < self._width // 2 else 0
            self._column += self._gap + self._cells
            self._gap = 0
        self._begin_word()
        return said
