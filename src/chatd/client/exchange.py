"""One request and its answer over HTTP; what can safely be sent again is, a few times, when the connection broke."""

import os
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, BinaryIO, Final, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec

import chatd
from chatd.client.errors import ServerFailed, TooMany, Unexpected, Unreachable, refusal
from chatd.clock import Clock
from chatd.core import escaped_json
from chatd.core.errors import ChatdError
from chatd.core.request_keys import HEADER
from chatd.core.secret import Secret

Answer = TypeVar("Answer")
# What is sent: of an open file no more than a piece is in memory, and its length is told.
Content = bytes | AsyncIterable[bytes] | BinaryIO

MOST_TRIES: Final = 4  # about two seconds in all: a restarting server behind a proxy; longer outages are the caller's
FIRST_WAIT_SECONDS: Final = 0.25
LONGEST_WAIT_SECONDS: Final = 10.0  # a server that asks for more is taken at its word by whoever called
ANSWER_SECONDS: Final = 120.0  # titles are made by a model while one waits
CONNECT_SECONDS: Final = 10.0
MOST_FRAME: Final = 4 << 20  # of a WebSocket; terminals send some kB at a time
MOST_BYTES: Final = 64 << 20  # of an answer: far more than 200 long messages
_PASSING: Final = (502, 503, 504)  # a proxy without a server behind it, a server without its database


class Exchange:
    """With one server, as one person or as nobody."""

    def __init__(self, http: aiohttp.ClientSession, url: str, token: Secret | None, clock: Clock) -> None:
        self.url = url
        self.token = token
        self.clock = clock
        self._http = http

    async def call(
        self,
        method: str,
        path: str,
        answer: type[Answer],
        body: msgspec.Struct | None = None,
        *,
        query: Mapping[str, object] | None = None,
        key: str | None = None,
    ) -> Answer:
        """Reads, and what has a key, is sent again when the answer was lost. Raises errors of `client/errors`."""
        data = None if body is None else msgspec.json.encode(body)
        headers = {} if data is None else {"Content-Type": "application/json"}
        if key is not None:
            headers[HEADER] = key
        tries = MOST_TRIES if method == "GET" or key is not None else 1
        return await self._call(method, path, answer, data, query=query, headers=headers, tries=tries)

    async def deliver(self, path: str, answer: type[Answer], data: bytes, headers: Mapping[str, str]) -> Answer:
        """POST bytes as they are, again where the answer was lost: only what may be there twice."""
        return await self._call("POST", path, answer, data, headers=headers, tries=MOST_TRIES)

    async def put(
        self,
        path: str,
        answer: type[Answer],
        data: Content,
        *,
        query: Mapping[str, object] | None = None,
    ) -> Answer:
        """PUT bytes of any number, once."""
        headers = {"Accept": "application/json", "Content-Type": "application/octet-stream"}
        timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=ANSWER_SECONDS)
        async with self.open("PUT", path, timeout=timeout, data=data, query=query, headers=headers) as response:
            return _read(await bounded_body(response), answer)

    @asynccontextmanager
    async def socket(self, path: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A WebSocket. Raises as `call`, in plainer words where it is refused: its answer can't be read."""
        headers = {"User-Agent": f"chatd-client/{chatd.__version__}"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token.reveal()}"
        try:
            async with self._http.ws_connect(f"{self.url}{path}", headers=headers, max_msg_size=MOST_FRAME) as socket:
                yield socket
        except aiohttp.WSServerHandshakeError as refused:
            raise refusal(refused.status, b"", refused.headers or {}) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(self.url, error) from error

    async def _call(
        self,
        method: str,
        path: str,
        answer: type[Answer],
        data: bytes | None,
        *,
        headers: Mapping[str, str],
        tries: int,
        query: Mapping[str, object] | None = None,
    ) -> Answer:
        wait = FIRST_WAIT_SECONDS
        while True:
            tries -= 1
            try:
                return _read(await self._once(method, path, data, query, headers), answer)
            except (Unreachable, ServerFailed, TooMany) as error:
                asked = getattr(error, "retry_after_seconds", None) or 0.0
                is_passing = _is_passing(error)
                if not tries or not is_passing or asked > LONGEST_WAIT_SECONDS:
                    raise
                await self.clock.sleep(max(wait, asked), timer="client retry")
                wait *= 2

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        timeout: aiohttp.ClientTimeout,
        data: Content | None = None,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer that is 2xx; its body can break off with Unreachable."""
        sent = {"User-Agent": f"chatd-client/{chatd.__version__}", **(headers or {})}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token.reveal()}"
        try:
            async with self._http.request(
                method,
                f"{self.url}{path}{_asked(query or {})}",
                data=data,
                headers=sent,
                timeout=timeout,
                allow_redirects=False,  # a POST would become a GET on its way
            ) as response:
                if not 200 <= response.status < 300:
                    raise refusal(response.status, await bounded_body(response), response.headers)
                yield response
        except aiohttp.InvalidURL:
            raise Unexpected(
                f"{self.url} is no address of a server.", detail="Give one like https://chat.example.com."
            ) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(self.url, error) from error

    async def _once(
        self,
        method: str,
        path: str,
        data: bytes | None,
        query: Mapping[str, object] | None,
        headers: Mapping[str, str],
    ) -> bytes:
        headers = {"Accept": "application/json", **headers}
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS, connect=CONNECT_SECONDS)
        async with self.open(method, path, timeout=timeout, data=data, query=query, headers=headers) as response:
            return await bounded_body(response)


def _is_passing(error: Unreachable | ServerFailed | TooMany) -> bool:
    """Too many requests pass, too many messages that wait do not: the server says when to try again, or nothing."""
    match error:
        case ServerFailed(status=status):
            return status in _PASSING
        case TooMany(retry_after_seconds=seconds):
            return seconds is not None
        case _:
            return True


async def bounded_body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > MOST_BYTES:
            raise Unexpected("The answer of the server is too long to be one.")
    return bytes(body)


def unreachable(url: str, error: BaseException) -> ChatdError:
    why = _why(error)
    return Unreachable(f"{url} can't be reached, or the connection broke.", detail=f"{why[:1].upper()}{why[1:]}.")


def _why(error: BaseException) -> str:
    """In words. What the library says of a connection that was not made names its own settings."""
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(error, aiohttp.ClientSSLError):
        cause = error.os_error
        number = cause.errno or 0  # negative: of the look-up of the name
        return os.strerror(number) if number > 0 else cause.strerror or str(cause)
    return str(error) or type(error).__name__


def _read(body: bytes, answer: type[Answer]) -> Answer:
    if answer is type(None):
        return answer()
    try:
        return escaped_json.decode(body, answer)
    except (msgspec.DecodeError, ValueError) as error:
        raise Unexpected("What answers there is no chatd, or one that is much newer.", detail=str(error)) from error


def _asked(query: Mapping[str, object]) -> str:
    """What is None is left out. Names of files that are no UTF-8 go as the bytes that they are."""
    given = {name: _text(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given, errors='surrogateescape')}" if given else ""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
