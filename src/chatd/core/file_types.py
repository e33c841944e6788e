"""What an uploaded file is: told by its content, checked against what it was said to be."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from chatd.core.errors import InvalidRequest

MOST_BYTES: Final = 10 * 1024 * 1024  # of one file: vendors refuse more
_NAME_BYTES: Final = 255  # as file systems have it

ALLOWED: Final = frozenset(
    {
        "application/json",
        "application/pdf",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "text/csv",
        "text/markdown",
        "text/plain",
    }
)
_ANYTHING: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})  # who uploads does not know
_BY_ENDING: Final[Mapping[str, str]] = {
    ".json": "application/json",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".csv": "text/csv",
}
_TEXTS: Final = frozenset({"text/plain", *_BY_ENDING.values()})
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_SVG: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?svg[\s>/]", re.IGNORECASE)
_BEFORE_ROOT: Final = (("<?", "?>"), ("<!--", "-->"), ("<!", ">"))  # of XML: a prolog, comments, a type
_NO_SPACE: Final = re.compile(r"\S")
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # controls, and what turns text around


def file_name(given: str) -> str:
    """The name as it is stored: no path, no characters that nobody sees. Raises InvalidRequest when nothing is left."""
    name = _UNSEEN.sub("", given.replace("\\", "/").rpartition("/")[2]).strip()
    name = name.encode("utf-8", "ignore")[:_NAME_BYTES].decode("utf-8", "ignore").strip()
    if not name or name in (".", ".."):
        raise InvalidRequest("The file has no name.", detail="Send it in Content-Disposition: filename=…")
    return name


def media_type(name: str, declared: str, data: bytes) -> str:
    """One of ALLOWED. Raises InvalidRequest for what is none, or is something else than was declared."""
    said = declared.partition(";")[0].strip().lower()
    found = _found(name, data)
    if found not in ALLOWED:
        raise InvalidRequest("Files of this type can't be used.", detail=f"Possible are {', '.join(sorted(ALLOWED))}.")
    if said in _ANYTHING or said == found:
        return found
    if found in _TEXTS and said.startswith("text/"):
        return said if said in ALLOWED else found
    raise InvalidRequest("The file is not what it was said to be.", detail=f"It is {found}, and not {said[:100]}.")


def _found(name: str, data: bytes) -> str:
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "application/octet-stream"
    if "\x00" in text:
        return "application/octet-stream"
    if _is_svg(text):
        return "image/svg+xml"
    by_ending = _BY_ENDING.get(_ending(name), "text/plain")
    return "text/plain" if by_ending == "application/json" and not _is_json(text) else by_ending


def _is_svg(text: str) -> bool:
    """A drawing may run scripts where it is shown."""
    place = _past_space(text, 0)
    while end := next((end for begin, end in _BEFORE_ROOT if text.startswith(begin, place)), None):
        found = text.find(end, place)
        if found < 0:
            return False
        place = _past_space(text, found + len(end))
    return _SVG.match(text, place) is not None


def _past_space(text: str, place: int) -> int:
    found = _NO_SPACE.search(text, place)
    return found.start() if found else len(text)


def _ending(name: str) -> str:
    return "." + name.rpartition(".")[2].lower() if "." in name else ""


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True
