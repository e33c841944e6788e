"""`GET /api/experimental/chats/{chat}/stream`: who may see it, where to go on, and which of the two transports."""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qs
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import InvalidRequest, NotFound, Unauthenticated, Validation
from chatd.core.stream import StreamState, begun, resumed
from chatd.core.stream_ids import read_event_id
from chatd.engine.commits import AWAY
from chatd.engine.drop_warnings import DropWarnings
from chatd.engine.parts import EngineParts
from chatd.server.middleware.asgi_types import ABORT, REST, App, Receive, Scope, Send, header, state
from chatd.server.relay.relay import Relay
from chatd.server.stream.feed import Feeds, FeedSources
from chatd.server.stream.framing import SseSink, WebSocketSink
from chatd.server.stream.keeping import KeptStream, StreamKeeper
from chatd.server.stream.loop import StreamLoop
from chatd.server.stream.read_cursor import ReadCursor
from chatd.server.stream.reading import ChatReader
from chatd.store.actor import acting_as
from chatd.store.hints import Hints
from chatd.store.owner_hints import OwnerEvent, OwnerEventKind, owner_topic
from chatd.store.store import Store
from chatd.wire.problem import Problem

TEMPLATE: Final = "/api/experimental/chats/{chat}/stream"
_PATH: Final = re.compile(r"/api/experimental/chats/([^/]+)/stream")
_HIGHEST_ID: Final = 2**63 - 1
_MOST_DIGITS: Final = 19  # of a message's id
_TAKES_EVENTS: Final = ("text/event-stream", "text/*", "*/*")


class SignedIn(msgspec.Struct, frozen=True):
    """Who a request is from, and until when."""

    person: Person
    until: datetime


# Looked up again while a stream lasts.
Recognize = Callable[[Scope], Awaitable[SignedIn | None]]


class StreamRoutes:
    """In front of `app`, which gets every other request."""

    def __init__(
        self, app: App, store: Store, parts: EngineParts, relay: Relay, hints: Hints, recognize: Recognize
    ) -> None:
        self._app = app
        self._store = store
        self._hints = hints
        self._clock: Clock = parts.clock
        self._recent = parts.recent
        self._recognize = recognize
        self.feeds = Feeds(FeedSources(parts.episodes, parts.recent, parts.watch, relay, parts.clock))
        self.keeper = StreamKeeper(parts.clock, parts.drops or DropWarnings(parts.clock))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = _PATH.fullmatch(scope["path"]) if scope["type"] in ("http", "websocket") else None
        if match is None:
            await self._app(scope, receive, send)
            return
        scope["path_template"] = TEMPLATE
        is_websocket = scope["type"] == "websocket"
        if not is_websocket and scope["method"] != "GET":
            await refuse_method(send)
            return
        person = state(scope).get("person")
        if not isinstance(person, Person):
            raise Unauthenticated("Sign in first.", detail="Send a session or API token as `Authorization: Bearer …`.")
        if not is_websocket and not _takes_events(scope):
            raise InvalidRequest("This is a stream of server-sent events.", detail="Accept `text/event-stream`.")
        chat_id, begin = _chat_id(match[1]), _begin(scope)
        row = await self._store.get_chat_state(chat_id=chat_id)
        if row is None:
            raise NotFound("Chat")
        sink = WebSocketSink(receive, send) if is_websocket else SseSink(receive, send)
        told = OwnerEvent(OwnerEventKind.CHAT, chat_id, None).encode()  # to other pages, which mark it as unread
        cursor = ReadCursor(
            self._store,
            chat_id,
            lambda: self._hints.publish(owner_topic(row.owner_id), told),
            is_owner=row.owner_id == person.user_id,
        )
        loop = StreamLoop(
            ChatReader(chat_id, self._store, self._recent),
            begin,
            sink,
            cursor,
            self._clock,
            lambda: is_still(person, self._recognize, scope),
        )
        signed_in = await still_signed_in(person, self._recognize, scope)
        extensions: dict[str, Any] = scope.get("extensions") or {}
        feed = self.feeds.join(chat_id, loop)  # before the first read: nothing falls between
        forget = self.keeper.keep(KeptStream(loop, extensions.get(ABORT), signed_in.until))

        def leave() -> None:
            forget()
            self.feeds.leave(chat_id, loop)

        async def follow(receive: Receive, send: Send) -> None:
            sink.use(receive, send)
            try:
                await loop.run(feed)
            finally:
                leave()
                with acting_as(person):
                    await cursor.mark(loop.state.through)

        try:
            if is_websocket:
                await receive()  # websocket.connect
            await sink.open()
        except BaseException:
            leave()
            raise
        state(scope)[REST] = follow


async def still_signed_in(person: Person, recognize: Recognize, scope: Scope) -> SignedIn:
    """For who is about to follow something, which only later changes would end. Raises Unauthenticated when the
    session has ended since the request came."""
    now = await recognize(scope)
    if now is None or now.person != person:
        raise Unauthenticated("The session has ended. Sign in again.")
    return now


async def is_still(person: Person, recognize: Recognize, scope: Scope) -> bool:
    """Whether it is the same person with the same rights. While nobody can tell, nothing ends."""
    try:
        now = await recognize(scope)
    except AWAY:
        return True
    return now is not None and now.person == person


def _chat_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("Chat") from None


def _begin(scope: Scope) -> StreamState:
    """Where the client is. The header is a browser's own, and newer than the address it came with."""
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    after = header(scope, b"last-event-id") or query.get("after", [""])[-1]
    if after:
        seen = read_event_id(after)
        if seen is None:
            raise _wrong("after", "Give the id of an event of this stream.")
        return resumed(seen)
    after_id = query.get("after_id", ["0"])[-1]
    if not (after_id.isascii() and after_id.isdigit() and len(after_id) <= _MOST_DIGITS):
        raise _wrong("after_id", "Give the id of a message, a whole number.")
    return begun(min(int(after_id), _HIGHEST_ID - 1))


def _wrong(field: str, detail: str) -> InvalidRequest:
    return InvalidRequest("The stream can't begin there.", validations=[Validation(field, detail)])


def _takes_events(scope: Scope) -> bool:
    accept = header(scope, b"accept")
    if accept is None:
        return True
    return any(part.split(";")[0].strip().lower() in _TAKES_EVENTS for part in accept.split(","))


async def refuse_method(send: Send) -> None:
    body = msgspec.json.encode(Problem("This address does not take that method."))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"allow", b"GET"),
    ]
    await send({"type": "http.response.start", "status": 405, "headers": headers})
    await send({"type": "http.response.body", "body": body})
