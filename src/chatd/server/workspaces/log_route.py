"""`GET /api/experimental/workspaces/{workspace}/builds/{build}/logs` as server-sent events."""

import re
from typing import Any, Final
from urllib.parse import parse_qs
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import InvalidRequest, NotFound, Validation
from chatd.server.middleware.asgi_types import ABORT, REST, App, Receive, Scope, Send, header, state
from chatd.server.stream.framing import SseSink
from chatd.server.stream.keeping import KeptStream, StreamKeeper
from chatd.server.stream.route import Recognize, is_still, still_signed_in
from chatd.server.workspaces.log_loop import LogLoop
from chatd.server.workspaces.reading import WorkspaceReading
from chatd.store.actor import acting_as
from chatd.store.hints import Hints

TEMPLATE: Final = "/api/experimental/workspaces/{workspace}/builds/{build}/logs"
_PATH: Final = re.compile(r"/api/experimental/workspaces/([^/]+)/builds/([^/]+)/logs")
_MOST_DIGITS: Final = 18  # of a line's id


class LogRoutes:
    """In front of `app`, which gets every other request, and who wants the lines as JSON."""

    def __init__(
        self,
        app: App,
        reading: WorkspaceReading,
        hints: Hints,
        clock: Clock,
        keeper: StreamKeeper,
        recognize: Recognize,
    ) -> None:
        self._app = app
        self._reading = reading
        self._hints = hints
        self._clock = clock
        self._keeper = keeper
        self._recognize = recognize

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        person = state(scope).get("person") if match else None
        if (
            match is None
            or not isinstance(person, Person)
            or "text/event-stream" not in (header(scope, b"accept") or "")
        ):
            await self._app(scope, receive, send)
            return
        scope["path_template"] = TEMPLATE
        workspace_id, build_id = _id(match[1]), _id(match[2])
        await self._reading.build(workspace_id, build_id)
        sink = SseSink(receive, send)
        loop = LogLoop(
            workspace_id,
            build_id,
            _after(scope),
            sink,
            self._reading,
            self._hints,
            self._clock,
            lambda: is_still(person, self._recognize, scope),
        )
        signed_in = await still_signed_in(person, self._recognize, scope)
        extensions: dict[str, Any] = scope.get("extensions") or {}
        forget = self._keeper.keep(KeptStream(loop, extensions.get(ABORT), signed_in.until))

        async def follow(receive: Receive, send: Send) -> None:
            sink.use(receive, send)
            try:
                with acting_as(person):
                    await loop.run()
            finally:
                forget()

        try:
            await sink.open()
        except BaseException:
            forget()
            raise
        state(scope)[REST] = follow


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("Build") from None


def _after(scope: Scope) -> int:
    """The header is a browser's own, and newer than the address it came with."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    text = header(scope, b"last-event-id") or query.get("after", ["0"])[-1]
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise InvalidRequest("Check after.", validations=[Validation("after", "the id of a line")])
    return int(text)
