"""What people do with messages that wait: delete, send now, put in order, and edit them while nobody sends them."""

from collections.abc import Awaitable, Sequence
from uuid import UUID

from chatd.core.access import Person
from chatd.core.chat_input import file_ids_of
from chatd.core.errors import NotAuthorized, NotFound
from chatd.core.messages import NewMessage
from chatd.core.roles import Role
from chatd.engine.models import Models
from chatd.server.chats.choosing import given_parts, named_model
from chatd.server.chats.refusals import applied_for_owner, not_yours
from chatd.server.chats.sending import visible
from chatd.server.chats.shown import shown_queued
from chatd.server.engine_room import Engine
from chatd.store.store import Store
from chatd.store.transitions import Applied, Outcome
from chatd.wire import chats as wire
from chatd.wire.chat_requests import ReleaseQueued


class Queueing:
    def __init__(self, store: Store, engine: Engine, models: Models) -> None:
        self._store = store
        self._engine = engine
        self._models = models

    async def delete(self, chat_id: UUID, queued_id: int) -> None:
        await self._applied(self._engine.transitions.delete_queued(chat_id, queued_id), chat_id)

    async def reorder(self, chat_id: UUID, queued_ids: Sequence[int]) -> None:
        await self._applied(self._engine.transitions.reorder_queued(chat_id, queued_ids), chat_id)

    async def promote(self, chat_id: UUID, queued_id: int) -> wire.PromotedMessage:
        """It was admitted when it was sent: what was spent since makes no difference."""
        take = self._engine.worker.new_take()
        promoted = await self._applied(self._engine.transitions.promote_queued(chat_id, queued_id, take=take), chat_id)
        self._engine.worker.adopt(promoted)
        shown = visible(promoted.messages)
        return wire.PromotedMessage(message=shown[-1] if shown else None)

    async def hold(self, person: Person, chat_id: UUID, queued_id: int) -> wire.ChatQueuedMessage:
        """For a while, which ends by itself unless it is asked for again."""
        await self._owned(person, chat_id)
        held = self._engine.transitions.hold_queued(chat_id, queued_id, holder=person.user_id)
        await self._applied(held, chat_id)
        return await self._waiting(chat_id, queued_id)

    async def release(self, person: Person, chat_id: UUID, queued_id: int, asked: ReleaseQueued) -> wire.SentMessage:
        """With what was made of it. A chat that rests goes on with it."""
        message = await self._edited(person, asked)
        worker = self._engine.worker
        released = await self._applied(
            self._engine.transitions.release_queued(
                chat_id,
                queued_id,
                holder=person.user_id,
                message=message,
                file_ids=[] if message is None else file_ids_of(message.parts),
                take=worker.new_take(),
            ),
            chat_id,
        )
        worker.adopt(released)
        shown = visible(released.messages)
        if shown:
            return wire.SentMessage(queued=False, message=shown[-1], messages=shown)
        return wire.SentMessage(queued=True, queued_message=await self._waiting(chat_id, queued_id))

    async def _edited(self, person: Person, asked: ReleaseQueued) -> NewMessage | None:
        if asked.content is None:
            return None
        return NewMessage(
            role=Role.USER,
            parts=await given_parts(self._store, asked.content),
            created_by=person.user_id,
            model_config_id=await named_model(self._models, asked.model_config_id),
            reasoning_effort=asked.reasoning_effort,
        )

    async def _owned(self, person: Person, chat_id: UUID) -> None:
        state = await self._store.get_chat_state(chat_id=chat_id)
        if state is None or state.owner_id != person.user_id:
            raise await not_yours(self._store, chat_id)

    async def _waiting(self, chat_id: UUID, queued_id: int) -> wire.ChatQueuedMessage:
        for row in await self._store.list_queued_messages(chat_id=chat_id):
            if row.id == queued_id:
                return shown_queued(row)
        raise NotFound("Queued message")

    async def _applied(self, work: Awaitable[Outcome], chat_id: UUID) -> Applied:
        try:
            outcome = await work
        except NotAuthorized as error:
            outcome = error
        return await applied_for_owner(outcome, self._store, chat_id)
