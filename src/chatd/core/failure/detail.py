"""A vendor's or a library's own words, made fit to be shown: one line, short, without secrets.

`chatd.observe.redact` does the same job for log lines, where more is kept and values have names. Both cut after they
have looked for secrets, so that a cut never leaves half of one that no pattern knows.
"""

import re
from typing import Final

DETAIL_LIMIT: Final = 500  # characters; some lines of a dialog, enough for what vendors write

DOTS: Final = "•••"

_LOOKAHEAD: Final = 4_000  # characters past the limit in which a secret that starts before it is still seen whole

_TRACEBACK: Final = "Traceback (most recent call last)"
_URL: Final = re.compile(r"""(?<![A-Za-z0-9])([A-Za-z][A-Za-z0-9+.\-]{0,20}://)([^\s"'<>`]+)""")
_PORT_ONLY: Final = re.compile(r"[^:]*(?::[0-9]{0,5})?|\[[0-9A-Fa-f:.]*\](?::[0-9]{0,5})?")
_AFTER_PATH: Final = re.compile(r"[?#]")
_AFTER_HOST: Final = re.compile(r"[/?#]")

_SECRET_NAMES: Final = (
    r"pass(?:word|wd|phrase)|secret|token(?!s)|api[ _\-]?key|[ _\-]key|authorization|cookie|credential|signature"
)
# What repeats without a bound is followed by nothing that it could have taken itself: the time grows with the length.
_PATTERNS: Final = (
    # The looks of vendors' keys. Vendors show rejected keys with stars in the middle.
    re.compile(
        r"(?<![A-Za-z0-9])(?:c?[srp]k-|sk_|rk_|pk_|gsk_|vck_|fw_|tgp_|nvapi-|xai-|pplx-|hf_|r8_|ya29\.|AQ\.|AIza|AKIA|ASIA"
        r"|ABSK|bedrock-api-key-|gh[a-z]_|github_pat_|xox[a-z]-|chatd_|eyJ)[A-Za-z0-9_\-.*•…]{6,}"
    ),
    re.compile(r"(?i)(?<=bearer )[^\s\"',;]+|(?<=basic )[A-Za-z0-9+/=]{4,}"),
    re.compile(r"(?<![A-Za-z0-9])[A-Fa-f0-9]{32,}(?![A-Za-z0-9])"),
)
# name=value and name: value, quoted or bare, also with the name in quotes as in JSON.
_NAMED: Final = re.compile(
    rf"""(?i)((?:{_SECRET_NAMES})[\w\-]{{0,20}}(?: provided)?\\?["']?\s{{0,3}}[=:]\s{{0,3}})"""
    r"""(?:\\?"[^"]*"?|\\?'[^']*'?|(?:bearer |basic )?[^\s"'&,;)}\]]+)"""
)
# Long, with small and capital letters and digits: nobody's word, most likely a key or an id.
_RANDOM: Final = re.compile(r"[A-Za-z0-9+/_\-]{32,}={0,2}")
# A web page within a message tells nobody anything.
_PAGE: Final = re.compile(r"(?i)<(?:!doctype html|html|head|body)\b")
# Controls, line separators, marks that turn the direction of text, lone surrogates: none belongs in a line, and
# Postgres stores neither NUL nor surrogates.
_UNFIT: Final = re.compile("[\x00-\x20\x7f-\xa0\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]+")


def one_clean_line(text: str, *, limit: int = DETAIL_LIMIT) -> str:
    """The text on one line of at most `limit` characters, without secrets. The work is bounded by the limit."""
    window = limit + _LOOKAHEAD
    shown = text[:window]
    if len(text) > window:
        shown = shown[: max(shown.rfind(" "), shown.rfind("\n"), 0)]  # a piece of a word may be half a secret
    shown = _PAGE.split(shown, maxsplit=1)[0]
    shown = _UNFIT.sub(" ", shown)
    shown = _URL.sub(_bare_url, shown)
    shown = _NAMED.sub(rf"\1{DOTS}", shown)
    for pattern in _PATTERNS:
        shown = pattern.sub(DOTS, shown)
    shown = _RANDOM.sub(_hide_random, shown).strip()
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + "…"


def last_line_of_traceback(text: str) -> str:
    """Of a stack trace only what went wrong; any other text as it is."""
    start = text.find(_TRACEBACK, 0, DETAIL_LIMIT + _LOOKAHEAD)
    if start < 0:
        return text
    end = text[start + len(_TRACEBACK) :][-(DETAIL_LIMIT + _LOOKAHEAD) :]
    return next((line for line in reversed(end.splitlines()) if line.strip(" :")), "")


def _bare_url(match: re.Match[str]) -> str:
    """Without user, query and fragment."""
    scheme, rest = match[1], match[2]
    authority = _AFTER_HOST.split(rest, maxsplit=1)[0]
    # A raw password may hold any sign, also those that end the authority: then the last @ is where the host begins.
    if "@" in authority or not _PORT_ONLY.fullmatch(authority):
        rest = rest.rpartition("@")[2]
    return scheme + _AFTER_PATH.split(rest, maxsplit=1)[0]


def _hide_random(match: re.Match[str]) -> str:
    found = match[0]
    is_random = any(c.isdigit() for c in found) and any(c.islower() for c in found) and any(c.isupper() for c in found)
    return DOTS if is_random else found
