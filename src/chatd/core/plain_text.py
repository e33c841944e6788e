"""Text by others made fit for a prompt: nothing in it that people can't see, and no end of the frame that it stands in.

What is invisible on a screen can still be read by a model, and has been used to tell models what people did not write.
"""

import re
import unicodedata
from typing import Final

from chatd.core.cut import cut_middle
from chatd.core.valid_text import valid_text

_KEPT: Final = frozenset("\n\t\u200c\u200d")  # the joiners are part of emoji and of several scripts
_LINE_ENDS: Final = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_INVISIBLE: Final = frozenset({"Cc", "Cf"})  # control and format characters, among them those that turn text around


def plain(text: str, most_bytes: int) -> str:
    """One kind of line end, no invisible characters, no blank ends, cut to size."""
    return cut_middle(_visible(text), most_bytes).text.strip()


def one_line(text: str, most_bytes: int) -> str:
    """As `plain`, on a single line."""
    return " ".join(plain(text, most_bytes).split())


def without_comments(text: str) -> str:
    """Without HTML comments, which a rendered page does not show. One that never ends stays."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        pieces.append(text[at:start])
        at = end + 3
    return "".join((*pieces, text[at:]))


def framed(tag: str, text: str, attributes: str = "") -> str:
    """Between tags, of which the text itself can write none."""
    harmless = re.sub(rf"<(?=\s*/?\s*{re.escape(tag)}\b)", "&lt;", text, flags=re.IGNORECASE)
    return f"<{tag}{attributes}>\n{harmless}\n</{tag}>"


def attribute(name: str, value: str, most_bytes: int) -> str:
    """` name="value"`, or nothing for an empty value."""
    said = one_line(value, most_bytes).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f' {name}="{said}"' if said else ""


def _visible(text: str) -> str:
    text = _LINE_ENDS.sub("\n", valid_text(text))
    hidden = [char for char in set(text) - _KEPT if unicodedata.category(char) in _INVISIBLE]
    return text.translate({ord(char): None for char in hidden}) if hidden else text
