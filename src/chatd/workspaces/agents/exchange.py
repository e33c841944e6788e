"""One request to an agent and its answer: bounded in time and size, never redirected, never through a proxy."""

from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from io import BytesIO
from typing import Final, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from chatd.clock import Clock
from chatd.core.escaped_json import decode, encode
from chatd.core.secret import Secret
from chatd.wire.agent.health import STOPPING
from chatd.wire.problem import Problem
from chatd.workspaces.agents.address import Route, route_to
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable

ANSWER_SECONDS: Final = 75.0  # the agent itself gives a request up after 60
WAIT_MARGIN_SECONDS: Final = 30.0  # beyond a wait that was asked for, to hear how it ended
MOST_ANSWER_BYTES: Final = 16 * 1024 * 1024  # of JSON; the diffs of a large edit have a few megabytes
_CONNECT_SECONDS: Final = 10.0  # a socket on this machine, or a container of this network
_SILENT_SECONDS: Final = 90.0  # between two pieces of a file
_MOST_FRAME_BYTES: Final = 1024 * 1024  # of a WebSocket; terminals send 32 KiB at a time
_PING_SECONDS: Final = 60.0  # of a WebSocket; half of it later an agent that has not answered is gone
_MOST_REFUSAL_BYTES: Final = 1024 * 1024
_DIALLING: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)

T = TypeVar("T")
Body = bytes | AsyncIterable[bytes] | None


class Exchange:
    """A few connections to one agent, kept between requests. `close` ends them.

    The token goes into a header and nowhere else: the errors of the HTTP library, which may hold requests whole, are
    not passed on.
    """

    def __init__(self, address: str, token: Secret, clock: Clock) -> None:
        self._address = address
        self._token = token
        self._clock = clock
        self._route: Route | None = None
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self._is_closed = False

    async def close(self) -> None:
        self._is_closed = True
        sessions, route = list(self._sessions.values()), self._route
        self._sessions, self._route = {}, None
        # All of them, also when whoever closes is cancelled at the first.
        async with AsyncExitStack() as closing:
            if route is not None:
                closing.callback(route.close)
            for session in sessions:
                closing.push_async_callback(session.close)

    async def call(
        self,
        method: str,
        path: str,
        shape: type[T],
        *,
        headers: Mapping[str, str],
        query: msgspec.Struct | None = None,
        body: msgspec.Struct | Body = None,
        seconds: float = ANSWER_SECONDS,
    ) -> T:
        """The answer as that type. Raises AgentRefused, AgentUnreachable."""
        sent = encode(body) if isinstance(body, msgspec.Struct) else body
        try:
            async with (
                self._clock.timeout(seconds, timer="agent"),
                self.open(method, path, headers=headers, query=query, body=sent) as response,
            ):
                text = await _read(response, MOST_ANSWER_BYTES)
        except TimeoutError:
            raise AgentUnreachable(
                f"The workspace's agent did not answer within {seconds:g} seconds.", was_sent=True
            ) from None
        try:
            return decode(text, shape)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise AgentUnreachable(
                "The workspace's agent gave an answer that can't be read.", was_sent=True, detail=str(error)
            ) from None

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        query: msgspec.Struct | None = None,
        body: Body = None,
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The answer once it begins; its body is for the block to read. Raises as `call`, out of the block too."""
        try:
            session, route = self._opened(keeps=method == "GET")
            async with session.request(
                method,
                URL(f"{route.url}{path}{_query(query)}", encoded=True),
                headers={**headers, "Authorization": f"Bearer {self._token.reveal()}"},
                data=BytesIO(body) if isinstance(body, bytes) else body,
                allow_redirects=False,
                # A file is sent once the agent has looked at all else: who sends while he is refused may not hear why.
                expect100=method == "PUT",
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=_CONNECT_SECONDS, sock_read=None if _waits(query) else _SILENT_SECONDS
                ),
            ) as response:
                if not 200 <= response.status < 300:
                    raise await _refusal(response)
                yield response
        except (_Lost, aiohttp.ClientError, ConnectionError) as error:
            raise _unreachable(error.error if isinstance(error, _Lost) else error) from None

    @asynccontextmanager
    async def socket(self, path: str, *, headers: Mapping[str, str]) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
        """A WebSocket, for as long as the block. Raises as `call`, also when it breaks."""
        try:
            session, route = self._opened(keeps=False)
            async with session.ws_connect(
                URL(f"{route.url}{path}", encoded=True),
                headers={**headers, "Authorization": f"Bearer {self._token.reveal()}"},
                max_msg_size=_MOST_FRAME_BYTES,
                compress=0,
                heartbeat=_PING_SECONDS,
            ) as socket:
                yield socket
        except aiohttp.WSServerHandshakeError as refused:
            said = "The workspace's agent does not open this connection."
            raise AgentRefused(said, status=refused.status) from None
        except (_Lost, aiohttp.ClientError, ConnectionError) as error:
            raise _unreachable(error.error if isinstance(error, _Lost) else error) from None

    def _opened(self, *, keeps: bool) -> tuple[aiohttp.ClientSession, Route]:
        """Changes go over a connection of their own: of one that was kept nobody could tell whether it was closed
        before or after the agent has seen the change."""
        if self._is_closed:
            raise RuntimeError("the connection to this agent was closed")
        if self._route is None:
            try:
                self._route = route_to(self._address)
            except (OSError, ValueError) as error:
                said = "The workspace's agent can't be reached."
                raise AgentUnreachable(said, was_sent=False, detail=_words(error)) from None
        if keeps not in self._sessions:
            self._sessions[keeps] = aiohttp.ClientSession(
                connector=self._route.connector(keeps),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                middlewares=(_once,),
            )
        return self._sessions[keeps], self._route


class _Lost(Exception):
    """No error of the library's own, so that it leaves a request alone that it would send again."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


