"""What a stream needs to know of its chat: at hand where this replica made it, else read from the database."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.errors import NotFound
from chatd.core.messages import Message
from chatd.core.parts import ToolCallPart
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.core.stream import Facts, Page, Row, StreamState, begun, needs
from chatd.core.stream_ids import Place
from chatd.core.turn import unanswered
from chatd.core.valid_text import valid_text
from chatd.engine.recent_messages import RecentMessage, RecentMessages
from chatd.server.chats.shown import shown_error, shown_message, shown_queued
from chatd.store import queries
from chatd.store.chat_hints import ChatHint
from chatd.store.queries import ChatChange, ChatState
from chatd.store.store import Store
from chatd.store.stored_messages import read_message

PAGE_ROWS: Final = 100  # read, encoded and sent before the next ones are: what a long history takes in memory
_TOLD_WHOLE: Final = frozenset({Status.WAITING, Status.RUNNING, Status.INTERRUPTING})  # need no more than their name
_ENCODER: Final = msgspec.json.Encoder()


class ChatReader:
    """For one client. `read` acts as who is acting."""

    __slots__ = ("_chat_id", "_recent", "_store")

    def __init__(self, chat_id: UUID, store: Store, recent: RecentMessages) -> None:
        self._chat_id = chat_id
        self._store = store
        self._recent = recent

    def at_hand(self, state: StreamState, newest: int, hint: ChatHint | None) -> Page | None:
        """What brings the client to the snapshot `newest`, if that is known without asking anyone."""
        if state.place is not Place.PREVIEW or state.through is None:
            return None
        chat = self._recent.get(self._chat_id)
        if chat is None or chat.change.snapshot_version < newest:
            return _of_hint(state, newest, hint)
        change = chat.change
        facts = facts_of(change)
        need = needs(state, facts)
        rows = chat.after(state.history) if need.rows else ()
        queue = b"[]" if need.queue and not change.queue_length + change.held_length else None
        calls = _calls(recent.message for recent in chat.messages) if need.calls else None
        if rows is None or (need.queue and queue is None) or (need.calls and calls is None):
            return None
        return Page(facts=facts, rows=[_shared(row) for row in rows], queue=queue, calls=calls)

    async def read(self, state: StreamState, told: Callable[[ChatState], None]) -> tuple[StreamState, Page]:
        """The next page, and the state that it continues; `told` gets the row that it is of. Raises NotFound when the
        chat can't be seen (any more)."""
        row = await self._store.get_chat_state(chat_id=self._chat_id)
        if row is None:
            raise NotFound("Chat")
        told(row)
        facts = facts_of(row)
        is_reset = facts.snapshot < state.snapshot  # of a database that was set back, or of another chat
        if is_reset:
            state = begun()
        need = needs(state, facts)
        found = _Found()
        if is_reset:
            found = await self._all()
        elif state.through is None:
            found = await self._since_version(state)
        elif need.rows:
            found = await self._after(state, state.through)
        queue = calls = None
        if need.queue:
            waits = await self._queued() if row.queue_length + row.held_length else ()
            queue = _ENCODER.encode([shown_queued(queued) for queued in waits])
        if need.calls and found.is_last:
            newest = await self._newest(PAGE_ROWS)
            calls = _calls(read_message(message) for message in reversed(newest)) or b"[]"
        page = Page(
            facts=facts,
            rows=[_row(read_message(message)) for message in found.rows],
            is_reset=found.is_reset,
            is_last=found.is_last,
            after=found.after,
            queue=queue,
            calls=calls,
        )
        return state, page

    async def _after(self, state: StreamState, through: int) -> "_Found":
        """What follows a message. If that is hidden by now, so may be others before it: an edit hides all that follow.
        Therefore it is read once more itself."""
        rows = await self._read_after(max(through - 1, 0), PAGE_ROWS + 2)
        if through == 0:
            return _cut(rows)
        if rows and rows[0].id == through:
            return _cut(rows[1:])
        if not rows and state.is_filtered:
            return _Found()  # it names none of ours, and nothing followed that could have replaced one
        return await self._all()

    async def _all(self) -> "_Found":
        found = _cut(await self._read_after(0, PAGE_ROWS + 1))
        return _Found(found.rows, is_reset=True, is_last=found.is_last)

    async def _since_version(self, state: StreamState) -> "_Found":
        """What followed the last message of a history version, which is found by its revision. Where it is not, it was
        hidden since, or the version came without a message; then all is sent. So it is when a message of the user's
        follows: a version may have several messages, and that one may be an edit which has hidden the last of them."""
        newest = await self._newest(PAGE_ROWS + 1)
        for place, row in enumerate(newest):
            if row.revision == state.history and not (place and newest[place - 1].role is Role.USER):
                return _Found(newest[:place][::-1], after=row.id)
            if row.revision <= state.history:
                break
        return await self._all()

    async def _read_after(self, after_id: int, most: int) -> Sequence[queries.Message]:
        return await self._store.list_messages_after(chat_id=self._chat_id, after_id=after_id, max_rows=most)

    async def _newest(self, most: int) -> Sequence[queries.Message]:
        return await self._store.list_messages_page(chat_id=self._chat_id, before_id=None, after_id=None, max_rows=most)

    async def _queued(self) -> Sequence[queries.QueuedMessage]:
        return await self._store.list_queued_messages(chat_id=self._chat_id)


