"""What a hint to the owner of a chat says: something beside its messages has changed, and what it is now."""

from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec


def owner_topic(owner_id: UUID) -> str:
    return f"owner:{owner_id}"


class OwnerEventKind(StrEnum):
    TITLE = "title_change"
    LABEL = "summary_change"
    SUMMARY = "chat_summary_change"
    CHAT = "chat_change"
    CONTEXT = "context_dirty"
    DIFF = "diff_status_change"


class OwnerEvent(msgspec.Struct, frozen=True, array_like=True):
    """`value` is the title, label or summary that is stored now; None when there is none any more, and for what is more
    than a text: CHAT is about all that people set for a chat."""

    kind: OwnerEventKind
    chat_id: UUID
    value: str | None

    def encode(self) -> bytes:
        return _ENCODER.encode(self)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(OwnerEvent)


def read_owner_event(payload: bytes) -> OwnerEvent | None:
    """None when it can't be read: another version of chatd sent it."""
    try:
        return _DECODER.decode(payload)
    except msgspec.MsgspecError:
        return None
