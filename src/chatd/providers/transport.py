"""The HTTP client for model vendors: pooled connections, the outbound proxy, a private CA; faults as values.

Keys travel with requests, so no redirect is followed and no address is asked that only a cloud's own machines answer.
"""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec
from yarl import URL

from chatd.core.failure import Fault
from chatd.core.secret import Secret
from chatd.providers.network import ForbiddenAddress, Proxy, trust, vendor_socket

CONNECT_SECONDS: Final = 15.0  # for connection and TLS together; a vendor that is there answers in one
KEEP_SECONDS: Final = 60.0  # an idle connection; vendors close theirs after one to several minutes
MOST_CONNECTIONS: Final = 0  # no limit of our own: every running chat needs one, and capacity is decided elsewhere

_STALE: Final = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientConnectionResetError)
_PATH_SIGNS: Final = "/%:@!$&'()*+,;=~"  # what may stand in a path as it is


class OutboundRequest(msgspec.Struct, frozen=True):
    """One POST, signed and ready. `headers` hold keys and are never shown."""

    url: str
    body: bytes
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"OutboundRequest({self.url.partition('?')[0]!r}, {len(self.body)} bytes)"


class TransportFault(Exception):
    """The network failed; `fault` says how. `text` is the library's own words, for logs and as a last resort."""

    def __init__(self, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.fault = fault
        self.text = text


class Transport:
    """Requests to vendors over one pool of connections; `fresh` makes a new one for each."""

    def __init__(self, pooled: aiohttp.ClientSession, fresh: aiohttp.ClientSession, *, proxy: Proxy) -> None:
        self._pooled = pooled
        self._fresh = fresh
        self._proxy = proxy

    @asynccontextmanager
    async def post(self, request: OutboundRequest) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The response once its headers are here. Leaving the block before the end of the body closes the socket.

        A pooled connection that the vendor had closed meanwhile is replaced by a new one, once: most likely nobody has
        read the request. Raises TransportFault, also out of the block when reading the body fails.
        """
        try:
            response = await self._send(request)
        except aiohttp.ClientError as error:
            raise as_fault(error) from error
        except UnicodeError as error:  # a host name that no resolver takes, such as a..b
            raise TransportFault(Fault.ADDRESS, str(error)) from error
        except ValueError as error:  # a line end in a header, which only a key can have
            raise TransportFault(Fault.CREDENTIALS, "A header of the request can't be sent.") from error
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
            return await self._request(self._pooled, request, reused)
        except _STALE:
            if not reused.was_reused:
                raise
        # Not from the pool: what ended one of its connections has most likely ended the others too.
        return await self._request(self._fresh, request, _Reuse())

    async def _request(
        self, session: aiohttp.ClientSession, request: OutboundRequest, reused: "_Reuse"
    ) -> aiohttp.ClientResponse:
        try:
            url = as_written(request.url)
        except ValueError as error:
            raise aiohttp.InvalidURL(request.url) from error
        return await session.post(
            url,
            data=BytesIO(request.body),  # so that a prompt of many megabytes goes out in pieces
            headers=dict(request.headers),
            proxy=self._proxy.for_host(url.host or "", url.port),
            allow_redirects=False,
            trace_request_ctx=reused,
        )


def as_written(url: str) -> URL:
    """The URL with its path as it is. The client would write %3A as a colon, and break a signature over the path.

    Raises ValueError for what is no URL of a web server.
    """
    parsed = URL(url)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("not an address of a web server")
    return parsed.with_path(quote(urlsplit(url).path, safe=_PATH_SIGNS), encoded=True, keep_query=True)


class _Reuse:
    """Whether a request went out on a connection that had been used before."""

    def __init__(self) -> None:
        self.was_reused = False


async def _note_reuse(_session: object, context: object, _params: object) -> None:
    reuse = getattr(context, "trace_request_ctx", None)
    if isinstance(reuse, _Reuse):
        reuse.was_reused = True


@asynccontextmanager
async def open_transport(
    *, proxy: Secret | None = None, no_proxy: str = "", ca: Path | None = None
) -> AsyncGenerator[Transport]:
    """`no_proxy` are hosts that are asked directly, written as in the variable NO_PROXY. `ca` is trusted besides the
    system's certificates."""
    trusted = trust(ca)
    async with _session(trusted, force_close=False) as pooled, _session(trusted, force_close=True) as fresh:
        yield Transport(pooled, fresh, proxy=Proxy(proxy, no_proxy))


def _session(trusted: ssl.SSLContext, *, force_close: bool) -> aiohttp.ClientSession:
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    connector = aiohttp.TCPConnector(
        limit=MOST_CONNECTIONS,
        force_close=force_close,
        keepalive_timeout=None if force_close else KEEP_SECONDS,
        ssl=trusted,
        socket_factory=vendor_socket,
    )
    return aiohttp.ClientSession(
        connector=connector,
        # Whole answers may take an hour; silence is judged by the guarded stream, on its own clock.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        trace_configs=[trace],
        auto_decompress=True,
        # Compressed events would wait in the vendor's buffer.
        headers={"Accept-Encoding": "identity", "User-Agent": "chatd"},
        trust_env=False,  # the proxy is a setting, which honours HTTPS_PROXY by itself
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def as_fault(error: aiohttp.ClientError) -> TransportFault:
    """What an exception of the client means."""
    text = str(error) or type(error).__name__
    cause = cast("OSError | None", getattr(error, "os_error", None))
    match error:
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return TransportFault(Fault.ADDRESS, f"This is not an address: {text}")
        case aiohttp.ClientHttpProxyError():
            # Words of a refusal: the request itself may be quoted in the client's.
            refused = 400 <= error.status < 500
            return TransportFault(Fault.PROXY if refused else Fault.CONNECT_FAILED, f"The proxy said {error.status}.")
        case aiohttp.ClientConnectorDNSError():
            return TransportFault(Fault.DNS, text)
        case _ if isinstance(cause, ForbiddenAddress):
            return TransportFault(Fault.ADDRESS, str(cause))
        case _ if isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):  # cut off in the handshake
            return TransportFault(Fault.CONNECTION_RESET, text)
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return TransportFault(Fault.TLS, text)
        case aiohttp.ServerTimeoutError():
            return TransportFault(Fault.TIMED_OUT, text)
        case aiohttp.ClientConnectorError():
            return TransportFault(Fault.CONNECT_FAILED, text)
        case aiohttp.ServerDisconnectedError():
            return TransportFault(Fault.USE_OF_CLOSED_CONNECTION, text)
        case aiohttp.ClientOSError() | aiohttp.ClientConnectionResetError() | aiohttp.ClientPayloadError():
            return TransportFault(Fault.CONNECTION_RESET, text)
        case _:
            return TransportFault(Fault.PROTOCOL, text)
