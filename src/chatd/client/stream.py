"""A chat's stream that outlives its connections: each one goes on after the last event of the one before."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final
from uuid import UUID

import aiohttp

from chatd.client.errors import ServerFailed, TooMany, Unexpected, Unreachable
from chatd.client.events import RawEvent
from chatd.client.exchange import CONNECT_SECONDS, Exchange

SILENT_SECONDS: Final = 60.0  # the server says something every 25 seconds: two are missed
FIRST_WAIT_SECONDS: Final = 0.25
LONGEST_WAIT_SECONDS: Final = 10.0
TOLD_SECONDS: Final = 1.0  # breaks that are healed sooner are nobody's concern
PATIENCE_SECONDS: Final = 300.0  # without a single event or sign of life, before it is said that the server is gone
MOST_EVENT_BYTES: Final = 64 << 20  # of one event: a stored message with all its results


class ChatStream:
    """`last_id` is that of the last event that was given out: give it as `after` to go on another time. `on_lost` is
    called when the connection is away for so long that a person wonders, once each time."""

    def __init__(
        self,
        exchange: Exchange,
        chat_id: UUID,
        *,
        after: str | None,
        after_id: int,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        self.last_id = after
        self._exchange = exchange
        self._path = f"/api/experimental/chats/{chat_id}/stream"
        self._after_id = after_id
        self._on_lost = on_lost
        self._heard_at: float | None = None  # the last sign of life

    async def events(self) -> AsyncGenerator[RawEvent]:
        """Each once and in order, without an end. Raises what the server refuses with, and Unreachable: at once when
        there never was a connection, else when it stays away for `PATIENCE_SECONDS`."""
        clock = self._exchange.clock
        wait = FIRST_WAIT_SECONDS
        while True:
            asked = 0.0
            try:
                async with aclosing(self._connection()) as connection:
                    async for event in connection:
                        wait = FIRST_WAIT_SECONDS
                        if event.id is not None:
                            self.last_id = event.id
                        yield event
            except (Unreachable, ServerFailed, TooMany) as error:
                asked = getattr(error, "retry_after_seconds", None) or 0.0
                if self._heard_at is None or clock.monotonic() - self._heard_at > PATIENCE_SECONDS:
                    raise
            if self._on_lost is not None and wait < TOLD_SECONDS <= wait * 2:
                self._on_lost()
            await clock.sleep(max(wait, asked), timer="client stream")
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)

    async def _connection(self) -> AsyncGenerator[RawEvent]:
        headers = {"Accept": "text/event-stream"}
        query: dict[str, object] = {}
        if self.last_id is not None:
            headers["Last-Event-ID"] = self.last_id
        elif self._after_id:
            query["after_id"] = self._after_id
        timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=SILENT_SECONDS)
        async with self._exchange.open("GET", self._path, timeout=timeout, query=query, headers=headers) as response:
            if response.content_type != "text/event-stream":
                raise Unexpected("What answers there is no stream of chatd.")
            id: str | None = None
            async with aclosing(self._lines(response)) as lines:
                async for line in lines:
                    if line.startswith(b"id: "):
                        id = line[4:].decode()
                    elif line.startswith(b"data: "):
                        yield RawEvent(id, line[6:])
                    elif not line:
                        id = None

    async def _lines(self, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
        """Whole ones. What is left when the connection breaks is no event, and is sent again."""
        rest = bytearray()
        async for piece in response.content.iter_any():
            self._heard_at = self._exchange.clock.monotonic()
            rest += piece
            if b"\n" not in piece:
                if len(rest) > MOST_EVENT_BYTES:
                    raise Unexpected("An event of the stream is too long to be one.")
                continue
            *lines, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            for line in lines:
                yield line
