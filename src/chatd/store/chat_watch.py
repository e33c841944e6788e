"""Tells who watches a chat that it has changed: at once by a hint, within seconds by a poll of versions.

Hints may be lost, doubled or out of order; a watcher hears each newer snapshot at most once, and never an older one.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import WORKER
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.chat_hints import ChatHint, chat_topic, read_hint
from chatd.store.hints import Gap, Hint, Hints, Subscription
from chatd.store.store import Store

POLL_SECONDS: Final = 2.0  # how long a lost hint can go unnoticed
_log = get_logger("chatd.chat_watch")

Listener = Callable[[ChatHint], None]


class Watching:
    """One watcher of one chat, until it is closed."""

    def __init__(self, known: int, listener: Listener, forget: Callable[["Watching"], None]) -> None:
        self._known = known
        self._listener = listener
        self._forget = forget
        self._closed = False

    def knows(self, snapshot_version: int) -> None:
        """What this watcher has learned otherwise, by its own commit say: hints up to it are no news."""
        self._known = max(self._known, snapshot_version)

    def close(self) -> None:
        """Hear nothing more, from this moment on. May be called twice."""
        if not self._closed:
            self._closed = True
            self._forget(self)

    def hear(self, hint: ChatHint) -> None:
        if self._closed or hint.snapshot_version <= self._known:
            return
        self._known = hint.snapshot_version
        try:
            self._listener(hint)
        except Exception as error:  # noqa: BLE001 - a listener's mistake is its own
            _log.error("a watcher of a chat failed", chat_id=str(hint.chat_id), exc_info=error)


class ChatWatch:
    """All watched chats of a process. One query asks for all of them, however many there are."""

    def __init__(self, store: Store, hints: Hints, clock: Clock) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._watched: dict[UUID, _WatchedChat] = {}
        self._look = asyncio.Event()

    def watch(self, chat_id: UUID, known_snapshot: int, listener: Listener) -> Watching:
        """`listener` is called in the event loop with what is newer than `known_snapshot`, and returns at once."""
        chat = self._watched.get(chat_id)
        if chat is None:
            subscription = self._hints.subscribe(chat_topic(chat_id), lambda what: self._receive(chat_id, what))
            chat = self._watched[chat_id] = _WatchedChat(subscription)
        watching = Watching(known_snapshot, listener, lambda closed: self._forget(chat_id, closed))
        chat.watchers.append(watching)
        return watching

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with self._clock.timeout(POLL_SECONDS, timer="chat-versions"):
                    await self._look.wait()
            self._look.clear()
            try:
                await self.poll()
            except Exception as error:  # noqa: BLE001 - a database that is away now is asked again in two seconds
                _log.warning("versions of chats can't be read", error=str(error) or type(error).__name__)

    async def poll(self) -> None:
        if not self._watched:
            return
        with acting_as(WORKER):
            rows = await self._store.list_chat_versions(chat_ids=list(self._watched))
        for row in rows:
            self._deliver(ChatHint.of(row))

    def _receive(self, chat_id: UUID, what: Hint | Gap) -> None:
        hint = read_hint(what.payload) if isinstance(what, Hint) else None
        if hint is None or hint.chat_id != chat_id:
            self._look.set()
        else:
            self._deliver(hint)

    def _deliver(self, hint: ChatHint) -> None:
        chat = self._watched.get(hint.chat_id)
        for watching in list(chat.watchers) if chat else ():
            watching.hear(hint)

    def _forget(self, chat_id: UUID, watching: Watching) -> None:
        chat = self._watched[chat_id]
        chat.watchers.remove(watching)
        if not chat.watchers:
            chat.subscription.close()
            del self._watched[chat_id]


class _WatchedChat:
    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.watchers: list[Watching] = []
