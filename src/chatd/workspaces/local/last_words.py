"""What an agent says when something goes wrong: the end of it in memory, a bounded part on disk."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final

_MOST_LOG_BYTES: Final = 1024 * 1024  # an agent writes when it fails; more than this is of long ago
_TOLD_CHARACTERS: Final = 2000  # of one that did not start
_CHUNK_BYTES: Final = 4096


class LastWords:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._last = b""

    def last(self) -> str:
        return self._last.decode("utf-8", "replace").strip()[-_TOLD_CHARACTERS:]

    async def follow(self, output: asyncio.StreamReader) -> None:
        """Until nobody can write any more."""
        while chunk := await output.read(_CHUNK_BYTES):
            self._last = (self._last + chunk)[-2 * _TOLD_CHARACTERS :]
            self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        """On a full disk nothing is kept: the workspace goes on."""
        with suppress(OSError), self._file.open("ab") as file:
            if file.tell() > _MOST_LOG_BYTES:
                file.truncate(0)
            file.write(chunk)
