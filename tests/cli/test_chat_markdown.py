"""Markdown on a terminal, in whichever pieces it comes."""

import pytest

from chatd.cli.markdown_text import BOLD, CODE, DIM, PLAIN, MarkdownText
from chatd.cli.terminal_text import harmless, one_line

SHOWN = {
    "plain words": "plain words",
    "# Owls\nfly": f"{BOLD}Owls{PLAIN}\nfly",
    "a **bold** word": f"a {PLAIN}{BOLD}bold{PLAIN} word",
    "run `make *x*` now": f"run {PLAIN}{CODE}make *x*{PLAIN} now",
    "- one\n  * two\n+ three": "• one\n  • two\n• three",
    "2 * 3 * 4": "2 * 3 * 4",
    "**open\nnext": f"{PLAIN}{BOLD}open{PLAIN}\nnext",
    "#hash and -dash": "#hash and -dash",
    "```py\nif **x:\n```\nend": f"{DIM}```py{PLAIN}\n{CODE}if **x:{PLAIN}\n{DIM}```{PLAIN}\nend",
    "ends with *": "ends with *",
    "---\n": "---\n",
    "`a` and **b**\n": f"{PLAIN}{CODE}a{PLAIN} and {PLAIN}{BOLD}b{PLAIN}\n",
}


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("text", SHOWN)
def test_marks_become_styles_however_the_text_is_cut(text: str, size: int):
    markdown = MarkdownText()
    said = "".join(markdown.feed(text[at : at + size]) for at in range(0, len(text), size)) + markdown.finish()

    assert said == SHOWN[text]


def test_nothing_in_a_text_can_command_the_terminal():
    assert harmless("a\x1b[2Jb\x9b31mc\r\u202ed\te\n") == "a[2Jb31mcd\te\n"
    assert one_line("  two \n lines ", 20) == "two lines"
    assert one_line("x" * 30, 10) == "x" * 9 + "…"
