"""One local workspace on disk: its files, who keeps it, and where its agent is reached.

`home` is the sandbox's own, as `agent` is; the rest is the server's, and not seen inside.
"""

import fcntl
import os
from pathlib import Path
from uuid import UUID

import msgspec

from chatd.agent.system_processes import boot_id, is_alive
from chatd.agent.written import replace_file
from chatd.workspaces.agent_folder import AgentFolder, make_owned


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


class WorkspaceFolder(AgentFolder):
    def __init__(self, root: Path, workspace_id: UUID) -> None:
        super().__init__(root, workspace_id)
        self.home = self.path / "home"
        self.egress = self.path / "egress"
        self.keeper_log = self.path / "keeper.log"
        self.agent_log = self.path / "agent.log"
        self._lock = self.path / "keeper.lock"
        self._record = self.path / "keeper.json"

    def make(self, owner: tuple[int, int] | None) -> None:
        """As `make_agent`, with the home, and the place of the proxy's socket."""
        self.make_agent(owner)
        make_owned(self.home, owner)
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
        self.forget_socket()

    def name_socket(self, made: Path) -> bool:
        """The same for an agent without a sandbox, whose socket may be elsewhere: a path can be too long for one."""
        self._socket.unlink(missing_ok=True)
        self._socket.symlink_to(made)
        return made.is_socket()
