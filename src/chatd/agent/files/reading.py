"""Opening files to read: ordinary ones only, and nothing that could make the agent wait."""

import asyncio
import errno
import os
import stat
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from chatd.agent.files.disk import on_disk
from chatd.agent.files.line_page import Page, PageReader
from chatd.agent.files.mishaps import telling
from chatd.agent.files.paths import resolved, shown
from chatd.agent.refusals import Refused

CHUNK_BYTES: Final = 256 * 1024  # read at once: few threads' turns for large files, little memory for many readers
MOST_COUNTED_BYTES: Final = 64 * 1024 * 1024  # behind a page, to count all lines: some 50 ms
MOST_UNSIZED_BYTES: Final = 64 * 1024 * 1024  # of a file of the kernel's that does not say how long it is


class OpenFile:
    """An ordinary file that was open for reading when this was made. `size` may be 0 for files of the kernel's that do
    have content."""

    def __init__(self, path: bytes, descriptor: int, status: os.stat_result) -> None:
        self.path = path
        self.status = status
        self._file = os.fdopen(descriptor, "rb", buffering=0)

    @property
    def size(self) -> int:
        return self.status.st_size

    def fileno(self) -> int:
        return self._file.fileno()

    def read(self, most: int) -> bytes:
        """Empty at the end. Raises a refusal."""
        with telling(self.path):
            chunk = self._file.read(most)
            if chunk is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            return chunk

    def seek(self, position: int) -> None:
        with telling(self.path):
            self._file.seek(position)

    def close(self) -> None:
        self._file.close()


def open_file(path: bytes) -> OpenFile:
    """Raises a refusal for what is not there, may not be read, or is no ordinary file.

    It is looked at before it is opened, because opening a device can do things, and again afterwards.
    """
    with telling(path):
        real = resolved(path).path
        _check_kind(path, os.stat(real, follow_symlinks=False))  # noqa: PTH116 - bytes
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(real, flags)
        try:
            status = os.fstat(descriptor)
            _check_kind(path, status)
        except BaseException:
            os.close(descriptor)
            raise
    return OpenFile(real, descriptor, status)


@asynccontextmanager
async def opened(path: bytes) -> AsyncGenerator[OpenFile]:
    """`open_file` for a block."""
    file = await on_disk(open_file, path)
    with _closing(file):
        yield file


async def read_page(file: OpenFile, first: int, most: int) -> tuple[Page, bool]:
    """The page, and whether all lines of the file were counted. Takes as long as reading up to the page does."""
    reader = PageReader(first, most)
    behind = 0
    while chunk := await on_disk(file.read, CHUNK_BYTES):
        reader.feed(chunk)
        if reader.is_full:
            behind += len(chunk)
            if behind > MOST_COUNTED_BYTES:
                return reader.page(), False
    return reader.page(), True


async def chunks_of(file: OpenFile, begin: int, size: int | None) -> AsyncGenerator[bytes]:
    """So many bytes from there on, or all there are. Closes the file. Raises when it has become shorter meanwhile, so
    that nobody takes a part for the whole."""
    left = MOST_UNSIZED_BYTES if size is None else size
    with _closing(file):
        await on_disk(file.seek, begin)
        while left and (chunk := await on_disk(file.read, min(CHUNK_BYTES, left))):
            left -= len(chunk)
            yield chunk
        if (size is None) != bool(left):
            raise Refused(f"{shown(file.path)} changed its size while it was read.", status=409, kind="changed")


@contextmanager
def _closing(file: OpenFile) -> Generator[None]:
    try:
        yield
    except asyncio.CancelledError:
        raise  # a thread may still read: it is closed when nobody has it any more
    except BaseException:
        file.close()
        raise
    file.close()


def _check_kind(path: bytes, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise Refused(f"{shown(path)} is a {kind_name(status.st_mode)}, no regular file.", status=400, kind="not_regular")


def kind_name(mode: int) -> str:
    """What a person calls it."""
    for is_it, name in (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "directory"),
        (stat.S_ISLNK, "symbolic link"),
        (stat.S_ISFIFO, "named pipe"),
        (stat.S_ISSOCK, "socket"),
    ):
        if is_it(mode):
            return name
    return "device"
