"""Every change of a chat as a typed call: encode, one round trip, an outcome, and a hint once it is committed.

Messages are encoded before the call, so that nothing but the database's own work happens while the chat is locked. A
refusal is a value. What can't be told from an answer (the connection was lost) raises, and is found out by reading.
Never call these inside of `store.transaction()`: the hint would come before the commit.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.chat_limits import MOST_FILES, MOST_QUEUED
from chatd.core.lease import MOST_TAKEOVERS
from chatd.core.messages import Message, NewMessage, read_content_leniently
from chatd.core.outcomes import Refusal, Refused
from chatd.core.parts import AnyPart, ToolResultPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role
from chatd.core.states import RUNNABLE, State
from chatd.core.stored_parts import CONTENT_VERSION, encode_parts
from chatd.core.transitions import Transition
from chatd.core.usage import Usage
from chatd.store.chat_hints import FREE_TOPIC, ChatHint, chat_topic
from chatd.store.hints import Hints
from chatd.store.queries import AddedMessage, ChatChange, ChatClient, ChatMode, MessageRow
from chatd.store.store import Store

HOLD_SECONDS: Final = 120.0  # a message being edited; an open editor asks for more before it is over
ACTION_SECONDS: Final = 300.0  # until a client must have posted its results


class Fence(msgspec.Struct, frozen=True):
    """What a runner knows of its chat: it writes only if this still holds."""

    chat_id: UUID
    runner_id: UUID
    history_version: int


class Take(msgspec.Struct, frozen=True):
    """A replica's wish to run the chat that it makes run, under this runner id, if its pool has room (None: always)."""

    replica_id: UUID
    runner_id: UUID
    root_capacity: int | None = None
    child_capacity: int | None = None


class SendKey(msgspec.Struct, frozen=True):
    """A client's own name for a send, and what it was for (core/request_keys.py)."""

    key: UUID
    fingerprint: UUID


class NewChat(msgspec.Struct, frozen=True, kw_only=True):
    """`dynamic_tools` is JSON: a list of objects with a name, the tools that the client runs."""

    id: UUID
    organization_id: UUID
    owner_id: UUID
    model_config_id: UUID
    title: str
    parent_id: UUID | None = None
    workspace_id: UUID | None = None  # of its owner; None: the parent's, or none
    labels: dict[str, str] = {}
    mode: ChatMode | None = None
    plan_mode: bool = False
    client: ChatClient = ChatClient.API
    mcp_server_ids: tuple[UUID, ...] = ()
    dynamic_tools: str = "[]"
    reasoning_effort: ReasoningEffort | None = None


class Applied(msgspec.Struct, frozen=True):
    """A transition that is committed: the chat as it is now, and every message that it inserted, in order.

    Messages that the database made by itself carry no usage.
    """

    change: ChatChange
    messages: tuple[Message, ...]

    @property
    def state(self) -> State:
        return State(self.change.state_after)

    @property
    def fence(self) -> Fence | None:
        """For the runner's next write; None when nobody runs the chat now."""
        change = self.change
        return None if change.runner_id is None else Fence(change.chat_id, change.runner_id, change.history_version)

    def took(self, take: Take) -> bool:
        """Whether the wish was granted."""
        return self.change.runner_id == take.runner_id


class Repeated(msgspec.Struct, frozen=True):
    """Nothing was changed: the message was sent before, with this outcome."""

    message_id: int | None
    queued_id: int | None
    revision: int
    sent_at: datetime


Outcome = Applied | Refused
_NOBODY: Final = UUID(int=0)


