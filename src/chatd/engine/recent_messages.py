"""The newest messages of the chats that someone here follows: what this replica commits is shown without a read.

Filled by every transition that this replica carries out, before its hint leaves and before any reader is told. What is
not here is read: others' changes, everything after an edit, which leaves nothing but the edited message, and what is
too long or too long ago to be kept.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.messages import Message
from chatd.core.roles import Role, Visibility
from chatd.engine.histories import bytes_of
from chatd.observe.logs import get_logger
from chatd.store.queries import ChatChange
from chatd.store.transitions import Applied

MOST_MESSAGES: Final = 256  # of one chat: some turns, so that a reader may be that far behind
MOST_BYTES_OF_CHAT: Final = 4 * 1024 * 1024  # a few long results of tools, or 256 messages of 8 kB
MOST_BYTES: Final = 128 * 1024 * 1024  # of all chats: a thousand that are followed, with a hundred kilobytes each
_log = get_logger("chatd.recent_messages")

# Called in the event loop with a snapshot that was just committed; returns at once.
Listener = Callable[[int], None]


class RecentMessage(msgspec.Struct):
    """`json` is what clients see of it, made by the first reader for all."""

    message: Message
    size: int
    json: bytes | None = None


def _recent(message: Message) -> RecentMessage:
    """Once as it is, once as what readers will make of it."""
    return RecentMessage(message, 2 * bytes_of(message))


class RecentChat:
    """All messages that people see of history versions after `since`, and the chat as of the newest snapshot."""

    def __init__(self, applied: Applied) -> None:
        self.change: ChatChange = applied.change
        self.since = applied.change.history_before
        self.messages: deque[RecentMessage] = deque()
        self.size = 0
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
        new = [_recent(message) for message in applied.messages if message.visibility is not Visibility.MODEL]
        self.messages += new
        self.size += sum(recent.size for recent in new)
        while len(self.messages) > MOST_MESSAGES or self.size > MOST_BYTES_OF_CHAT:
            oldest = self.messages.popleft()
            self.since = oldest.message.revision
            self.size -= oldest.size

    def _forget(self, since: int) -> None:
        self.messages.clear()
        self.size = 0
        self.since = since


class RecentMessages:
    """Of the chats that have a listener, and of no others; when they are too many, of those that moved last."""

    def __init__(self, *, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._size = 0
        self._chats: OrderedDict[UUID, RecentChat] = OrderedDict()
        self._listeners: dict[UUID, list[Listener]] = {}

    def note(self, applied: Applied) -> None:
        """A transition of this replica is committed. Never fails."""
        chat_id = applied.change.chat_id
        listeners = self._listeners.get(chat_id)
        if listeners is None:
            return
        if chat := self._drop(chat_id):
            chat.note(applied)
        else:
            chat = RecentChat(applied)
        self._chats[chat_id] = chat
        self._size += chat.size
        while self._size > self._most_bytes:
            self._drop(next(iter(self._chats)))
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
                self._drop(chat_id)

        return stop

    def _drop(self, chat_id: UUID) -> RecentChat | None:
        chat = self._chats.pop(chat_id, None)
        if chat is not None:
            self._size -= chat.size
        return chat
