"""A chat in memory that changes as chats do, and answers the queries of a stream's reader as the store does."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from chatd.core.roles import Role, Visibility
from chatd.core.states import Status
from chatd.core.stream import PartEvent
from chatd.store.queries import ChatState, Message, QueuedMessage
from core.stream_inputs import CHAT, part_events

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOBODY = UUID(int=1)


class World:
    """Each method but the queries is one transition, or live parts. `between` happens between two queries of a read."""

    def __init__(self) -> None:
        self.rows: list[Message] = []
        self.queued: list[QueuedMessage] = []
        self.snapshot = self.history = self.queue_version = self.retry_version = self.attempt = 0
        self.status = Status.WAITING
        self.retry: str | None = None
        self.error: str | None = None
        self.parts: list[str] = []
        self.between: Callable[[], None] | None = None
        self._ids = 0
        self.send()

    # What happens

    def send(self) -> None:
        if self.status in (Status.WAITING, Status.ERROR):
            self._move()
            self._say(Role.USER)
            self._run()

    def say(self) -> None:
        if self.status is Status.RUNNING and self.attempt and self.retry is None:
            self.parts.append(f"{self.history}.{self.attempt}.{len(self.parts) + 1} ")

    def fail_attempt(self) -> None:
        if self.status is Status.RUNNING and self.attempt and self.retry is None:
            self._move()
            self._set_retry(f'{{"attempt":{self.attempt}}}')

    def try_again(self) -> None:
        if self.status is Status.RUNNING and self.retry is not None:
            self._move()
            self._set_retry(None)
            self.attempt, self.parts = self.attempt + 1, []

    def step(self) -> None:
        if self.status is Status.RUNNING:
            self._move()
            self._say(Role.ASSISTANT)
            self._say(Role.TOOL)
            self._run()

    def finish(self) -> None:
        if self.status in (Status.RUNNING, Status.INTERRUPTING):
            self._move()
            self._say(Role.ASSISTANT)
            self._rest(Status.WAITING)

    def go_on_with_the_next(self) -> None:
        """The answer and the message that waited are stored as one change."""
        if self.queued and self.status in (Status.RUNNING, Status.INTERRUPTING):
            self._move()
            self._say(Role.ASSISTANT)
            self.queued = self.queued[1:]
            self.queue_version = self.snapshot
            self._say(Role.USER)
            self._run()

    def interrupt(self) -> None:
        if self.status is Status.RUNNING:
            self._move()
            self.status = Status.INTERRUPTING
            if self.retry is not None:
                self._set_retry(None)

    def fail(self) -> None:
        if self.status is Status.RUNNING:
            self._move()
            if self.parts:
                self._say(Role.ASSISTANT)
            self.error = f'{{"message":"no {self.snapshot}","retryable":true}}'
            self._rest(Status.ERROR)

    def edit(self) -> None:
        """The second message of the user, or the first."""
        asked = [row.id for row in self.rows if row.role is Role.USER and not row.deleted]
        edited = asked[min(1, len(asked) - 1)]
        self._move()
        for place, row in enumerate(self.rows):
            if row.id >= edited and not row.deleted:
                self.rows[place] = msgspec.structs.replace(row, deleted=True, revision=self.snapshot)
        self._say(Role.USER)
        self._run()

    def compact(self) -> None:
        if self.status in (Status.WAITING, Status.ERROR):
            self._move()
            self.history = self.snapshot
            self._run()

    def wait_in_line(self) -> None:
        if self.status is Status.RUNNING:
            self._move()
            self.queue_version = self.snapshot
            self._ids += 1
            self.queued.append(_queued(self._ids))

    def leave_line(self) -> None:
        if self.queued:
            self._move()
            self.queue_version = self.snapshot
            self.queued = self.queued[1:]

    def _move(self) -> None:
        self.snapshot += 1

    def _say(self, role: Role) -> None:
        self._ids += 1
        self.rows.append(_row(self._ids, self.snapshot, role))
        self.history = self.snapshot

    def _run(self) -> None:
        self._rest(Status.RUNNING)
        self.error, self.attempt = None, 1

    def _rest(self, status: Status) -> None:
        self.status, self.attempt, self.parts = status, 0 if self.history == self.snapshot else self.attempt, []
        if self.retry is not None:
            self._set_retry(None)

    def _set_retry(self, retry: str | None) -> None:
        self.retry, self.retry_version = retry, self.snapshot

    # What is asked

    async def get_chat_state(self, **_: Any) -> ChatState:
        state = ChatState(
            chat_id=CHAT,
            owner_id=NOBODY,
            is_child=False,
            status=self.status,
            archived=False,
            has_open_calls=False,
            has_draft=False,
            host_id=None,
            takeovers=0,
            queue_length=len(self.queued),
            held_length=0,
            generation_attempt=self.attempt,
            snapshot_version=self.snapshot,
            history_version=self.history,
            queue_version=self.queue_version,
            retry_version=self.retry_version,
            replica_id=None,
            runner_id=None,
            last_model_config_id=NOBODY,
            last_reasoning_effort=None,
            updated_at=AT,
            requires_action_deadline_at=None,
            compaction_requested_at=None,
            last_error=self.error,
            retry_state=self.retry,
        )
        if self.between is not None:
            happens, self.between = self.between, None
            happens()
        return state

    async def list_messages_after(self, *, after_id: int, max_rows: int, **_: Any) -> list[Message]:
        return [row for row in self.rows if not row.deleted and row.id > after_id][:max_rows]

    async def list_messages_page(self, *, max_rows: int, **_: Any) -> list[Message]:
        return [row for row in reversed(self.rows) if not row.deleted][:max_rows]

    async def list_queued_messages(self, **_: Any) -> list[QueuedMessage]:
        return self.queued

    def events_after(self, seq: int) -> Sequence[PartEvent]:
        return list(part_events(self.history, self.attempt, self.parts[seq:], seq + 1))


def _row(id: int, revision: int, role: Role) -> Message:
    nothing: dict[str, Any] = {field.name: None for field in msgspec.structs.fields(Message)}
    content = msgspec.json.encode([{"type": "text", "text": f"message {id}"}]).decode()
    known: dict[str, Any] = {
        "chat_id": CHAT,
        "id": id,
        "created_at": AT,
        "revision": revision,
        "role": role,
        "visibility": Visibility.BOTH,
        "compressed": False,
        "deleted": False,
        "content_version": 1,
        "content": content,
    }
    return Message(**(nothing | known))


def _queued(id: int) -> QueuedMessage:
    return QueuedMessage(CHAT, id, AT, id, 1, '[{"type":"text","text":"next"}]', NOBODY, None, None, None, None)
