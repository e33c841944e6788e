"""Unified diffs, as `patch` takes them."""

from difflib import unified_diff
from typing import Final

from chatd.agent.edits.lines import lines_of

MOST_CHARACTERS: Final = 256 * 1024  # of one file's diff; what is longer nobody reads
MOST_LINES: Final = 20_000  # of a file that is compared line by line; longer ones may take minutes
_NO_END: Final = "\n\\ No newline at end of file\n"


def unified(path: str, before: str, after: str) -> str:
    """Empty when nothing has changed."""
    if before == after:
        return ""
    old, new = ([line.text for line in lines_of(text)] for text in (before, after))
    if len(old) + len(new) > 2 * MOST_LINES:
        return f"--- {path}\n+++ {path}\n(The file has too many lines to show what has changed.)\n"
    lines = unified_diff(old, new, path, path)
    diff = "".join(line if line.endswith("\n") else line + _NO_END for line in lines)
    if len(diff) <= MOST_CHARACTERS:
        return diff
    return diff[:MOST_CHARACTERS] + f"\n(The diff has {len(diff)} characters; this is its beginning.)\n"
