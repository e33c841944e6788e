"""Text that every vendor and every reader takes: without half characters, which UTF-8 can't hold."""

import re
from typing import Final

REPLACEMENT: Final = "\ufffd"
_HALVES: Final = re.compile("(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])")
_ESCAPES: Final = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\.",  # any other escape, so that none is read from its middle
    re.DOTALL,
)


def valid_text(text: str) -> str:
    """With U+FFFD for each half of a character; two halves that belong together become the character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        pairs = _HALVES.sub(REPLACEMENT, text)
        return pairs.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return text


def valid_json_text(json_text: str) -> str:
    """The same for JSON, in which a half may be spelled out too. All else stays as it is written."""
    text = valid_text(json_text)
    return _ESCAPES.sub(_mended, text) if _may_spell_a_half(text) else text


def holds_half_characters(json_text: str) -> bool:
    """Whether JSON has a half of a character in it, as itself or spelled out."""
    if valid_text(json_text) is not json_text:
        return True
    return _may_spell_a_half(json_text) and any(found["half"] for found in _ESCAPES.finditer(json_text))


def _may_spell_a_half(json_text: str) -> bool:
    return "\\ud" in json_text or "\\uD" in json_text


def _mended(found: re.Match[str]) -> str:
    return r"\ufffd" if found["half"] else found[0]
