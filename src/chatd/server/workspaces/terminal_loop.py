"""One terminal for one client: bytes both ways, each side as fast as the other takes them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Never
from uuid import UUID

import aiohttp
import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.server.middleware.asgi_types import Receive, Send
from chatd.stoppable import Stoppable, Stopped
from chatd.wire.agent.terminal import Resize
from chatd.workspaces.agents.errors import AgentUnreachable

IDLE_SECONDS: Final = 1800.0  # nothing typed and nothing shown: whoever it was has forgotten it
_NORMAL: Final = 1000  # WebSocket close codes: the program has ended
_BAD_FRAME: Final = 1003
_TRY_AGAIN: Final = 1013  # come back with the same `reconnect`
_NOT_YOURS: Final = "The session has ended. Sign in again."
_IDLE: Final = "Nothing happened for half an hour. Connect again to go on."
_AGENT_LOST: Final = "The workspace can't be reached any more. Connect again."
_MOST_REASON_BYTES: Final = 123  # of a close frame


class _Over(Exception):
    """The connection is to be closed, or is."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class TerminalLoop:
    """`run` once. Kept like a stream (`stream/keeping.py`): while it is open the workspace is in use."""

    def __init__(
        self,
        workspace_id: UUID,
        agent: aiohttp.ClientWebSocketResponse,
        clock: Clock,
        *,
        used: Callable[[], None],
        may_stay: Callable[[], Awaitable[bool]],
    ) -> None:
        self.subject = workspace_id
        self.sending_since: float | None = None
        self._agent = agent
        self._clock = clock
        self._used = used
        self._may_stay = may_stay
        self._block = Stoppable()
        self._is_running = False
        self._check_due = asyncio.Event()
        self._beat_due = asyncio.Event()
        self._turn = asyncio.Lock()  # to say something to the client
        self._moved_at = clock.monotonic()
        self._closing = _Over()

    async def run(self, receive: Receive, send: Send) -> None:
        """Until the program ends, the client leaves, or the connection is ended."""
        over = self._closing if self._closing.code is not None else await self._passed(receive, send)
        if over.code is not None:
            reason = over.reason.encode()[:_MOST_REASON_BYTES].decode("utf-8", "ignore")
            with suppress(OSError):
                await self._sending(send, {"type": "websocket.close", "code": over.code, "reason": reason})

    async def _passed(self, receive: Receive, send: Send) -> _Over:
        """Why it is over."""
        self._is_running = True
        try:
            async with self._block:
                tasks = {
                    "terminal input": self._typing(receive),
                    "terminal rights": self._checking(),
                    "terminal beats": self._beating(send),
                }
                async with beside(tasks):
                    await self._showing(send)
        except Stopped:
            return self._closing
        except _Over as over:
            return over
        except (AgentUnreachable, aiohttp.ClientError, ConnectionError):
            return _Over(_TRY_AGAIN, _AGENT_LOST)
        finally:
            self._is_running = False

    # Kept like a stream

    def beat(self) -> None:
        if self._clock.monotonic() - self._moved_at > IDLE_SECONDS:
            self.end(_IDLE)
        else:
            self._used()
            self._beat_due.set()

    def recheck(self) -> None:
        self._check_due.set()

    def end(self, reason: str) -> None:
        self._closing = _Over(_TRY_AGAIN, reason)
        self._stop()

    def stop(self) -> None:
        """It was cut: nothing more can be said."""
        self._closing = _Over()
        self._stop()

    def _stop(self) -> None:
        if self._is_running:
            self._block.stop()

    async def _typing(self, receive: Receive) -> None:
        while True:
            message: dict[str, Any] = await receive()
            if message["type"] != "websocket.receive":
                raise _Over
            self._moved_at = self._clock.monotonic()
            typed: bytes | None = message.get("bytes")
            if typed is not None:
                await self._agent.send_bytes(typed)
                continue
            try:
                size = msgspec.json.decode(message.get("text") or "", type=Resize)
            except msgspec.MsgspecError:
                raise _Over(_BAD_FRAME, "This text frame is not understood.") from None
            await self._agent.send_str(msgspec.json.encode(size).decode())

    async def _showing(self, send: Send) -> Never:
        async for frame in self._agent:
            self._moved_at = self._clock.monotonic()
            if frame.type is aiohttp.WSMsgType.BINARY:
                await self._sending(send, {"type": "websocket.send", "bytes": frame.data})
            elif frame.type is aiohttp.WSMsgType.TEXT:
                await self._sending(send, {"type": "websocket.send", "text": frame.data})
        if self._agent.close_code == _NORMAL:
            raise _Over(_NORMAL)
        if self._agent.close_code == _BAD_FRAME:
            raise _Over(_BAD_FRAME, "This text frame is not understood.")
        raise _Over(_TRY_AGAIN, _AGENT_LOST)

    async def _checking(self) -> None:
        while True:
            await self._check_due.wait()
            self._check_due.clear()
            if not await self._may_stay():
                raise _Over(_TRY_AGAIN, _NOT_YOURS)

    async def _beating(self, send: Send) -> None:
        """No bytes, as a message: pages can't see the server's pings, and this tells them that the connection lives."""
        while True:
            await self._beat_due.wait()
            self._beat_due.clear()
            await self._sending(send, {"type": "websocket.send", "bytes": b""})

    async def _sending(self, send: Send, message: dict[str, Any]) -> None:
        async with self._turn:
            self.sending_since = self._clock.monotonic()
            try:
                await send(message)
            except OSError:
                raise _Over from None
            finally:
                self.sending_since = None
