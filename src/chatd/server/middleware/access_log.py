"""One log line and one count for every request."""

from chatd.observe.logs import get_logger
from chatd.observe.metrics import NO_ROUTE, Metrics, in_route, known_method
from chatd.server.middleware.asgi_types import (
    UNMETERED,
    App,
    Message,
    Receive,
    Scope,
    Send,
    client_address,
    state,
)

SWITCHING = 101  # a WebSocket that was accepted
CUT_OFF = 499  # no answer was sent: the client left first, or the server was told to stop


class ScopeRoute:
    """The route of a request. Routing sets `path_template` in the scope: Litestar does, raw routes must."""

    __slots__ = ("_scope", "method")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.method = known_method("WEBSOCKET" if scope["type"] == "websocket" else scope["method"])

    @property
    def template(self) -> str:
        return self._scope.get("path_template", NO_ROUTE)


class AccessLog:
    """Logs method, path (never the query string), status, seconds and user; silent for probes and scrapes."""

    def __init__(self, app: App, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._log = get_logger("chatd.access").bind()  # made once: it is on the path of every request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in UNMETERED:
            await self._app(scope, receive, send)
            return
        status = CUT_OFF
        path = scope["path"]  # routing rewrites it
        route = ScopeRoute(scope)

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            kind = message["type"]
            if kind in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
            elif kind == "websocket.accept":
                status = SWITCHING
            await send(message)

        self._metrics.request_started()
        started = self._metrics.monotonic()
        try:
            with in_route(route):
                await self._app(scope, receive, send_noting_status)
        finally:
            seconds = self._metrics.monotonic() - started
            self._metrics.request_done(route, status=status, seconds=seconds)
            person = state(scope).get("person")
            self._log.info(
                "request",
                method=route.method,
                path=path,
                status=status,
                seconds=round(seconds, 6),
                client=client_address(scope),
                **({"user_id": str(person.user_id)} if person is not None else {}),
            )
