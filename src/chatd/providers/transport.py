"""The HTTP client for model vendors: pooled connections, the outbound proxy, a private CA; faults as values."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import aiohttp
import msgspec

from chatd.core.failure import Fault
from chatd.core.secret import Secret

CONNECT_SECONDS: Final = 15.0  # for name, connection and TLS together; a vendor that is there answers in one
KEEP_SECONDS: Final = 60.0  # an idle connection; vendors close theirs after one to several minutes
MOST_CONNECTIONS: Final = 0  # no limit of our own: every running chat needs one, and capacity is decided elsewhere


class OutboundRequest(msgspec.Struct, frozen=True):
    """One POST, signed and ready. `headers` hold keys and are never logged."""

    url: str
    body: bytes
    headers: Mapping[str, str]


class TransportFault(Exception):
    """The network failed; `fault` says how. `text` is the library's own words, for logs and as a last resort."""

    def __init__(self, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.fault = fault
        self.text = text


class Transport:
    """Requests to vendors over one pool of connections."""

    def __init__(self, session: aiohttp.ClientSession, *, proxy: Secret | None) -> None:
        self._session = session
        self._proxy = proxy

    @asynccontextmanager
    async def post(self, request: OutboundRequest) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The response once its headers are here. Leaving the block before the end of the body closes the socket.

        A pooled connection that the vendor had closed meanwhile is replaced by a new one, once: it can't have read
        anything. Raises TransportFault, also out of the block when reading the body fails.
        """
        try:
            response = await self._send(request)
        except aiohttp.ClientError as error:
            raise as_fault(error) from error
        except UnicodeError as error:  # a host name that no resolver takes, such as a..b
            raise TransportFault(Fault.DNS, str(error)) from error
        except TimeoutError as error:
            raise TransportFault(Fault.TIMED_OUT, "no connection in time") from error
        try:
            yield response
        except aiohttp.ClientError as error:
            raise as_fault(error) from error
        finally:
            response.close()

    async def _send(self, request: OutboundRequest) -> aiohttp.ClientResponse:
        reused = _Reuse()
        try:
            return await self._request(request, reused)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not reused.was_reused:
                raise
        return await self._request(request, _Reuse())

    async def _request(self, request: OutboundRequest, reused: "_Reuse") -> aiohttp.ClientResponse:
        proxy = self._proxy.reveal() if self._proxy else None
        return await self._session.post(
            request.url, data=request.body, headers=dict(request.headers), proxy=proxy, trace_request_ctx=reused
        )


class _Reuse:
    """Whether a request went out on a connection that had been used before."""

    def __init__(self) -> None:
        self.was_reused = False


async def _note_reuse(_session: object, context: object, _params: object) -> None:
    reuse = getattr(context, "trace_request_ctx", None)
    if isinstance(reuse, _Reuse):
        reuse.was_reused = True


@asynccontextmanager
async def open_transport(*, proxy: Secret | None = None, ca: Path | None = None) -> AsyncGenerator[Transport]:
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    connector = aiohttp.TCPConnector(
        limit=MOST_CONNECTIONS,
        keepalive_timeout=KEEP_SECONDS,
        ssl=ssl.create_default_context(cafile=str(ca)) if ca else True,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        # Whole answers may take an hour; silence is judged by the guarded stream, on its own clock.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        trace_configs=[trace],
        auto_decompress=True,
        # Compressed events would wait in the vendor's buffer.
        headers={"Accept-Encoding": "identity", "User-Agent": "chatd"},
        trust_env=False,  # the proxy is a setting, which honours HTTPS_PROXY by itself
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield Transport(session, proxy=proxy)


def as_fault(error: aiohttp.ClientError | OSError) -> TransportFault:
    """What an exception of the client means."""
    text = str(error) or type(error).__name__
    match error:
        case aiohttp.ClientConnectorDNSError():
            return TransportFault(Fault.DNS, text)
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return TransportFault(Fault.TLS, text)
        case aiohttp.ServerTimeoutError() | asyncio.TimeoutError():
            return TransportFault(Fault.TIMED_OUT, text)
        case aiohttp.ClientConnectorError():
            return TransportFault(Fault.CONNECT_FAILED, text)
        case aiohttp.ServerDisconnectedError():
            return TransportFault(Fault.USE_OF_CLOSED_CONNECTION, text)
        case aiohttp.ClientOSError() | aiohttp.ClientPayloadError():
            return TransportFault(Fault.CONNECTION_RESET, text)
        case _:
            return TransportFault(Fault.PROTOCOL, text)
