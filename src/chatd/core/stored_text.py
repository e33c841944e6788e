"""Any text in a form that Postgres can hold: JSONB takes neither U+0000 nor a lone surrogate.

Both come out of tools and models: a NUL in binary output, a lone surrogate from half an emoji or, by `surrogateescape`,
for a byte that is not UTF-8. The escape is U+E000, which is private use, so ordinary text is stored as it is:

  U+0000            U+E000 U+E001
  U+D800 .. U+DFFF  U+E000, then U+E800 .. U+EFFF
  U+E000            U+E000 U+E000
"""

import re
from typing import Final

_ESCAPE: Final = "\ue000"
_NUL_MARK: Final = "\ue001"
# From the first surrogate, U+D800, to the first of as many private-use characters, U+E800.
_SURROGATE_SHIFT: Final = 0x1000

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff\ue000]")
_ESCAPED: Final = re.compile("\ue000([\ue000\ue001\ue800-\uefff])")
# In JSON the escape may be written as a character or spelled out.
_ESCAPE_IN_JSON: Final = re.compile(r"\\u[eE]000")
# A NUL in JSON is spelled out, after an even number of backslashes: `\\u0000` is a backslash and five characters.
_NUL_IN_JSON: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def escape(text: str) -> str:
    """The storable form: UTF-8 can encode it and it has no NUL. Different texts have different forms."""
    return text if _is_plain(text) else _UNSTORABLE.sub(_escaped, text)


def unescape(stored: str) -> str:
    """The text whose storable form this is. A U+E000 that `escape` can't have written stays as it is."""
    return _ESCAPED.sub(_unescaped, stored) if _ESCAPE in stored else stored


def json_may_hold_escapes(json_text: str) -> bool:
    """Whether `unescape` could change a string in this JSON. A false alarm is possible, a miss is not."""
    return _ESCAPE in json_text or _ESCAPE_IN_JSON.search(json_text) is not None


def json_may_need_escapes(json_bytes: bytes) -> bool:
    """Whether `escape` could change a string in this JSON, as msgspec writes it. No miss, as above."""
    # NUL and U+E000; a lone surrogate can't be in UTF-8 at all.
    return b"\\u0000" in json_bytes or b"\xee\x80\x80" in json_bytes


def json_holds_nul(json_text: str) -> bool:
    return _NUL_IN_JSON.search(json_text) is not None


def _is_plain(text: str) -> bool:
    """Whether escaping changes nothing; each step is a scan in C, and most text ends at the second."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    if _ESCAPE in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    if char == _ESCAPE:
        return _ESCAPE + _ESCAPE
    if char == "\0":
        return _ESCAPE + _NUL_MARK
    return _ESCAPE + chr(ord(char) + _SURROGATE_SHIFT)


def _unescaped(found: re.Match[str]) -> str:
    mark = found[1]
    if mark == _ESCAPE:
        return _ESCAPE
    if mark == _NUL_MARK:
        return "\0"
    return chr(ord(mark) - _SURROGATE_SHIFT)
