"""Which repositories paths are in: by looking for `.git` upwards, as git does. Reads the disk."""

import os
import stat
from collections.abc import Iterable
from typing import Final

from chatd.agent.files.paths import resolved

MOST_REPOSITORIES: Final = 20  # of one chat, the latest touched ones; each takes some processes to look at


def roots_of(paths: Iterable[bytes], around: bytes) -> tuple[bytes, ...]:
    """The one around the working directory first, then those of the paths, the latest first."""
    known: dict[bytes, bytes | None] = {}
    found: dict[bytes, None] = {}
    for path in (around, *reversed(tuple(paths))):
        root = _root(_real(path), known)
        if root is not None:
            found[root] = None
        if len(found) == MOST_REPOSITORIES:
            break
    return tuple(found)


def is_root(path: bytes) -> bool:
    return b"\n" not in path and (_has_git(path) or _is_bare(path))


def _root(path: bytes, known: dict[bytes, bytes | None]) -> bytes | None:
    inside = path.find(b"/.git/")
    here = path[:inside] if inside >= 0 else path.removesuffix(b"/.git")
    passed: list[bytes] = []
    found = None
    while here:
        if here in known:
            found = known[here]
            break
        passed.append(here)
        if is_root(here):
            found = here
            break
        here = here.rpartition(b"/")[0]
    known.update(dict.fromkeys(passed, found))
    return found


def _has_git(folder: bytes) -> bool:
    """A folder, or a file that says where it is: of a submodule or a further working tree."""
    try:
        mode = os.lstat(folder + b"/.git").st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _is_bare(folder: bytes) -> bool:
    try:
        return (
            stat.S_ISREG(os.lstat(folder + b"/HEAD").st_mode)
            and stat.S_ISDIR(os.lstat(folder + b"/objects").st_mode)
            and stat.S_ISDIR(os.lstat(folder + b"/refs").st_mode)
        )
    except OSError:
        return False


def _real(path: bytes) -> bytes:
    try:
        return resolved(path).path
    except OSError:
        return path
