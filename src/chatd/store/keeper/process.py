"""Is that process alive, is it the one that was meant, is it the Postgres of this folder."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from chatd.store.keeper.files import read_own

_PROC = Path("/proc")
_START_TOLERANCE = 60.0  # seconds between starting a process and its writing postmaster.pid, and clock corrections
_PS_SECONDS = 10  # listing one process takes milliseconds


@dataclass(frozen=True)
class ProcessIdentity:
    """A process that can't be confused with a later one of the same number. `started` is opaque."""

    pid: int
    started: str

    def alive(self) -> bool:
        return identify(self.pid) == self

    def to_json(self) -> str:
        return json.dumps({"pid": self.pid, "started": self.started})

    @classmethod
    def read(cls, path: Path) -> "ProcessIdentity | None":
        """What `to_json` wrote; None when there is nothing or half of it (a kill in the middle)."""
        try:
            fields = json.loads(read_own(path))
            return cls(pid=int(fields["pid"]), started=str(fields["started"]))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True)
class PostmasterPid:
    """What Postgres says about itself in `postmaster.pid`."""

    pid: int
    started_at: float  # seconds since 1970

    @classmethod
    def read(cls, data: Path) -> "PostmasterPid | None":
        """None when there is no such file or it is not written yet."""
        try:
            lines = read_own(data / "postmaster.pid").splitlines()
            # A standalone backend writes a negative number.
            return cls(pid=abs(int(lines[0])), started_at=float(lines[2]))
        except (FileNotFoundError, ValueError, IndexError):
            return None

    def alive(self, data: Path) -> bool:
        """Whether it is a live Postgres in `data`: a zombie, or another program with that number, is not."""
        if sys.platform != "linux":
            state, _, command = _ps(self.pid)
            return bool(state) and not state.startswith("Z") and "postgres" in command
        if identify(self.pid) is None or _command(self.pid) != "postgres":
            return False
        try:
            return _works_in(self.pid, data)
        except PermissionError:
            # Another user's process, and no right to look closer: compare the times of the start.
            return abs(_started_at(self.pid) - self.started_at) < _START_TOLERANCE


def identify(pid: int) -> ProcessIdentity | None:
    """None when there is no such process, or only its zombie."""
    if sys.platform == "linux":
        fields = _stat(pid)
        if fields is None or fields[0] in "ZX":
            return None
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return ProcessIdentity(pid, f"{boot}/{fields[19]}")
    state, started, _ = _ps(pid)
    return ProcessIdentity(pid, started) if state and not state.startswith("Z") else None


def postgres_processes(data: Path) -> list[int]:
    """Every live Postgres process that works in `data`, also backends whose postmaster is gone.

    Empty where it can't be known (not Linux, or no right to look); then Postgres' own check remains.
    """
    found: list[int] = []
    if sys.platform != "linux":
        return found
    for pid in [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]:
        if _command(pid) == "postgres":
            try:
                if identify(pid) is not None and _works_in(pid, data):
                    found.append(pid)
            except PermissionError:
                continue
    return found


def _works_in(pid: int, data: Path) -> bool:
    """Postgres changes into its data directory, and stays there."""
    try:
        return (_PROC / str(pid) / "cwd").samefile(data)
    except (FileNotFoundError, ProcessLookupError):
        return False


def _stat(pid: int) -> list[str] | None:
    """The fields after the command's name, which is in brackets and may contain anything."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _command(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _started_at(pid: int) -> float:
    fields = _stat(pid)
    if fields is None:
        return 0.0
    booted = next(line for line in (_PROC / "stat").read_text().splitlines() if line.startswith("btime"))
    return int(booted.split()[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _ps(pid: int) -> tuple[str, str, str]:
    """State, start and command as `ps` tells them; empty when there is no such process."""
    told = subprocess.run(
        ["ps", "-o", "state=,lstart=,comm=", "-p", str(pid)],
        capture_output=True,
        text=True,
        timeout=_PS_SECONDS,
        check=False,
    )
    words = told.stdout.split()
    # `lstart` is five words: Sun Nov 15 01:53:01 2026
    return (words[0], " ".join(words[1:6]), " ".join(words[6:])) if len(words) > 6 else ("", "", "")
