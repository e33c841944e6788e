"""The newest messages of the chats that someone here follows: what this replica commits is shown without a read.

Filled by every transition that this replica carries out, before its hint leaves and before any reader is told. What is
not here is read: others' changes, and everything after an edit, which leaves nothing but the edited message.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.messages import Message
from chatd.core.roles import Role, Visibility
from chatd.observe.logs import get_logger
from chatd.store.queries import ChatChange
from chatd.store.transitions import Applied

MOST_MESSAGES: Final = 256  # of one chat: some turns, so that a reader may be that far behind
_log = get_logger("chatd.recent_messages")

# Called in the event loop with a snapshot that was just committed; returns at once.
Listener = Callable[[int], None]


class RecentMessage(msgspec.Struct):
    """`json` is what clients see of it, made by the first reader for all."""

    message: Message
    json: bytes | None = None


class RecentChat:
    """All messages that people see of history versions after `since`, and the chat as of the newest snapshot."""

    def __init__(self, applied: Applied) -> None:
        self.change: ChatChange = applied.change
        self.since = applied.change.history_before
        self.messages: deque[RecentMessage] = deque()
        self._add(applied)

    def note(self, applied: Applied) -> None:
        change = applied.change
        if change.snapshot_version <= self.change.snapshot_version:
            return  # answers may overtake each other: what this one says is known to be missing
        if change.history_before != self.change.history_version:
            self._forget(change.history_before)  # others have changed it meanwhile
        self.change = change
        self._add(applied)

    def after(self, history: int) -> Sequence[RecentMessage] | None:
        """What came after a history version; None when that is not known here."""
        if not self.since <= history <= self.change.history_version:
            return None
        return [recent for recent in self.messages if recent.message.revision > history]

    def _add(self, applied: Applied) -> None:
        change = applied.change
        if change.deleted_ids:
            self._forget(change.history_version)
        elif any(added.role is Role.ASSISTANT for added in change.added or ()):
            self._forget(change.history_version)  # the database made it of a draft: its usage is only there
            return
        self.messages += [
            RecentMessage(message) for message in applied.messages if message.visibility is not Visibility.MODEL
        ]
        while len(self.messages) > MOST_MESSAGES:
            self.since = self.messages.popleft().message.revision

    def _forget(self, since: int) -> None:
        self.messages.clear()
        self.since = since


class RecentMessages:
    """Of the chats that have a listener, and of no others."""

    def __init__(self) -> None:
        self._chats: dict[UUID, RecentChat] = {}
        self._listeners: dict[UUID, list[Listener]] = {}

    def note(self, applied: Applied) -> None:
        """A transition of this replica is committed. Never fails."""
        chat_id = applied.change.chat_id
        listeners = self._listeners.get(chat_id)
        if listeners is None:
            return
        if chat := self._chats.get(chat_id):
            chat.note(applied)
        else:
            self._chats[chat_id] = RecentChat(applied)
        for listener in tuple(listeners):
            try:
                listener(applied.change.snapshot_version)
            except Exception as error:  # noqa: BLE001 - a reader's trouble is not the committer's
                _log.error("a reader failed", chat_id=str(chat_id), exc_info=error)

    def get(self, chat_id: UUID) -> RecentChat | None:
        return self._chats.get(chat_id)

    def listen(self, chat_id: UUID, listener: Listener) -> Callable[[], None]:
        """Gives what ends it. Subscribe first, then read: nothing falls between."""
        self._listeners.setdefault(chat_id, []).append(listener)

        def stop() -> None:
            listeners = self._listeners[chat_id]
            listeners.remove(listener)
            if not listeners:
                del self._listeners[chat_id]
                self._chats.pop(chat_id, None)

        return stop
