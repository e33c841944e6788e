"""The head of a SKILL.md: the few of YAML that such heads are written in. Pure."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

_FENCE: Final = "---"
_ENTRY: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ \t]+(.*))?")
_BLOCK: Final = re.compile(r"[|>][+-]?\d?")
_KEBAB: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ESCAPES: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
MOST_NAME: Final = 64
MOST_DESCRIPTION: Final = 4096


class Head(msgspec.Struct, frozen=True):
    name: str
    description: str
    body: str


class BadHead(ValueError):
    """The text says what is wrong with it."""


def head_of(text: str, directory: str) -> Head:
    """Raises BadHead: for a head that is missing, or whose name is not that of the directory."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].strip() != _FENCE:
        raise BadHead("It has to begin with a head between two lines of three dashes.")
    end = next((place for place, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise BadHead("Its head does not end: a line of three dashes is missing.")
    values = _values([line.rstrip("\r\n") for line in lines[1:end]])
    name = values.get("name", "")
    if not _KEBAB.fullmatch(name) or len(name) > MOST_NAME:
        raise BadHead("Its name has to be small letters and digits with single dashes between them.")
    if name != directory:
        raise BadHead(f"Its name is {name}, but its folder has another.")
    return Head(name, values.get("description", "")[:MOST_DESCRIPTION], "".join(lines[end + 1 :]))


def _values(lines: list[str]) -> dict[str, str]:
    """The entries at the left margin; what is nested deeper belongs to the one before, as text."""
    found: dict[str, str] = {}
    place = 0
    while place < len(lines):
        entry = _ENTRY.fullmatch(lines[place])
        place += 1
        nested: list[str] = []
        while place < len(lines) and (not lines[place].strip() or lines[place][:1] in " \t"):
            nested.append(lines[place].strip())
            place += 1
        if entry is not None:
            found.setdefault(entry[1].lower(), _value((entry[2] or "").strip(), nested))
    return found


def _value(first: str, nested: list[str]) -> str:
    if _BLOCK.fullmatch(first):
        return ("\n" if first.startswith("|") else " ").join(nested).strip()
    text = " ".join(filter(None, [first, *nested]))
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
