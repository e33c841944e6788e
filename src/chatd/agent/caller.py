"""Who asks: the chat that a request is for, and the ownership epoch that it was sent under."""

from typing import Final
from uuid import UUID

import msgspec

from chatd.core.errors import InvalidRequest

CHAT_ID: Final = b"chatd-chat-id"
ANCESTORS: Final = b"chatd-ancestor-chat-ids"  # a JSON array of texts, the nearest first
EPOCH: Final = b"chatd-epoch"
_MOST_ANCESTORS: Final = 16  # chats nest one deep; more is a mistake
_MOST_DIGITS: Final = 18  # what a bigint of Postgres surely holds


class Caller(msgspec.Struct, frozen=True):
    """`chat_id` is None for what a person does outside of any chat: browsing files, say."""

    chat_id: UUID | None = None
    ancestors: tuple[UUID, ...] = ()
    epoch: int | None = None


def caller_of(headers: list[tuple[bytes, bytes]]) -> Caller:
    """Raises InvalidRequest for headers that are not what they should be: a typo must not widen what is seen."""
    found = {name: value.decode("latin-1") for name, value in headers if name in (CHAT_ID, ANCESTORS, EPOCH)}
    chat_id = _uuid(found[CHAT_ID], "Chatd-Chat-Id") if CHAT_ID in found else None
    return Caller(chat_id, _ancestors(found.get(ANCESTORS)), _epoch(found.get(EPOCH)))


def _ancestors(text: str | None) -> tuple[UUID, ...]:
    if text is None:
        return ()
    try:
        given = msgspec.json.decode(text, type=list[str])
    except msgspec.MsgspecError as error:
        raise InvalidRequest("The header Chatd-Ancestor-Chat-Ids must be a JSON array of ids.") from error
    if len(given) > _MOST_ANCESTORS:
        raise InvalidRequest(f"The header Chatd-Ancestor-Chat-Ids names more than {_MOST_ANCESTORS} chats.")
    return tuple(_uuid(one, "Chatd-Ancestor-Chat-Ids") for one in given)


def _epoch(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise InvalidRequest("The header Chatd-Epoch must be a whole number.")
    return int(text)


def _uuid(text: str, header: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidRequest(f"The header {header} must be a UUID.") from error
