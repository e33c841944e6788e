"""Which machine this is: a random id in a file of the data directory, the same for all replicas that share it."""

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from chatd.core.errors import StartRefused
from chatd.minting import new_host_id

_NAME: Final = "host_id"
_SHAPE: Final = re.compile(r"[0-9a-f]{32}")  # 128 random bits: two machines never get the same


def read_host_id(data_dir: Path) -> str:
    """The id, made at first use. Of several that start at once, one makes it and all have the same."""
    path = data_dir / _NAME
    try:
        return _checked(path, path.read_text("ascii"))
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise StartRefused(f"{path} can't be read: {error}.", detail="Make it readable, or remove it.") from error
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, made = tempfile.mkstemp(prefix=f".{_NAME}.", dir=data_dir)  # 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(new_host_id() + "\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(made, path)  # whole or not at all, and never over another's
    finally:
        Path(made).unlink()
    return _checked(path, path.read_text("ascii"))


def known_host_id(data_dir: Path) -> str | None:
    """The id, if there is one; nothing is made. Raises as `read_host_id`."""
    return read_host_id(data_dir) if (data_dir / _NAME).exists() else None


def _checked(path: Path, text: str) -> str:
    if not _SHAPE.fullmatch(text.strip()):
        raise StartRefused(
            f"{path} does not hold a host id.",
            detail="Remove it to be another machine; local workspaces of the old one are then out of reach.",
        )
    return text.strip()
