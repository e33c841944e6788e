"""The names below a data directory, and where its sockets go when its own path is too long for them."""

import hashlib
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PORT = 5432  # names the socket file, as Postgres wants it; nothing listens on TCP
SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103  # sun_path holds 108 (BSD: 104) with the final zero


class KeeperError(Exception):
    """The keeper can't do its work; the message says why and what to do."""


@dataclass(frozen=True)
class DataDirectory:
    """What the server and the keeper write; Postgres' own files are in a `PostgresHome`."""

    path: Path

    @classmethod
    def of(cls, path: Path) -> "DataDirectory":
        """By its real name: servers that came by different links must meet."""
        return cls(path.resolve())

    @property
    def lock(self) -> Path:
        return self.path / "keeper.lock"

    @property
    def socket(self) -> Path:
        """The keeper's socket, or a link to it when this path is too long for a socket."""
        return self.path / "keeper.sock"

    @property
    def keeper_log(self) -> Path:
        return self.path / "keeper.log"

    @property
    def password(self) -> Path:
        return self.path / "postgres-password"

    @property
    def running(self) -> Path:
        """Which process the keeper started as Postgres; outlives a killed keeper."""
        return self.path / "postgres-running.json"

    @property
    def location(self) -> Path:
        """Names the `PostgresHome` when it is not inside. Written once, so that the files are found again."""
        return self.path / "postgres-location"

    def create(self) -> None:
        """Make it if it is new. As root others may pass through, not list it: Postgres' files are inside."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            mode = traversable_mode()
            self.path.mkdir(mode=mode, exist_ok=True)
            self.path.chmod(mode)

    def keeper_address(self) -> str:
        """What to connect to. Raises FileNotFoundError when no keeper can be listening."""
        if self.socket.is_symlink():
            return str(self.socket.readlink())
        if not fits(self.socket):
            raise FileNotFoundError(self.socket)
        return str(self.socket)

    def short_folder(self) -> Path:
        """A private folder with a short path. Raises KeeperError when someone else made one of that name."""
        name = hashlib.sha256(bytes(self.path)).hexdigest()[
            :16
        ]  # enough to keep the data directories of one machine apart
        folder = Path(tempfile.gettempdir()) / f"chatd-{os.geteuid()}-{name}"
        return private_folder(folder, mode=traversable_mode(), uid=os.geteuid())


@dataclass(frozen=True)
class PostgresHome:
    """Where Postgres' files are. The keeper owns this folder, Postgres only `data`."""

    path: Path

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def log(self) -> Path:
        return self.path / "postgres.log"

    @property
    def sockets(self) -> Path:
        return self.path / "socket"


def traversable_mode() -> int:
    """As root another user (Postgres') must get through, but not look around; otherwise nobody."""
    return 0o711 if os.geteuid() == 0 else 0o700


def fits(socket: Path) -> bool:
    return len(bytes(socket)) <= SOCKET_PATH_BYTES


def postgres_socket(folder: Path) -> Path:
    """The file that Postgres makes in its socket folder."""
    return folder / f".s.PGSQL.{PORT}"


def private_folder(folder: Path, *, mode: int, uid: int, gid: int | None = None) -> Path:
    """Make a folder, or check that an existing one is a real folder, `uid`'s own, that only it may write."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or found.st_mode & 0o022:
            raise KeeperError(
                f"{folder} exists but is not a private folder of user {uid}; someone else may have made it. "
                "Remove it and start again."
            ) from None
        return folder
    if uid != os.geteuid():
        os.chown(folder, uid, gid if gid is not None else -1)
    folder.chmod(mode)
    return folder
