"""The decoded histories of chats that ran here lately: a follow-up turn reads none. Bounded by bytes."""

from collections import OrderedDict
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.history import extended
from chatd.core.messages import Message
from chatd.core.parts import AnyPart
from chatd.store.store import Store
from chatd.store.stored_messages import read_message
from chatd.store.transitions import Applied

MOST_BYTES: Final = 256 * 1024 * 1024  # about two thousand chats with a hundred pages each
_MESSAGE_BYTES: Final = 700  # of the objects around the texts of a message with a few parts


class _Kept(msgspec.Struct):
    version: int
    messages: tuple[Message, ...]
    size: int


class Histories:
    """Each is that of a prompt (core/history.py), as of one history version."""

    def __init__(self, store: Store, *, most_bytes: int = MOST_BYTES) -> None:
        self._store = store
        self._most_bytes = most_bytes
        self._kept: OrderedDict[UUID, _Kept] = OrderedDict()
        self._size = 0

    async def load(self, chat_id: UUID, version: int) -> tuple[Message, ...]:
        """Read if it is not here. Who runs the chat may ask: what others change meanwhile, its fence finds out."""
        kept = self._kept.get(chat_id)
        if kept is not None and kept.version == version:
            self._kept.move_to_end(chat_id)
            return kept.messages
        rows = await self._store.list_prompt_messages(chat_id=chat_id)
        messages = tuple(read_message(row) for row in rows)
        self._keep(chat_id, version, messages)
        return messages

    def known(self, chat_id: UUID, version: int) -> tuple[Message, ...]:
        """What is here of it without asking the database; empty when that is nothing."""
        kept = self._kept.get(chat_id)
        return kept.messages if kept is not None and kept.version == version else ()

    def note(self, applied: Applied) -> tuple[Message, ...] | None:
        """Extend what is here by what a transition inserted; None when that is not known to be all that happened."""
        change = applied.change
        kept = self._kept.get(change.chat_id)
        if kept is None or kept.version == change.history_version:
            return kept.messages if kept else None
        if kept.version != change.history_before or change.deleted_ids:
            self.forget(change.chat_id)
            return None
        messages = extended(kept.messages, applied.messages)
        self._keep(change.chat_id, change.history_version, messages)
        return messages

    def forget(self, chat_id: UUID) -> None:
        kept = self._kept.pop(chat_id, None)
        if kept is not None:
            self._size -= kept.size

    def _keep(self, chat_id: UUID, version: int, messages: tuple[Message, ...]) -> None:
        before = self._kept.get(chat_id)
        if before is not None and messages[: len(before.messages)] == before.messages:
            size = before.size + sum(map(bytes_of, messages[len(before.messages) :]))
        else:
            size = sum(map(bytes_of, messages))
        self.forget(chat_id)
        self._kept[chat_id] = _Kept(version, messages, size)
        self._size += size
        while self._size > self._most_bytes and self._kept:
            self.forget(next(iter(self._kept)))


def bytes_of(message: Message) -> int:
    """What a decoded message takes, about."""
    return _MESSAGE_BYTES + sum(_texts(part) for part in message.parts)


def _texts(part: AnyPart) -> int:
    return sum(len(value) for value in msgspec.structs.astuple(part) if isinstance(value, str))
