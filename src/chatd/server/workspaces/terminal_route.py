"""`GET /api/experimental/workspaces/{workspace}/terminal`: a WebSocket to a terminal in a workspace."""

import re
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any, Final
from urllib.parse import parse_qs
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import Conflict, InvalidRequest, NotFound, Unauthenticated, Validation
from chatd.server.middleware.asgi_types import ABORT, REST, App, Receive, Scope, Send, state
from chatd.server.stream.keeping import KeptStream, StreamKeeper
from chatd.server.stream.route import Recognize, is_still, refuse_method, still_signed_in
from chatd.server.workspaces.reaching import Reaching
from chatd.server.workspaces.terminal_loop import TerminalLoop
from chatd.wire.agent.terminal import StartTerminal

TEMPLATE: Final = "/api/experimental/workspaces/{workspace}/terminal"
_PATH: Final = re.compile(r"/api/experimental/workspaces/([^/]+)/terminal")
_MOST_CELLS: Final = 1000  # columns, and rows; as the agent has it
_MOST_COMMAND: Final = 8192  # characters, in an address


class TerminalRoutes:
    """In front of `app`, which gets every other request. `most` are a user's on this replica; 0: there is no limit."""

    def __init__(
        self, app: App, reaching: Reaching, clock: Clock, keeper: StreamKeeper, recognize: Recognize, *, most: int
    ) -> None:
        self._app = app
        self._reaching = reaching
        self._clock = clock
        self._keeper = keeper
        self._recognize = recognize
        self._most = most
        self._open: Counter[UUID] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = _PATH.fullmatch(scope["path"]) if scope["type"] in ("http", "websocket") else None
        if match is None:
            await self._app(scope, receive, send)
            return
        scope["path_template"] = TEMPLATE
        if scope["type"] == "http" and scope["method"] != "GET":
            await refuse_method(send)
            return
        person = state(scope).get("person")
        if not isinstance(person, Person):
            raise Unauthenticated("Sign in first.", detail="Send a session or API token as `Authorization: Bearer …`.")
        workspace_id = _workspace_id(match[1])
        if scope["type"] == "http":
            raise InvalidRequest("A terminal is a WebSocket.", detail="Open this address as one.")
        asked = _asked(scope)
        if self._most and self._open[person.user_id] >= self._most:
            raise Conflict(f"You have {self._most} terminals open, which is the most.", detail="Close one of them.")
        self._open[person.user_id] += 1
        try:
            await self._begin(scope, receive, send, person, workspace_id, asked)
        except BaseException:
            self._leave(person)
            raise

    async def _begin(
        self, scope: Scope, receive: Receive, send: Send, person: Person, workspace_id: UUID, asked: StartTerminal
    ) -> None:
        """All that can be refused is done before it is accepted; the rest goes on without the layers."""
        async with AsyncExitStack() as stack:
            agent = await stack.enter_async_context(self._reaching.agent(person, workspace_id))
            terminal = await agent.open_terminal(asked)
            socket = await stack.enter_async_context(agent.attach(terminal.id))
            loop = TerminalLoop(
                workspace_id,
                socket,
                self._clock,
                used=lambda: self._reaching.used(workspace_id),
                may_stay=lambda: is_still(person, self._recognize, scope),
            )
            signed_in = await still_signed_in(person, self._recognize, scope)  # a workspace may take long to come back
            extensions: dict[str, Any] = scope.get("extensions") or {}
            stack.callback(self._keeper.keep(KeptStream(loop, extensions.get(ABORT), signed_in.until)))
            await receive()  # websocket.connect
            await send({"type": "websocket.accept"})
            held = stack.pop_all()

        async def follow(receive: Receive, send: Send) -> None:
            try:
                async with held:
                    await loop.run(receive, send)
            finally:
                self._leave(person)

        state(scope)[REST] = follow

    def _leave(self, person: Person) -> None:
        self._open[person.user_id] -= 1
        if not self._open[person.user_id]:
            del self._open[person.user_id]


def _workspace_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("Workspace") from None


def _asked(scope: Scope) -> StartTerminal:
    query = {name: values[-1] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
    wrong: list[Validation] = []
    reconnect: UUID | None = None
    try:
        reconnect = UUID(query["reconnect"]) if "reconnect" in query else None
    except ValueError:
        wrong.append(Validation("reconnect", "a UUID of your own: the same one is the same terminal"))
    cells: dict[str, int] = {}
    for name, default in (("width", 80), ("height", 24)):
        text = query.get(name, str(default))
        cells[name] = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(_MOST_CELLS)) else 0
        if not 1 <= cells[name] <= _MOST_CELLS:
            wrong.append(Validation(name, f"from 1 to {_MOST_CELLS}"))
    command = query.get("command")
    if command is not None and (len(command) > _MOST_COMMAND or "\0" in command):
        wrong.append(Validation("command", f"at most {_MOST_COMMAND} characters, without NUL"))
    if wrong:
        raise InvalidRequest(f"Check {', '.join(each.field for each in wrong)}.", validations=wrong)
    return StartTerminal(id=reconnect, command=command, columns=cells["width"], rows=cells["height"])
