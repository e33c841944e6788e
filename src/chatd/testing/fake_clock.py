"""Time that moves only when a test says so."""

import asyncio
import heapq
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from types import TracebackType

START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)  # noon, so that short tests stay within one day
WAIT_SECONDS = 20.0  # of real time: long enough for a machine that does five other things
SETTLE_TURNS = 20  # loop turns given to woken code: a few awaits deep; code behind real I/O needs wait_for


class FakeClock:
    """A `chatd.clock.Clock` for one event loop. Time stands still until `advance`.

    Fake time races real scheduling: advance only after `wait_for` has said that the code under test is
    really waiting.
    """

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed = 0.0
        self._parked: list[_Timer] = []  # a heap: the next one due is first
        self._made = 0
        self._changed = asyncio.Event()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float, *, timer: str) -> None:
        if seconds <= 0:
            await _loop_turn()
            return
        woken = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        parked = self._park(seconds, timer, wake)
        try:
            await woken
        finally:
            self._forget(parked)

    def timeout(self, seconds: float, *, timer: str) -> AbstractAsyncContextManager[None]:
        return _FakeTimeout(self, seconds, timer)

    def after(self, seconds: float, told: Callable[[], None], *, timer: str) -> Callable[[], None]:
        parked = self._park(seconds, timer, told)
        return lambda: self._forget(parked)

    def parked(self) -> list[str]:
        """The names of all that wait: sleeps, timeouts and calls that come after a time, the next one due first."""
        return [timer.name for timer in sorted(self._parked)]

    async def wait_for(self, timer_name: str, count: int = 1) -> None:
        """Return once `count` sleeps or timeouts of that name are under way.

        AssertionError with the list of parked timers after 20 real seconds.
        """
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while self.parked().count(timer_name) < count:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            parked = ", ".join(self.parked()) or "nothing"
            raise AssertionError(
                f"waited {WAIT_SECONDS:g} s for {count} x timer {timer_name!r}; parked: {parked}"
            ) from None

    async def advance(self, seconds: float) -> None:
        """Move time on: each timer fires at its own time, and what it wakes runs before the next one."""
        if seconds < 0:
            raise ValueError("time does not run backwards")
        target = self._elapsed + seconds
        while self._parked and self._parked[0].due <= target:
            timer = heapq.heappop(self._parked)
            self._elapsed = max(self._elapsed, timer.due)
            timer.fire()
            await self._settle()
        self._elapsed = max(self._elapsed, target)
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(SETTLE_TURNS):
            await _loop_turn()

    def _park(self, seconds: float, name: str, fire: Callable[[], None]) -> "_Timer":
        self._made += 1
        timer = _Timer(self._elapsed + seconds, self._made, name, fire)
        heapq.heappush(self._parked, timer)
        self._changed.set()
        return timer

    def _forget(self, timer: "_Timer") -> None:
        if timer in self._parked:
            self._parked.remove(timer)
            heapq.heapify(self._parked)


class _Timer:
    """One sleep or timeout; equal only to itself, ordered by when it is due and then by when it was made."""

    def __init__(self, due: float, number: int, name: str, fire: Callable[[], None]) -> None:
        self.due = due
        self.number = number
        self.name = name
        self.fire = fire

    def __lt__(self, other: "_Timer") -> bool:
        return (self.due, self.number) < (other.due, other.number)


class _FakeTimeout:
    """A real asyncio.timeout without a deadline, which the fake clock gives one that has just passed."""

    def __init__(self, clock: FakeClock, seconds: float, name: str) -> None:
        self._clock = clock
        self._seconds = seconds
        self._name = name
        self._timeout = asyncio.timeout(None)
        self._parked: _Timer | None = None

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        if self._seconds <= 0:
            self._expire()
        else:
            self._parked = self._clock._park(self._seconds, self._name, self._expire)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> bool | None:
        if self._parked is not None:
            self._clock._forget(self._parked)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return await self._timeout.__aexit__(exc_type, exc, tb)

    def _expire(self) -> None:
        self._timeout.reschedule(asyncio.get_running_loop().time())


async def _loop_turn() -> None:
    await asyncio.sleep(0)  # noqa: TID251
