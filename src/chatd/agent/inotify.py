"""Directories that are watched by the kernel: something in them has changed. What exactly, who is told finds out."""

import asyncio
import ctypes
import errno
import os
import struct
from collections.abc import Callable, Mapping
from typing import Final

# Of linux/inotify.h. Reading files is no change, so that who looks does not wake himself.
_MODIFY: Final = 0x2
_ATTRIB: Final = 0x4
_CLOSE_WRITE: Final = 0x8
_MOVED_FROM: Final = 0x40
_MOVED_TO: Final = 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLYDIR: Final = 0x1000000
_EXCL_UNLINK: Final = 0x4000000
_MASK: Final = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
) | (_ONLYDIR | _EXCL_UNLINK)
_EVENT: Final = struct.Struct("iIII")  # watch, mask, cookie, length of the name that follows
_READ_BYTES: Final = 64 * 1024

Names = frozenset[bytes] | None  # those that count in a directory; None for all


class Inotify:
    """One instance of the kernel's. `told` is called in the event loop after each batch of changes.

    Raises OSError where the system has none left, or does not have such a thing.
    """

    def __init__(self, told: Callable[[], None]) -> None:
        self._told = told
        try:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError as error:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._watches: dict[bytes, int] = {}
        self._paths: dict[int, set[bytes]] = {}  # a directory that links lead to has several, and one watch
        self._names: dict[bytes, Names] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._descriptor, self._read)

    @property
    def watched(self) -> int:
        return len(self._watches)

    def only(self, wanted: Mapping[bytes, Names]) -> bool:
        """Watch these directories and no others. False when the system does not let us watch all of them.

        What is not there is passed over: watch its parent too.
        """
        for path in self._watches.keys() - wanted.keys():
            self._leave(path)
        self._names = dict(wanted)
        return all(path in self._watches or self._add(path) for path in wanted)

    def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1  # who still looks must not reach another that was given its number

    def _add(self, path: bytes) -> bool:
        watch: int = self._libc.inotify_add_watch(self._descriptor, path, _MASK)
        if watch < 0:
            return ctypes.get_errno() not in (errno.ENOSPC, errno.ENOMEM)
        self._watches[path] = watch
        self._paths.setdefault(watch, set()).add(path)
        return True

    def _leave(self, path: bytes) -> None:
        watch = self._watches.pop(path)
        self._paths[watch].discard(path)
        if not self._paths[watch]:
            self._forget(watch)

    def _forget(self, watch: int) -> None:
        for path in self._paths.pop(watch, ()):
            self._watches.pop(path, None)
        self._libc.inotify_rm_watch(self._descriptor, watch)

    def _read(self) -> None:
        try:
            events = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        counts = False
        place = 0
        while place < len(events):
            watch, mask, _, length = _EVENT.unpack_from(events, place)
            place += _EVENT.size
            name = events[place : place + length].rstrip(b"\0")
            place += length
            counts = self._counts(watch, mask, name) or counts
        if counts:
            self._told()

    def _counts(self, watch: int, mask: int, name: bytes) -> bool:
        if mask & _OVERFLOW:
            return True
        paths = self._paths.get(watch)
        if paths is None:
            return False  # of a watch that was just given up
        if mask & (_IGNORED | _MOVE_SELF):
            self._forget(watch)  # the name may stand for another directory by now
            return True
        wanted = [self._names.get(path) for path in paths]
        return any(names is None or not name or name in names for names in wanted)
