"""Clients of a chat's stream over both transports, and what they have in the end."""

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
    """Events one by one. `batches` are as they came: a WebSocket message, or one server-sent event."""

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
async def reading(api: Api, chat_id: UUID, transport: Transport, **query: str | int) -> AsyncIterator[Reader]:
    headers = {"Authorization": f"Bearer {api.token}"}
    params = {name: str(value) for name, value in query.items()}
    url = f"{api.url}{stream_path(chat_id)}"
    async with aiohttp.ClientSession(headers=headers, read_bufsize=2**24) as http:
        if transport == "websocket":
            async with http.ws_connect(url, params=params, max_msg_size=0) as socket:
                yield Reader(_messages(socket))
        else:
            async with http.get(url, params=params, headers={"Accept": "text/event-stream"}, timeout=None) as response:
                assert response.status == 200, await response.text()
                yield Reader(_sent_events(response))


async def _messages(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[list[Event]]:
    async for message in socket:
        batch = msgspec.json.decode(message.data)
        assert 0 < len(batch) <= 256
        yield batch


async def _sent_events(response: aiohttp.ClientResponse) -> AsyncIterator[list[Event]]:
    id = None
    async for line in response.content:
        if line.startswith(b"id: "):
            id = line[4:].decode().strip()
        elif line.startswith(b"data: "):
            event = msgspec.json.decode(line[6:])
            assert event.get("id") == id
            yield [event]
        elif line == b"\n":
            id = None
