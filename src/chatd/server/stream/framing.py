"""Events on the wire: as JSON arrays in WebSocket messages, or as server-sent events."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final, Protocol

from chatd.core.stream import Event
from chatd.server.middleware.asgi_types import Receive, Send

MOST_EVENTS: Final = 256  # of one frame; a client takes it in at once
MOST_BYTES: Final = 1_000_000  # of one frame, a single event aside: clients' limits begin at four times that
RECONNECT_MS: Final = 1000  # what a browser waits before it comes back to a stream of server-sent events
TRY_AGAIN: Final = 1013  # WebSocket close code: come back, with the last id
GOING_AWAY: Final = 1001
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")  # JSON has line ends only between its tokens
_BEAT: Final = b": still here\n\n"


class Sink(Protocol):
    """One client's connection. Its calls wait while the client's buffer is full; OSError when it is gone."""

    async def open(self) -> None: ...

    async def send(self, events: Sequence[Event]) -> None: ...

    async def beat(self) -> None:
        """A sign of life: without any, the client and what is in between would take silence for death."""
        ...

    async def close(self, reason: str) -> None:
        """The client is to come back with the last id that it has."""
        ...

    async def gone(self) -> None:
        """Until the client has left."""
        ...


def frames(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """The same events in pieces that a client can take."""
    if len(events) == 1:  # nearly always, while an answer comes
        yield events
        return
    begin = size = 0
    for place, event in enumerate(events):
        size += len(event.data)
        if place > begin and (place - begin == MOST_EVENTS or size > MOST_BYTES):
            yield events[begin:place]
            begin, size = place, len(event.data)
    if begin < len(events):
        yield events[begin:] if begin else events


class WebSocketSink:
    __slots__ = ("_receive", "_send")
    _BEAT: ClassVar = "[]"

    def __init__(self, receive: Receive, send: Send) -> None:
        self.use(receive, send)

    def use(self, receive: Receive, send: Send) -> None:
        """From now on, without the layers that the stream was opened through."""
        self._receive = receive
        self._send = send

    async def open(self) -> None:
        await self._send({"type": "websocket.accept"})

    async def send(self, events: Sequence[Event]) -> None:
        for frame in frames(events):
            text = b"[%b]" % b",".join([event.data for event in frame])
            await self._send({"type": "websocket.send", "text": text.decode()})

    async def beat(self) -> None:
        """Pages can't see the server's pings: a message without events tells them that the connection lives."""
        await self._send({"type": "websocket.send", "text": self._BEAT})

    async def close(self, reason: str) -> None:
        await self._send({"type": "websocket.close", "code": TRY_AGAIN, "reason": reason})

    async def gone(self) -> None:
        message: dict[str, Any] = {}
        while message.get("type") != "websocket.disconnect":
            message = await self._receive()  # what a client says is ignored


class SseSink:
    __slots__ = ("_receive", "_send")

    def __init__(self, receive: Receive, send: Send) -> None:
        self.use(receive, send)

    def use(self, receive: Receive, send: Send) -> None:
        """From now on, without the layers that the stream was opened through."""
        self._receive = receive
        self._send = send

    async def open(self) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"x-accel-buffering", b"no"),  # nginx would keep events until it has some kB
        ]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._body(b"retry: %d\n\n" % RECONNECT_MS)

    async def send(self, events: Sequence[Event]) -> None:
        for frame in frames(events):
            await self._body(b"".join([_sse(event) for event in frame]))

    async def beat(self) -> None:
        await self._body(_BEAT)

    async def close(self, reason: str) -> None:
        await self._send({"type": "http.response.body", "body": b": %b\n\n" % reason.encode(), "more_body": False})

    async def gone(self) -> None:
        message: dict[str, Any] = {}
        while message.get("type") != "http.disconnect":
            message = await self._receive()

    async def _body(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})


def _sse(event: Event) -> bytes:
    data = event.data
    if b"\n" in data or b"\r" in data:
        data = data.translate(_ONE_LINE)
    if event.id is None:
        return b"data: %b\n\n" % data
    return b"id: %b\ndata: %b\n\n" % (event.id.encode(), data)
