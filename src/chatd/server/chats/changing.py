"""What people set for a chat: title, labels, place, plan mode, whether it is archived, and how far they have read."""

from typing import Final
from uuid import UUID

import msgspec
from msgspec import UNSET

from chatd.core.access import GIT_SYNC, Action, Kind, Person, Resource, may
from chatd.core.chat_checks import check_labels, checked_title
from chatd.core.errors import Conflict, InvalidRequest, NotAuthorized, Validation
from chatd.core.outcomes import Refusal, Refused
from chatd.server.chats.reading import Reading
from chatd.server.chats.refusals import applied, error_of, not_yours
from chatd.server.engine_room import Engine
from chatd.store.actor import acting_as
from chatd.store.hints import Hints
from chatd.store.owner_hints import OwnerEvent, OwnerEventKind, owner_topic
from chatd.store.queries import GetChatRow
from chatd.store.store import Store
from chatd.wire.chat_requests import MarkRead, UpdateChat

_LAST: Final = 2**63 - 1  # past every message
_NOWHERE: Final = UUID(int=0)  # as a workspace: none any more


class Changing:
    def __init__(self, store: Store, engine: Engine, reading: Reading, hints: Hints) -> None:
        self._store = store
        self._engine = engine
        self._reading = reading
        self._hints = hints

    async def change(self, person: Person, chat_id: UUID, asked: UpdateChat) -> None:
        """All of it is checked before any of it is done, against the row that is read here and nowhere again."""
        row = await self._reading.row(chat_id)
        if not may(person, Action.UPDATE, Resource(Kind.CHAT, owner=row.owner_id)):
            raise await not_yours(self._store, chat_id)
        title = None if asked.title is UNSET else checked_title(asked.title)
        labels = None if asked.labels is UNSET else asked.labels
        if labels is not None:
            check_labels(labels)
        self._check(row, asked)
        if asked.workspace_id is not UNSET:
            await self._bind(person, row, asked.workspace_id)
        if asked.archived is not UNSET:
            await self._archive(row, asked.archived)
        if asked.pin_order is not UNSET and asked.pin_order != row.pin_order:
            await self._pin(row, asked.pin_order)
        title = None if title == row.title else title
        plan_mode = None if asked.plan_mode is UNSET else asked.plan_mode == "plan"
        if title is None and labels is None and plan_mode is None:
            return
        encoded = None if labels is None else msgspec.json.encode(labels).decode()
        if await self._store.update_chat(id=chat_id, title=title, labels=encoded, plan_mode=plan_mode) is None:
            raise await not_yours(self._store, chat_id)
        if title is not None:
            self._tell(row.owner_id, OwnerEvent(OwnerEventKind.TITLE, chat_id, title))
        if labels is not None or plan_mode is not None:
            self._tell(row.owner_id, OwnerEvent(OwnerEventKind.CHAT, chat_id, None))

    async def mark_read(self, person: Person, chat_id: UUID, asked: MarkRead) -> None:
        """What the owner has seen is the owner's to say."""
        state = await self._store.get_chat_state(chat_id=chat_id)
        if state is None or state.owner_id != person.user_id:
            raise await not_yours(self._store, chat_id)
        through = _LAST if asked.message_id is None else asked.message_id
        if await self._store.mark_chat_read(id=chat_id, message_id=through) is not None:
            self._tell(state.owner_id, OwnerEvent(OwnerEventKind.CHAT, chat_id, None))  # other pages mark it as unread

    def _check(self, row: GetChatRow, asked: UpdateChat) -> None:
        is_child = row.parent_chat_id is not None
        if asked.archived is not UNSET:
            if is_child:
                raise _wrong("archived", "a child is archived with its root")
            if asked.archived == row.archived:
                raise _wrong("archived", "it is archived already" if row.archived else "it is not archived")
        if asked.pin_order is not UNSET and asked.pin_order > 0:
            archived = row.archived if asked.archived is UNSET else asked.archived
            if archived or is_child:
                raise _wrong("pin_order", "0, because neither archived chats nor children can be pinned")

    async def _archive(self, row: GetChatRow, archived: bool) -> None:
        transitions = self._engine.transitions
        try:
            outcome = await (transitions.archive(row.id) if archived else transitions.unarchive(row.id))
        except NotAuthorized:
            raise await not_yours(self._store, row.id) from None
        if not isinstance(outcome, Refused):
            if not archived and row.workspace_id is not None:  # nobody was asked about its pull request meanwhile
                with acting_as(GIT_SYNC):
                    await self._store.mark_diff_stale(chat_id=row.id, at=self._engine.parts.clock.now())
            return
        if outcome.reason is Refusal.NOT_FOUND:
            raise await not_yours(self._store, row.id)
        if outcome.reason is Refusal.NOT_ALLOWED:
            who = "it" if outcome.subject in ("", str(row.id)) else f"its child {outcome.subject}"
            raise Conflict(
                "A chat that is at work can't be archived.",
                detail=f"Interrupt {who}, or wait until its turn ends.",
            )
        raise error_of(outcome)

    async def _bind(self, person: Person, row: GetChatRow, asked: UUID | None) -> None:
        """Where the agent reaches into is the owner's to say, as what it does is."""
        workspace_id = None if asked == _NOWHERE else asked
        if workspace_id == row.workspace_id:
            return
        if row.owner_id != person.user_id:
            raise await not_yours(self._store, row.id)
        applied(await self._engine.transitions.bind_workspace(row.id, workspace_id))
        self._tell(row.owner_id, OwnerEvent(OwnerEventKind.CHAT, row.id, None))

    async def _pin(self, row: GetChatRow, place: int) -> None:
        moved = await self._store.pin_chat(id=row.id, place=place)
        if not moved:
            raise await not_yours(self._store, row.id)
        for chat in moved:
            self._tell(row.owner_id, OwnerEvent(OwnerEventKind.CHAT, chat.id, None))

    def _tell(self, owner_id: UUID, event: OwnerEvent) -> None:
        """Other open lists of the owner's chats."""
        self._hints.publish(owner_topic(owner_id), event.encode())


def _wrong(field: str, rule: str) -> InvalidRequest:
    return InvalidRequest(f"Check {field}.", validations=[Validation(field, rule)])