class Transitions:
    def __init__(self, store: Store, hints: Hints, *, told: Callable[[Applied], None] | None = None) -> None:
        """`told` learns of each commit before its hint leaves; it returns at once and does not raise."""
        self._store = store
        self._hints = hints
        self._told = told

    # A client asks

    async def create_chat(
        self, chat: NewChat, messages: Sequence[NewMessage], *, file_ids: Sequence[UUID] = (), take: Take | None = None
    ) -> Outcome:
        if not messages:
            raise ValueError("a chat begins with a message")
        change = await self._store.create_chat(
            chat_id=chat.id,
            organization_id=chat.organization_id,
            owner_id=chat.owner_id,
            parent_id=chat.parent_id,
            title=chat.title,
            labels=msgspec.json.encode(chat.labels).decode(),
            mode=chat.mode,
            plan_mode=chat.plan_mode,
            client=chat.client,
            mcp_server_ids=chat.mcp_server_ids,
            dynamic_tools=chat.dynamic_tools,
            model_config_id=chat.model_config_id,
            reasoning_effort=chat.reasoning_effort,
            rows=_rows(messages),
            file_ids=file_ids,
            most_files=MOST_FILES,
            workspace_id=chat.workspace_id,
            taker=take and take.replica_id,
            taker_runner=take and take.runner_id,
            root_capacity=take and take.root_capacity,
            child_capacity=take and take.child_capacity,
        )
        return self._outcome(Transition.CREATE_CHAT, change, messages)

    async def fork_chat(
        self, new_id: UUID, source_id: UUID, *, owner_id: UUID, at_message: int | None = None, title: str | None = None
    ) -> Outcome:
        """Another way of create_chat: at rest, with the history of a chat up to a message (None: all that is stored).
        What was copied is not in the outcome's `messages`, only in its change's `inserted_ids`."""
        change = await self._store.fork_chat(
            chat_id=new_id,
            owner_id=owner_id,
            source_id=source_id,
            only_owner=None,
            at_message=at_message,
            title=title,
        )
        return self._outcome(Transition.CREATE_CHAT, change)

    async def send_message(
        self,
        chat_id: UUID,
        message: NewMessage,
        *,
        interrupts: bool = False,
        file_ids: Sequence[UUID] = (),
        planning: bool | None = None,
        take: Take | None = None,
    ) -> Outcome:
        """`interrupts`: a busy chat stops for it; else the message waits in the queue. Its id there is `queued_id`.
        `planning` is the chat's plan mode from now on; None leaves it."""
        change = await self._send(chat_id, message, None, interrupts, file_ids, planning, take)
        return self._outcome(Transition.SEND_MESSAGE, change, [message])

    async def send_once(
        self,
        chat_id: UUID,
        message: NewMessage,
        key: SendKey,
        *,
        interrupts: bool = False,
        file_ids: Sequence[UUID] = (),
        planning: bool | None = None,
        take: Take | None = None,
    ) -> Outcome | Repeated:
        """As send_message, but however often it is called with a key, the message is sent once."""
        change = await self._send(chat_id, message, key, interrupts, file_ids, planning, take)
        if change is not None and change.outcome == Refusal.REPEATED:
            message_id = change.inserted_ids[0] if change.inserted_ids else None
            return Repeated(message_id, change.queued_id, int(change.subject or 0), change.happened_at)
        return self._outcome(Transition.SEND_MESSAGE, change, [message])

    async def _send(
        self,
        chat_id: UUID,
        message: NewMessage,
        key: SendKey | None,
        interrupts: bool,
        file_ids: Sequence[UUID],
        planning: bool | None,
        take: Take | None,
    ) -> ChatChange | None:
        return await self._store.send_message(
            chat_id=chat_id,
            only_owner=None,
            message=_row(_from_user(message)),
            interrupts=interrupts,
            file_ids=file_ids,
            most_queued=MOST_QUEUED,
            most_files=MOST_FILES,
            send_key=key and key.key,
            fingerprint=key and key.fingerprint,
            planning=planning,
            taker=take and take.replica_id,
            taker_runner=take and take.runner_id,
            root_capacity=take and take.root_capacity,
            child_capacity=take and take.child_capacity,
        )

    async def edit_message(
        self,
        chat_id: UUID,
        message_id: int,
        message: NewMessage,
        *,
        file_ids: Sequence[UUID] = (),
        take: Take | None = None,
    ) -> Outcome:
        """A model or effort that the replacement does not name is that of the message it replaces."""
        change = await self._store.edit_message(
            chat_id=chat_id,
            only_owner=None,
            edited_id=message_id,
            message=_row(_from_user(message)),
            file_ids=file_ids,
            most_files=MOST_FILES,
            taker=take and take.replica_id,
            taker_runner=take and take.runner_id,
            root_capacity=take and take.root_capacity,
            child_capacity=take and take.child_capacity,
        )
        return self._outcome(Transition.EDIT_MESSAGE, change)

    async def interrupt(self, chat_id: UUID) -> Outcome:
        change = await self._store.interrupt(chat_id=chat_id, only_owner=None)
        return self._outcome(Transition.INTERRUPT, change)

    async def request_compaction(self, chat_id: UUID, *, take: Take | None = None) -> Outcome:
        change = await self._store.request_compaction(
            chat_id=chat_id,
            only_owner=None,
            taker=take and take.replica_id,
            taker_runner=take and take.runner_id,
            root_capacity=take and take.root_capacity,
            child_capacity=take and take.child_capacity,
        )
        return self._outcome(Transition.REQUEST_COMPACTION, change)

    async def complete_requires_action(self, chat_id: UUID, results: Sequence[NewMessage]) -> Outcome:
        """One tool message for each call that the client has to answer."""
        change = await self._store.complete_requires_action(
            chat_id=chat_id, only_owner=None, rows=_rows(_from_tools(results))
        )
        return self._outcome(Transition.COMPLETE_REQUIRES_ACTION, change, results)

    async def archive(self, chat_id: UUID) -> list[Applied] | Refused:
        """The root and its children, all or none."""
        return self._family(Transition.ARCHIVE, await self._store.archive(chat_id=chat_id, only_owner=None))

    async def unarchive(self, chat_id: UUID) -> list[Applied] | Refused:
        return self._family(Transition.UNARCHIVE, await self._store.unarchive(chat_id=chat_id, only_owner=None))

    async def bind_workspace(
        self, chat_id: UUID, workspace_id: UUID | None, *, runner_id: UUID | None = None
    ) -> Outcome:
        """Where the chat works from now on; None: nowhere. `runner_id`: its runner does it, which is no news to it."""
        change = await self._store.bind_workspace(
            chat_id=chat_id, only_owner=None, runner_id=runner_id, workspace_id=workspace_id
        )
        return self._outcome(Transition.BIND_WORKSPACE, change)

    async def reconcile_invalid(self, chat_id: UUID, *, error: str) -> Outcome:
        """`error` is JSON, as are all errors here."""
        change = await self._store.reconcile_invalid(chat_id=chat_id, only_owner=None, error=error)
        return self._outcome(Transition.RECONCILE_INVALID, change)

    # The queue

    async def delete_queued(self, chat_id: UUID, queued_id: int) -> Outcome:
        change = await self._store.delete_queued(chat_id=chat_id, only_owner=None, queued_id=queued_id)
        return self._outcome(Transition.DELETE_QUEUED, change)

    async def promote_queued(self, chat_id: UUID, queued_id: int, *, take: Take | None = None) -> Outcome:
        change = await self._store.promote_queued(
            chat_id=chat_id,
            only_owner=None,
            queued_id=queued_id,
            taker=take and take.replica_id,
            taker_runner=take and take.runner_id,
            root_capacity=take and take.root_capacity,
            child_capacity=take and take.child_capacity,
        )
        return self._outcome(Transition.PROMOTE_QUEUED, change)

    async def reorder_queued(self, chat_id: UUID, queued_ids: Sequence[int]) -> Outcome:
        """All ids of the queue, first to last; else it has changed meanwhile."""
        change = await self._store.reorder_queued(chat_id=chat_id, only_owner=None, queued_ids=queued_ids)
        return self._outcome(Transition.REORDER_QUEUED, change)

    async def hold_queued(
        self, chat_id: UUID, queued_id: int, *, holder: UUID, seconds: float = HOLD_SECONDS
    ) -> Outcome:
        change = await self._store.hold_queued(
            chat_id=chat_id, only_owner=None, queued_id=queued_id, holder=holder, hold_for=timedelta(seconds=seconds)
        )
        return self._outcome(Transition.HOLD_QUEUED, change)

    async def release_queued(
        self,
        chat_id: UUID,
        queued_id: int,
        *,
        holder: UUID,
        message: NewMessage | None = None,
        file_ids: Sequence[UUID] = (),
        take: Take | None = None,
    ) -> Outcome:
        """`message` is what the editor made of it; None leaves it as it was."""
        change = await self._store.release_queued(
            chat_id=chat_id,
            only_owner=None,
            queued_id=queued_id,
            holder=holder,
            message=None if message is None else _row(_from_user(message)),
            file_ids=file_ids,
            most_files=MOST_FILES,
            taker=take and take.replica_id,
            taker_runner=take and take.runner_id,
            root_capacity=take and take.root_capacity,
            child_capacity=take and take.child_capacity,
        )
        return self._outcome(Transition.RELEASE_QUEUED, change)

    async def release_overdue(self, *, most_chats: int) -> list[Applied]:
        """End the holds whose time is up."""
        return self._all(await self._store.release_overdue(most_chats=most_chats))

    # Ownership

    async def acquire(
        self,
        replica_id: UUID,
        runner_ids: Sequence[UUID],
        *,
        error: str,
        root_capacity: int | None = None,
        child_capacity: int | None = None,
    ) -> list[Applied]:
        """Take as many chats as there are runner ids. One that was given up instead is in `error` and has no fence."""
        changes = await self._store.acquire(
            taker=replica_id,
            runner_ids=runner_ids,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
            most_takeovers=MOST_TAKEOVERS,
            error=error,
        )
        return self._all(changes)

    async def abandon(self, chat_id: UUID, runner_id: UUID) -> Outcome:
        change = await self._store.abandon(chat_id=chat_id, runner_id=runner_id)
        return self._outcome(Transition.ABANDON, change)

    async def hand_over(self, replica_id: UUID, *, most_chats: int) -> list[Applied]:
        """Let go of chats that nobody else has locked right now."""
        return self._all(await self._store.hand_over(replica_id=replica_id, most_chats=most_chats))

    async def give_up(self, chat_id: UUID, *, error: str) -> Outcome:
        return self._outcome(Transition.GIVE_UP, await self._store.give_up(chat_id=chat_id, error=error))

    # The owner reports

    async def record_attempt(self, fence: Fence) -> Outcome:
        change = await self._store.record_attempt(
            chat_id=fence.chat_id, runner_id=fence.runner_id, history_version=fence.history_version
        )
        return self._outcome(Transition.RECORD_ATTEMPT, change)

    async def record_retry(self, fence: Fence, *, retry: str) -> Outcome:
        change = await self._store.record_retry(
            chat_id=fence.chat_id, runner_id=fence.runner_id, history_version=fence.history_version, retry=retry
        )
        return self._outcome(Transition.RECORD_RETRY, change)

    async def save_draft(self, fence: Fence, draft: NewMessage) -> Outcome:
        """The answer of a step whose tools are about to run."""
        change = await self._store.save_draft(
            chat_id=fence.chat_id, runner_id=fence.runner_id, history_version=fence.history_version, draft=_row(draft)
        )
        return self._outcome(Transition.SAVE_DRAFT, change)

    async def commit_step(
        self, fence: Fence, messages: Sequence[NewMessage], *, finish: bool = False, compacted: bool = False
    ) -> Outcome:
        """`finish`: the turn is over with it. `compacted`: it was the compaction that the user had asked for."""
        if not messages:
            raise ValueError("a step has a message")
        change = await self._store.commit_step(
            chat_id=fence.chat_id,
            runner_id=fence.runner_id,
            history_version=fence.history_version,
            rows=_rows(messages),
            finish=finish,
            compacted=compacted,
        )
        return self._outcome(Transition.COMMIT_STEP, change, messages)

    async def enter_requires_action(self, fence: Fence, *, seconds: float = ACTION_SECONDS) -> Outcome:
        change = await self._store.enter_requires_action(
            chat_id=fence.chat_id,
            runner_id=fence.runner_id,
            history_version=fence.history_version,
            wait_for=timedelta(seconds=seconds),
        )
        return self._outcome(Transition.ENTER_REQUIRES_ACTION, change)

    async def cancel_requires_action(self, fence: Fence, *, reason: str) -> Outcome:
        """`reason` is what the model reads as the result of each call."""
        change = await self._store.cancel_requires_action(
            chat_id=fence.chat_id, runner_id=fence.runner_id, history_version=fence.history_version, reason=reason
        )
        return self._outcome(Transition.CANCEL_REQUIRES_ACTION, change)

    async def finish_turn(self, fence: Fence) -> Outcome:
        change = await self._store.finish_turn(
            chat_id=fence.chat_id, runner_id=fence.runner_id, history_version=fence.history_version
        )
        return self._outcome(Transition.FINISH_TURN, change)

    async def finish_interruption(self, fence: Fence, messages: Sequence[NewMessage] = ()) -> Outcome:
        change = await self._store.finish_interruption(
            chat_id=fence.chat_id,
            runner_id=fence.runner_id,
            history_version=fence.history_version,
            rows=_rows(messages),
        )
        return self._outcome(Transition.FINISH_INTERRUPTION, change, messages)

    async def finish_error(self, at: Fence | UUID, messages: Sequence[NewMessage] = (), *, error: str) -> Outcome:
        """By its runner; or, given only its id, of a chat that nobody runs."""
        fence = at if isinstance(at, Fence) else None
        change = await self._store.finish_error(
            chat_id=at.chat_id if isinstance(at, Fence) else at,
            runner_id=fence and fence.runner_id,
            history_version=fence and fence.history_version,
            rows=_rows(messages),
            error=error,
        )
        return self._outcome(Transition.FINISH_ERROR, change, messages)

    # Outcomes

    def _outcome(self, transition: Transition, change: ChatChange | None, given: Sequence[NewMessage] = ()) -> Outcome:
        if change is None:
            return Refused(transition, Refusal.NOT_FOUND, State.N)
        if change.outcome != "applied":
            return _refused(change)
        return self._announced(Applied(change, _messages(change, given)))

    def _all(self, changes: Sequence[ChatChange]) -> list[Applied]:
        return [
            self._announced(Applied(change, _messages(change, ()))) for change in changes if change.outcome == "applied"
        ]

    def _family(self, transition: Transition, changes: Sequence[ChatChange]) -> list[Applied] | Refused:
        if not changes:
            return Refused(transition, Refusal.NOT_FOUND, State.N)
        if changes[0].outcome != "applied":
            return _refused(changes[0])
        return self._all(changes)

    def _announced(self, applied: Applied) -> Applied:
        change = applied.change
        if self._told is not None:
            self._told(applied)
        self._hints.publish(chat_topic(change.chat_id), ChatHint.of(change, owner_id=change.owner_id).encode())
        if change.replica_id is None and State(change.state_after) in RUNNABLE:
            self._hints.publish(FREE_TOPIC)
        return applied


