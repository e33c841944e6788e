"""Rules of what people set for a chat: its title, labels, and the tools that its client runs."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from chatd.core.errors import InvalidRequest, Validation

TITLE_LONGEST: Final = 200  # characters, as in the database
MOST_LABELS: Final = 50
LABEL_KEY_PATTERN: Final = r"^[a-zA-Z0-9][a-zA-Z0-9._/-]*$"
LABEL_KEY_LONGEST: Final = 64  # bytes
LABEL_VALUE_LONGEST: Final = 256  # bytes
MOST_CLIENT_TOOLS: Final = 250  # what the vendors take is less, and theirs to say

_LABEL_KEY: Final = re.compile(LABEL_KEY_PATTERN)


def checked_title(title: str) -> str:
    """Without blanks around it. Raises InvalidRequest."""
    trimmed = title.strip()
    if not 1 <= len(trimmed) <= TITLE_LONGEST or not _is_storable(trimmed):
        rule = f"1 to {TITLE_LONGEST} characters, none of them NUL"
        raise InvalidRequest("Check title.", validations=[Validation("title", rule)])
    return trimmed


def check_labels(labels: Mapping[str, str]) -> None:
    """Raises InvalidRequest that names every wrong label."""
    problems: list[Validation] = []
    if len(labels) > MOST_LABELS:
        problems.append(Validation("labels", f"at most {MOST_LABELS}"))
    for key, value in list(labels.items())[:MOST_LABELS]:
        if not _LABEL_KEY.fullmatch(key) or len(key) > LABEL_KEY_LONGEST:
            rule = f"a name of at most {LABEL_KEY_LONGEST} letters, digits and ._/- that begins with a letter or digit"
            problems.append(Validation("labels", rule))
        elif not 1 <= len(value.encode(errors="surrogatepass")) <= LABEL_VALUE_LONGEST or not _is_storable(value):
            problems.append(Validation(f"labels.{key}", f"1 to {LABEL_VALUE_LONGEST} bytes, none of them NUL"))
    if problems:
        raise InvalidRequest("Check labels.", validations=problems)


def check_client_tools(names: Sequence[str], *, field: str) -> None:
    """Of the tools that a client runs. Raises InvalidRequest."""
    problems: list[Validation] = []
    if len(names) > MOST_CLIENT_TOOLS:
        problems.append(Validation(field, f"at most {MOST_CLIENT_TOOLS}"))
    known: set[str] = set()
    for place, name in enumerate(names[:MOST_CLIENT_TOOLS]):
        if not name.strip():
            problems.append(Validation(f"{field}[{place}].name", "needed"))
        elif name in known:
            problems.append(Validation(f"{field}[{place}].name", "another tool has this name"))
        known.add(name)
    if problems:
        raise InvalidRequest(f"Check {field}.", validations=problems)


def _is_storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
