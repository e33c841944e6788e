"""Titles that people ask a model for: proposed, or stored at once."""

from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import Conflict, ModelFailed
from chatd.core.failure import FailureKind
from chatd.core.messages import Message
from chatd.core.titles import SECONDS
from chatd.engine.titles import BegunChat
from chatd.providers.stream import ModelCallFailed
from chatd.server.chats.reading import Reading
from chatd.server.chats.refusals import not_yours
from chatd.server.chats.shown_chats import shown_chat
from chatd.server.engine_room import Engine
from chatd.store.queries import GetChatRow
from chatd.store.store import Store
from chatd.store.stored_messages import read_message
from chatd.wire import chats as wire

_AT_EACH_END = 50  # messages: more than a title is made from


class Retitling:
    def __init__(self, store: Store, engine: Engine, reading: Reading, clock: Clock) -> None:
        self._store = store
        self._engine = engine
        self._reading = reading
        self._clock = clock

    async def propose(self, person: Person, chat_id: UUID) -> wire.ProposedTitle:
        """Nothing is stored but what it cost."""
        return wire.ProposedTitle(await self._title(await self._own(person, chat_id)))

    async def regenerate(self, person: Person, chat_id: UUID) -> wire.Chat:
        """Stored, unless the chat was given another title meanwhile: that one has the last word."""
        row = await self._own(person, chat_id)
        title = await self._title(row)
        if title == row.title:
            return shown_chat(row)
        if not await self._engine.titles.replace(chat_id, row.owner_id, title, expected=row.title):
            return shown_chat(await self._reading.row(chat_id))
        return shown_chat(msgspec.structs.replace(row, title=title))

    async def _own(self, person: Person, chat_id: UUID) -> GetChatRow:
        row = await self._reading.row(chat_id)
        if row.owner_id != person.user_id:
            raise await not_yours(self._store, chat_id)
        await self._engine.spending.check(person.user_id)
        return row

    async def _title(self, row: GetChatRow) -> str:
        chat = BegunChat(
            chat_id=row.id,
            owner_id=row.owner_id,
            title=row.title,
            model_config_id=row.last_model_config_id,
            history=await self._ends(row.id),
        )
        try:
            async with self._clock.timeout(SECONDS, timer="propose title"):
                title = await self._engine.titles.propose(chat)
        except TimeoutError:
            raise ModelFailed("The model did not answer in time.") from None
        except ModelCallFailed as failed:
            failure = failed.failure
            if failure.kind is FailureKind.USAGE_LIMIT:
                raise Conflict(failure.message, detail=failure.detail or None) from failed
            raise ModelFailed(failure.message, detail=failure.detail or None) from failed
        if title is None:
            raise ModelFailed("No title came out of it.", detail="Try again, or write one.")
        return title

    async def _ends(self, chat_id: UUID) -> list[Message]:
        """How the chat began and where it is now."""
        first = await self._store.list_messages_after(chat_id=chat_id, after_id=0, max_rows=_AT_EACH_END)
        last = await self._store.list_messages_page(
            chat_id=chat_id, before_id=None, after_id=None, max_rows=_AT_EACH_END
        )
        rows = {row.id: row for row in (*first, *last)}
        return [read_message(rows[id]) for id in sorted(rows)]
