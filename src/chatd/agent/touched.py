"""Which paths each chat has changed or worked in, so that its repositories can be found."""

from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from chatd.agent.caller import Caller

MOST_PATHS: Final = 1000  # of one chat; the newest are kept, and they lead to the same few repositories
MOST_CHATS: Final = 500  # the latest to change something; some 100 bytes per path


class TouchedPaths:
    """What a chat changes counts for its ancestors too: a parent shows what its children did."""

    def __init__(self) -> None:
        self._chats: OrderedDict[UUID, OrderedDict[bytes, None]] = OrderedDict()
        self._version = 0
        self._watchers: dict[UUID, list[Callable[[], None]]] = {}

    @property
    def version(self) -> int:
        """Grows with every note; whoever derives something from the paths knows by it when to do so again."""
        return self._version

    def note(self, caller: Caller, *paths: bytes) -> None:
        """Resolved paths that were changed, or worked in, for this caller; nothing is kept for one without a chat."""
        if caller.chat_id is None or not paths:
            return
        self._version += 1
        for chat in (*caller.ancestors, caller.chat_id):
            known = self._chats.setdefault(chat, OrderedDict())
            self._chats.move_to_end(chat)
            for path in paths:
                known[path] = None
                known.move_to_end(path)
            while len(known) > MOST_PATHS:
                known.popitem(last=False)
        while len(self._chats) > MOST_CHATS:
            self._chats.popitem(last=False)
        self.stir(caller)

    def stir(self, caller: Caller) -> None:
        """Something of this caller's has run, and may have changed anything: whoever watches should look."""
        if caller.chat_id is not None:
            for chat in (*caller.ancestors, caller.chat_id):
                for told in tuple(self._watchers.get(chat, ())):
                    told()

    @contextmanager
    def watching(self, chat: UUID, told: Callable[[], None]) -> Generator[None]:
        """A block during which `told` is called whenever the chat or a descendant has done something."""
        watchers = self._watchers.setdefault(chat, [])
        watchers.append(told)
        try:
            yield
        finally:
            watchers.remove(told)
            if not watchers:
                self._watchers.pop(chat, None)

    def of(self, chat: UUID) -> tuple[bytes, ...]:
        """The paths of a chat and its descendants, the latest last."""
        return tuple(self._chats.get(chat, ()))
