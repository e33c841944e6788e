"""Where a chat is written to: texts that grow, notes between them, and lines that pass when something else is written.

At a terminal all of it is on one screen. Elsewhere standard output has the answers alone, so that they can be used, and
what is said beside them goes to standard error; thoughts are left out.
"""

import shutil
from collections.abc import Callable, Sequence
from typing import Final, Literal, TextIO

from chatd.cli.markdown_text import BOLD, DIM, PLAIN, MarkdownText
from chatd.cli.terminal_text import cut_line, harmless
from chatd.cli.word_wrap import WordWrap

Kind = Literal["text", "reasoning"]
THOUGHT_LONGEST: Final = 280  # characters: some lines of a thought say what it is about; the answer is what is read
MOST_COLUMNS: Final = 100  # longer lines are hard to read
_ELSEWHERE: Final = 120  # columns for what goes to a file


def _columns() -> int:
    return shutil.get_terminal_size().columns


class TerminalPage:
    """`styled`: the terminal understands styles and moves of its cursor."""

    def __init__(
        self,
        out: TextIO,
        aside: TextIO,
        *,
        is_terminal: bool,
        styled: bool,
        columns: Callable[[], int] = _columns,
    ) -> None:
        self.is_terminal = is_terminal
        self.styled = styled
        self._out = out
        self._aside = aside
        self._columns = columns
        self._open: Kind | None = None  # the text that the cursor stands in
        self._is_midline = False
        self._goes_on = False
        self._passing: list[str] = []  # lines that go with the next word
        self._markdown = MarkdownText()
        self._thought = WordWrap(MOST_COLUMNS)
        self._thought_length = 0

    @property
    def width(self) -> int:
        """Columns of a line. The last one is left alone: a cursor there is in two places at once."""
        return min(self._columns() - 1, MOST_COLUMNS) if self.is_terminal else _ELSEWHERE

    def is_in(self, kind: Kind) -> bool:
        return self._open == kind

    def begin(self, kind: Kind, *, goes_on: bool = False) -> None:
        """A new text, or the rest of one that something came into the middle of."""
        self.close()
        self._goes_on = goes_on
        if kind == "text":
            self._markdown = MarkdownText(self.width, in_fence=goes_on and self._markdown.in_fence)
        else:
            self._thought, self._thought_length = WordWrap(self.width), 0
        if self.is_terminal:
            self._print(self._out, "\n")
        self._open = kind

    def write(self, text: str) -> None:
        """More of the text that was begun."""
        text = harmless(text)
        if self._goes_on:
            text = text.lstrip(" ")  # the line is a new one
        if not text:
            return
        self._goes_on = False
        if self._open == "reasoning":
            self._think(text)
            return
        self._print(self._out, self._markdown.feed(text) if self.styled else text)
        self._is_midline = not text.endswith("\n")

    def close(self) -> None:
        """The text is over: the cursor stands at the begin of a line."""
        self._pass()
        if self._open == "text" and self.styled:
            self._print(self._out, self._markdown.finish())
        if self._is_midline:
            self._print(self._out, "\n")
        self._open, self._is_midline = None, False

    def note(self, *lines: str) -> None:
        """Something beside the chat."""
        if self._aside is self._out:
            self.close()
        for line in lines:
            shown = WordWrap(self.width).feed(harmless(line)) if self.styled else harmless(line)
            self._print(self._aside, f"{self._style(DIM)}{shown}{self._style(PLAIN)}\n")

    def said(self, text: str) -> None:
        """What a person has written, elsewhere or before."""
        self.close()
        if self.is_terminal:
            lines = harmless(text).splitlines()
            marked = [f"{self._style(BOLD)}> {line}{self._style(PLAIN)}\n" for line in lines]
            self._print(self._out, "\n" + "".join(marked))

    def prompt(self) -> None:
        self.close()
        self._print(self._out, f"\n{self._style(BOLD)}>{self._style(PLAIN)} ")
        self._is_midline = True

    def entered(self) -> None:
        """The user has pressed Enter: the terminal has begun a line of its own."""
        self._is_midline, self._passing = False, []
        self.close()

    def passing(self, lines: Sequence[str]) -> None:
        """Lines that the next word takes away. Only where nothing else is being written, and a terminal can do it."""
        if not self.styled or self._is_midline or self._open is not None:
            return
        shown = [cut_line(line, self.width) for line in lines]
        if shown != self._passing:
            self._print(self._out, DIM + "\n".join(shown) + PLAIN)
            self._passing = shown

    def _pass(self) -> None:
        if self._passing:
            up = f"\x1b[{len(self._passing) - 1}A" if len(self._passing) > 1 else ""
            self._passing = []
            self._print(self._out, f"\r{up}\x1b[J")

    def _think(self, text: str) -> None:
        left = THOUGHT_LONGEST - self._thought_length
        self._thought_length += len(text)
        if not self.is_terminal or left <= 0:
            return
        shown = text[:left].replace("\n", " ") + (" …" if len(text) > left else "")
        self._print(self._out, f"{DIM}{self._thought.feed(shown)}{PLAIN}" if self.styled else shown)
        self._is_midline = True

    def _style(self, code: str) -> str:
        return code if self.styled else ""

    def _print(self, to: TextIO, text: str) -> None:
        if to is self._out:
            self._pass()
        to.write(text)
        to.flush()
