"""`GET /api/experimental/chats/{chat}/stream/git`: the repositories of a chat's workspace, by WebSocket or server-sent
events, for who may reach into it."""

import re
from typing import Any, Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import Action, Kind, Person, Resource, may
from chatd.core.diff_status import LocalRefs
from chatd.core.errors import NotFound, Unauthenticated
from chatd.diffs.keeping import DiffKeeper
from chatd.server.chats.refusals import not_yours
from chatd.server.git_stream.loop import GitLoop
from chatd.server.middleware.asgi_types import ABORT, REST, App, Receive, Scope, Send, state
from chatd.server.stream.framing import SseSink
from chatd.server.stream.keeping import KeptStream, StreamKeeper
from chatd.server.stream.route import Recognize, is_still, refuse_method, still_signed_in
from chatd.server.watch.route import OneByOne
from chatd.store.store import Store
from chatd.wire.agent.git import Repositories
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.resolving import Resolver

TEMPLATE: Final = "/api/experimental/chats/{chat}/stream/git"
_PATH: Final = re.compile(r"/api/experimental/chats/([^/]+)/stream/git")


class GitSource(msgspec.Struct, frozen=True):
    """`keeper` stores what is seen: who looks keeps the lists current too."""

    store: Store
    resolver: Resolver
    keeper: DiffKeeper
    clock: Clock


class GitStreamRoutes:
    """In front of `app`, which gets every other request."""

    def __init__(self, app: App, source: GitSource, keeper: StreamKeeper, recognize: Recognize) -> None:
        self._app = app
        self._source = source
        self._keeper = keeper
        self._recognize = recognize

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
        source = self._source
        chat_id = _chat_id(match[1])
        row = await source.store.get_chat_state(chat_id=chat_id)
        if row is None:
            raise NotFound("Chat")
        if not may(person, Action.RUN, Resource(Kind.WORKSPACE, owner=row.owner_id)):
            raise await not_yours(source.store, chat_id)
        at = await source.resolver.resolve(chat_id)
        sink = OneByOne(receive, send) if is_websocket else SseSink(receive, send)
        client = agent_client(at.address, at.token, source.clock)
        keeping = _Keeping(source.keeper, chat_id, row.owner_id)
        loop = GitLoop(
            chat_id, client, keeping.keep, sink, source.clock, lambda: is_still(person, self._recognize, scope)
        )
        signed_in = await still_signed_in(person, self._recognize, scope)
        extensions: dict[str, Any] = scope.get("extensions") or {}
        forget = self._keeper.keep(KeptStream(loop, extensions.get(ABORT), signed_in.until))

        async def follow(receive: Receive, send: Send) -> None:
            sink.use(receive, send)
            try:
                await loop.run()
            finally:
                forget()
                await client.close()

        try:
            if is_websocket:
                await receive()  # websocket.connect
            await sink.open()
        except BaseException:
            forget()
            await client.close()
            raise
        state(scope)[REST] = follow


class _Keeping:
    """What this stream has stored last."""

    def __init__(self, keeper: DiffKeeper, chat_id: UUID, owner_id: UUID) -> None:
        self._keeper = keeper
        self._chat_id = chat_id
        self._owner_id = owner_id
        self._known: LocalRefs | None = None
        self._has_read = False

    async def keep(self, seen: Repositories) -> None:
        if not self._has_read:
            self._known = await self._keeper.known(self._chat_id)
            self._has_read = True
        self._known = await self._keeper.keep(self._chat_id, self._owner_id, seen, known=self._known)


def _chat_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("Chat") from None
