"""A workspace's folder on the server's machine, as far as it leads to the agent.

`<root>/<id>/` belongs to the server and is not seen inside. `agent` below it is the workspace's own: what is in it
was written by whoever runs commands there, so links in it are never followed.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Any, Final
from uuid import UUID

PRIVATE: Final = 0o700


class AgentFolder:
    def __init__(self, root: Path, workspace_id: UUID) -> None:
        self.path = root / str(workspace_id)
        self.agent = self.path / "agent"
        self._socket = self.path / "agent.sock"

    def make_agent(self, owner: tuple[int, int] | None) -> None:
        """Make what is missing, also where an earlier start was cut short. `owner` has what is inside, if not us."""
        self.path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        make_owned(self.agent, owner)

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

    def forget_socket(self) -> None:
        """No agent is reached here any more."""
        self._socket.unlink(missing_ok=True)

    @property
    def address(self) -> str:
        """Where the agent is reached from this machine, however long the path is."""
        return f"unix:{self._socket}"

    def take_away(self) -> None:
        """All of it. Raises OSError when something can't be taken away."""
        if not self.path.exists():
            return
        shutil.rmtree(self.path, onerror=_open_and_remove)


def make_owned(folder: Path, owner: tuple[int, int] | None) -> None:
    folder.mkdir(mode=PRIVATE, exist_ok=True)
    if owner is not None and folder.stat().st_uid != owner[0]:
        os.chown(folder, *owner)


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
            folder.chmod(PRIVATE)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        remove(path)
