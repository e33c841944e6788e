"""Prompts that people write for every turn of theirs or of the deployment: cleaned of what nobody sees, and bounded."""

import re
import unicodedata
from typing import Final

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.valid_text import valid_text

MOST_BYTES: Final = 131_072  # of UTF-8: about thirty thousand words, which every turn pays for

_JOINERS: Final = "\u200c\u200d"  # emoji and several scripts are written with them
_NUMBER_MARKS: Final = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # have a shape
)
_KEPT: Final = frozenset("\n\t" + _JOINERS + _NUMBER_MARKS)
_UNSEEN: Final = frozenset({"Cc", "Cf"})  # control and format: bidirectional overrides, zero widths, tag characters
_LINE_ENDS: Final = re.compile("\r\n?|\u2028|\u2029|\x85")
_EMPTY_LINES: Final = re.compile(r"\n[ \t]*\n[ \t\n]*\n")


def cleaned(text: str) -> str:
    """What a reader of the prompt sees is all there is: no characters that hide text from people but not from models,
    one kind of line end, at most one empty line in a row, nothing around it."""
    lines = _LINE_ENDS.sub("\n", valid_text(text))
    seen = "".join(char for char in lines if char in _KEPT or unicodedata.category(char) not in _UNSEEN)
    return _EMPTY_LINES.sub("\n\n", seen).strip()


def checked_prompt(text: str, *, field: str) -> str:
    """The cleaned text. Raises InvalidRequest when it is too long; `field` is what the request calls it."""
    prompt = cleaned(text)
    size = len(prompt.encode())
    if size > MOST_BYTES:
        detail = f"must have at most {MOST_BYTES} bytes, but has {size}"
        raise InvalidRequest("The prompt is too long.", validations=[Validation(field, detail)])
    return prompt
