"""Transitions that can't be cut: awaited through cancellation, and found out by reading when the answer was lost."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, Final, TypeVar

import asyncpg

# What a database that is away raises. A refusal of the statement itself is a bug and stays an error.
AWAY: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
)

_Result = TypeVar("_Result")


class AnswerLost(Exception):
    """Whether the transition was committed is not known: read the chat."""


async def committed(tasks: asyncio.TaskGroup, work: Coroutine[Any, Any, _Result]) -> _Result:
    """The outcome of a transition. Cancelled meanwhile, it waits for the outcome first: the statement is under way, and
    what it stores would be lost with it. Raises AnswerLost when the database went away."""
    running = tasks.create_task(_told(work))
    try:
        told = await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
    if isinstance(told, _Failed):
        if isinstance(told.error, AWAY):
            raise AnswerLost(str(told.error) or type(told.error).__name__) from told.error
        raise told.error
    return told


class _Failed:
    def __init__(self, error: Exception) -> None:
        self.error = error


async def _told(work: Awaitable[_Result]) -> "_Result | _Failed":
    """Raised inside of the task group, it would cancel the whole runner."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - raised again by who awaits it
        return _Failed(error)
