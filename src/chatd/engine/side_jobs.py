"""Work around turns: in the background, bounded in number and time, and of no consequence when it fails."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import WORKER
from chatd.core.side_kind import SideKind
from chatd.observe.logs import get_logger
from chatd.providers.stream import ModelCallFailed
from chatd.store.actor import acting_as

MOST_RUNNING: Final = 8  # model calls at once beside the turns, which matter more
MOST_WAITING: Final = 256  # further ones are dropped: nobody misses the title of a chat in a crowd like that
_log = get_logger("chatd.side-jobs")


class MessagesSinceSummary(Protocol):
    @property
    def has_summary(self) -> bool: ...

    @property
    def new_messages(self) -> int: ...


class SideStore(Protocol):
    """What is stored of it. Each write gives None when the chat is no longer what it was made for."""

    async def replace_chat_title(self, *, title: str, id: UUID, expected: str) -> UUID | None: ...

    async def set_turn_label(self, *, id: UUID, history_version: int, label: str | None) -> UUID | None: ...

    async def set_chat_summary(self, *, id: UUID, history_version: int, summary: str) -> UUID | None: ...

    async def count_messages_since_summary(self, *, id: UUID, history_version: int) -> MessagesSinceSummary | None: ...


class SideJobs:
    """Of a replica. A job runs while `run` does; before and after it none starts, and its end cancels all.

    A chat has one job of a kind: a new one takes the place of the last.
    """

    def __init__(self, *, clock: Clock, most_running: int = MOST_RUNNING, most_waiting: int = MOST_WAITING) -> None:
        self._clock = clock
        self._most = most_running + most_waiting
        self._slots = asyncio.Semaphore(most_running)
        self._jobs: dict[tuple[SideKind, UUID], asyncio.Task[None]] = {}
        self._alive = 0  # with those that were replaced and have not ended yet
        self._group: asyncio.TaskGroup | None = None
        self._context = contextvars.Context()

    @property
    def alive(self) -> int:
        """How many run or wait."""
        return self._alive

    async def run(self) -> None:
        """Until it is cancelled."""
        with acting_as(WORKER):
            self._context = contextvars.copy_context()
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                await asyncio.Event().wait()
            finally:
                self._group = None

    def start(self, kind: SideKind, chat_id: UUID, work: Callable[[], Awaitable[None]], *, seconds: float) -> bool:
        """At once or when there is room; whether it will be. Never waits and never raises."""
        if self._group is None or self._alive >= self._most:
            _log.info("a side job is dropped", kind=str(kind), chat_id=str(chat_id), alive=self._alive)
            return False
        key = (kind, chat_id)
        if (last := self._jobs.get(key)) is not None:
            last.cancel()
        # Not in the caller's context: jobs act as the worker, whoever's request began the turn.
        task = self._group.create_task(
            self._guarded(kind, chat_id, work, seconds), name=f"{kind} of {chat_id}", context=self._context.copy()
        )
        self._alive += 1
        self._jobs[key] = task
        task.add_done_callback(lambda done: self._forget(key, done))
        return True

    async def _guarded(
        self, kind: SideKind, chat_id: UUID, work: Callable[[], Awaitable[None]], seconds: float
    ) -> None:
        try:
            async with self._slots, self._clock.timeout(seconds, timer=f"side {kind}"):
                await work()
        except TimeoutError:
            _log.info("a side job took too long", kind=str(kind), chat_id=str(chat_id), seconds=seconds)
        except ModelCallFailed as failed:
            failure = failed.failure
            _log.info(
                "a side job's model call failed",
                kind=str(kind),
                chat_id=str(chat_id),
                failure=str(failure.kind),
                provider=failure.provider,
                status_code=failure.status_code,
            )
        except Exception as error:  # noqa: BLE001 - it must not matter to anyone
            _log.warning("a side job failed", kind=str(kind), chat_id=str(chat_id), exc_info=error)

    def _forget(self, key: tuple[SideKind, UUID], done: asyncio.Task[Any]) -> None:
        self._alive -= 1
        if self._jobs.get(key) is done:
            del self._jobs[key]
