"""Warnings that something live was dropped: one per chat, kind and ten seconds, with how many it stands for."""

from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.observe.logs import get_logger

EVERY_SECONDS: Final = 10.0  # a chat that drops does so hundreds of times a second; one line says as much
MOST_CHATS: Final = 10_000  # that are counted at once, 2 MB; more is one trouble and not many
_log = get_logger("chatd.drops")


class Dropped(StrEnum):
    PART = "part"  # it found no room in the buffer of its chat
    SUBSCRIBER = "subscriber"  # it did not keep up, and was let go


_TEXTS: Final = {
    Dropped.PART: "the buffer of a chat's live parts is full; what follows is dropped until the step is stored",
    Dropped.SUBSCRIBER: "a subscriber did not keep up and was dropped; it can resume",
}


class _Count(msgspec.Struct, gc=False):
    warned_at: float | None = None
    dropped: int = 0


class DropWarnings:
    """Counted from when the stream of a chat starts to when it ends: `forget` at both."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: dict[tuple[UUID, Dropped], _Count] = {}

    def note(self, chat_id: UUID, what: Dropped) -> None:
        """One was dropped. Warns, unless this chat did so in the last ten seconds."""
        count = self._counts.get((chat_id, what))
        if count is None:
            if len(self._counts) >= MOST_CHATS:
                self._counts.clear()
            count = self._counts[chat_id, what] = _Count()
        count.dropped += 1
        now = self._clock.monotonic()
        if count.warned_at is not None and now - count.warned_at < EVERY_SECONDS:
            return
        _log.warning(_TEXTS[what], chat_id=str(chat_id), dropped=str(what), dropped_count=count.dropped)
        count.warned_at, count.dropped = now, 0

    def forget(self, chat_id: UUID) -> None:
        """The stream of the chat starts or ends."""
        for what in Dropped:
            self._counts.pop((chat_id, what), None)
