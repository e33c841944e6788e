"""One local workspace on disk: its files, who keeps it, and where its agent is reached.

`<root>/<id>/` belongs to the server and can't be seen from inside. `home` and `agent` below it are the sandbox's own:
what is in them was written by whoever runs commands there, so links in them are never followed.
"""

import fcntl
import os
import shutil
import stat
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec

from chatd.agent.system_processes import boot_id, is_alive
from chatd.agent.written import replace_file

_PRIVATE: Final = 0o700


class KeeperRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who keeps the workspace, and what it has started. A pid counts only with its start time and the boot it is from.

    `inner_pid` is the first process of the sandbox, whose end is the end of all inside; 0 before there is one.
    """

    pid: int
    start_ticks: int
    boot_id: str
    inner_pid: int = 0
    inner_start_ticks: int = 0
    groups: tuple[str, ...] = ()  # folders of control groups
    confined: bool = True

    @property
    def is_of_this_boot(self) -> bool:
        return self.boot_id == boot_id()

    @property
    def living(self) -> list[tuple[int, int]]:
        """Pid and start time of those that still run."""
        if not self.is_of_this_boot:
            return []
        known = [(self.inner_pid, self.inner_start_ticks), (self.pid, self.start_ticks)]
        return [(pid, ticks) for pid, ticks in known if pid and is_alive(pid, ticks)]


class WorkspaceFolder:
    def __init__(self, root: Path, workspace_id: UUID) -> None:
        self.path = root / str(workspace_id)
        self.home = self.path / "home"
        self.agent = self.path / "agent"
        self.egress = self.path / "egress"
        self.keeper_log = self.path / "keeper.log"
        self.agent_log = self.path / "agent.log"
        self._lock = self.path / "keeper.lock"
        self._record = self.path / "keeper.json"
        self._socket = self.path / "agent.sock"

    def make(self, owner: tuple[int, int] | None) -> None:
        """Make what is missing, also where an earlier start was cut short. `owner` has what is inside, if not us."""
        self.path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        for folder in (self.home, self.agent):
            folder.mkdir(mode=_PRIVATE, exist_ok=True)
            if owner is not None and folder.stat().st_uid != owner[0]:
                os.chown(folder, *owner)
        self.egress.mkdir(mode=0o755, exist_ok=True)

    def hold(self) -> int | None:
        """The lock for as long as the descriptor is open; None when a keeper has it."""
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    @property
    def is_held(self) -> bool:
        """Whether a keeper lives. It asks for the lock, for a moment: who wants it for good tries more than once."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def record(self) -> KeeperRecord | None:
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=KeeperRecord)
        except (OSError, msgspec.MsgspecError):
            return None

    def write_record(self, record: KeeperRecord) -> None:
        replace_file(self._record, msgspec.json.encode(record))

    def forget_keeper(self) -> None:
        """Nobody keeps it any more: only for who holds the lock, or knows that nothing runs."""
        self._record.unlink(missing_ok=True)
        self._socket.unlink(missing_ok=True)

    def put_token(self, token: str, owner: tuple[int, int] | None) -> None:
        """As a new file, whatever stands at its place: that may be a link of the workspace's."""
        folder = os.open(self.agent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _remove_entry("token", folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open("token", flags, 0o600, dir_fd=folder), "w") as file:
                file.write(token)
                if owner is not None:
                    os.fchown(file.fileno(), *owner)
        finally:
            os.close(folder)

    def forget_agent_socket(self) -> None:
        """What an agent that is gone left: the next one binds the name anew."""
        folder = os.open(self.agent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _remove_entry("agent.sock", folder)
        finally:
            os.close(folder)

    def link_socket(self) -> bool:
        """Give the agent's socket a second name that the workspace can't move; False when there is no socket yet.

        The server follows no link of the workspace's, which could lead to any socket of this machine.
        """
        made = self.agent / "agent.sock"
        try:
            if not stat.S_ISSOCK(made.lstat().st_mode):
                return False
            self._socket.unlink(missing_ok=True)
            os.link(made, self._socket, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return stat.S_ISSOCK(self._socket.lstat().st_mode)

    def name_socket(self, made: Path) -> bool:
        """The same for an agent without a sandbox, whose socket may be elsewhere: a path can be too long for one."""
        self._socket.unlink(missing_ok=True)
        self._socket.symlink_to(made)
        return made.is_socket()

    @property
    def address(self) -> str:
        """Where the agent is reached from this machine, however long the path is."""
        return f"unix:{self._socket}"

    def take_away(self) -> None:
        """All of it. Raises OSError when something can't be taken away."""
        if not self.path.exists():
            return
        shutil.rmtree(self.path, onerror=_open_and_remove)


def _remove_entry(name: str, folder: int) -> None:
    """A file, a link or a whole folder of that name; links are not followed."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        shutil.rmtree(name, dir_fd=folder)


def _open_and_remove(remove: Any, path: str, _problem: object) -> None:
    """Folders without rights for their owner are made by package caches, for one."""
    place = Path(path)
    for folder in (place.parent, place):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(_PRIVATE)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        remove(path)
