"""Tells who watches a user's chats what is heard of them: two subscriptions for all watchers of a replica."""

from typing import Protocol
from uuid import UUID

from chatd.store.chat_hints import ChatHint, read_hint
from chatd.store.hints import Gap, Hint, Hints, Subscription
from chatd.store.owner_hints import OwnerEvent, read_owner_event

_CHATS = "chat:*"
_OWNERS = "owner:"


class Watcher(Protocol):
    """All return at once."""

    def chat_changed(self, hint: ChatHint) -> None: ...

    def told(self, event: OwnerEvent) -> None: ...

    def missed(self) -> None:
        """Some hints may be lost."""
        ...


class OwnerFeeds:
    """It listens while anyone watches."""

    def __init__(self, hints: Hints) -> None:
        self._hints = hints
        self._watchers: dict[UUID, dict[Watcher, None]] = {}
        self._subscriptions: list[Subscription] = []

    def join(self, owner_id: UUID, watcher: Watcher) -> None:
        if not self._watchers:
            self._subscriptions = [
                self._hints.subscribe(_CHATS, self._chat),
                self._hints.subscribe(f"{_OWNERS}*", self._owner),
            ]
        self._watchers.setdefault(owner_id, {})[watcher] = None

    def leave(self, owner_id: UUID, watcher: Watcher) -> None:
        watchers = self._watchers[owner_id]
        del watchers[watcher]
        if not watchers:
            del self._watchers[owner_id]
        if not self._watchers:
            for subscription in self._subscriptions:
                subscription.close()
            self._subscriptions = []

    def _chat(self, what: Hint | Gap) -> None:
        if isinstance(what, Gap):
            self._missed()
        elif (hint := read_hint(what.payload)) and hint.owner_id is not None:
            for watcher in tuple(self._watchers.get(hint.owner_id, ())):
                watcher.chat_changed(hint)

    def _owner(self, what: Hint | Gap) -> None:
        if isinstance(what, Gap) or not (event := read_owner_event(what.payload)):
            return  # the other subscription tells of gaps
        try:
            owner_id = UUID(what.topic.removeprefix(_OWNERS))
        except ValueError:
            return
        for watcher in tuple(self._watchers.get(owner_id, ())):
            watcher.told(event)

    def _missed(self) -> None:
        for watchers in tuple(self._watchers.values()):
            for watcher in tuple(watchers):
                watcher.missed()
