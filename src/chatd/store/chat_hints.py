"""What a hint about a chat says: its versions and its owner, enough to know whether to look."""

from typing import Final, Protocol, Self
from uuid import UUID

import msgspec

from chatd.core.states import Status

FREE_TOPIC: Final = "chats:free"  # a chat should run and nobody runs it


def chat_topic(chat_id: UUID) -> str:
    return f"chat:{chat_id}"


class Versions(Protocol):
    """A change, or a row of `list_chat_versions`."""

    @property
    def chat_id(self) -> UUID: ...
    @property
    def snapshot_version(self) -> int: ...
    @property
    def history_version(self) -> int: ...
    @property
    def queue_version(self) -> int: ...
    @property
    def retry_version(self) -> int: ...
    @property
    def generation_attempt(self) -> int: ...
    @property
    def status(self) -> Status: ...
    @property
    def archived(self) -> bool: ...
    @property
    def replica_id(self) -> UUID | None: ...
    @property
    def runner_id(self) -> UUID | None: ...


class ChatHint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The chat at one snapshot. A hint may be lost, doubled or late: only a higher snapshot is news."""

    chat_id: UUID
    snapshot_version: int
    history_version: int
    queue_version: int
    retry_version: int
    generation_attempt: int
    status: Status
    archived: bool
    replica_id: UUID | None = None
    runner_id: UUID | None = None
    owner_id: UUID | None = None  # whose chat it is; None when a poll of versions tells

    @classmethod
    def of(cls, versions: Versions, *, owner_id: UUID | None = None) -> Self:
        return cls(
            versions.chat_id,
            versions.snapshot_version,
            versions.history_version,
            versions.queue_version,
            versions.retry_version,
            versions.generation_attempt,
            versions.status,
            versions.archived,
            versions.replica_id,
            versions.runner_id,
            owner_id,
        )

    def encode(self) -> bytes:
        return _ENCODER.encode(self)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(ChatHint)


def read_hint(payload: bytes) -> ChatHint | None:
    """None when it can't be read: another version of chatd sent it, and the poll will tell."""
    try:
        return _DECODER.decode(payload)
    except msgspec.DecodeError:
        return None
