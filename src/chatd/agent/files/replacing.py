"""One file's new content, written beside it and then put in its place at once.

What is there afterwards is the old content or the new one, whole. The mode stays, but for set-user-id and set-group-id,
which the system also takes from a file that is written. The owner stays where the agent may give files away. Other hard
links to the file keep the old content. An agent that is killed may leave a file named `.NAME.tmp.…` behind.
"""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from chatd.agent.files.paths import MOST_NAME_BYTES, resolved, shown
from chatd.agent.files.reading import kind_name
from chatd.agent.refusals import Refused

NewMark = Callable[[], str]
_TRIES: Final = 8  # names are random; a second try is rare already
_KEPT_MODE: Final = 0o1777


class Replacement:
    """Begun by `begin`; then `write` as often as needed, `finish`, and `put`, or else `drop`."""

    def __init__(self, target: bytes, before: os.stat_result | None, made: list[bytes], new_mark: NewMark) -> None:
        """`made` are directories that were created for it, and go if it does."""
        self.target = target
        self.before = before
        self._made = made
        mode = 0o666 if before is None else 0o600
        descriptor, self.temporary = create_beside(target, "tmp", mode, new_mark)
        self._file = os.fdopen(descriptor, "wb", buffering=0)

    def write(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[self._file.write(rest) :]

    def finish(self) -> None:
        """On the disk, with its mode; only the name is missing."""
        if self.before is not None:
            self._take_over(self.before)
        os.fsync(self._file.fileno())
        self._file.close()

    def put(self, rename: Callable[[bytes, bytes], None] = os.rename) -> None:
        rename(self.temporary, self.target)

    def put_new(self) -> None:
        """Only where nothing is, which a rename can't be asked for. Raises FileExistsError."""
        try:
            os.link(self.temporary, self.target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: then it is looked at first, which is nearly as good
            if os.path.lexists(self.target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            self.put()
        else:
            remove_quietly(self.temporary)

    def drop(self) -> None:
        """As if it had never begun."""
        self._file.close()
        remove_quietly(self.temporary)
        for directory in reversed(self._made):
            try:
                os.rmdir(directory)  # noqa: PTH106 - bytes
            except OSError:
                break  # somebody uses it by now

    def _take_over(self, before: os.stat_result) -> None:
        descriptor = self._file.fileno()
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
            with suppress(PermissionError):  # it belongs to who writes it then, as with every editor
                os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode) & _KEPT_MODE)


def begin(path: bytes, new_mark: NewMark, *, exclusive: bool = False) -> Replacement:
    """For the file that the path leads to, or a new one, with the directories above it. Raises OSError or a refusal.

    `exclusive` refuses what exists.
    """
    real = resolved(path)
    if path.endswith((b"/", b"/.", b"/..")) and not real.exists:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    before = writable(real.path) if real.exists else None
    if exclusive and before is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    made: list[bytes] = []
    try:
        make_directories(os.path.dirname(real.path), made)  # noqa: PTH120 - bytes
        return Replacement(real.path, before, made, new_mark)
    except BaseException:
        for directory in reversed(made):
            os.rmdir(directory)  # noqa: PTH106 - bytes
        raise


def writable(real: bytes) -> os.stat_result:
    """What is there, if it is a file whose content may be changed. A rename would not ask for that."""
    status = os.lstat(real)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        said = f"{shown(real)} is a {kind_name(status.st_mode)}, no regular file."
        raise Refused(said, status=400, kind="not_regular")
    if not os.access(real, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return status


def make_directories(path: bytes, made: list[bytes]) -> None:
    """All that are missing on the way to a resolved path; those that were made are added to `made`."""
    missing: list[bytes] = []
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)  # noqa: PTH120 - bytes
    for directory in reversed(missing):
        try:
            os.mkdir(directory)  # noqa: PTH102 - bytes
        except FileExistsError:
            continue  # by somebody else, just now
        made.append(directory)


def create_beside(target: bytes, use: str, mode: int, new_mark: NewMark) -> tuple[int, bytes]:
    """A new file in the same directory, open for writing, under a name that nobody has."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_TRIES):
        path = name_beside(target, use, new_mark())
        try:
            return os.open(path, flags, mode), path
        except FileExistsError:
            continue
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def name_beside(target: bytes, use: str, mark: str) -> bytes:
    directory, name = os.path.split(target)
    end = f".{use}.{mark}".encode()
    return os.path.join(directory, b"." + name[: MOST_NAME_BYTES - 1 - len(end)] + end)  # noqa: PTH118 - bytes


def remove_quietly(path: bytes) -> None:
    """Gone or not ours to remove: nothing depends on it."""
    with suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - bytes


def sync_directory(path: bytes) -> None:
    """So that names survive a dead machine. Some file systems can't, and that is no reason to fail."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
