"""A child process that does not outlive the keeper."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # from linux/prctl.h


def end_with_parent(
    death_signal: signal.Signals = signal.SIGTERM, *, also: Callable[[], None] | None = None
) -> Callable[[], None]:
    """For `preexec_fn`: the kernel sends `death_signal` to the child when the keeper dies.

    subprocess calls it after changing the user, which would clear the request. Elsewhere than on Linux it
    does nothing: the next keeper finds and stops what is left.
    """
    keeper = os.getpid()
    libc = ctypes.CDLL(None)

    def before_exec() -> None:
        if sys.platform == "linux":
            libc.prctl(_PR_SET_PDEATHSIG, int(death_signal))
            if os.getppid() != keeper:  # it died before the request
                os._exit(1)
        if also is not None:
            also()

    return before_exec
