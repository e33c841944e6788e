"""Clients of a chat's stream over both transports, and what they have in the end."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal
from uuid import UUID

import aiohttp
import msgspec

from chatd.core.stream_picture import Picture
from server.running import Api

Transport = Literal["websocket", "sse"]
TRANSPORTS: tuple[Transport, ...] = ("websocket", "sse")
Event = dict[str, Any]


def stream_path(chat_id: UUID | str) -> str:
    return f"/api/experimental/chats/{chat_id}/stream"


class Reader:
    """Events one by one. `batches` are as they came: a WebSocket message, which is empty
    when it is only a sign of life, or one server-sent event."""

    def __init__(self, batches: AsyncIterator[list[Event]]) -> None:
        self._batches = batches
        self._ready: list[Event] = []
        self.seen: list[Event] = []

    async def next(self) -> Event:
        """The next event. StopAsyncIteration when the stream has ended."""
        while not self._ready:
            self._ready = await anext(self._batches)
        event = self._ready.pop(0)
        self.seen.append(event)
        return event

    async def until(self, kind: str, **fields: Any) -> Event:
        while True:
            event = await self.next()
            if event["type"] == kind and all(event.get(name) == value for name, value in fields.items()):
                return event

    async def resting(self) -> None:
        """Until the chat waits for its user, and its preview is gone."""
        picture = Picture()
        for event in self.seen:
            picture.apply(event)
        while picture.status != "waiting" or not self.seen or self.seen[-1]["type"] != "preview_reset":
            picture.apply(await self.next())

    async def ended(self) -> None:
        try:
            while True:
                await self.next()
        except StopAsyncIteration:
            pass


@asynccontextmanager
async def reading(
    api: Api, chat_id: UUID, transport: Transport, *, small_buffers: bool = False, **query: str | int
) -> AsyncIterator[Reader]:
    """`small_buffers`: who does not read holds up the server after some kB."""
    headers = {"Authorization": f"Bearer {api.token}"}
    params = {name: str(value) for name, value in query.items()}
    url = f"{api.url}{stream_path(chat_id)}"
    connector = aiohttp.TCPConnector(socket_factory=small_socket if small_buffers else None)
    size = 2**12 if small_buffers else 2**24
    async with aiohttp.ClientSession(headers=headers, connector=connector, read_bufsize=size) as http:
        if transport == "websocket":
            async with http.ws_connect(url, params=params, max_msg_size=0) as socket:
                yield Reader(_messages(socket))
        else:
            async with http.get(url, params=params, headers={"Accept": "text/event-stream"}, timeout=None) as response:
                assert response.status == 200, await response.text()
                yield Reader(_sent_events(response))


def small_socket(address: Any) -> socket.socket:
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return made


async def _messages(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[list[Event]]:
    async for message in socket:
        batch = msgspec.json.decode(message.data)
        assert len(batch) <= 256
        yield batch


async def _sent_events(response: aiohttp.ClientResponse) -> AsyncIterator[list[Event]]:
    rest = b""
    async for data in response.content.iter_any():
        *whole, rest = (rest + data).split(b"\n\n") if b"\n\n" in data or rest.endswith(b"\n") else [rest + data]
        for block in whole:
            fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
            if b"data" in fields:
                event = msgspec.json.decode(fields[b"data"])
                assert event.get("id", "").encode() == fields.get(b"id", b"")
                yield [event]
