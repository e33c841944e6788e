"""The end of everything that a workspace started: pipelines, daemons, and what a killed agent left behind."""

import os
import signal
from typing import Final

from chatd.agent.cgroups import Cgroups
from chatd.agent.processes.environment import WORKSPACE_MARKER
from chatd.agent.system_processes import SystemProcess, carries, descendants, living, look_up
from chatd.clock import Clock

TERM_SECONDS: Final = 5.0  # to end in good order
KILL_SECONDS: Final = 5.0  # for the kernel to take away what was killed, on a machine that is busy
_LOOK_SECONDS: Final = 0.05  # nobody tells of the end of processes that are not ours


class Members:
    """All living processes that descend from this one, are in a group of the workspace's, or carry its mark."""

    def __init__(self, workspace_id: str, cgroups: Cgroups) -> None:
        self._mark = f"{WORKSPACE_MARKER}={workspace_id}".encode()
        self._cgroups = cgroups

    def look(self) -> list[SystemProcess]:
        me = os.getpid()
        everyone = living()
        ours = {process.pid for process in descendants(everyone, me)} | self._cgroups.pids()
        return [
            process
            for process in everyone
            if process.pid != me and (process.pid in ours or carries(process.pid, self._mark))
        ]


async def end_everything(members: Members, clock: Clock) -> tuple[int, list[int]]:
    """How many there were, and the pids of those that even SIGKILL did not end in time.

    Each is asked by SIGTERM once, also those that are forked meanwhile, and killed when it is still there later.
    """
    asked: set[tuple[int, int]] = set()
    deadline = clock.monotonic() + TERM_SECONDS
    while (left := members.look()) and clock.monotonic() < deadline:
        for process in left:
            if (process.pid, process.start_ticks) not in asked:
                asked.add((process.pid, process.start_ticks))
                _send(process, signal.SIGTERM)
                _send(process, signal.SIGCONT)  # a stopped process can't even end
        await clock.sleep(_LOOK_SECONDS, timer="ending")
    deadline = clock.monotonic() + KILL_SECONDS
    while left and clock.monotonic() < deadline:
        for process in left:
            asked.add((process.pid, process.start_ticks))
            _send(process, signal.SIGKILL)
        await clock.sleep(_LOOK_SECONDS, timer="ending")
        left = members.look()
    return len(asked), [process.pid for process in left]


def _send(process: SystemProcess, number: signal.Signals) -> None:
    """To this very process, not to one that was given its pid meanwhile."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        found = look_up(process.pid)
        if found is not None and found.start_ticks == process.start_ticks:
            signal.pidfd_send_signal(descriptor, number)
    except OSError:
        return  # it has ended, or is another user's
    finally:
        os.close(descriptor)
