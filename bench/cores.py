"""Which core a process runs on: the server that is measured has one of its own, all others share the next."""

import os
import resource
from contextlib import suppress
from pathlib import Path

SERVER = 0
OTHERS = 1
_TICK = os.sysconf("SC_CLK_TCK")


def pin(core: int, pid: int = 0) -> None:
    """Where there is only one core, or no such choice, nothing happens."""
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(pid, {core})


def allow_many_files() -> None:
    """Thousands of connections: as many as this user may have at all."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def parent_of(pid: int) -> int:
    return int(_stat(pid)[1])


def family_cpu_seconds(pid: int) -> float:
    """User and system time of a process and of its children that live."""
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            other = int(folder.name)
            fields = _stat(other)
            if pid in (other, int(fields[1])):
                total += (int(fields[11]) + int(fields[12])) / _TICK
    return total


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def _stat(pid: int) -> list[str]:
    """From the state on; the name before it may contain anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
