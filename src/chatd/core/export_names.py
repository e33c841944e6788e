"""The name of a file that a chat is written to: made of its title, and harmless on every system."""

import re
from typing import Final

from chatd.core.plain_text import one_line

_MOST_BYTES: Final = 120  # of the name without its ending: for every file system, and long enough to know it by
_FORBIDDEN: Final = re.compile(r'[<>:"/\\|?*\x7f]+')  # on one system or another
# What Windows takes for a device, whatever ending it has.
_DEVICES: Final = frozenset({"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))})


def export_name(title: str, ending: str) -> str:
    """One path component, never hidden, never empty."""
    stem = _FORBIDDEN.sub(" ", one_line(title, 4 * _MOST_BYTES))
    stem = " ".join(stem.encode()[:_MOST_BYTES].decode("utf-8", "ignore").split()).strip(". ")
    if not stem or stem.partition(".")[0].strip().lower() in _DEVICES:
        stem = f"chat {stem}".strip()
    return f"{stem}.{ending}"


def ascii_name(name: str) -> str:
    """The same for clients that know nothing else; it never has a quote or a backslash in it."""
    return re.sub(r"[^A-Za-z0-9._ -]+", "_", name)
