"""A block that ends when the chat is changed by someone else, in a way that matters to who works on it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

from chatd.core.states import Status
from chatd.stoppable import Stoppable, Stopped
from chatd.store.chat_hints import ChatHint


class Changed(Exception):
    """The history, the status or the owner is no longer what the work relied on."""


class News:
    """Hears hints about one chat. What it works on is told to `rely_on`."""

    def __init__(self, runner_id: UUID) -> None:
        self._runner_id = runner_id
        self._history_version = 0
        self._status = Status.WAITING
        self._is_changed = False
        self._block: Stoppable | None = None

    def rely_on(self, history_version: int, status: Status) -> None:
        """From now on only what differs from this is news: it was read, or committed by ourselves."""
        self._history_version = history_version
        self._status = status
        self._is_changed = False

    def hear(self, hint: ChatHint) -> None:
        if (hint.runner_id, hint.history_version, hint.status, hint.archived) == (
            self._runner_id,
            self._history_version,
            self._status,
            False,
        ):
            return
        self._is_changed = True
        if self._block is not None:
            self._block.stop()

    @asynccontextmanager
    async def unless_changed(self) -> AsyncGenerator[None]:
        """Raises Changed, out of the block at any await, when there are such news. Never commit inside."""
        if self._is_changed:
            raise Changed
        self._block = Stoppable()
        try:
            async with self._block:
                yield
        except Stopped:
            raise Changed from None
        finally:
            self._block = None
