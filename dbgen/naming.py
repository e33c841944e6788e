"""Names: table to class, constraint to enum member, class to words for a message."""

import keyword
import re

# Plurals that the simple rules below get wrong.
_SINGULARS = {
    "aliases": "alias",
    "caches": "cache",
    "children": "child",
    "people": "person",
    "series": "series",
}
_ACRONYMS = {
    "ai": "AI",
    "api": "API",
    "id": "ID",
    "mcp": "MCP",
    "oauth": "OAuth",
    "oidc": "OIDC",
    "url": "URL",
}
# Generated code annotates with these; a column of the same name would hide the type inside its class.
PYTHON_TYPE_NAMES = frozenset({"bool", "bytes", "date", "datetime", "float", "int", "list", "str", "timedelta"})


def singular(plural: str) -> str:
    """The last word of a snake_case name in the singular: `api_tokens` is `api_token`."""
    first, underscore, last = plural.rpartition("_")
    return first + underscore + _SINGULARS.get(last, _without_s(last))


def _without_s(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    if word.endswith(("sses", "uses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith(("ss", "us", "is")):
        return word
    return word.removesuffix("s")


def camel(snake: str) -> str:
    """`api_token` as a class name: `ApiToken`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", snake) if part)


def words(snake: str) -> str:
    """`api_token` as the start of a sentence: `API token`."""
    parts = [_ACRONYMS.get(part, part) for part in snake.split("_") if part]
    text = " ".join(parts)
    return text[:1].upper() + text[1:]


def member(name: str) -> str:
    """An enum member's name for any text: upper case, underscores for what a name can't have."""
    spaced = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_").upper()
    return f"N_{spaced}" if not spaced or spaced[0].isdigit() else spaced


def is_field_name(name: str) -> bool:
    """Whether a column's name can be a struct's field."""
    return (
        re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*", name) is not None
        and not keyword.iskeyword(name)
        and name not in PYTHON_TYPE_NAMES
    )
