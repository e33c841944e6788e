"""Replaces generated files: each at once or not at all, and only those whose content differs."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

_MODE = 0o644  # temporary files are private; what git tracks is readable by all


def stale(texts: Mapping[Path, str]) -> list[Path]:
    """The files that are missing or whose content is another."""
    return [path for path, text in texts.items() if not path.is_file() or path.read_bytes() != text.encode()]


def replace_stale(texts: Mapping[Path, str]) -> list[Path]:
    """Write the stale files and say which they were. A reader sees old or new content, never a part."""
    changed = stale(texts)
    for path in changed:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(texts[path].encode())
            temporary.chmod(_MODE)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    return changed
