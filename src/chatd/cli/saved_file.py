"""Bytes that come piece by piece, as a file of this machine."""

from collections.abc import AsyncIterator
from pathlib import Path

from chatd.core.errors import InvalidRequest


async def save(pieces: AsyncIterator[bytes], path: Path) -> None:
    """Under another name until it is whole: what breaks off is not taken for all of it. What is there and is no file,
    a pipe or `/dev/null`, is written to as it is. Raises InvalidRequest."""
    try:
        whole = _where(path)
        if whole is None:
            await _write(pieces, path)
            return
        draft = whole.with_name(f"{whole.name}.part")
        try:
            await _write(pieces, draft)
            draft.replace(whole)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidRequest(f"{path} can't be written: {why}.") from error


def _where(path: Path) -> Path | None:
    """The file that it leads to, so that a link stays one; None for what is no file."""
    return None if path.exists() and not path.is_file() else path.resolve()


async def _write(pieces: AsyncIterator[bytes], path: Path) -> None:
    with path.open("wb") as file:
        async for piece in pieces:
            file.write(piece)
