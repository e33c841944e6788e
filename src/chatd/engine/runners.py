"""The tasks that run chats: one for each chat, guarded, cancelled one by one or all at once."""

import asyncio
import contextvars
from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from chatd.clock import Clock
from chatd.engine.owned import Owned, Runner
from chatd.engine.pauses import Pauses
from chatd.observe.logs import get_logger

_log = get_logger("chatd.runners")


class Runners:
    """A chat has at most one task, and a cancelled one counts until it has ended."""

    def __init__(self, run: Runner, *, clock: Clock, pauses: Pauses) -> None:
        self._run = run
        self._clock = clock
        self._pauses = pauses
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._runner_ids: dict[UUID, UUID] = {}
        self._cancelled: set[UUID] = set()
        self._next: dict[UUID, Callable[[], None]] = {}  # starts that wait for the end of a chat's last task
        self._none_left = asyncio.Event()
        self._none_left.set()

    @property
    def running(self) -> Mapping[UUID, UUID]:
        """The runner's id by chat, as of now."""
        return dict(self._runner_ids)

    def start(
        self, owned: Owned, group: asyncio.TaskGroup, context: contextvars.Context, *, later: Callable[[], None]
    ) -> None:
        """At once. Or when the chat's last task has ended, by a call of `later`, which decides again: a new turn may be
        ours before the old one has tidied up.
        """
        if owned.chat_id in self._tasks:
            if self._runner_ids[owned.chat_id] != owned.runner_id:
                self._next[owned.chat_id] = later
            return
        self._none_left.clear()
        self._runner_ids[owned.chat_id] = owned.runner_id
        task = group.create_task(self._guarded(owned), name=f"run {owned.chat_id}", context=context)
        self._tasks[owned.chat_id] = task
        # Not in the task itself: one that is cancelled before its first step runs none of its code.
        task.add_done_callback(lambda _: self._forget(owned.chat_id))

    def cancel(self, chat_ids: Iterable[UUID]) -> None:
        """Each once: a second time would cut off what a runner does to end well."""
        for chat_id in chat_ids:
            task = self._tasks.get(chat_id)
            # Not by task.cancelling(): a block that is stopped by news cancels its task too, and takes that back.
            if task is not None and chat_id not in self._cancelled:
                self._cancelled.add(chat_id)
                task.cancel()

    def cancel_all(self) -> None:
        self._next.clear()
        self.cancel(list(self._tasks))

    async def wait_ended(self) -> None:
        """Until no task is left."""
        await self._none_left.wait()

    async def _guarded(self, owned: Owned) -> None:
        try:
            await self._run(owned)
        except Exception as error:  # noqa: BLE001 - a runner may fail in any way, and only its own chat waits for it
            _log.error("a runner failed", chat_id=str(owned.chat_id), runner_id=str(owned.runner_id), exc_info=error)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            _log.error("a runner was cancelled by nobody", chat_id=str(owned.chat_id), exc_info=error)
        self._pauses.note_end(owned.chat_id, owned.history_version, self._clock.monotonic())

    def _forget(self, chat_id: UUID) -> None:
        del self._tasks[chat_id]
        del self._runner_ids[chat_id]
        self._cancelled.discard(chat_id)
        if later := self._next.pop(chat_id, None):
            later()
        if not self._tasks:
            self._none_left.set()
