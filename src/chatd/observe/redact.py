"""Takes secrets out of what is about to be logged.

Three nets, because each has holes: the name of a key, the type of a value (anything unknown is shown by its
`repr`, and a `Secret` prints as dots), and the look of a text. Cutting comes last, so that a cut never leaves
half a secret that no pattern recognises.
"""

import re
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from typing import Any, cast

import msgspec

DOTS = "•••"

TEXT_LIMIT = 2_000  # characters of one value: a long URL or message fits, a body does not
TRACEBACK_LIMIT = 20_000  # about 200 frames; the end, where the error is, is kept
DEPTH_LIMIT = 6  # deeper nesting in a log line is a mistake, and a cycle must end
ITEMS_LIMIT = 50  # of one list or mapping
_LOOKAHEAD = 4_000  # a secret that starts before a limit is seen whole up to this length before it is cut

# fmt: off
_SECRET_ANYWHERE = frozenset((
    "password", "passwd", "passphrase", "secret", "authorization", "cookie", "session", "apikey",
    "credentials",
))
_SECRET_AT_THE_END = _SECRET_ANYWHERE | frozenset((
    "pwd", "token", "secrets", "cookies", "key", "keys", "dsn", "credential", "signature", "jwt", "bearer",
))
# fmt: on
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_NAMES = r"pass(?:word|wd|phrase)|pwd|secret|token|key|authorization|cookie|session|credential|signature|jwt"
_QUOTED = r"""\\?"(?:[^"\\]|\\.)*\\?"?|\\?'(?:[^'\\]|\\.)*\\?'?"""
_VALUE = rf"""{_QUOTED}|[^\s"'&,;)\]}}]+"""
# What repeats without a bound is followed by nothing that it could have taken itself: the time grows with the length,
# not with its square.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\$argon2[a-z]{0,2}\$[^\s\"']+"), DOTS),
    # Headers and passwords may hold spaces and signs: what is not quoted goes on to the end of the line. With a
    # comma: pairs of ASGI, `(b'cookie', b'…')`.
    (
        re.compile(
            rf"""(?i)((?:authorization|cookie|pass(?:word|wd|phrase))[\w\-]{{0,40}}\\?["']?\s*(?:[=:]|,(?=\s*b?["']))\s*b?)"""
            rf"""(?:{_QUOTED}|[^\r\n]+)"""
        ),
        rf"\1{DOTS}",
    ),
    # A token alone before the @ of a URL; `_hide_passwords` has seen to user:password.
    (re.compile(r"(://)[^\s:/@]+@"), rf"\1{DOTS}@"),
    (re.compile(r"(?i)\b(bearer|basic|digest|negotiate)\s+[A-Za-z0-9._~+/=\-]{4,}"), rf"\1 {DOTS}"),
    # name=value and name: value, quoted or bare, also with the name in quotes as in JSON and reprs; flags with a space.
    (re.compile(rf"""(?i)((?:{_NAMES})[\w\-]{{0,40}}\\?["']?\s*[=:]\s*)(?:{_VALUE})"""), rf"\1{DOTS}"),
    (re.compile(rf"""(?i)((?<![\w\-])--[a-z\-]{{0,40}}(?:{_NAMES})[a-z\-]{{0,40}}\s+)(?:{_VALUE})"""), rf"\1{DOTS}"),
    (re.compile(r"chatd_[A-Za-z0-9_\-.]{8,}"), f"chatd_{DOTS}"),
    # Setup codes.
    (re.compile(r"(?<![\w\-])[A-Z2-9]{4}(?:-[A-Z2-9]{4}){3}(?![\w\-])"), DOTS),
    # The looks of well-known vendors' keys, which turn up in their error messages.
    (re.compile(r"\b(?:sk-|rk-|AIza|ghp_|gho_|ghs_|github_pat_|xox[a-z]-|AKIA)[A-Za-z0-9_\-]{8,}"), DOTS),
    (re.compile(r"(?<![\w\-])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-.]+"), DOTS),
)
_WORD = re.compile(r"\S+")
_USER = re.compile(r"://[^\s:/@]*:")
# Every pattern above needs one of these, and so does a control character: most texts have none and are done.
_SUSPICIOUS = re.compile(
    r"""[:=$'"\x00-\x1f\x7f-\x9f\u2028\u2029]|--|chatd_|[sr]k-|AIza|gh[pos]_|github_|xox|AKIA|eyJ"""
    r"|bearer|basic|digest|negotiate|(?-i:-[A-Z2-9]{4}-[A-Z2-9]{4})",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"(?<!\S)\S+\Z")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROLS_BUT_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@lru_cache(maxsize=1024)  # names come from the code, the same few for every line
