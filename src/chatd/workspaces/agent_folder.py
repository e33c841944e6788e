"""A workspace's folder on the server's machine, as far as it leads to the agent.

`<root>/<id>/` belongs to the server and is not seen inside. `agent` below it is the workspace's own: what is in it
was written by whoever runs commands there, so links in it are never followed.
"""

import errno
import os
import stat
import subprocess
from pathlib import Path
from typing import Final
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
        _remove(self.agent / "token")
        folder = os.open(self.agent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open("token", flags, 0o600, dir_fd=folder), "w") as file:
                file.write(token)
                if owner is not None:
                    os.fchown(file.fileno(), *owner)
        finally:
            os.close(folder)

    def forget_agent_socket(self) -> None:
        """What an agent that is gone left: the next one binds the name anew."""
        _remove(self.agent / "agent.sock")

    def link_socket(self) -> bool:
        """Give the agent's socket a second name that the workspace can't move; False when there is no socket yet.

        The server follows no link of the workspace's, which could lead to any socket of this machine.
        """
        made = self.agent / "agent.sock"
        taken = self.path / f".agent.sock.{os.urandom(8).hex()}"
        try:
            if not stat.S_ISSOCK(made.lstat().st_mode):
                return False
            os.link(made, taken, follow_symlinks=False)
        except FileNotFoundError:
            return False
        try:
            if not stat.S_ISSOCK(taken.lstat().st_mode):
                return False  # it was exchanged between the two looks
            taken.replace(self._socket)  # at once: another server may do the same, or connect
        finally:
            taken.unlink(missing_ok=True)  # where both names are of one socket, the system leaves both
        return True

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
        if os.geteuid() != 0:  # folders without rights for their owner are made by package caches, for one
            _told("chmod", "-R", "u+rwX", "--", str(self.path))
        said = _told("rm", "-rf", "--", str(self.path))
        if self.path.exists():
            raise OSError(errno.EIO, said or "some of it stays", str(self.path))


def make_owned(folder: Path, owner: tuple[int, int] | None) -> None:
    """A folder of that user's, or of ours. With all that is in it, where it was another's: the server was changed."""
    folder.mkdir(mode=PRIVATE, exist_ok=True)
    uid, gid = owner or (os.geteuid(), os.getegid())
    if folder.stat().st_uid != uid:
        _told("chown", "-R", "-h", "-P", f"{uid}:{gid}", "--", str(folder))


def _told(*command: str) -> str:
    """What a tool of the system's complains of. They go as deep as a tree is, and follow no links in it."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    return done.stderr.decode("utf-8", "replace").strip()[-500:]


def _remove(path: Path) -> None:
    """A file, a link or a whole folder of that name, in a folder of a workspace; links are not followed."""
    try:
        path.unlink(missing_ok=True)
    except (IsADirectoryError, PermissionError):
        said = _told("rm", "-rf", "--", str(path))
        if os.path.lexists(path):
            raise OSError(errno.EIO, said or "it stays", str(path)) from None
