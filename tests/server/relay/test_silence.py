"""A replica that falls silent, though its connection is open, is taken for dead by who asks it and whom it asks."""

import asyncio

from chatd.observe.metrics import Metrics
from chatd.server.relay import listener, peer
from chatd.server.relay.credentials import issue
from chatd.server.relay.frames import (
    MOST_ASKED,
    VERSION,
    Asked,
    Following,
    FrameCutter,
    Hello,
    Ping,
    Pong,
    Welcome,
    frame,
    read_asked,
)
from chatd.server.relay.peer import Peer
from chatd.server.relay.remote_chat import RemoteChat
from chatd.testing.fake_clock import FakeClock
from server.relay.relaying import ASKER, AUTHORITY, CHAT, LONG, OWNER, connect, wired


async def test_who_asks_and_then_falls_silent_is_cut_off():
    clock = FakeClock()
    async with wired(clock=clock) as wire:
        reader, writer = await connect(wire.socket.getsockname()[1], issue(AUTHORITY, ASKER), OWNER)
        writer.write(frame(Hello(VERSION)))
        assert await reader.read(100) == frame(Welcome(VERSION))
        await clock.wait_for("relay-silent")
        await clock.advance(listener.SILENT_SECONDS - 1)
        assert wire.listener.connections == 1
        writer.write(frame(Ping()))
        assert await reader.read(100) == frame(Pong())
        await clock.advance(listener.SILENT_SECONDS - 1)
        assert wire.listener.connections == 1, "a ping keeps it"
        await clock.advance(1)
        async with asyncio.timeout(LONG):
            assert await reader.read(100) == b""
        writer.transport.abort()


class Mute:
    """Greets and says whom it follows, and no more."""

    def __init__(self) -> None:
        self.heard: list[Asked] = []
        self.came = asyncio.Event()
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.write(frame(Welcome(VERSION)) + frame(Following(1, ())))
        cutter = FrameCutter(MOST_ASKED)
        while data := await reader.read(1000):
            self.heard += [read_asked(body) for body in cutter.feed(data)]
            self.came.set()
        writer.close()

    async def until(self, *, pings: int, connections: int) -> None:
        async with asyncio.timeout(LONG):
            while self.heard.count(Ping()) < pings or self.connections < connections:
                self.came.clear()
                await self.came.wait()


async def test_who_is_asked_and_does_not_answer_is_asked_over_a_new_connection():
    clock, mute = FakeClock(), Mute()
    server = await asyncio.start_server(mute.serve, "127.0.0.1", 0, ssl=issue(AUTHORITY, OWNER).listening)
    asking = issue(AUTHORITY, ASKER)
    port = server.sockets[0].getsockname()[1]
    metrics = Metrics().streams
    other = Peer(OWNER, lambda asked: connect(port, asking, asked), clock, metrics)
    chat = RemoteChat(CHAT, (0, 0), lambda _: None, clock, metrics.received, None)
    leave = other.follow(chat)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(other.run())
        await mute.until(pings=0, connections=1)
        for pings in range(1, 3):
            await clock.wait_for("relay-ping")
            await clock.advance(peer.PING_SECONDS)
            await mute.until(pings=pings, connections=1)
        await clock.advance(peer.SILENT_SECONDS - 2 * peer.PING_SECONDS)
        await mute.until(pings=2, connections=2)
        leave()
        running.cancel()
    server.close()
