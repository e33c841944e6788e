"""A chat as a pure value: what `chat_state` says, with the messages and the queue themselves, and a call on it."""

from collections.abc import Mapping
from uuid import UUID

import msgspec

from chatd.core.roles import Role
from chatd.core.states import State, Status, classify
from chatd.core.transitions import Transition


class ToolCall(msgspec.Struct, frozen=True):
    """A call that we have to answer, or the client (`dynamic`). Those that a provider answers are not in the model."""

    id: str
    dynamic: bool = False


class Content(msgspec.Struct, frozen=True):
    """What a message says: its role and text, the calls it makes, and the calls it has results of."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: tuple[str, ...] = ()


class Entry(msgspec.Struct, frozen=True):
    id: int
    content: Content
    deleted: bool = False


class Waiting(msgspec.Struct, frozen=True):
    id: int
    text: str
    holder: UUID | None = None


class ChatModel(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of `chat_state`, with messages and queue in place of what is counted there."""

    status: Status = Status.RUNNING
    archived: bool = False
    snapshot: int = 1
    history: int = 1
    queue_version: int = 0
    retry_version: int = 0
    owner: tuple[UUID, UUID] | None = None  # replica, runner
    attempt: int = 0
    takeovers: int = 0
    messages: tuple[Entry, ...] = ()
    queue: tuple[Waiting, ...] = ()
    draft: Content | None = None
    retry: str | None = None
    error: str | None = None
    compaction_requested: bool = False
    host: str | None = None  # of its workspace
    minted: int = 0  # ids so far

    @property
    def state(self) -> State:
        return classify(self.status, archived=self.archived, queued=any(each.holder is None for each in self.queue))

    @property
    def shown(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.messages if not entry.deleted)

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Of the last answer that has calls, without a result in it or after it."""
        calls: tuple[ToolCall, ...] = ()
        answered: set[str] = set()
        for entry in self.shown:
            if entry.content.calls:
                calls, answered = entry.content.calls, set()
            answered.update(entry.content.answers)
        return tuple(call for call in calls if call.id not in answered)

    @property
    def open_dynamic_calls(self) -> tuple[ToolCall, ...]:
        return tuple(call for call in self.open_calls if call.dynamic)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A transition with its arguments; each uses some of them. `runner` and `history` are the fence.

    `holder` None releases what is overdue. `host` is that of the workspace that the chat is bound to, and `machines`
    are the replicas' own, all of them seen lately. `text` is what is sent, or what an editor made of a message; `taker`
    is the replica and runner that would have the chat.
    """

    transition: Transition
    runner: UUID | None = None
    history: int | None = None
    rows: tuple[Content, ...] = ()
    text: str | None = None
    target: int = 0  # a message or a queued one
    order: tuple[int, ...] = ()
    holder: UUID | None = None
    taker: tuple[UUID, UUID] | None = None
    interrupts: bool = False
    finish: bool = False
    compacted: bool = False
    workspace: UUID | None = None
    host: str | None = None
    machines: Mapping[UUID, str] = {}
