"""Gives every request an id: in the log lines it causes, in its answer, and in what a person reports."""

import re
from collections.abc import Callable

import structlog

from chatd.server.middleware.asgi_types import App, Message, Receive, Scope, Send, header, state

# What proxies and SDKs send fits (a UUID has 36 characters, a W3C trace id 32); line ends do not.
_VALID = re.compile(r"[A-Za-z0-9._\-]{1,64}")


def valid_request_id(text: str | None) -> bool:
    return text is not None and _VALID.fullmatch(text) is not None


class RequestId:
    """The outermost layer: keeps a valid `X-Request-Id`, else mints one; puts it on answer and logs."""

    def __init__(self, app: App, *, mint: Callable[[], str]) -> None:
        self._app = app
        self._mint = mint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = header(scope, b"x-request-id")
        request_id = given if given is not None and valid_request_id(given) else self._mint()
        state(scope)["request_id"] = request_id
        line = (b"x-request-id", request_id.encode("ascii"))

        async def send_with_id(message: Message) -> None:
            if message["type"] in _STARTS:
                message = {**message, "headers": [*message.get("headers", ()), line]}
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._app(scope, receive, send_with_id)


_STARTS = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})
