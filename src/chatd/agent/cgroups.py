"""One control group per command, where the system lets us make them: what is in one can't leave it unseen.

So even a daemon that left its parents, its session and its environment behind is found, also by the agent that comes
after a killed one. Only the second version of control groups is used, and no limits are set here.
"""

from pathlib import Path

from chatd.agent.written import replace_file


class Cgroups:
    """The groups of one workspace, in a group of its own. Without rights or without such a system there are none.

    They are made with the first command. `note` is a file in which the place is kept for the next agent.
    """

    def __init__(self, workspace_id: str, note: Path) -> None:
        self._name = f"chatd-{workspace_id}"
        self._note = note
        self._root = _noted(note, self._name)
        self._looked = self._root is not None

    def joining(self, id: str, command: str) -> list[str]:
        """What to run so that the command, and all it starts, is in a group of its own from its first moment on."""
        plain = ["sh", "-c", command]
        if not self._looked:
            self._looked = True
            self._root = self._made()
        if self._root is None:
            return plain
        group = self._root / id
        try:
            group.mkdir(exist_ok=True)
        except OSError:
            return plain
        return [
            "sh",
            "-c",
            '{ echo 0 >"$1"; } 2>/dev/null; exec sh -c "$2"',
            "sh",
            str(group / "cgroup.procs"),
            command,
        ]

    def pids(self) -> set[int]:
        """Who is in any of the groups, zombies included."""
        found: set[int] = set()
        for file in self._root.rglob("cgroup.procs") if self._root is not None else ():
            try:
                found.update(int(line) for line in file.read_text("ascii").split())
            except OSError:
                continue  # it was taken away meanwhile, or is of another kind
        return found

    def leave(self, id: str) -> None:
        """Take the group of one command away, if nobody is in it any more."""
        if self._root is not None:
            _take_away(self._root / id)

    def take_away(self) -> None:
        """All groups that nobody is in."""
        if self._root is None:
            return
        for group in sorted(self._root.rglob("*"), reverse=True):
            if group.is_dir():
                _take_away(group)
        if _take_away(self._root):
            self._note.unlink(missing_ok=True)

    def _made(self) -> Path | None:
        parent = _own_group()
        if parent is None:
            return None
        root = parent / self._name
        try:
            root.mkdir(exist_ok=True)
            replace_file(self._note, str(root).encode())
        except OSError:
            return None
        return root


def _noted(note: Path, name: str) -> Path | None:
    try:
        root = Path(note.read_text("utf-8"))
    except OSError:
        return None
    return root if root.name == name and (root / "cgroup.procs").exists() else None


def _own_group() -> Path | None:
    """The folder of the group that this process is in."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
        groups = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return None
    mounted = next((line.split()[4] for line in mounts if line.partition(" - ")[2].startswith("cgroup2 ")), None)
    within = next((line.removeprefix("0::/") for line in groups if line.startswith("0::/")), None)
    return None if mounted is None or within is None else Path(mounted) / within


def _take_away(group: Path) -> bool:
    try:
        group.rmdir()
    except OSError:
        return False
    return True
