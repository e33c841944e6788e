"""Limits of memory, processes and processor time by control groups, of either version, where they can be made.

Whether they can is found by making them. A workspace has a group of its own in each hierarchy that is needed.
"""

import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

_PERIOD_MICROSECONDS: Final = 100_000  # over which processor time is shared out: the kernel's own default
_MOST_LEVELS: Final = 8  # upwards from our own group, for one with room: the usual trees are four deep


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    memory_mb: int | None = None
    processes: int | None = None
    cpus: float | None = None

    @property
    def wanted(self) -> dict[str, str]:
        """What is limited, by the controller that can do it."""
        words = {
            "memory": f"memory ({self.memory_mb} MB)" if self.memory_mb is not None else "",
            "pids": f"processes ({self.processes})" if self.processes is not None else "",
            "cpu": f"processors ({self.cpus:g})" if self.cpus is not None else "",
        }
        return {name: word for name, word in words.items() if word}


class Groups:
    """The groups of one workspace. `enforced` are the controllers whose limit holds."""

    def __init__(self, folders: Iterable[Path], enforced: frozenset[str] = frozenset()) -> None:
        self.folders = tuple(folders)
        self.enforced = enforced

    def add(self, pid: int) -> None:
        """The process, and all that it will start. Raises OSError."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def pids(self) -> set[int]:
        found: set[int] = set()
        for folder in self.folders:
            for file in folder.rglob("cgroup.procs"):
                with suppress(OSError):
                    found.update(int(line) for line in file.read_text("ascii").split())
        return found

    def kill(self) -> None:
        """Everything in them, now; a fork meanwhile is found by the next call."""
        for pid in self.pids():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> bool:
        """Whether none is left. One with a process in it stays."""
        for folder in self.folders:
            for below in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
                with suppress(OSError):
                    below.rmdir()
            with suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self.folders)


def make_groups(name: str, limits: Limits) -> Groups:
    """Groups of that name with these limits, as far as this system and our rights allow."""
    wanted = set(limits.wanted)
    hierarchies = _own_groups()
    folders: list[Path] = []
    enforced: set[str] = set()
    for controllers, own in hierarchies:
        left = wanted - enforced
        found = _separate(own, name, left & controllers, limits) if controllers else _unified(own, name, left, limits)
        if found is None:
            continue
        if _can_be_joined(found[0]):
            folders.append(found[0])
            enforced |= found[1]
        else:
            _take_away(found[0])
    return Groups(folders, frozenset(enforced))


def _can_be_joined(folder: Path) -> bool:
    """To make a group is one right, to move a process there another."""
    try:
        trial = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, cwd="/")
    except OSError:
        return False
    try:
        Groups((folder,)).add(trial.pid)
    except OSError:
        return False
    finally:
        trial.kill()
        trial.wait()
    return True


def _separate(own: Path, name: str, asked: set[str], limits: Limits) -> tuple[Path, set[str]] | None:
    """The first version: a hierarchy per controller, and groups may have processes and groups in them."""
    if not asked:
        return None
    folder = own / name
    try:
        folder.mkdir(exist_ok=True)
        for controller in asked:
            _write_first_version(folder, controller, limits)
    except OSError:
        _take_away(folder)
        return None
    return folder, asked


def _unified(own: Path, name: str, asked: set[str], limits: Limits) -> tuple[Path, set[str]] | None:
    """The second version: one hierarchy; only a group without processes of its own shares out, so look upwards."""
    if not asked:
        return None
    parent = own
    for _ in range(_MOST_LEVELS):
        folder = parent / name
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            _share_out(parent, asked)
            held = {controller for controller in asked if _write_second_version(folder, controller, limits)}
            if held:
                return folder, held
        _take_away(folder)
        parent = parent.parent
        if not (parent / "cgroup.procs").exists():
            return None
    return None


def _share_out(parent: Path, asked: set[str]) -> None:
    shared = set((parent / "cgroup.subtree_control").read_text("ascii").split())
    offered = set((parent / "cgroup.controllers").read_text("ascii").split())
    for controller in (asked & offered) - shared:
        with suppress(OSError):
            (parent / "cgroup.subtree_control").write_text(f"+{controller}")


def _write_first_version(folder: Path, controller: str, limits: Limits) -> None:
    if controller == "memory" and limits.memory_mb is not None:
        most = str(limits.memory_mb * 1024**2)
        (folder / "memory.limit_in_bytes").write_text(most)
        with suppress(OSError):  # with swap; not all kernels count it
            (folder / "memory.memsw.limit_in_bytes").write_text(most)
    elif controller == "pids":
        (folder / "pids.max").write_text(str(limits.processes))
    elif controller == "cpu" and limits.cpus is not None:
        (folder / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROSECONDS))
        (folder / "cpu.cfs_quota_us").write_text(str(int(limits.cpus * _PERIOD_MICROSECONDS)))


def _write_second_version(folder: Path, controller: str, limits: Limits) -> bool:
    try:
        if controller == "memory" and limits.memory_mb is not None:
            _write_existing(folder / "memory.max", str(limits.memory_mb * 1024**2))
            with suppress(OSError):  # not all kernels count swap
                _write_existing(folder / "memory.swap.max", "0")
        elif controller == "pids":
            _write_existing(folder / "pids.max", str(limits.processes))
        elif controller == "cpu" and limits.cpus is not None:
            quota = int(limits.cpus * _PERIOD_MICROSECONDS)
            _write_existing(folder / "cpu.max", f"{quota} {_PERIOD_MICROSECONDS}")
    except OSError:
        return False
    return True


def _write_existing(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _own_groups() -> Sequence[tuple[frozenset[str], Path]]:
    """The folders of the groups that this process is in, with their controllers; none of the second version's."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines()]
        groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines()]
    except OSError:
        return []
    found: list[tuple[frozenset[str], Path]] = []
    for _, controllers, within in groups:
        names = frozenset(controllers.split(",")) - {""}
        for fields in mounts:
            after = fields.index("-")
            kind, options = fields[after + 1], set(fields[after + 3].split(","))
            if (kind == "cgroup2" and not names) or (kind == "cgroup" and names and names <= options):
                root = fields[3].rstrip("/")
                if within == root or within.startswith(f"{root}/"):
                    found.append((names, Path(fields[4]) / within.removeprefix(root).lstrip("/")))
                    break
    return found


def _take_away(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
