"""What a list of chats is asked for: `key:value` terms in one text, and labels."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from chatd.core.errors import InvalidRequest, Validation

LONGEST: Final = 1000  # characters of a whole question
MOST_LABELS: Final = 20

_INNER: Final = r'(?:\\["\\]|[^"])*'  # of quotes: \" is one, and \\ a backslash
_QUOTED: Final = re.compile(rf'"({_INNER})"?')
_TERM: Final = re.compile(rf'(?:[^\s"]|"{_INNER}"?)+')
_ESCAPED: Final = re.compile(r'\\(["\\])')
# A minus says "not", and Postgres refuses more than 32 of them in a row. Nobody means so many: it is a ruled line.
_RULED_LINE: Final = re.compile(r"(?:-[\s!&|()]*){16,}")
_BOOLS: Final = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
_OURS: Final = frozenset({"created_by_me", "shared_with_me"})
_STATUSES: Final = ("waiting", "running", "interrupting", "requires_action", "error")
_PULL_REQUESTS: Final = ("open", "draft", "merged", "closed")
_KEYS: Final = ("title", "search", "archived", "has_unread", "status", "pr_status")


class ChatSearch(msgspec.Struct, frozen=True, kw_only=True):
    """`words` are looked for in titles and messages, in the syntax of web searches. `statuses`, `pull_requests`: it is
    in one of these. `only_shared`: those that others share, which nobody can do yet."""

    title: str | None = None
    words: str | None = None
    archived: bool = False
    has_unread: bool | None = None
    statuses: tuple[str, ...] | None = None
    pull_requests: tuple[str, ...] | None = None
    only_shared: bool = False


def read_search(text: str) -> ChatSearch:
    """Keys in any case, each at most once but `source`; a value with spaces stands in quotes. Raises InvalidRequest."""
    if len(text) > LONGEST or "\0" in text:
        raise _wrong(f"at most {LONGEST} characters, none of them NUL")
    found: dict[str, str] = {}
    sources: set[str] = set()
    for term in _TERM.findall(text):
        key, colon, quoted = term.partition(":")
        value = _QUOTED.sub(lambda found: _ESCAPED.sub(r"\1", found[1]), quoted)
        key = key.lower()
        if not colon or not key or not value:
            raise _wrong(f"terms such as archived:true, not {term[:50]!r}")
        if key == "source":
            sources |= set(value.split(","))
        elif key not in _KEYS:
            raise _wrong(f"{', '.join(_KEYS)} or source, not {key[:50]!r}")
        elif key in found:
            raise _wrong(f"{key} once")
        else:
            found[key] = value
    if sources - _OURS:
        raise _wrong("source:created_by_me or source:shared_with_me")
    if "search" in found and "title" in found:
        raise _wrong("either search or title: search looks at titles too")
    return ChatSearch(
        title=found.get("title"),
        words=found.get("search"),
        archived=_bool(found, "archived") or False,
        has_unread=_bool(found, "has_unread"),
        statuses=_some_of(found, "status", _STATUSES),
        pull_requests=_some_of(found, "pr_status", _PULL_REQUESTS),
        only_shared=sources == {"shared_with_me"},
    )


def search_term(words: str) -> str:
    """The term that looks for these words, whatever is in them."""
    escaped = words.replace("\\", "\\\\").replace('"', '\\"')
    return f'search:"{escaped}"'


def askable(words: str) -> str:
    """Words as the database can be asked for them."""
    return _RULED_LINE.sub(" ", words)


def read_labels(given: Iterable[str]) -> dict[str, str]:
    """Of `key:value`, all of which a chat must have. Raises InvalidRequest."""
    labels: dict[str, str] = {}
    for label in given:
        key, _, value = label.partition(":")
        if not key or not value or "\0" in label or len(label) > LONGEST or len(labels) >= MOST_LABELS:
            rule = f"at most {MOST_LABELS} of the form key:value"
            raise InvalidRequest("Check label.", validations=[Validation("label", rule)])
        if labels.setdefault(key, value) != value:
            raise InvalidRequest("Check label.", validations=[Validation("label", "each key with one value")])
    return labels


def _bool(found: dict[str, str], key: str) -> bool | None:
    if key not in found:
        return None
    value = _BOOLS.get(found[key].lower())
    if value is None:
        raise _wrong(f"{key}:true or {key}:false")
    return value


def _some_of(found: dict[str, str], key: str, known: tuple[str, ...]) -> tuple[str, ...] | None:
    """One or several, with commas between them."""
    if key not in found:
        return None
    values = set(found[key].lower().split(","))
    if not values <= set(known):
        raise _wrong(f"{key} with any of {', '.join(known)}")
    return tuple(value for value in known if value in values)


def _wrong(rule: str) -> InvalidRequest:
    return InvalidRequest("Check q.", validations=[Validation("q", rule)])
