"""One request to the agent, read as types: who asks, the query, the body."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, NoReturn, TypeVar
from urllib.parse import parse_qsl

import msgspec

from chatd.agent.asgi import Receive, Scope
from chatd.agent.caller import Caller
from chatd.background import beside
from chatd.core.errors import InvalidRequest, TooLarge, Validation
from chatd.core.escaped_json import decode

MOST_JSON_BYTES: Final = 8 * 1024 * 1024  # an edit of many files; a command is far smaller

T = TypeVar("T", bound=msgspec.Struct)


class ClientGone(Exception):
    """Who asked has closed the connection; there is nobody to answer."""


class Request:
    """What a route is given. The body is read once: as JSON, or in chunks."""

    def __init__(self, scope: Scope, receive: Receive, *, caller: Caller, arguments: Mapping[str, str]) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.caller = caller
        self.arguments = arguments  # what stands in the braces of the route's path
        self._query: bytes = scope["query_string"]
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._receive = receive
        self._ended = False

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        wanted = name.lower().encode("latin-1")
        return next((value.decode("latin-1") for key, value in self._headers if key == wanted), None)

    def query(self, shape: type[T]) -> T:
        """The query as that type. Unknown, repeated and ill-typed parameters are refused.

        Bytes that are no UTF-8 come as surrogate escapes, so that names of files are never lost.
        """
        pairs = parse_qsl(self._query.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")
        given = dict(pairs)
        if len(given) != len(pairs):
            raise InvalidRequest("A query parameter is given twice.")
        known = {field.encode_name for field in msgspec.structs.fields(shape)}
        if unknown := sorted(given.keys() - known):
            raise InvalidRequest(
                "The query has parameters that this route does not take.",
                validations=[Validation(name, "Unknown parameter.") for name in unknown[:10]],
            )
        try:
            return msgspec.convert(given, shape, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidRequest("The query is not right.", detail=str(error)) from error

    async def json(self, shape: type[T], *, most_bytes: int = MOST_JSON_BYTES) -> T:
        """The body as that type, whose `forbid_unknown_fields` refuses what it does not know."""
        body = bytearray()
        async for chunk in self.chunks(most_bytes=most_bytes):
            body += chunk
        try:
            return decode(bytes(body), shape)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise InvalidRequest("The body is not what this route takes.", detail=str(error)) from error

    async def chunks(self, *, most_bytes: int) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises TooLarge as soon as it is longer, ClientGone when it breaks off."""
        announced = self.header("content-length")
        if announced is not None and announced.isdigit() and int(announced) > most_bytes:
            raise _too_large(most_bytes)
        read = 0
        while not self._ended:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            chunk: bytes = message.get("body", b"")
            self._ended = not message.get("more_body", False)
            read += len(chunk)
            if read > most_bytes:
                raise _too_large(most_bytes)
            if chunk:
                yield chunk

    def while_connected(self) -> AbstractAsyncContextManager[None]:
        """A block that ends with ClientGone when the client leaves. Only once the body was read."""
        return beside({"client watch": self._until_gone()})

    async def _until_gone(self) -> NoReturn:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            self._ended = self._ended or not message.get("more_body", False)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body is longer than {limit} bytes, the most that this route takes.", limit=limit)