async def _once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Only a quick look is sent again by the library. Who waits wants to know that the connection broke."""
    try:
        return await send(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        if request.method == "GET" and "wait_seconds" not in request.url.query:
            raise
        raise _Lost(error) from None


def _unreachable(error: Exception) -> AgentUnreachable:
    if isinstance(error, _DIALLING):
        return AgentUnreachable("The workspace's agent can't be reached.", was_sent=False, detail=_words(error))
    if isinstance(error, aiohttp.SocketTimeoutError):
        return AgentUnreachable("The workspace's agent has fallen silent.", was_sent=True)
    return AgentUnreachable("The connection to the workspace's agent broke.", was_sent=True, detail=_words(error))


def _query(query: msgspec.Struct | None) -> str:
    """What is None is left out. Names of files that are no UTF-8 go as the bytes that they are."""
    if query is None:
        return ""
    given = {name: _word(value) for name, value in msgspec.structs.asdict(query).items() if value is not None}
    return f"?{urlencode(given, errors='surrogateescape')}" if given else ""


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _waits(query: msgspec.Struct | None) -> bool:
    """Whether it is asked to say nothing for a while; `call` bounds such a request as a whole."""
    return getattr(query, "wait_seconds", None) is not None


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > most:
            raise AgentUnreachable("The workspace's agent gave an answer that is too long.", was_sent=True)
    return bytes(body)


async def _refusal(response: aiohttp.ClientResponse) -> AgentRefused | AgentUnreachable:
    text = await _read(response, _MOST_REFUSAL_BYTES)
    try:
        told = decode(text, Problem)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        said = f"The workspace's agent answered with {response.status}, which nobody expected."
        return AgentRefused(said, status=response.status)
    if told.kind == STOPPING:
        return AgentUnreachable("The workspace's agent is stopping.", was_sent=False)
    return AgentRefused(
        told.message, status=response.status, kind=told.kind, detail=told.detail, validations=told.validations
    )


def _words(error: BaseException) -> str:
    """Of the system where it says something: the library's own words name addresses inside the server."""
    found = error.strerror if isinstance(error, OSError) else None
    return found or type(error).__name__
