"""The README of a template, as models are shown it."""

import re
from typing import Final

from chatd.core.plain_text import plain, without_comments

_MOST_READ_BYTES: Final = 64 * 1024
_FRONT: Final = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)


def shown_readme(readme: str, most_characters: int) -> str:
    """Without what stands before the text (front matter, comments); cut at its end. Front matter that never ends is
    text."""
    text = readme.lstrip("\ufeff \t\r\n").replace("\r\n", "\n")
    said = plain(without_comments(_FRONT.sub("", text, count=1)), _MOST_READ_BYTES)
    return said if len(said) <= most_characters else said[: most_characters - 1].rstrip() + "…"
