"""The only reader of time. Everything that waits names its timer, so that a test can find it."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol


class Clock(Protocol):
    """Wall time, monotonic time and waiting. `chatd.testing.fake_clock.FakeClock` is its twin for tests."""

    def now(self) -> datetime:
        """The time of day, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow; for measuring, never for storing."""
        ...

    async def sleep(self, seconds: float, *, timer: str) -> None:
        """Wait; `timer` is the name by which a test waits for and wakes this sleep. Zero only yields."""
        ...

    def timeout(self, seconds: float, *, timer: str) -> AbstractAsyncContextManager[None]:
        """Raise TimeoutError out of the block when it is still running after `seconds`.

        As asyncio.timeout: the block is cancelled once, and a cancellation from outside stays one.
        """
        ...

    def after(self, seconds: float, told: Callable[[], None], *, timer: str) -> Callable[[], None]:
        """Call `told` in the event loop, once, unless what this returns is called before. It costs no task."""
        ...


class SystemClock:
    """The real clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251

    def monotonic(self) -> float:
        return time.monotonic()  # noqa: TID251

    async def sleep(self, seconds: float, *, timer: str) -> None:
        await asyncio.sleep(seconds)  # noqa: TID251

    def timeout(self, seconds: float, *, timer: str) -> AbstractAsyncContextManager[None]:
        return _Timeout(seconds)

    def after(self, seconds: float, told: Callable[[], None], *, timer: str) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(seconds, told).cancel


class _Timeout:
    """asyncio.timeout as a context manager that yields nothing."""

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> bool | None:
        return await self._timeout.__aexit__(exc_type, exc, tb)
