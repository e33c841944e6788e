"""What was started, on disk, until the server has committed it: no key starts a second process, whoever crashes when.

For each process there are up to four files, in this order:

    ID.key   before the spawn, durable: from here on it is never started again
    ID.ran   after the spawn: its pid
    ID.end   after the exit: the code and the output
    ID.ack   the server has committed, and the rest may go once nobody asks for it any more

A key without an end whose agent is dead is a process of which nobody knows what it did.
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from chatd.agent.processes.head_tail import Kept
from chatd.agent.system_processes import boot_id, is_alive, look_up
from chatd.agent.written import create_durably, replace_file
from chatd.core.escaped_json import decode, encode

_PARTS: Final = ("end", "ran", "ack", "key")  # the key goes last: without it the others mean nothing

T = TypeVar("T")


class KeyRecord(msgspec.Struct, frozen=True):
    """What was asked for. The environment is not kept: it may hold secrets."""

    chat_id: UUID | None
    key: str
    command: str
    workdir: str
    background: bool
    started_at: float  # seconds since 1970


class RanRecord(msgspec.Struct, frozen=True):
    pid: int
    start_ticks: int
    boot_id: str

    @property
    def is_alive(self) -> bool:
        return self.boot_id == boot_id() and is_alive(self.pid, self.start_ticks)


class EndRecord(msgspec.Struct, frozen=True):
    exit_code: int
    signal: str | None
    exited_at_unix: int
    kept: Kept


def process_id(chat_id: UUID | None, key: str) -> str:
    """The same for the same key of the same chat, and only then."""
    named = sha256(f"{chat_id or ''}\0{key}".encode("utf-8", "surrogatepass")).digest()
    return str(UUID(bytes=named[:16], version=4))


class Keys:
    """The folder of these files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def claim(self, id: str, record: KeyRecord) -> None:
        """Raises FileExistsError when the key was used before. Slow: the disk has to say that it has it."""
        create_durably(self._file(id, "key"), encode(record))

    def give_back(self, id: str) -> None:
        """It certainly did not start."""
        self._file(id, "key").unlink(missing_ok=True)

    def note_spawn(self, id: str, pid: int) -> None:
        found = look_up(pid)
        if found is not None:
            replace_file(self._file(id, "ran"), encode(RanRecord(pid, found.start_ticks, boot_id())))

    def note_end(self, id: str, record: EndRecord) -> None:
        replace_file(self._file(id, "end"), encode(record))

    def acknowledge(self, id: str) -> None:
        replace_file(self._file(id, "ack"), b"")

    def is_acknowledged(self, id: str) -> bool:
        return self._file(id, "ack").exists()

    def forget(self, id: str) -> None:
        for part in _PARTS:
            self._file(id, part).unlink(missing_ok=True)

    def ids(self) -> list[str]:
        return [name.removesuffix(".key") for name in os.listdir(self._folder) if name.endswith(".key")]  # noqa: PTH208

    def key(self, id: str) -> KeyRecord | None:
        """None when there is none. One that was cut off by a crash of the machine still is a key."""
        file = self._file(id, "key")
        try:
            return decode(file.read_bytes(), KeyRecord)
        except FileNotFoundError:
            return None
        except ValueError:
            return KeyRecord(None, "", "", "", False, file.stat().st_mtime)

    def ran(self, id: str) -> RanRecord | None:
        return self._read(id, "ran", RanRecord)

    def end(self, id: str) -> EndRecord | None:
        return self._read(id, "end", EndRecord)

    def _read(self, id: str, part: str, shape: type[T]) -> T | None:
        try:
            return decode(self._file(id, part).read_bytes(), shape)
        except (FileNotFoundError, ValueError):
            return None

    def _file(self, id: str, part: str) -> Path:
        return self._folder / f"{id}.{part}"
