"""Paths: texts on the wire, bytes for the system, and where they lead.

A name of a file is bytes. On the wire those that are no UTF-8 are surrogate escapes, so that no name is ever lost.
"""

import errno
import os
import stat
from typing import Final

import msgspec

from chatd.core.errors import InvalidRequest

MOST_BYTES: Final = 4095  # PATH_MAX of Linux without the zero at its end
MOST_NAME_BYTES: Final = 255  # NAME_MAX of nearly every file system
MOST_LINKS: Final = 40  # as Linux: more are a circle
_MOST_SHOWN: Final = 300  # characters of a path in a message


class Resolved(msgspec.Struct, frozen=True):
    """`path` has no symbolic link in it, as far as it exists."""

    path: bytes
    exists: bool


def path_of(text: str) -> bytes:
    """The path that a request names. Raises InvalidRequest for what can't be one."""
    if not text:
        raise InvalidRequest("The path is empty.")
    try:
        path = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidRequest("The path has characters that no name can have.") from error
    if b"\0" in path:
        raise InvalidRequest("The path has a NUL in it, which no name can have.")
    if not path.startswith(b"/"):
        raise InvalidRequest(f"{shown(path)} is not an absolute path.", detail="Give one that begins with /.")
    if len(path) > MOST_BYTES:
        raise InvalidRequest(f"The path has {len(path)} bytes; {MOST_BYTES} are the most.")
    if any(len(name) > MOST_NAME_BYTES for name in path.split(b"/")):
        raise InvalidRequest(f"A name in the path has more than {MOST_NAME_BYTES} bytes, which are the most.")
    return path


def text_of(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def shown(path: bytes) -> str:
    """For messages: one line, and not longer than a person reads."""
    text = "".join(one if one.isprintable() or "\udc80" <= one <= "\udcff" else "?" for one in text_of(path))
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN // 2]}…{text[-_MOST_SHOWN // 2 :]}"


def resolved(path: bytes) -> Resolved:
    """Where the path leads. What does not exist at its end stays as it is. Raises OSError.

    `..` means what it means to the system: the parent of where the links have led, not of what was written.
    """
    waiting = path.split(b"/")[::-1]
    here, links = b"/", 0
    while waiting:
        name = waiting.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            here = os.path.dirname(here)  # noqa: PTH120 - bytes
            continue
        there = os.path.join(here, name)  # noqa: PTH118 - bytes
        try:
            mode = os.lstat(there).st_mode
        except FileNotFoundError:
            return Resolved(_with_rest(there, waiting), exists=False)
        if stat.S_ISLNK(mode):
            links += 1
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = os.readlink(there)  # noqa: PTH115 - bytes
            here = b"/" if target.startswith(b"/") else here
            waiting += target.split(b"/")[::-1]
            continue
        if waiting and not stat.S_ISDIR(mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        here = there
    return Resolved(here, exists=True)


def entry_of(path: bytes) -> bytes:
    """The path with all but its last name resolved: the entry itself, be it a link. Raises OSError."""
    parent, name = os.path.split(path.rstrip(b"/"))
    if name in (b"", b".", b".."):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return os.path.join(resolved(parent).path, name)  # noqa: PTH118 - bytes


def _with_rest(there: bytes, waiting: list[bytes]) -> bytes:
    rest = [name for name in waiting[::-1] if name not in (b"", b".")]
    if b".." in rest:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    path = b"/".join([there, *rest])
    if len(path) > MOST_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return path
