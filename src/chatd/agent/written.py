"""Files of the agent's own that are whole or not there, whatever happens in between."""

import os
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600


def replace_file(path: Path, content: bytes) -> None:
    """Put the content in place at once. A killed agent leaves the old file or the new one; a dead machine maybe none
    of both."""
    beside = path.with_name(f".{path.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    beside.replace(path)


def create_durably(path: Path, content: bytes) -> None:
    """Make a new file that even a dead machine keeps, its name included. Raises FileExistsError, and leaves it alone.

    A file that could not be written whole is taken away again.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _sync_directory(path.parent)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
