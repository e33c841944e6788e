"""The events of a chat's stream, typed. An event of a kind or a field that this client does not know is no error."""

from typing import Any, Final
from uuid import UUID

import msgspec

from chatd.core.retry import RetryPayload
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.wire.chats import ChatError, ChatMessage, ChatQueuedMessage


class RawEvent(msgspec.Struct, frozen=True):
    """`data` is its JSON, on one line. Without an id it is replaced by later ones and never sent again."""

    id: str | None
    data: bytes


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """`id` is where to resume after it."""

    chat_id: UUID
    id: str | None = None


class HistoryReset(_Event, frozen=True, tag="history_reset"):
    """Forget all messages: those that are left follow."""


class MessageStored(_Event, frozen=True, tag="message"):
    message: ChatMessage


class QueueChanged(_Event, frozen=True, tag="queue_update"):
    """All that waits."""

    queued_messages: list[ChatQueuedMessage] = []


class _Status(msgspec.Struct, frozen=True):
    status: Status


class StatusChanged(_Event, frozen=True, tag="status"):
    status: _Status

    @property
    def is_resting(self) -> bool:
        """Nothing more comes unless someone does something."""
        return self.status.status in (Status.WAITING, Status.ERROR, Status.REQUIRES_ACTION)


class TurnFailed(_Event, frozen=True, tag="error"):
    error: ChatError


class OpenCall(msgspec.Struct, frozen=True):
    """`args` is JSON text."""

    tool_call_id: str
    tool_name: str
    args: Any = None


class _Calls(msgspec.Struct, frozen=True):
    tool_calls: list[OpenCall]


class ActionRequired(_Event, frozen=True, tag="action_required"):
    """The chat waits for the results of the client's tools: `Client.submit_tool_results`."""

    action_required: _Calls


class _OfAttempt(_Event, frozen=True, kw_only=True):
    history_version: int = 0
    generation_attempt: int = 0

    @property
    def of(self) -> tuple[int, int]:
        """Which attempt it is about."""
        return self.history_version, self.generation_attempt


class Retrying(_OfAttempt, frozen=True, tag="retry"):
    """That attempt failed. It is waited until another one begins."""

    retry: RetryPayload


class PreviewReset(_OfAttempt, frozen=True, tag="preview_reset"):
    """Forget all live parts: they are stored by now, or the answer begins anew with that attempt."""


class LivePart(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the answer that comes. Pieces of one text or of one call's `args_delta` follow each other. Without
    `seq` it is what a running tool says now, whole, as `result_delta`."""

    part: dict[str, Any]
    role: Role = Role.ASSISTANT
    seq: int | None = None
    history_version: int = 0
    generation_attempt: int = 0


class PartCame(_Event, frozen=True, tag="message_part"):
    message_part: LivePart


class UnknownEvent(msgspec.Struct, frozen=True):
    """Of a newer server."""

    id: str | None
    type: str
    data: bytes


KnownEvent = (
    HistoryReset
    | MessageStored
    | QueueChanged
    | StatusChanged
    | TurnFailed
    | ActionRequired
    | Retrying
    | PreviewReset
    | PartCame
)
Event = KnownEvent | UnknownEvent


class _Kind(msgspec.Struct):
    type: str


_DECODER: Final = msgspec.json.Decoder(KnownEvent)
_KIND: Final = msgspec.json.Decoder(_Kind)


def read_event(raw: RawEvent) -> Event:
    try:
        return _DECODER.decode(raw.data)
    except (msgspec.ValidationError, ValueError):
        return UnknownEvent(raw.id, _KIND.decode(raw.data).type, raw.data)