def _refused(change: ChatChange) -> Refused:
    return Refused(
        Transition(change.transition),
        Refusal(change.outcome),
        State(change.state_before),
        change.subject or "",
        change.maximum or 0,
    )


def _from_user(message: NewMessage) -> NewMessage:
    """What people write has an author and a text, and nothing that only a model's answer has."""
    plain = NewMessage(
        role=Role.USER,
        parts=message.parts,
        created_by=message.created_by,
        model_config_id=message.model_config_id,
        reasoning_effort=message.reasoning_effort,
    )
    if message != plain or message.created_by is None:
        raise ValueError("what is sent to a chat is a user's message")
    return message


def _from_tools(results: Sequence[NewMessage]) -> Sequence[NewMessage]:
    for message in results:
        if message.role is not Role.TOOL or not all(isinstance(part, ToolResultPart) for part in message.parts):
            raise ValueError("what a client posts are results of tools")
    return results


def _rows(messages: Sequence[NewMessage]) -> list[MessageRow]:
    return [_row(message) for message in messages]


def _row(message: NewMessage) -> MessageRow:
    usage = message.usage
    return MessageRow(
        message.role,
        encode_parts(message.parts),
        CONTENT_VERSION,
        message.visibility,
        message.compressed,
        message.created_by,
        message.model_config_id,
        message.reasoning_effort,
        usage.input_tokens,
        usage.output_tokens,
        usage.total_tokens,
        usage.reasoning_tokens,
        usage.cache_creation_tokens,
        usage.cache_read_tokens,
        message.context_limit,
        message.cost_microdollars,
        message.runtime_ms,
    )


