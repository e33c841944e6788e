"""A chat is given what its workspace tells models now."""

from uuid import UUID

from chatd.core.access import Person
from chatd.core.errors import Conflict
from chatd.server.chats.reading import Reading
from chatd.server.chats.refusals import not_yours
from chatd.server.engine_room import Engine
from chatd.store.hints import Hints
from chatd.store.owner_hints import OwnerEvent, OwnerEventKind, owner_topic
from chatd.store.store import Store
from chatd.wire import chats as wire


class Refreshing:
    def __init__(self, store: Store, engine: Engine, reading: Reading, hints: Hints) -> None:
        self._store = store
        self._engine = engine
        self._reading = reading
        self._hints = hints

    async def refresh(self, person: Person, chat_id: UUID) -> wire.Chat:
        """From its next turn on. Only its owner may reach into the workspace. Raises NotFound, Forbidden, Conflict,
        WorkspaceUnavailable and what the agent's client does."""
        row = await self._reading.row(chat_id)
        if row.owner_id != person.user_id:
            raise await not_yours(self._store, chat_id)
        if row.workspace_id is None or self._engine.contexts is None:
            raise Conflict("This chat has no workspace.", detail="Attach one first.")
        await self._engine.contexts.refresh(chat_id)
        self._hints.publish(owner_topic(row.owner_id), OwnerEvent(OwnerEventKind.CHAT, chat_id, None).encode())
        return await self._reading.chat(chat_id)
