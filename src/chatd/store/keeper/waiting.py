"""Real time for the keeper: it is a process of its own, so there is no clock to take."""

import select
import time
from collections.abc import Callable

_LOOK_EVERY = 0.02  # seconds; short against everything that is waited for, and idle otherwise


def monotonic() -> float:
    return time.monotonic()  # noqa: TID251 - see the first line


def timestamp() -> str:
    """For the keeper's log: the time of day, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())


def wait_until(condition: Callable[[], bool], *, limit: float) -> bool:
    """Look until `condition` holds or `limit` seconds have passed; returns whether it holds."""
    deadline = monotonic() + limit
    while not condition():
        if monotonic() >= deadline:
            return False
        select.select([], [], [], _LOOK_EVERY)
    return True
