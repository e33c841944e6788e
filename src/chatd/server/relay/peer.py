"""The connection to one other replica: what is followed there, over one socket that is always drained."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

from chatd.background import beside
from chatd.clock import Clock
from chatd.observe.logs import get_logger
from chatd.observe.stream_metrics import StreamMetrics
from chatd.server.relay.frames import (
    LENGTH_BYTES,
    MOST_TOLD,
    VERSION,
    Asked,
    FrameCutter,
    FrameRefused,
    Hello,
    Leave,
    Ping,
    Pong,
    Told,
    Welcome,
    frame,
    read_told,
)
from chatd.server.relay.remote_chat import RemoteChat

CONNECT_SECONDS: Final = 3.0
PING_SECONDS: Final = 5.0
SILENT_SECONDS: Final = 15.0  # three pings without an answer
FIRST_RETRY_SECONDS: Final = 0.1
LAST_RETRY_SECONDS: Final = 2.0
MOST_TRIES: Final = 12  # about a lease and a half: by then its chats have another owner, or it is cut off for longer
IDLE_SECONDS: Final = 60.0  # without anything to follow
READ_BYTES: Final = 256 * 1024
SETTLED_SECONDS: Final = 2.0  # a connection that lived this long was a good one
_ENDED: Final = (OSError, EOFError, TimeoutError, FrameRefused)
_log = get_logger("chatd.relay")

Dial = Callable[[UUID], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Unreachable(OSError):
    """The replica is not known, has no address, or is of another version."""


class Peer:
    """`run` once. It ends when nothing was followed for a while, or the other one can't be reached."""

    def __init__(self, replica_id: UUID, dial: Dial, clock: Clock, metrics: StreamMetrics) -> None:
        self._replica_id = replica_id
        self._dial = dial
        self._clock = clock
        self._metrics = metrics
        self._chats: dict[int, RemoteChat] = {}
        self._numbers = 0
        self._writer: asyncio.StreamWriter | None = None
        self._is_warned = False
        self._idle = asyncio.Event()  # set while nothing is followed
        self._idle.set()

    def follow(self, chat: RemoteChat) -> Callable[[], None]:
        """Gives what ends it."""
        self._numbers += 1
        number = self._numbers
        self._chats[number] = chat
        self._idle.clear()
        self._tell(lambda: chat.ask(number))

        def leave() -> None:
            if self._chats.pop(number, None) is not None:
                self._tell(lambda: Leave(number))
            if not self._chats:
                self._idle.set()
            chat.leave()

        return leave

    async def run(self) -> None:
        try:
            await self._keep_talking()
        finally:
            for chat in self._chats.values():
                chat.leave()
            self._chats.clear()

    async def _keep_talking(self) -> None:
        tries = 0
        while self._chats and tries < MOST_TRIES:
            if tries:
                seconds = min(FIRST_RETRY_SECONDS * 2 ** (tries - 1), LAST_RETRY_SECONDS)
                await self._clock.sleep(seconds, timer="relay-retry")
            tries += 1
            try:
                async with self._clock.timeout(CONNECT_SECONDS, timer="relay-connect"):
                    reader, writer = await self._dial(self._replica_id)
                    await greet(reader, writer)
            except _ENDED as error:
                self._metrics.failed.value += 1
                self._warn(error)
                for chat in self._chats.values():
                    chat.lose()
                continue
            self._is_warned = False
            begun = self._clock.monotonic()
            await self._talk(reader, writer)
            if self._clock.monotonic() - begun > SETTLED_SECONDS:
                tries = 0

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        for number, chat in self._chats.items():
            writer.write(frame(chat.ask(number)))
        try:
            async with beside({"relay pings": self._ping(writer), "relay idle": self._leave_when_idle(writer)}):
                await self._read(reader)
        except _ENDED as error:
            _log.info("the connection to another replica has ended", **self._named(error))
        finally:
            self._writer = None
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Always at once: who reads the mirrors here does so at their own pace."""
        cutter = FrameCutter(MOST_TOLD)
        while True:
            async with self._clock.timeout(SILENT_SECONDS, timer="relay-silent"):
                data = await reader.read(READ_BYTES)
            if not data:
                return
            for body in cutter.feed(data):
                self._hear(read_told(body))

    def _hear(self, told: Told) -> None:
        if isinstance(told, Welcome | Pong):
            return
        if chat := self._chats.get(told.number):
            chat.hear(told)

    async def _ping(self, writer: asyncio.StreamWriter) -> None:
        while True:
            await self._clock.sleep(PING_SECONDS, timer="relay-ping")
            writer.write(frame(Ping()))

    async def _leave_when_idle(self, writer: asyncio.StreamWriter) -> None:
        while True:
            await self._idle.wait()
            await self._clock.sleep(IDLE_SECONDS, timer="relay-idle")
            if not self._chats:
                writer.close()  # the reader sees the end
                return

    def _tell(self, asked: Callable[[], Asked]) -> None:
        if self._writer is not None:
            self._writer.write(frame(asked()))

    def _warn(self, error: Exception) -> None:
        if not self._is_warned:
            self._is_warned = True
            _log.warning(
                "another replica can't be reached: its chats are shown here without live parts", **self._named(error)
            )

    def _named(self, error: Exception) -> dict[str, str]:
        return {"other_replica": str(self._replica_id), "error": str(error) or type(error).__name__}


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Begin a connection; it is closed if that fails. Raises Unreachable when the other one speaks another version."""
    try:
        writer.write(frame(Hello(VERSION)))
        size = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
        told = read_told(await reader.readexactly(min(size, READ_BYTES)))
        if told != Welcome(VERSION):
            raise Unreachable("it is of another version")
    except BaseException:
        writer.transport.abort()
        raise
