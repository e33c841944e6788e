"""The end of all that runs of a local workspace, seen to be over."""

import os
import signal
from pathlib import Path
from typing import Final

from chatd.agent.system_processes import look_up
from chatd.clock import Clock
from chatd.workspaces.local.folder import KeeperRecord, WorkspaceFolder
from chatd.workspaces.local.launching import agents_groups, marked
from chatd.workspaces.local.limits import Groups
from chatd.workspaces.provisioner import BuildFailed

_KILL_SECONDS: Final = 20.0  # for the kernel to take away what was killed, on a busy machine
_LOOK_SECONDS: Final = 0.02


async def wait_until_left(folder: WorkspaceFolder, clock: Clock, *, within: float) -> bool:
    """Whether the keeper has gone by itself, which it does when nothing is left to keep."""
    until = clock.monotonic() + within
    while folder.is_held:
        if clock.monotonic() >= until:
            return False
        await clock.sleep(_LOOK_SECONDS, timer="keeper leaves")
    return True


async def kill_all(
    folder: WorkspaceFolder, workspace_id: str, clock: Clock, *, known: KeeperRecord | None = None
) -> None:
    """Keeper, sandbox and what may have outlived them. Raises BuildFailed when something does not end.

    `known` is who kept it before it was asked to leave: gone is who lives no more, not who has let go.
    """
    until = clock.monotonic() + _KILL_SECONDS
    while left := _killed(folder, workspace_id, known):
        if clock.monotonic() >= until:
            raise BuildFailed(
                f"The workspace did not end: {left}.",
                detail="End it by hand, and stop the workspace again.",
                code="alive",
            )
        await clock.sleep(_LOOK_SECONDS, timer="keeper killed")
    folder.forget_keeper()


def _killed(folder: WorkspaceFolder, workspace_id: str, known: KeeperRecord | None) -> str:
    """Kill what is there; what there was, in words."""
    record = folder.record() or known
    if record is None:
        return "a keeper holds it that can't be found" if folder.is_held else ""
    left = [f"process {pid}" for pid, ticks in record.living if _kill(pid, ticks)]
    groups = Groups(Path(path) for path in record.groups if record.is_of_this_boot)
    if not record.confined:
        groups = Groups((*agents_groups(folder, workspace_id).folders, *groups.folders))
    groups.kill()
    if not groups.remove():
        left.append(f"control group {groups.folders[0].name}")
    left += [f"process {pid}" for pid in _kill_marked(record, workspace_id)]
    if not left and folder.is_held:
        left.append("its lock is held")
    return ", ".join(left)


def _kill_marked(record: KeeperRecord, workspace_id: str) -> list[int]:
    found = [] if record.confined else marked(workspace_id)
    for pid in found:
        if (process := look_up(pid)) is not None:
            _kill(pid, process.start_ticks)
    return found


def _kill(pid: int, start_ticks: int) -> bool:
    """This very process, not one that was given its pid meanwhile. Whether it was there."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        found = look_up(pid)
        if found is None or found.is_dead or found.start_ticks != start_ticks:
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
