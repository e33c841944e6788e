"""The names below a data directory, and where its sockets go when its own path does not suit them."""

import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from chatd.store.keeper.files import check_owner, private_folder

PORT = 5432  # names the socket file, as Postgres wants it; nothing listens on TCP
_SOCKET_NAME = ".s.PGSQL."
SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103  # sun_path holds 108 (BSD: 104) with the final zero


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
    def next_password(self) -> Path:
        """Written before the database learns it, renamed to `password` after: never a file that is wrong."""
        return self.path / "postgres-password.new"

    @property
    def running(self) -> Path:
        """Which process the keeper started as Postgres; outlives a killed keeper."""
        return self.path / "postgres-running.json"

    @property
    def location(self) -> Path:
        """Names the `PostgresHome` when it is not inside. Written once, so that the files are found again."""
        return self.path / "postgres-location"

    def check_owner(self) -> None:
        """Raises KeeperError when it or the database folder in it is there and not ours."""
        check_owner(self.path)
        check_owner(self.path / "postgres")

    def create(self) -> None:
        """Make it if it is new. As root others may pass through, not list it: Postgres' files are inside."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            mode = traversable_mode()
            try:
                self.path.mkdir(mode=mode)
            except FileExistsError:  # another server was faster
                return
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
        # 16 digits are enough to keep the data directories of one machine apart.
        name = hashlib.sha256(bytes(self.path)).hexdigest()[:16]
        folder = Path(tempfile.gettempdir()) / f"chatd-{os.geteuid()}-{name}"
        return private_folder(folder, mode=traversable_mode(), uid=os.geteuid(), temporary=True)


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


def connectable(folder: Path) -> bool:
    """Whether a client finds Postgres in this socket folder, given in a connection URL.

    Clients take a comma for a list of hosts and a name of a socket file for the file, and URLs are UTF-8.
    """
    try:
        name = bytes(folder).decode()
    except UnicodeDecodeError:
        return False
    return "," not in name and _SOCKET_NAME not in name and fits(postgres_socket(folder))


def postgres_socket(folder: Path) -> Path:
    """The file that Postgres makes in its socket folder."""
    return folder / f"{_SOCKET_NAME}{PORT}"
