"""The private listener of a replica: others ask here for the live parts of the chats that it runs.

One connection carries all chats that another replica follows. They take turns, a bounded amount each: a chat that says
very much delays the others by one such turn. A connection that does not drain is cut; its replica comes back and goes
on where it is.
"""

import asyncio
import ssl
from collections.abc import Callable
from socket import socket
from typing import Final
from uuid import UUID

from chatd.background import beside
from chatd.clock import Clock
from chatd.engine.episodes import Episode, Episodes
from chatd.observe.logs import get_logger
from chatd.observe.stream_metrics import StreamMetrics
from chatd.server.relay.frames import (
    MOST_ASKED,
    VERSION,
    Asked,
    Follow,
    FrameCutter,
    FrameRefused,
    Hello,
    Leave,
    Ping,
    Pong,
    Told,
    Welcome,
    frame,
    read_asked,
)
from chatd.server.relay.outgoing import OutgoingChat
from chatd.server.relay.retained import RetainedEpisodes

HANDSHAKE_SECONDS: Final = 5.0
SILENT_SECONDS: Final = 20.0  # four pings that did not come
STALLED_SECONDS: Final = 10.0  # for what is in the socket's buffer to be taken
SWEEP_SECONDS: Final = 1.0
MOST_CONNECTIONS: Final = 256  # more replicas than anyone has; each costs some kB
MOST_CHATS: Final = 100_000  # that one replica may follow here: more clients than one can have
HIGH_WATER: Final = 256 * 1024  # of a socket's buffer: what a flood of one chat can put before another's part
SEND_BYTES: Final = 64 * 1024  # gathered for one write
READ_BYTES: Final = 64 * 1024
_log = get_logger("chatd.relay")


class RelayListener:
    """`run` once."""

    def __init__(
        self, sock: socket, context: ssl.SSLContext, episodes: Episodes, clock: Clock, metrics: StreamMetrics
    ) -> None:
        self._socket = sock
        self._context = context
        self._clock = clock
        self._metrics = metrics
        self._retained = RetainedEpisodes(episodes, clock)
        self._connections: dict[_Connection, None] = {}
        self._followed: dict[UUID, dict[OutgoingChat, None]] = {}
        episodes.on_open(self._opened)

    @property
    def connections(self) -> int:
        return len(self._connections)

    @property
    def buffered(self) -> int:
        """Bytes that wait for other replicas to take them."""
        return sum(connection.buffered for connection in self._connections)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:

            def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                if len(self._connections) >= MOST_CONNECTIONS:
                    writer.transport.abort()
                    return
                tasks.create_task(self._serve(reader, writer), name="relay connection")

            server = await asyncio.start_server(
                accept, sock=self._socket, ssl=self._context, ssl_handshake_timeout=HANDSHAKE_SECONDS, limit=READ_BYTES
            )
            try:
                while True:
                    await self._clock.sleep(SWEEP_SECONDS, timer="relay-sweep")
                    self._retained.sweep()
            finally:
                server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(reader, writer, self._follow, self._clock)
        self._connections[connection] = None
        try:
            await connection.run()
        except (OSError, TimeoutError, FrameRefused) as error:
            _log.info("a connection of another replica has ended", error=str(error) or type(error).__name__)
        except Exception as error:  # noqa: BLE001 - one connection is not the listener's end
            _log.error("a connection of another replica failed", exc_info=error)
        finally:
            connection.close()
            del self._connections[connection]

    def _follow(self, asked: Follow, mark: Callable[[], None]) -> tuple[OutgoingChat, Callable[[], None]]:
        known = self._retained.from_key(asked.chat_id, asked.key)
        chat = OutgoingChat(asked, known, mark, self._clock, self._metrics.sent)
        followed = self._followed.setdefault(asked.chat_id, {})
        followed[chat] = None

        def leave() -> None:
            chat.leave()
            del followed[chat]
            if not followed and self._followed.get(asked.chat_id) is followed:
                del self._followed[asked.chat_id]

        return chat, leave

    def _opened(self, episode: Episode) -> None:
        for chat in tuple(self._followed.get(episode.chat_id, ())):
            chat.opened(episode)


class _Connection:
    """From one replica."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        follow: Callable[[Follow, Callable[[], None]], tuple[OutgoingChat, Callable[[], None]]],
        clock: Clock,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._follow = follow
        self._clock = clock
        self._chats: dict[int, tuple[OutgoingChat, Callable[[], None]]] = {}
        self._answers: list[Told] = []
        self._due: dict[int, None] = {}  # the chats that have something to say, in the order of their turns
        self._wake = asyncio.Event()
        writer.transport.set_write_buffer_limits(high=HIGH_WATER)

    @property
    def buffered(self) -> int:
        return self._writer.transport.get_write_buffer_size()

    async def run(self) -> None:
        """Until the other one leaves."""
        async with beside({"relay writer": self._write()}):
            await self._read()

    def close(self) -> None:
        for _, leave in self._chats.values():
            leave()
        self._chats.clear()
        self._writer.transport.abort()

    async def _read(self) -> None:
        cutter = FrameCutter(MOST_ASKED)
        while True:
            async with self._clock.timeout(SILENT_SECONDS, timer="relay-silent"):
                data = await self._reader.read(READ_BYTES)
            if not data:
                return
            for body in cutter.feed(data):
                self._hear(read_asked(body))

    def _hear(self, asked: Asked) -> None:
        match asked:
            case Hello():
                self._answer(Welcome(VERSION))
            case Ping():
                self._answer(Pong())
            case Follow(number):
                self._leave(number)
                if len(self._chats) >= MOST_CHATS:
                    raise FrameRefused("too many chats are followed")
                self._chats[number] = self._follow(asked, lambda: self._mark(number))
            case Leave(number):
                self._leave(number)

    def _leave(self, number: int) -> None:
        self._due.pop(number, None)
        if found := self._chats.pop(number, None):
            found[1]()

    def _answer(self, told: Told) -> None:
        self._answers.append(told)
        self._wake.set()

    def _mark(self, number: int) -> None:
        self._due[number] = None
        self._wake.set()

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._answers or self._due:
                await self._write_round()
                await self._clock.sleep(0, timer="relay-round")  # others have something to do too

    async def _write_round(self) -> None:
        """All answers, and one turn of each chat."""
        frames = [frame(answer) for answer in self._answers]
        self._answers.clear()
        size = 0
        for number in tuple(self._due):
            self._due.pop(number, None)
            if (found := self._chats.get(number)) is None:
                continue
            told, is_left = found[0].take()
            if is_left:
                self._due[number] = None
            frames += [frame(message) for message in told]
            size += sum(map(len, frames[-len(told) :])) if told else 0
            if size > SEND_BYTES:
                await self._send(frames)
                frames, size = [], 0
        await self._send(frames)

    async def _send(self, frames: list[bytes]) -> None:
        self._writer.write(b"".join(frames))
        if self._writer.transport.get_write_buffer_size() > HIGH_WATER:
            async with self._clock.timeout(STALLED_SECONDS, timer="relay-stalled"):
                await self._writer.drain()
