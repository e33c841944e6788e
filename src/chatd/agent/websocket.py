"""One WebSocket of the agent: accepted or refused, then frames both ways."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from chatd.agent.asgi import Message, Receive, Send
from chatd.agent.caller import Caller
from chatd.agent.request import ClientGone
from chatd.agent.response import Response


class Socket:
    """What a route is given. Until `accept` it can still be refused with a problem, as a request is."""

    def __init__(self, receive: Receive, send: Send, *, caller: Caller, argument: str) -> None:
        self.caller = caller
        self.argument = argument  # what stands in the braces of the route's path
        self.is_accepted = False
        self._receive = receive
        self._send = send

    async def accept(self) -> None:
        await self._receive()  # that it was opened
        await self._sending({"type": "websocket.accept"})
        self.is_accepted = True

    async def receive(self) -> bytes | str:
        """The next frame. Raises ClientGone when there is none any more."""
        message: dict[str, Any] = await self._receive()
        if message["type"] != "websocket.receive":
            raise ClientGone
        content: bytes | None = message.get("bytes")
        text: str | None = message.get("text")
        return content if content is not None else text or ""

    async def send(self, frame: bytes | msgspec.Struct) -> None:
        """Returns when there is room for more. Raises ClientGone."""
        if isinstance(frame, bytes):
            await self._sending({"type": "websocket.send", "bytes": frame})
        else:
            await self._sending({"type": "websocket.send", "text": msgspec.json.encode(frame).decode()})

    async def close(self, code: int, reason: str = "") -> None:
        await self._sending({"type": "websocket.close", "code": code, "reason": reason})

    async def _sending(self, message: Message) -> None:
        try:
            await self._send(message)
        except OSError as error:
            raise ClientGone from error


class SocketRoute(msgspec.Struct, frozen=True):
    """`path` has one argument in braces."""

    path: str
    serve: Callable[[Socket], Awaitable[None]]


async def refuse(send: Send, response: Response) -> None:
    """In place of an acceptance."""

    async def as_answer(message: Message) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    await response.send(as_answer)
