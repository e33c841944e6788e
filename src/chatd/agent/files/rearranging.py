"""Directories made, and files and directories moved and removed: what a person does in a file browser."""

import errno
import os
import stat

from chatd.agent.files.mishaps import mishap, telling
from chatd.agent.files.paths import entry_of, resolved, shown
from chatd.agent.files.replacing import make_directories, sync_directory
from chatd.agent.refusals import Refused


def make_directory(path: bytes) -> bytes:
    """With those above it; one that exists is fine. Gives where it is."""
    with telling(path):
        real = resolved(path).path
        make_directories(real, [])
        if not stat.S_ISDIR(os.lstat(real).st_mode):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    return real


def move(source: bytes, target: bytes, *, replace: bool) -> tuple[bytes, bytes]:
    """The entry itself, be it a link. Gives where it was and where it is.

    `replace` takes the place of a file, never that of a directory with something in it."""
    with telling(source):
        old = entry_of(source)
        os.lstat(old)
    with telling(target):
        new = entry_of(target)
        if not replace and os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        if not os.path.lexists(os.path.dirname(new)):  # noqa: PTH120 - bytes
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if new.startswith(old + b"/"):
            raise Refused(f"{shown(source)} can't be moved into itself.", status=400, kind="not_possible")
        os.rename(old, new)  # noqa: PTH104 - bytes
    for directory in {os.path.dirname(old), os.path.dirname(new)}:  # noqa: PTH120 - bytes
        sync_directory(directory)
    return old, new


def remove(path: bytes, *, recursive: bool) -> bytes:
    """The entry itself, be it a link. Gives where it was. Only `recursive` removes what is in a directory; when that
    fails midway, the rest stays."""
    with telling(path):
        entry = entry_of(path)
        if not stat.S_ISDIR(os.lstat(entry).st_mode):
            os.unlink(entry)  # noqa: PTH108 - bytes
            return entry
        if recursive:
            try:
                _empty(entry)
            except RecursionError as error:
                said = f"{shown(path)} has too many directories in each other. Use a command, as rm -r."
                raise Refused(said, status=400, kind="too_deep") from error
        os.rmdir(entry)  # noqa: PTH106 - bytes
    return entry


def _empty(directory: bytes) -> None:
    """By descriptors: a directory that becomes a link meanwhile is not followed."""

    def refuse(error: OSError) -> None:
        raise mishap(directory, error) from error

    for _, directories, files, descriptor in os.fwalk(directory, topdown=False, onerror=refuse):
        for name in files:
            os.unlink(name, dir_fd=descriptor)
        for name in directories:
            if stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=descriptor)
            else:
                os.rmdir(name, dir_fd=descriptor)
