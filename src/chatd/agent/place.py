"""The agent's own folder: who runs there, where it listens, its token. One agent at a time holds it."""

import fcntl
import os
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

import msgspec

from chatd.agent.system_processes import boot_id, is_alive
from chatd.agent.written import replace_file
from chatd.core.errors import StartRefused
from chatd.core.secret import Secret
from chatd.minting import new_token

_LONGEST_SOCKET_PATH: Final = 107  # what a Unix socket's address holds on Linux


class Record(msgspec.Struct, frozen=True):
    """Who runs in a folder, for those who look for it: `agent.json`. The token is in a file beside it.

    `address` is `unix:PATH` or `tcp:HOST:PORT`. The pid counts only with the start time and the boot it is from.
    """

    pid: int
    start_ticks: int
    boot_id: str
    address: str
    version: str
    workspace_id: str

    @property
    def is_live(self) -> bool:
        return self.boot_id == boot_id() and is_alive(self.pid, self.start_ticks)


class Place:
    """The folder and the names in it. Everything in it is for its owner's eyes only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = folder / "processes"
        self.epochs = folder / "epochs.json"
        self.cgroup = folder / "cgroup"
        self.log = folder / "agent.log"
        self._record = folder / "agent.json"
        self._token = folder / "token"
        self._lock = folder / "agent.lock"

    @classmethod
    def at(cls, folder: Path) -> Self:
        """Make the folder where it is missing. Raises StartRefused when it can't be made or is someone else's."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = folder.resolve(strict=True)
            if folder.stat().st_uid != os.geteuid():
                raise StartRefused(
                    f"{folder} belongs to another user.", detail="Choose a folder of your own with --dir."
                )
            folder.chmod(0o700)
            place = cls(folder)
            place.keys.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StartRefused(f"The folder {folder} can't be used: {error.strerror or error}.") from error
        return place

    def hold(self) -> int | None:
        """Take the folder for as long as this process lives; the lock's descriptor. None when an agent has it."""
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    def live_record(self) -> Record | None:
        """Who runs here; None when nobody does, or when what is written is of one who is dead."""
        try:
            record = msgspec.json.decode(self._record.read_bytes(), type=Record)
        except (OSError, msgspec.MsgspecError):
            return None
        return record if record.is_live else None

    def write_record(self, record: Record) -> None:
        replace_file(self._record, msgspec.json.encode(record))

    def forget_record(self) -> None:
        """From here on nobody is sent to this agent: it is about to stop."""
        self._record.unlink(missing_ok=True)

    def clean(self) -> None:
        """Take away what tells of an agent that is gone; only while holding it. Keys stay: they are promises."""
        self._record.unlink(missing_ok=True)
        socket = self.socket_path()
        socket.unlink(missing_ok=True)
        if socket.parent != self.folder:
            socket.parent.rmdir()

    def token(self) -> Secret:
        """The token that was put here before, else a new one."""
        try:
            text = self._token.read_text("ascii").strip()
        except FileNotFoundError:
            token = new_token()
            replace_file(self._token, token.reveal().encode("ascii"))
            return token
        if not text:
            raise StartRefused(f"{self._token} is empty.", detail="Delete it, and a new token is made.")
        self._token.chmod(0o600)
        return Secret(text)

    def workspace_id(self) -> str:
        """For who gave none: the same at each start in this folder."""
        return sha256(os.fsencode(self.folder)).hexdigest()[:32]

    def socket_path(self) -> Path:
        """In the folder; where its path is too long for a socket, in a private one of a short name."""
        path = self.folder / "agent.sock"
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
            return path
        temporary = Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp")  # noqa: S108  0700 below, and checked
        short = temporary / f"chatd-agent-{os.geteuid()}-{self.workspace_id()}"
        short.mkdir(mode=0o700, exist_ok=True)
        if short.lstat().st_uid != os.geteuid() or short.is_symlink():
            raise StartRefused(f"{short} belongs to another user.", detail="Choose a folder with a shorter path.")
        return short / "agent.sock"
