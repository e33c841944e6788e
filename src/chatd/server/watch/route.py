"""`GET /api/experimental/chats/watch`: what changes in the chats of who asks, by WebSocket or server-sent events."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import NotFound, Unauthenticated
from chatd.core.stream import Event
from chatd.server.chats.reading import Reading
from chatd.server.middleware.asgi_types import ABORT, REST, App, Receive, Scope, Send, state
from chatd.server.stream.framing import SseSink, WebSocketSink
from chatd.server.stream.keeping import KeptStream, StreamKeeper
from chatd.server.stream.route import Recognize, is_still, refuse_method, still_signed_in
from chatd.server.watch.loop import WatchLoop
from chatd.server.watch.owner_feeds import OwnerFeeds
from chatd.store.hints import Hints
from chatd.wire.chats import Chat

PATH: Final = "/api/experimental/chats/watch"


class OneByOne(WebSocketSink):
    """An event is a message of its own, and an object."""

    _BEAT = "{}"

    async def send(self, events: Sequence[Event]) -> None:
        for event in events:
            await self._send({"type": "websocket.send", "text": event.data.decode()})


class WatchRoutes:
    """In front of `app`, which gets every other request."""

    def __init__(
        self, app: App, reading: Reading, hints: Hints, clock: Clock, keeper: StreamKeeper, recognize: Recognize
    ) -> None:
        self._app = app
        self._reading = reading
        self._clock = clock
        self._keeper = keeper
        self._recognize = recognize
        self._feeds = OwnerFeeds(hints)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        scope["path_template"] = PATH
        is_websocket = scope["type"] == "websocket"
        if not is_websocket and scope["method"] != "GET":
            await refuse_method(send)
            return
        person = state(scope).get("person")
        if not isinstance(person, Person):
            raise Unauthenticated("Sign in first.", detail="Send a session or API token as `Authorization: Bearer …`.")
        sink = OneByOne(receive, send) if is_websocket else SseSink(receive, send)
        loop = WatchLoop(
            person.user_id, self._chat, sink, self._clock, lambda: is_still(person, self._recognize, scope)
        )
        signed_in = await still_signed_in(person, self._recognize, scope)
        extensions: dict[str, Any] = scope.get("extensions") or {}
        self._feeds.join(person.user_id, loop)
        forget = self._keeper.keep(KeptStream(loop, extensions.get(ABORT), signed_in.until))

        def leave() -> None:
            forget()
            self._feeds.leave(person.user_id, loop)

        async def follow(receive: Receive, send: Send) -> None:
            sink.use(receive, send)
            try:
                await loop.run()
            finally:
                leave()

        try:
            if is_websocket:
                await receive()  # websocket.connect
            await sink.open()
        except BaseException:
            leave()
            raise
        state(scope)[REST] = follow

    async def _chat(self, chat_id: UUID) -> Chat | None:
        try:
            return await self._reading.chat(chat_id)
        except NotFound:
            return None
