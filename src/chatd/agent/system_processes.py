"""What the kernel says of processes: who lives, who descends from whom, who belongs to a workspace."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

_PROC: Final = Path("/proc")
_DEAD: Final = frozenset({"Z", "X", "x"})


class SystemProcess(msgspec.Struct, frozen=True):
    """`start_ticks` since boot: a pid is given again, a pid with its start time is not."""

    pid: int
    parent: int
    group: int
    start_ticks: int
    is_dead: bool  # a zombie, which only waits for its parent
    session: int = 0


def look_up(pid: int) -> SystemProcess | None:
    """The process with that pid; None when there is none."""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, parentheses and blanks too.
    fields = stat[stat.rindex(b")") + 2 :].split()
    return SystemProcess(
        pid, int(fields[1]), int(fields[2]), int(fields[19]), fields[0].decode() in _DEAD, int(fields[3])
    )


def is_alive(pid: int, start_ticks: int) -> bool:
    """Whether this very process lives; not one that was given its pid later, and not a zombie."""
    found = look_up(pid)
    return found is not None and not found.is_dead and found.start_ticks == start_ticks


def boot_id() -> str:
    """Differs after each start of the machine, when pids and their start times begin anew."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def living() -> list[SystemProcess]:
    """All processes that can be seen from here, without zombies."""
    found = (look_up(int(name)) for name in os.listdir(_PROC) if name.isdigit())  # noqa: PTH208  names only
    return [process for process in found if process is not None and not process.is_dead]


def descendants(processes: list[SystemProcess], ancestor: int) -> Iterator[SystemProcess]:
    """Children, their children, and so on."""
    children: dict[int, list[SystemProcess]] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process)
    left = children.pop(ancestor, [])
    while left:
        process = left.pop()
        yield process
        left += children.pop(process.pid, [])


def carries(pid: int, marker: bytes) -> bool:
    """Whether the process was started with this `NAME=value` in its environment."""
    try:
        return marker in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
