"""A block that ends when the chat is changed by someone else, in a way that matters to who works on it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

from chatd.core.states import Status
from chatd.engine.ways_out import Changed
from chatd.stoppable import Stoppable, Stopped
from chatd.store.chat_hints import ChatHint, Versions


class News:
    """Hears hints about one chat. What the work relies on is told to `rely_on`."""

    def __init__(self, runner_id: UUID) -> None:
        self._runner_id = runner_id
        self._snapshot_version = 0
        self._history_version = 0
        self._status = Status.WAITING
        self._newest: ChatHint | None = None
        self._block: Stoppable | None = None

    def rely_on(self, facts: Versions) -> None:
        """What was read, or committed by ourselves. A hint about a later moment may have come before it."""
        self._snapshot_version = facts.snapshot_version
        self._history_version = facts.history_version
        self._status = facts.status

    def hear(self, hint: ChatHint) -> None:
        if self._newest is None or hint.snapshot_version > self._newest.snapshot_version:
            self._newest = hint
        if self._block is not None and self._is_changed:
            self._block.stop()

    @property
    def _is_changed(self) -> bool:
        hint = self._newest
        if hint is None or hint.snapshot_version <= self._snapshot_version:
            return False
        now = (hint.runner_id, hint.history_version, hint.status, hint.archived)
        return now != (self._runner_id, self._history_version, self._status, False)

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
