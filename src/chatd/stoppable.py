"""A block that someone else can end, without a task of its own."""

import asyncio
from types import TracebackType


class Stopped(Exception):
    """The block was ended from outside."""


class Stoppable:
    """An async context manager, once. `stop` ends the block at its next await, and `Stopped` comes out of it.

    A cancellation of the task stays one.
    """

    def __init__(self) -> None:
        self._scope = asyncio.timeout(None)  # cancels like a timeout does, but when it is told to

    def stop(self) -> None:
        """From the same event loop, while the block runs."""
        if not self._scope.expired():
            self._scope.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> None:
        await self._scope.__aenter__()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        try:
            await self._scope.__aexit__(exc_type, exc, tb)
        except TimeoutError:
            raise Stopped from None
