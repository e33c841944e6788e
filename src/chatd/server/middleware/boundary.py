"""The error boundary: whatever is raised further in becomes one `Problem`, and nothing internal gets out."""

import asyncio

from chatd.observe.logs import get_logger
from chatd.server.middleware.asgi_types import App, Message, Receive, Scope, Send, state
from chatd.server.problem import Answer, answer_to
from chatd.wire.problem import Problem

_log = get_logger("chatd.server")

POLICY_VIOLATION = 1008  # WebSocket close codes of RFC 6455
SERVER_ERROR = 1011
_CLOSE_REASON_LIMIT = 123  # bytes that fit into a close frame

_STOPPING = Answer(503, Problem("The server is stopping. Try again."), {"retry-after": "1"})
# What Litestar closes a WebSocket with when no route, or only one for HTTP, matches; any other close before accept
# is a route's refusal.
_LITESTAR_CODE = 4500
_LITESTAR_NO_ROUTE = frozenset({"Not Found", "Bad Request", "Method Not Allowed"})


class ErrorBoundary:
    """Answers every exception; cancellation is answered (the server is stopping) and passes on."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watch = _Exchange(scope, receive, send)
        try:
            await self._app(scope, watch.receive, watch.send)
        except asyncio.CancelledError:
            await watch.answer(_STOPPING)
            raise
        except Exception as error:  # noqa: BLE001  this is the boundary
            request_id = state(scope).get("request_id", "")
            answer = answer_to(error, request_id=request_id)
            _report(error, answer, watch)
            await watch.answer(answer)


def _report(error: Exception, answer: Answer, watch: "_Exchange") -> None:
    if watch.client_left and _is_disconnect(error):
        _log.debug("client left", error=error)
    elif not answer.expected:
        # After the start of an answer Litestar wraps the error; the cause is what happened.
        _log.error("unexpected error", exc_info=error, path=watch.scope["path"], answered=not watch.started)
    elif answer.status >= 500 or watch.started:
        _log.warning("request failed", error=error, status=answer.status, answered=not watch.started)


def _is_disconnect(error: BaseException | None) -> bool:
    """uvicorn raises an OSError from `send`, Litestar an error of its own from reading the body."""
    while error is not None:
        if isinstance(error, OSError) or "client disconnected" in str(error):
            return True
        error = error.__cause__
    return False


class _Exchange:
    """Watches how far the exchange has come: an error is answered in whatever way is still possible."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.started = False
        self.client_left = False
        self._receive = receive
        self._send = send
        self._finished = False
        self._is_websocket = scope["type"] == "websocket"

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] in ("http.disconnect", "websocket.disconnect"):
            self.client_left = True
        return message

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if kind == "websocket.close" and not self.started:
            await self.answer(_refusal(message))
            return
        if kind == "websocket.close" or (kind == "http.response.body" and not message.get("more_body", False)):
            self._finished = True
        elif kind in ("http.response.start", "websocket.accept", "websocket.http.response.start"):
            self.started = True
        try:
            await self._send(message)
        except OSError:
            self.client_left = True
            raise

    async def answer(self, answer: Answer) -> None:
        """Send the answer, if one is still possible. Never raises because the client has left."""
        if self._finished or self.client_left:
            return
        try:
            if self._is_websocket:
                await self._answer_websocket(answer)
            elif not self.started:
                await self._answer_http("http.response", answer)
            # A started HTTP answer is left unfinished: the server then closes the connection, and the client
            # sees that it is cut instead of taking it for whole.
        except OSError:
            self.client_left = True

    async def _answer_websocket(self, answer: Answer) -> None:
        if not self.started and "websocket.http.response" in (self.scope.get("extensions") or {}):
            await self._answer_http("websocket.http.response", answer)
            return
        self.started = self._finished = True
        code = POLICY_VIOLATION if answer.status < 500 else SERVER_ERROR
        reason = answer.problem.message.encode()[:_CLOSE_REASON_LIMIT].decode(errors="ignore")
        await self._send({"type": "websocket.close", "code": code, "reason": reason})

    async def _answer_http(self, kind: str, answer: Answer) -> None:
        self.started = self._finished = True
        body = answer.body()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *((name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()),
        ]
        await self._send({"type": f"{kind}.start", "status": answer.status, "headers": headers})
        await self._send({"type": f"{kind}.body", "body": body})


def _refusal(close: Message) -> Answer:
    """A WebSocket that a route closes before accepting it, as a `Problem`."""
    if close.get("code") == _LITESTAR_CODE and close.get("reason") in _LITESTAR_NO_ROUTE:
        return Answer(404, Problem("There is no WebSocket at this address."))
    return Answer(403, Problem(close.get("reason") or "The WebSocket was refused."))
