"""Text by others on a terminal: what would move the cursor, change colours or turn text around is taken out, and bytes
that are no text are shown as such."""

import re
import unicodedata
from typing import Final

_TAB: Final = " " * 4
_KEPT: Final = (0x09, 0x0A)  # tab and line feed
_CONTROLS: Final = (*range(0x20), *range(0x7F, 0xA0))  # C0, delete, C1
_TURNS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # embeddings, overrides and isolates of directions
_NO_TEXT: Final = range(0xD800, 0xE000)  # how Python has bytes of names that are no UTF-8; they can't be printed
_TAKEN_OUT: Final = {code: None for code in (*_CONTROLS, *_TURNS) if code not in _KEPT} | dict.fromkeys(
    _NO_TEXT, "\ufffd"
)
# Whole ones are taken out with what they say, so that coloured output does not leave `[31m` behind: commands (CSI), and
# strings such as titles, links and the clipboard (OSC, DCS and their kin), if they end.
_SEQUENCES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]+[0-~]"
)


def harmless(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or not text.isascii():
        text = _SEQUENCES.sub("", text)
    return text.translate(_TAKEN_OUT)


def one_line(text: str, most: int) -> str:
    """Harmless, on one line of at most so many columns."""
    return _cut(" ".join(harmless(text).split()), most)


def cut_line(line: str, most: int) -> str:
    """As `one_line`, with its spaces: they are what output is laid out by. Of those at its begin, half a line."""
    line = harmless(line.replace("\t", _TAB)).rstrip().replace("\n", " ")
    words = line.lstrip(" ")
    indent = min(len(line) - len(words), most // 2)
    return " " * indent + _cut(words, most - indent)


def cells(text: str) -> int:
    """How many columns it takes: two for a wide character, none for what sits on another one."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(char) for char in text)


def _cut(text: str, most: int) -> str:
    if len(text) * 2 <= most or cells(text) <= most:
        return text
    taken, width = 0, 0
    while taken < len(text) and width + cells(text[taken]) < most:
        width += cells(text[taken])
        taken += 1
    return f"{text[:taken]}…"


def _cells_of(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