def _messages(change: ChatChange, given: Sequence[NewMessage]) -> tuple[Message, ...]:
    """What the caller gave, with ids, and what the database added, in order."""
    stored = [_given(change, id, message) for id, message in zip(change.inserted_ids or (), given, strict=False)]
    if change.added:
        stored += [_added(change, added) for added in change.added]
        stored.sort(key=lambda message: message.id)
    return tuple(stored)


def _given(change: ChatChange, id: int, message: NewMessage) -> Message:
    """As a reader gets it back: what was left at zero is not known."""
    return Message(
        id=id,
        chat_id=change.chat_id,
        created_at=change.happened_at,
        revision=change.snapshot_version,
        role=message.role,
        parts=message.parts,
        visibility=message.visibility,
        compressed=message.compressed,
        created_by=message.created_by if message.created_by != _NOBODY else None,
        model_config_id=message.model_config_id if message.model_config_id != _NOBODY else None,
        reasoning_effort=message.reasoning_effort,
        usage=_known(message.usage),
        context_limit=message.context_limit or None,
        cost_microdollars=message.cost_microdollars,
        runtime_ms=message.runtime_ms or None,
    )


def _known(usage: Usage) -> Usage:
    counts = msgspec.structs.asdict(usage)
    return Usage(**{name: count or None for name, count in counts.items()}) if 0 in counts.values() else usage


def _added(change: ChatChange, added: AddedMessage) -> Message:
    parts: tuple[AnyPart, ...] = read_content_leniently(added.content_version, added.role, added.content)
    return Message(
        id=added.id,
        chat_id=change.chat_id,
        created_at=change.happened_at,
        revision=change.snapshot_version,
        role=added.role,
        parts=parts,
        visibility=added.visibility,
        created_by=added.created_by,
        model_config_id=added.model_config_id,
        reasoning_effort=added.reasoning_effort,
    )
