"""The limit on request bodies: by what is announced, and by what really comes.

The rest of a refused body is read and thrown away by uvicorn, so that the client gets to read the answer.
"""

from collections.abc import Mapping

from chatd.core.errors import InvalidRequest, TooLarge
from chatd.server.middleware.asgi_types import App, Message, Receive, Scope, Send, headers_named

BODY_LIMIT = 1 << 20  # bytes: a long message with its context fits; uploads have their own limit


def limit_for(path: str, *, limit: int, longer: Mapping[str, int]) -> int:
    """The limit of the longest prefix in `longer` (uploads take more), else `limit`. `{…}` stands for any segment."""
    prefixes = [prefix for prefix in longer if _begins(path, prefix)]
    return longer[max(prefixes, key=len)] if prefixes else limit


def _begins(path: str, prefix: str) -> bool:
    if "{" not in prefix:
        return path.startswith(prefix)
    asked, wanted = path.split("/"), prefix.split("/")
    pairs = zip(asked, wanted, strict=False)
    return len(asked) >= len(wanted) and all(one == other or other.startswith("{") for one, other in pairs)


class BodyLimit:
    """Refuses longer bodies with 413. `longer` gives other limits by path prefix; see `limit_for`."""

    def __init__(self, app: App, *, limit: int, longer: Mapping[str, int]) -> None:
        self._app = app
        self._limit = limit
        self._longer = dict(longer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = limit_for(scope["path"], limit=self._limit, longer=self._longer)
        announced = announced_length(headers_named(scope, b"content-length"))
        if announced is not None and announced > limit:
            raise _too_large(limit)
        body = _CountedBody(receive, send, limit)
        try:
            await self._app(scope, body.receive, body.send)
        except Exception as error:
            if body.refused:
                raise _too_large(limit) from error
            raise
        if body.refused:
            raise _too_large(limit)


def announced_length(values: list[str]) -> int | None:
    """The Content-Length, if any. Raises InvalidRequest for what is no number, or for two that differ."""
    if not values:
        return None
    if len(set(values)) > 1 or not (values[0].isascii() and values[0].isdigit()):
        raise InvalidRequest("The Content-Length header is not valid.")
    return int(values[0])


def _too_large(limit: int) -> TooLarge:
    return TooLarge("The request body is too large.", limit=limit)


class _CountedBody:
    """Counts as the app reads. Past the limit reading raises, and what the app answers to that is dropped."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self.refused = False
        self._receive = receive
        self._send = send
        self._limit = limit
        self._count = 0
        self._started = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._count += len(message.get("body", b""))
            if self._count > self._limit:
                self.refused = not self._started
                raise _too_large(self._limit)
        return message

    async def send(self, message: Message) -> None:
        if self.refused:
            return
        self._started = True
        await self._send(message)
