"""Markdown on a terminal, in whichever pieces it comes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.cli.markdown_text import BOLD, CODE, DIM, PLAIN, MarkdownText
from chatd.cli.terminal_text import cut_line, harmless, one_line
from chatd.cli.word_wrap import WordWrap

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
    assert harmless("a\x1b[2Jb\x9b31mc\r\u202ed\te\n") == "abcd\te\n"
    assert harmless("\x1b]0;a title\x07x\x1b]8;;http://y\x1b\\z\x1b(B\x1bc") == "xzc"
    assert harmless("cut \x1b]52;c;aGVsbG8") == "cut ]52;c;aGVsbG8", "one that does not end is only made harmless"
    assert harmless("\x1b[1m\x1b[") == "["
    assert harmless("\x9dx\x90" * 100_000) == "x" * 100_000, "and that takes no time"
    assert one_line("  two \n lines ", 20) == "two lines"
    assert one_line("x" * 30, 10) == "x" * 9 + "…"
    assert one_line("日本語日本語", 8) == "日本語…"
    assert cut_line("    if x:\t\n", 10) == "    if x:"
    assert cut_line("drwx 2   60 .", 20) == "drwx 2   60 .", "columns stay below each other"
    assert cut_line("a    b    c", 8) == "a    b …"


@given(st.text(alphabet=st.sampled_from("ab \n\x1b[]0;m\x07\x9b\x9d\\\x00\x7f\u202e"), max_size=60))
def test_no_control_is_left_whatever_it_is_made_of(text: str):
    left = harmless(text)

    assert not set(left) & set("\x1b\x07\x9b\x9d\x00\x7f\u202e")
    assert left.count("a") + left.count("b") <= text.count("a") + text.count("b")


class Glass:
    """The least of a terminal: letters, line ends, the cursor back, and the rest of a line taken away."""

    def __init__(self, text: str) -> None:
        self.lines = [""]
        column = 0
        for token in re.findall(r"\x1b\[\d*[a-zA-Z]|.", text, re.DOTALL):
            if token == "\n":
                self.lines.append("")
                column = 0
            elif token.startswith("\x1b"):
                if token.endswith("D"):
                    column -= int(token[2:-1])
                elif token.endswith("K"):
                    self.lines[-1] = self.lines[-1][:column]
            else:
                self.lines[-1] = self.lines[-1][:column] + token
                column += 1


@given(
    words=st.lists(st.text(alphabet="abc", min_size=1, max_size=30), min_size=1, max_size=30),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=50),
    width=st.integers(20, 40),
)
def test_lines_end_between_words_in_whichever_pieces_they_come(words: list[str], cuts: list[int], width: int):
    text, wrap, said = " ".join(words), WordWrap(width), ""
    while text:
        size = cuts[len(text) % len(cuts)]
        said += wrap.feed(text[:size])
        text = text[size:]
        shown = Glass(said).lines
        assert "".join(shown).replace(" ", "") == "".join(words)[: len("".join(shown).replace(" ", ""))]
    lines = Glass(said).lines

    assert all(len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(words), "nothing is lost or doubled"
    if all(len(word) <= width for word in words):
        assert " ".join(line.strip() for line in lines).split() == words, "no word is broken"


def test_items_of_lists_go_on_under_themselves_and_code_is_left_alone():
    markdown = MarkdownText(24)
    said = markdown.feed("- one two three four five six\n\n1. one two three four five\n```\n")
    said += markdown.feed("a line of code that is long\n```\n| a table | that is | wide |\n") + markdown.finish()

    assert Glass(said).lines == [
        "• one two three four",
        "  five six",
        "",
        "1. one two three four",
        "   five",
        "```",
        "a line of code that is long",
        "```",
        "| a table | that is | wide |",
        "",
    ]


def test_code_that_something_came_into_the_middle_of_goes_on_as_code():
    first = MarkdownText()
    first.feed("```\none\n")
    first.finish()
    rest = MarkdownText(in_fence=first.in_fence)

    assert rest.feed("two\n```\nend") == f"{CODE}two{PLAIN}\n{DIM}```{PLAIN}\nend"
