"""Forks: a new chat of who asks, at rest, with the history of another one up to a message."""

from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.chat_checks import checked_title
from chatd.core.errors import ChatdError
from chatd.core.request_keys import check_key, fork_id_of
from chatd.minting import uuid7
from chatd.server.chats.reading import Reading
from chatd.server.chats.refusals import applied
from chatd.server.engine_room import Engine
from chatd.store.store import Store
from chatd.wire import chats as wire
from chatd.wire.chat_requests import ForkChat


class Forking:
    def __init__(self, store: Store, engine: Engine, reading: Reading, clock: Clock) -> None:
        self._store = store
        self._engine = engine
        self._reading = reading
        self._clock = clock

    async def fork(self, person: Person, source_id: UUID, asked: ForkChat, *, key: str | None) -> wire.Chat:
        """With a key that has made a fork of this chat already, that one as it is now."""
        if key is not None:
            check_key(key)
        title = None if asked.title is None else checked_title(asked.title)
        id = uuid7(self._clock.now()) if key is None else fork_id_of(person.user_id, source_id, key)
        try:
            outcome = await self._engine.transitions.fork_chat(
                id, source_id, owner_id=person.user_id, at_message=asked.message_id, title=title
            )
            applied(outcome)
        except ChatdError:
            if key is None or await self._store.get_chat_state(chat_id=id) is None:
                raise
        return await self._reading.chat(id)
