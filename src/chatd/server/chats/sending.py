"""Messages to a chat: a new one, once, or a better one in place of one that was sent."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from chatd.core.access import OwnedBy, Person
from chatd.core.chat_input import GivenPart, file_ids_of, input_parts
from chatd.core.errors import ChatdError, InvalidRequest, NotAuthorized, Validation
from chatd.core.messages import Message, NewMessage
from chatd.core.reasoning import ReasoningEffort
from chatd.core.request_keys import check_key, fingerprint_of, send_id_of
from chatd.core.roles import Role, Visibility
from chatd.core.shown_parts import shown_parts
from chatd.engine.models import Models
from chatd.server.chats.choosing import given_parts, named_model
from chatd.server.chats.refusals import applied_for_owner
from chatd.server.chats.shown import shown_message
from chatd.server.engine_room import Engine
from chatd.store.store import Store
from chatd.store.transitions import Applied, Repeated, SendKey
from chatd.wire import chats as wire
from chatd.wire.chat_requests import EditMessage, SendMessage


class Sending:
    def __init__(self, store: Store, engine: Engine, models: Models) -> None:
        self._store = store
        self._engine = engine
        self._models = models

    async def send(self, person: Person, chat_id: UUID, asked: SendMessage, *, key: str | None) -> wire.SentMessage:
        """With a key that was given to this message before: what was answered then."""
        send_key = None if key is None else _send_key(key, asked)
        try:
            if asked.mcp_server_ids:
                raise InvalidRequest(
                    "Check mcp_server_ids.",
                    validations=[Validation("mcp_server_ids", "there are no such servers here")],
                )
            message = await self._message(person, asked.content, asked.model_config_id, asked.reasoning_effort)
            await self._engine.spending.check(person.user_id)
        except ChatdError:
            # The first one may have spent what was left, or its model may be gone.
            if send_key is None or (sent := await self._sent(person, chat_id, send_key)) is None:
                raise
            message = _told_again(person, asked)
            return _repeated(chat_id, message, sent)
        outcome = await self._try(chat_id, asked, message, send_key)
        if isinstance(outcome, Repeated):
            return _repeated(chat_id, message, outcome)
        self._engine.worker.adopt(outcome)
        return _sent(outcome, message)

    async def edit(self, person: Person, chat_id: UUID, message_id: int, asked: EditMessage) -> wire.EditedMessage:
        message = await self._message(person, asked.content, asked.model_config_id, asked.reasoning_effort)
        await self._engine.spending.check(person.user_id)
        worker = self._engine.worker
        try:
            outcome = await self._engine.transitions.edit_message(
                chat_id, message_id, message, file_ids=file_ids_of(message.parts), take=worker.new_take()
            )
        except NotAuthorized as error:
            outcome = error
        edited = await applied_for_owner(outcome, self._store, chat_id)
        worker.adopt(edited)
        return wire.EditedMessage(
            message=shown_message(edited.messages[-1]),
            messages=visible(edited.messages),
            deleted_message_ids=edited.change.deleted_ids,
        )

    async def _message(
        self, person: Person, content: Sequence[GivenPart], model_id: UUID | None, effort: ReasoningEffort | None
    ) -> NewMessage:
        return NewMessage(
            role=Role.USER,
            parts=await given_parts(self._store, content),
            created_by=person.user_id,
            model_config_id=await named_model(self._models, model_id),
            reasoning_effort=effort,
        )

    async def _try(
        self, chat_id: UUID, asked: SendMessage, message: NewMessage, key: SendKey | None
    ) -> Applied | Repeated:
        transitions, take = self._engine.transitions, self._engine.worker.new_take()
        interrupts = asked.busy_behavior == "interrupt"
        planning = None if asked.plan_mode is None else asked.plan_mode == "plan"
        file_ids = file_ids_of(message.parts)
        try:
            if key is None:
                outcome = await transitions.send_message(
                    chat_id, message, interrupts=interrupts, file_ids=file_ids, planning=planning, take=take
                )
            else:
                outcome = await transitions.send_once(
                    chat_id, message, key, interrupts=interrupts, file_ids=file_ids, planning=planning, take=take
                )
                if isinstance(outcome, Repeated):
                    return outcome
        except NotAuthorized as error:
            outcome = error
        return await applied_for_owner(outcome, self._store, chat_id)

    async def _sent(self, person: Person, chat_id: UUID, key: SendKey) -> Repeated | None:
        row = await self._store.get_send(chat_id=chat_id, key=key.key, authorize=OwnedBy(person.user_id))
        if row is None or row.fingerprint != key.fingerprint:
            return None
        return Repeated(row.message_id, row.queued_id, row.revision, row.created_at)


def visible(messages: Sequence[Message]) -> list[wire.ChatMessage]:
    """Those that people see."""
    return [shown_message(message) for message in messages if message.visibility is not Visibility.MODEL]


def _send_key(key: str, asked: SendMessage) -> SendKey:
    check_key(key)
    return SendKey(send_id_of(key), fingerprint_of(msgspec.json.encode(asked)))


def _told_again(person: Person, asked: SendMessage) -> NewMessage:
    """The message as it was when it was accepted, of which only the names of its files are not known any more."""
    return NewMessage(
        role=Role.USER,
        parts=input_parts(asked.content),
        created_by=person.user_id,
        model_config_id=asked.model_config_id,
        reasoning_effort=asked.reasoning_effort,
    )


def _sent(sent: Applied, message: NewMessage) -> wire.SentMessage:
    change = sent.change
    own = {*(change.inserted_ids or ())}
    if change.queued_id is None:
        return wire.SentMessage(
            queued=False,
            message=next((shown_message(one) for one in sent.messages if one.id in own), None),
            messages=visible(sent.messages),
        )
    waits = Repeated(None, change.queued_id, change.snapshot_version, change.happened_at)
    told = _repeated(change.chat_id, message, waits)
    return msgspec.structs.replace(told, messages=visible(sent.messages) or None)


def _repeated(chat_id: UUID, message: NewMessage, sent: Repeated) -> wire.SentMessage:
    """What was answered the first time, from what is the same the second time."""
    if sent.message_id is None:
        return wire.SentMessage(
            queued=True,
            queued_message=wire.ChatQueuedMessage(
                id=sent.queued_id or 0,
                chat_id=chat_id,
                content=shown_parts(message.parts),
                created_at=sent.sent_at,
                created_by=message.created_by,
                model_config_id=message.model_config_id,
                reasoning_effort=message.reasoning_effort,
            ),
        )
    stored = shown_message(
        Message(
            id=sent.message_id,
            chat_id=chat_id,
            created_at=sent.sent_at,
            revision=sent.revision,
            role=Role.USER,
            parts=message.parts,
            created_by=message.created_by,
            model_config_id=message.model_config_id,
            reasoning_effort=message.reasoning_effort,
        )
    )
    return wire.SentMessage(queued=False, message=stored, messages=[stored])
