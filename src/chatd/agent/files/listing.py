"""What is in a directory, and what a path is."""

import os
import stat
from contextlib import suppress
from typing import Final

import msgspec

from chatd.agent.files.mishaps import telling
from chatd.agent.files.paths import entry_of, resolved, text_of
from chatd.wire.agent.files import Entry, EntryKind, Listing, PathStatus

MOST_ENTRIES: Final = 1000  # of an answer; a person scrolls through no more
MOST_SCANNED: Final = 100_000  # of a directory, to be sorted; each takes about 100 bytes meanwhile


class _Seen(msgspec.Struct, frozen=True, order=True):
    """Directories first, then by name."""

    is_no_directory: bool
    name: bytes


def list_directory(path: bytes, first: int, most: int) -> Listing:
    """From the `first`-th entry on (0 is the first). Raises a refusal."""
    with telling(path):
        real = resolved(path).path
        seen: list[_Seen] = []
        is_complete = True
        with os.scandir(real) as entries:
            for entry in entries:
                if len(seen) == MOST_SCANNED:
                    is_complete = False
                    break
                seen.append(_Seen(not _is_directory(entry), entry.name))
    seen.sort()
    page = [entry_at(os.path.join(real, one.name)) for one in seen[first : first + most]]  # noqa: PTH118 - bytes
    after = first + most
    return Listing(
        path=text_of(real),
        entries=tuple(entry for entry in page if entry is not None),
        total=len(seen),
        is_complete=is_complete,
        next=after if after < len(seen) else None,
    )


def entry_at(path: bytes) -> Entry | None:
    """None for what has gone meanwhile. A link is what it leads to, and says that it is one."""
    try:
        status = os.lstat(path)
        is_link = stat.S_ISLNK(status.st_mode)
        if is_link:
            with suppress(OSError):  # one that leads nowhere is all there is
                status = os.stat(path)  # noqa: PTH116 - bytes
    except OSError:
        return None
    return Entry(
        name=text_of(os.path.basename(path)),  # noqa: PTH119 - bytes
        kind=_kind(status.st_mode),
        size=status.st_size,
        modified_at_unix=int(status.st_mtime),
        is_link=is_link,
    )


def status_of(path: bytes) -> PathStatus:
    """Of where the path leads, links followed. Raises a refusal (404) for what does not exist, and for a dead link."""
    with telling(path):
        real = resolved(path)
        status = os.lstat(real.path)
        try:
            is_link = stat.S_ISLNK(os.lstat(entry_of(path)).st_mode)
        except OSError:
            is_link = False  # the root, or a path that ends with dots
    return PathStatus(
        path=text_of(real.path),
        kind=_kind(status.st_mode),
        size=status.st_size,
        mode=stat.S_IMODE(status.st_mode),
        modified_at_unix=int(status.st_mtime),
        is_link=is_link,
        is_writable=os.access(real.path, os.W_OK),
    )


def _is_directory(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return EntryKind.FILE
    if stat.S_ISDIR(mode):
        return EntryKind.DIRECTORY
    return EntryKind.LINK if stat.S_ISLNK(mode) else EntryKind.OTHER
