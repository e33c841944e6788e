"""When the agent was last of use: requests that run, and the time of the last."""

from collections.abc import Generator
from contextlib import contextmanager

from chatd.clock import Clock


class Activity:
    """Every request of the server's counts, a heartbeat and one that still waits included."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.open_requests = 0
        self._last = clock.monotonic()
        self.requests = 0

    @contextmanager
    def request(self) -> Generator[None]:
        self.requests += 1
        self.open_requests += 1
        try:
            yield
        finally:
            self.open_requests -= 1
            self.touch()

    def touch(self) -> None:
        """Something happened that is worth staying for."""
        self._last = self._clock.monotonic()

    def idle_seconds(self) -> float:
        return 0.0 if self.open_requests else self._clock.monotonic() - self._last
