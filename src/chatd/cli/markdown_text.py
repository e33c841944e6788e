"""Markdown on a terminal while it is still coming: headings, bold, code and bullets; all else stays as it is written.

A mark is held until the next characters tell what it is. Lines are broken between words, but for code and tables.
"""

import re
from typing import Final

from chatd.cli.word_wrap import WordWrap

BOLD: Final = "\x1b[1m"
DIM: Final = "\x1b[2m"
CODE: Final = "\x1b[36m"
PLAIN: Final = "\x1b[0m"
_FENCE: Final = "```"
# What may still become a fence, a heading or a bullet.
_UNDECIDED: Final = re.compile(r" {0,12}(`{1,2}|#{1,6}|[-*+])?")
_HEADING: Final = re.compile(r" {0,3}#{1,6} ")
_BULLET: Final = re.compile(r"( {0,12})[-*+] ")


class MarkdownText:
    """`feed` gives what to print now, `finish` the rest; one text for each. Without a width no line is broken."""

    def __init__(self, width: int | None = None, *, in_fence: bool = False) -> None:
        self._wrap = None if width is None else WordWrap(width)
        self._held = ""
        self._is_table = False  # this line
        self._at_start = True  # of a line
        self.in_fence = in_fence  # between two lines of code
        self._line_style = ""  # until the line ends
        self._is_bold = False
        self._is_code = False

    def feed(self, text: str) -> str:
        if self._wrap is None:
            return "".join([self._next(char) for char in text])
        said = ""
        run, is_verbatim = "", False
        for char in text:
            more = self._next(char)
            if self._is_verbatim is not is_verbatim:
                said += self._wrap.feed(run, verbatim=is_verbatim)
                run, is_verbatim = "", self._is_verbatim
            run += more
        return said + self._wrap.feed(run, verbatim=is_verbatim)

    def finish(self) -> str:
        left = self._held + (PLAIN if self._is_styled else "")
        return left if self._wrap is None else self._wrap.feed(left)

    @property
    def _is_verbatim(self) -> bool:
        return self._is_table or self._line_style in (DIM, CODE)

    @property
    def _is_styled(self) -> bool:
        return bool(self._line_style) or self._is_bold or self._is_code

    def _next(self, char: str) -> str:
        if char == "\n":
            return self._end_line()
        self._held += char
        if self._at_start:
            return self._begin_line()
        return self._inline()

    def _begin_line(self) -> str:
        held = self._held
        if _UNDECIDED.fullmatch(held):
            return ""
        self._at_start, self._held = False, ""
        self._is_table = held.lstrip().startswith("|")
        if held.strip() == _FENCE:
            self.in_fence = not self.in_fence
            self._line_style = DIM
            return f"{DIM}{held}"
        if self.in_fence:
            self._line_style = CODE
            return f"{CODE}{held}"
        if _HEADING.fullmatch(held):
            self._line_style = BOLD
            return BOLD
        if bullet := _BULLET.fullmatch(held):
            return f"{bullet[1]}• "
        return self._inline_all(held)

    def _inline_all(self, text: str) -> str:
        said = ""
        for char in text:
            self._held += char
            said += self._inline()
        return said

    def _inline(self) -> str:
        """Of what is held: one character, or two of which the first is a star."""
        held, self._held = self._held, ""
        if self._line_style in (DIM, CODE):
            return held
        if held == "`":
            self._is_code = not self._is_code
            return self._styles()
        if self._is_code:
            return held
        if held == "*":
            self._held = held
            return ""
        if held == "**":
            self._is_bold = not self._is_bold
            return self._styles()
        if held.startswith("*"):
            return "*" + self._inline_all(held[1:])
        return held

    def _styles(self) -> str:
        return PLAIN + self._line_style + (BOLD if self._is_bold else "") + (CODE if self._is_code else "")

    def _end_line(self) -> str:
        """Styles end with their line: a mark without its partner does not colour all that follows."""
        said = self._held
        if self._at_start and self.in_fence:
            said = f"{CODE}{said}{PLAIN}" if said else ""
        elif self._is_styled:
            said += PLAIN
        self._held, self._at_start, self._line_style, self._is_table = "", True, "", False
        self._is_bold = self._is_code = False
        return f"{said}\n"
