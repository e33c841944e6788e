"""Files that git does not know yet: how many lines they have, and how their diff would look."""

import os
import stat
from typing import Final

import msgspec

from chatd.wire.agent.git import ChangedFile, FileStatus

MOST_COUNTED: Final = 1000  # files that are read to count their lines; what is over is only named
MOST_FILE_BYTES: Final = 1024 * 1024  # of one file; larger ones have no counts
MOST_BYTES: Final = 32 * 1024 * 1024  # of all together: some 100 ms
_BINARY_BYTES: Final = 8000  # in these a zero makes a file binary, as git has it


class _Content(msgspec.Struct, frozen=True):
    """`text` is None for a binary file, and for one that is too large or can't be read."""

    mode: int
    size: int
    text: bytes | None


def counted(root: bytes, paths: tuple[bytes, ...]) -> tuple[list[ChangedFile], bool]:
    """Reads the disk. The files, and whether all were read that can be."""
    left = MOST_BYTES
    files: list[ChangedFile] = []
    for place, path in enumerate(paths):
        content = _read(root, path) if place < MOST_COUNTED and left > 0 else None
        lines = None if content is None or content.text is None else _lines(content.text)
        left -= 0 if content is None or content.text is None else len(content.text)
        deletions = None if lines is None else 0
        name = path.decode("utf-8", "surrogateescape")
        files.append(ChangedFile(path=name, status=FileStatus.UNTRACKED, additions=lines, deletions=deletions))
    return files, len(paths) <= MOST_COUNTED and left > 0


def diff_of(root: bytes, path: bytes) -> bytes:
    """As git shows a new file. Reads the disk; empty for what has gone meanwhile."""
    content = _read(root, path)
    if content is None or stat.S_ISDIR(content.mode):  # a repository of its own is only named
        return b""
    kind = b"120000" if stat.S_ISLNK(content.mode) else b"100755" if content.mode & 0o100 else b"100644"
    a, b = _quoted(b"a/" + path), _quoted(b"b/" + path)
    head = b"diff --git %b %b\nnew file mode %b\n" % (a, b, kind)
    if content.text is None:
        return head + b"Binary files /dev/null and %b differ\n" % b
    if not content.text:
        return head
    lines = content.text.removesuffix(b"\n").split(b"\n")
    body = b"".join(b"+%b\n" % line for line in lines)
    end = b"" if content.text.endswith(b"\n") else b"\\ No newline at end of file\n"
    count = b"" if len(lines) == 1 else b",%d" % len(lines)
    return head + b"--- /dev/null\n+++ %b\n@@ -0,0 +1%b @@\n" % (b, count) + body + end


def _read(root: bytes, path: bytes) -> _Content | None:
    full = os.path.join(root, path)  # noqa: PTH118 - bytes
    try:
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            return _Content(status.st_mode, status.st_size, os.readlink(full))  # noqa: PTH115 - bytes
        if not stat.S_ISREG(status.st_mode):
            return None if not stat.S_ISDIR(status.st_mode) else _Content(status.st_mode, 0, None)
        if status.st_size > MOST_FILE_BYTES:
            return _Content(status.st_mode, status.st_size, None)
        descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            text = file.read(MOST_FILE_BYTES) or b""
    except OSError:
        return None
    return _Content(status.st_mode, status.st_size, None if b"\0" in text[:_BINARY_BYTES] else text)


def _lines(text: bytes) -> int:
    return text.count(b"\n") + (1 if text and not text.endswith(b"\n") else 0)


def _quoted(path: bytes) -> bytes:
    """As git quotes names that would break a line."""
    if not any(byte < 32 or byte in b'"\\\x7f' for byte in path):
        return path
    named = {9: b"\\t", 10: b"\\n", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}
    return (
        b'"'
        + b"".join(
            named.get(byte) or (b"\\%03o" % byte if byte < 32 or byte == 127 else bytes([byte])) for byte in path
        )
        + b'"'
    )
