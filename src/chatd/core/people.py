"""What a user, a password and a token look like: the checks that need no database."""

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from chatd.core.access import SCOPES
from chatd.core.errors import InvalidRequest, Validation

PASSWORD_SHORTEST: Final = 8  # the least that NIST SP 800-63B accepts
PASSWORD_LONGEST: Final = 1024  # hashing must not become a way to keep the server busy
_EMAIL: Final = re.compile(r"^[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+$")
EMAIL_LONGEST: Final = 254  # RFC 5321
NAME_PATTERN: Final = r"^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,30}[a-zA-Z0-9])?$"  # the database checks the same
_NAME: Final = re.compile(NAME_PATTERN)
NAME_RULE: Final = "1 to 32 letters, digits, dots, dashes or underscores; a letter or digit at both ends"
_LOOKS_LIKE_AN_ID: Final = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_RESERVED_USERNAMES: Final = frozenset({"me", "first", "login", "logout", "new"})  # they would hide a route
DISPLAY_NAME_LONGEST: Final = 128
TOKEN_NAME_LONGEST: Final = 64

# Passwords that every guessing list starts with; the length rule alone would let them in.
_GUESSED_FIRST: Final = frozenset(
    {"password", "passwort", "12345678", "123456789", "1234567890", "qwertyui", "qwerty123", "iloveyou", "password1",
     "11111111", "00000000", "adminadmin", "letmein1", "changeme", "changeme1", "password123", "sunshine"}
)  # fmt: skip


def check_profile(*, email: str, username: str, display_name: str) -> None:
    """Raise InvalidRequest naming every field that is wrong."""
    wrong: list[Validation] = []
    if len(email) > EMAIL_LONGEST or not _EMAIL.fullmatch(email) or not _printable(email):
        wrong.append(Validation("email", "an email address, like ada@example.com"))
    if not _NAME.fullmatch(username):
        wrong.append(Validation("username", NAME_RULE))
    elif username.lower() in _RESERVED_USERNAMES or _LOOKS_LIKE_AN_ID.fullmatch(username):
        wrong.append(Validation("username", "this name is reserved"))
    wrong.extend(_display_name_problems(display_name))
    _refuse(wrong)


def check_group(*, name: str, display_name: str) -> None:
    wrong: list[Validation] = []
    if not _NAME.fullmatch(name):
        wrong.append(Validation("name", NAME_RULE))
    wrong.extend(_display_name_problems(display_name))
    _refuse(wrong)


def check_password(password: str, *, field: str = "password") -> None:
    """Length and the most guessed ones; no rules about kinds of characters, which only make passwords worse."""
    if not PASSWORD_SHORTEST <= len(password) <= PASSWORD_LONGEST:
        _refuse([Validation(field, f"{PASSWORD_SHORTEST} to {PASSWORD_LONGEST} characters")])
    if password.lower() in _GUESSED_FIRST:
        _refuse([Validation(field, "this password is among the first that anyone tries")])
    try:
        password.encode()
    except UnicodeEncodeError:
        _refuse([Validation(field, "text without broken characters")])


def check_token(*, name: str, scopes: Collection[str]) -> None:
    wrong: list[Validation] = []
    if not 1 <= len(name) <= TOKEN_NAME_LONGEST or not _printable(name) or name != name.strip():
        wrong.append(Validation("name", f"1 to {TOKEN_NAME_LONGEST} printable characters"))
    unknown = sorted(set(scopes) - SCOPES)
    if not scopes:
        wrong.append(Validation("scopes", "at least one"))
    elif unknown:
        wrong.append(
            Validation("scopes", f"unknown: {', '.join(unknown)[:200]}; use kind:action, like user:read or *:*")
        )
    _refuse(wrong)


def _display_name_problems(display_name: str) -> list[Validation]:
    if len(display_name) > DISPLAY_NAME_LONGEST or not _printable(display_name):
        return [Validation("display_name", f"at most {DISPLAY_NAME_LONGEST} printable characters")]
    return []


def _printable(text: str) -> bool:
    """No control characters, lone surrogates or unassigned code points: Postgres and terminals can't take them."""
    return not any(unicodedata.category(char) in ("Cc", "Cs", "Cn") for char in text)


def _refuse(wrong: list[Validation]) -> None:
    if wrong:
        raise InvalidRequest(f"Check {', '.join(validation.field for validation in wrong)}.", validations=wrong)
