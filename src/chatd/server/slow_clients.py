"""uvicorn's HTTP protocol with limits that it lacks: how long a request's head may take and how large it is.

Without them a client that sends a byte now and then holds its connections for ever, and one that sends an
endless header, or an endless trailer after a chunked body, fills the memory. A slow body holds one connection,
and the body limit bounds it.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from chatd.server.middleware.asgi_types import ABORT

HEAD_SECONDS = 20.0  # a phone on a bad line sends its few kB within seconds
HEAD_BYTES = 64 * 1024  # cookies and proxies' headers stay below 16 kB; also what may come without any body in it
_MALFORMED = b'{"message":"This is not a valid HTTP request."}'
_TOO_LARGE = b'{"message":"The request headers are too large."}'
_TOO_SLOW = b'{"message":"The request headers took too long."}'


class ImpatientProtocol(HttpToolsProtocol):
    """Closes a connection whose request head does not arrive whole within the limits. Trailers are dropped."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None  # runs for as long as a head is expected
        self._overhead_bytes = 0  # since the head began, or since the last piece of a body

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._overhead_bytes += len(data)
        super().data_received(data)
        if self._head_timer is not None:
            self._overhead_bytes = max(self._overhead_bytes, len(data))  # the head may have begun within `data`
        if self._overhead_bytes > HEAD_BYTES:
            self._refuse(b"431 Request Header Fields Too Large", _TOO_LARGE)

    def on_message_begin(self) -> None:
        self._expect_head()
        super().on_message_begin()
        extensions: Any = {ABORT: self.transport.abort}
        self.scope["extensions"] = extensions

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head_timer is not None:
            super().on_header(name, value)
        # Else it is a trailer, which nothing here reads: the checks of the head have been made without it.

    def on_headers_complete(self) -> None:
        self._head_arrived()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._overhead_bytes = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        self._refuse(b"400 Bad Request", _MALFORMED)

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._overhead_bytes = 0
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def _head_arrived(self) -> None:
        self._overhead_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        if self._overhead_bytes == 0:
            self._head_timer = None
            self.transport.close()  # it never asked for anything
        else:
            self._refuse(b"408 Request Timeout", _TOO_SLOW)

    def _refuse(self, status: bytes, body: bytes) -> None:
        self._head_arrived()
        if self.transport.is_closing():
            return
        # Into an answer that has begun nothing can be said any more.
        if not (self.cycle and self.cycle.response_started and not self.cycle.response_complete):
            fixed = b"\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: "
            self.transport.write(b"HTTP/1.1 " + status + fixed + str(len(body)).encode() + b"\r\n\r\n" + body)
        self.transport.close()