def is_secret_name(name: str) -> bool:
    """Whether a value under this name is always hidden. `token_id` and `key_id` name rows and are shown."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and (words[-1] in _SECRET_AT_THE_END or not _SECRET_ANYWHERE.isdisjoint(words))


def redact_text(text: str, *, limit: int = TEXT_LIMIT, keep_lines: bool = False) -> str:
    """The text without secrets, cut, with a count of what is missing.

    With `keep_lines` (a traceback) line ends stay and the end is kept, where it says what went wrong;
    otherwise the result is one line and the start is kept.
    """
    if len(text) <= limit and _SUSPICIOUS.search(text) is None:
        return text
    shown = _window(text, limit + _LOOKAHEAD, keep_end=keep_lines)
    shown = _hide_passwords(shown)
    for pattern, replacement in _PATTERNS:
        shown = pattern.sub(replacement, shown)
    shown = (_CONTROLS_BUT_LINES if keep_lines else _CONTROLS).sub(_escape, shown)
    if len(text) <= limit:
        return shown
    shown = shown[-limit:] if keep_lines else shown[:limit]
    missing = f"… ({max(len(text) - len(shown), 0)} more characters)"
    return f"{missing}\n{shown}" if keep_lines else shown + missing


def _hide_passwords(text: str) -> str:
    """`user:password@` in URLs. Up to the last @ of the word, because a raw password may hold any sign.

    By hand: a pattern would look for that @ anew from every `://` in a text.
    """
    return _WORD.sub(_hide_password, text) if "://" in text and "@" in text else text


def _hide_password(match: re.Match[str]) -> str:
    word = match[0]
    user, at = _USER.search(word), word.rfind("@")
    return f"{word[: user.end()]}{DOTS}{word[at:]}" if user is not None and user.end() < at else word


def _window(text: str, size: int, *, keep_end: bool) -> str:
    """At most `size` characters, whole words or whole lines: a piece of one may be half a secret."""
    if len(text) <= size:
        return text
    if keep_end:
        return text[-size:].partition("\n")[2]
    return _LAST_WORD.sub("", text[:size])


def redact(value: object, *, depth: int = 0) -> Any:
    """A plain value (text, number, list, dict) that shows `value` without its secrets; never raises."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    if depth >= DEPTH_LIMIT:
        return "…"
    try:
        if isinstance(value, Mapping):
            return _redact_items(cast("Mapping[object, object]", value).items(), depth)
        if isinstance(value, msgspec.Struct):
            return _redact_items(((name, getattr(value, name)) for name in value.__struct_fields__), depth)
        if isinstance(value, list | tuple | Set):
            return _redact_list(cast("Iterable[object]", value), depth)
        if isinstance(value, BaseException):
            return redact_text(f"{type(value).__name__}: {value}")
        return redact_text(repr(value))
    except Exception as error:  # noqa: BLE001  a broken __repr__ must not break the line that reports it
        return f"<not printable: {type(error).__name__}>"


def redact_named(name: str, value: object, *, depth: int = 0) -> Any:
    """`redact`, for a value that stands under a name."""
    if value is not None and is_secret_name(name):
        return DOTS
    return redact(value, depth=depth)


def _redact_items(items: Iterable[tuple[object, object]], depth: int) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for count, (key, value) in enumerate(items):
        if count >= ITEMS_LIMIT:
            shown["…"] = "more items left out"
            break
        name = redact_text(str(key), limit=100)  # a name; anything longer is not one
        shown[name] = DOTS if value is not None and is_secret_name(str(key)) else redact(value, depth=depth + 1)
    return shown


def _redact_list(values: Iterable[object], depth: int) -> list[Any]:
    shown: list[Any] = []
    for count, value in enumerate(values):
        if count >= ITEMS_LIMIT:
            shown.append("… more items left out")
            break
        shown.append(redact(value, depth=depth + 1))
    return shown


def _escape(match: re.Match[str]) -> str:
    return f"\\x{ord(match[0]):02x}" if ord(match[0]) < 0x100 else f"\\u{ord(match[0]):04x}"