class _Found(msgspec.Struct):
    rows: Sequence[queries.Message] = ()
    is_reset: bool = False
    is_last: bool = True
    after: int | None = None


def _cut(rows: Sequence[queries.Message]) -> _Found:
    return _Found(rows[:PAGE_ROWS], is_last=len(rows) <= PAGE_ROWS)


def facts_of(row: ChatState | ChatChange) -> Facts:
    is_error = row.status is Status.ERROR
    return Facts(
        snapshot=row.snapshot_version,
        history=row.history_version,
        queue=row.queue_version,
        retry_version=row.retry_version,
        attempt=row.generation_attempt,
        status=row.status,
        error=_ENCODER.encode(shown_error(row.last_error)) if is_error else None,
        retry=row.retry_state.encode() if row.retry_state else None,
    )


def _of_hint(state: StreamState, newest: int, hint: ChatHint | None) -> Page | None:
    """A hint says enough when no message, no queue and no retry is newer."""
    if hint is None or hint.snapshot_version < newest or hint.status not in _TOLD_WHOLE:
        return None
    facts = Facts(
        snapshot=hint.snapshot_version,
        history=hint.history_version,
        queue=hint.queue_version,
        retry_version=hint.retry_version,
        attempt=hint.generation_attempt,
        status=hint.status,
    )
    need = needs(state, facts)
    is_told = not (need.rows or need.queue) and facts.retry_version <= state.retry
    return Page(facts=facts) if is_told else None


def _shared(recent: RecentMessage) -> Row:
    """Encoded by who asks first."""
    message = recent.message
    if recent.json is None:
        recent.json = _ENCODER.encode(shown_message(message))
    return Row(message.id, message.revision, recent.json)


def _row(message: Message) -> Row:
    return Row(message.id, message.revision, _ENCODER.encode(shown_message(message)))


class _WaitingCall(msgspec.Struct, frozen=True):
    tool_call_id: str
    tool_name: str
    args: str


def _calls(messages: Iterable[Message]) -> bytes | None:
    """The calls that the client has to answer; None when the answer that made them is not among the messages."""
    calls = [_waiting(call) for call in unanswered(list(messages))]
    return _ENCODER.encode(calls) if calls else None


def _waiting(call: ToolCallPart) -> _WaitingCall:
    return _WaitingCall(valid_text(call.tool_call_id), valid_text(call.tool_name), valid_text(call.args))
