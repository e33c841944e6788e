"""What the file system refuses, told so that a person or a model knows what to do."""

import errno
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

from chatd.agent.files.paths import shown
from chatd.agent.refusals import Refused

# Status, kind and what is said behind the path.
_TOLD: Final[Mapping[int, tuple[int, str, str]]] = {
    errno.ENOENT: (404, "not_found", "does not exist."),
    errno.EACCES: (403, "forbidden", "may not be used by the workspace's user."),
    errno.EPERM: (403, "forbidden", "may not be changed by the workspace's user."),
    errno.EROFS: (403, "read_only", "is on a file system that can only be read."),
    errno.EISDIR: (400, "is_directory", "is a directory."),
    errno.ENOTDIR: (400, "not_directory", "has something in its path that is no directory."),
    errno.ELOOP: (400, "link_loop", "has too many symbolic links in its path; maybe they lead in a circle."),
    errno.ENAMETOOLONG: (400, "name_too_long", "is too long, or one of its names is."),
    errno.EINVAL: (400, "not_possible", "can't be used like this; maybe its name is not allowed there."),
    errno.EEXIST: (409, "exists", "exists already."),
    errno.ENOTEMPTY: (409, "not_empty", "is a directory that is not empty."),
    errno.EBUSY: (409, "busy", "is in use by the system, as a mount point for example, and can't be replaced."),
    errno.ETXTBSY: (409, "busy", "is a program that runs."),
    errno.EXDEV: (400, "other_file_system", "is on another file system. Copy it with a command instead."),
    errno.ENXIO: (400, "not_regular", "is no regular file."),
    errno.EAGAIN: (400, "not_regular", "has nothing to read at the moment; it is no ordinary file."),
    errno.ENOSPC: (507, "no_space", "can't be written: there is no space left."),
    errno.EDQUOT: (507, "no_space", "can't be written: the quota is used up."),
    errno.EFBIG: (507, "no_space", "can't be written: it would be too large for the file system."),
    errno.EMFILE: (503, "busy_agent", "can't be opened now: too many files are open. Try again."),
    errno.ENFILE: (503, "busy_agent", "can't be opened now: too many files are open. Try again."),
}


def mishap(path: bytes, error: OSError) -> Refused:
    """The refusal for an error at that path."""
    known = _TOLD.get(error.errno or 0)
    if known is None:
        return Refused(f"{shown(path)} can't be used: {error.strerror or error}.", status=500, kind="file_system")
    status, kind, said = known
    return Refused(f"{shown(path)} {said}", status=status, kind=kind)


@contextmanager
def telling(path: bytes) -> Generator[None]:
    """A block whose errors of the file system come out as refusals about that path."""
    try:
        yield
    except OSError as error:
        raise mishap(path, error) from error
