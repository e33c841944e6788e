"""How far the owner of a chat has read it: moved when a stream has shown it, and when the stream ends."""

from collections.abc import Callable
from uuid import UUID

from chatd.engine.commits import AWAY
from chatd.observe.logs import get_logger
from chatd.store.store import Store

_log = get_logger("chatd.stream")


class ReadCursor:
    """Of one stream. Who is not the owner moves nothing."""

    __slots__ = ("_chat_id", "_is_owner", "_marked", "_moved", "_store")

    def __init__(self, store: Store, chat_id: UUID, moved: Callable[[], None], *, is_owner: bool) -> None:
        self._store = store
        self._chat_id = chat_id
        self._moved = moved
        self._is_owner = is_owner
        self._marked = 0

    async def mark(self, through: int | None) -> None:
        """Up to this message. That it can't be stored is no reason to end anything."""
        if not self._is_owner or not through or through <= self._marked:
            return
        try:
            if await self._store.mark_chat_read(id=self._chat_id, message_id=through) is not None:
                self._moved()
            self._marked = through
        except AWAY as error:
            _log.warning("what was read can't be stored", chat_id=str(self._chat_id), error=str(error))
