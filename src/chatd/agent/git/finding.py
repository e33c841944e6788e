"""Which repositories paths are in: by looking for `.git` upwards, as git does. Reads the disk."""

import os
import stat
from collections.abc import Iterable
from itertools import islice
from typing import Final

from chatd.agent.files.paths import resolved

MOST_REPOSITORIES: Final = 20  # of one chat, the latest touched ones; each takes some processes to look at

MOST_LOOKED_AT: Final = 1000  # entries of the working directory


def roots_of(paths: Iterable[bytes], around: bytes) -> tuple[bytes, ...]:
    """Those of the paths, the latest first; the one around the working directory is always told, last if nothing in it
    was touched. Where there is none of these, those right below it: commands that begin with `cd project` touch
    nothing but the folder that they begin in."""
    known: dict[bytes, bytes | None] = {}
    found: dict[bytes, None] = {}
    home = _root(_real(around), known)
    most = MOST_REPOSITORIES - (home is not None)
    for path in reversed(tuple(paths)):
        root = _root(_real(path), known)
        if root is not None:
            found[root] = None
        if len(found) == most:
            break
    if home is not None:
        found[home] = None
    return tuple(found) or _below(_real(around))


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


def _below(folder: bytes) -> tuple[bytes, ...]:
    """The latest used first: git writes its index anew."""
    try:
        with os.scandir(folder) as entries:
            found = [
                (_used_at(entry.path), entry.path)
                for entry in islice(entries, MOST_LOOKED_AT)
                if entry.is_dir(follow_symlinks=False) and is_root(entry.path)
            ]
    except OSError:
        return ()
    return tuple(path for _, path in sorted(found, reverse=True)[:MOST_REPOSITORIES])


def _used_at(root: bytes) -> int:
    try:
        return os.lstat(root + b"/.git").st_mtime_ns
    except OSError:
        return 0


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
