"""One chat that says very much, and a replica that does not read: neither holds up other chats and replicas."""

import asyncio
from contextlib import suppress
from uuid import UUID

import pytest

from chatd.engine.episodes import Episode
from chatd.server.relay import listener, outgoing
from chatd.server.relay.credentials import issue
from chatd.server.relay.frames import VERSION, Follow, FrameCutter, Hello, Parts, Told, Welcome, frame, read_told
from chatd.server.relay.outgoing import OutgoingChat
from chatd.testing.fake_clock import FakeClock
from server.relay.relaying import (
    ASKER,
    AUTHORITY,
    CHAT,
    LONG,
    OTHER,
    OWNER,
    Streams,
    Wire,
    connect,
    say,
    started,
    wired,
)


async def ask(wire: Wire, *chats: Follow) -> Streams:
    """As a replica does that has its own pace."""
    reader, writer = await connect(wire.socket.getsockname()[1], issue(AUTHORITY, ASKER), OWNER)
    writer.write(frame(Hello(VERSION)) + b"".join(frame(chat) for chat in chats))
    return reader, writer


class Heard:
    """Messages one by one."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._cutter = FrameCutter(2**26)
        self._ready: list[Told] = []

    async def next(self) -> Told:
        async with asyncio.timeout(LONG):
            while not self._ready:
                data = await self._reader.read(2**14)
                assert data, "the connection has ended"
                self._ready = [read_told(body) for body in self._cutter.feed(data)]
        return self._ready.pop(0)

    async def parts_of(self, number: int) -> tuple[Parts, int]:
        """The next ones of a chat, and how many characters of others came before them."""
        before = 0
        while True:
            message = await self.next()
            if isinstance(message, Parts):
                if message.number == number:
                    return message, before
                before += len(message.previews)


def flood(episode: Episode, megabytes: int) -> None:
    say(episode, *["x" * 10_000] * (megabytes * 100))


async def test_a_chat_that_floods_the_relay_does_not_hold_up_another():
    async with wired() as wire:
        loud, quiet = wire.episodes.open(CHAT, 1, 1), wire.episodes.open(OTHER, 1, 1)
        reader, writer = await ask(wire, Follow(1, CHAT, (0, 0), 0), Follow(2, OTHER, (0, 0), 0))
        heard = Heard(reader)
        flood(loud, 12)
        await heard.parts_of(1)  # it has begun
        say(quiet, "may I")
        _, before = await heard.parts_of(2)
        writer.transport.abort()

    # What is in the buffers by then, and one turn: not the flood.
    assert before < 4_000_000, before
    assert loud.last == 1200


async def test_a_replica_that_does_not_read_holds_up_nobody_and_is_cut_off():
    clock = FakeClock()
    async with wired(clock=clock) as wire:
        loud = wire.episodes.open(CHAT, 1, 1)
        reader, writer = await ask(wire, Follow(1, CHAT, (0, 0), 0))
        await Heard(reader).next()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        flood(loud, 14)
        mirrors, _, _ = wire.follow()
        mirror = await mirrors.like(loud)
        assert mirror.after(0) == loud.after(0), "another replica has it all"
        await clock.wait_for("relay-stalled")
        assert wire.listener.connections == 2
        held = wire.listener.buffered
        await clock.advance(listener.STALLED_SECONDS)
        async with asyncio.timeout(LONG):
            while wire.listener.connections > 1:
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)
        writer.transport.abort()

    most = listener.HIGH_WATER + 4 * (outgoing.MOST_CHARACTERS + listener.SEND_BYTES)
    assert listener.HIGH_WATER < held < most, "a full buffer and the last turn"


async def test_a_replica_that_falls_far_behind_skips_what_is_long_stored():
    async with wired() as wire:
        first = wire.episodes.open(CHAT, 1, 1)
        flood(first, 14)
        reader, writer = await ask(wire, Follow(1, CHAT, (0, 0), 0))
        heard = Heard(reader)
        await heard.parts_of(1)
        for history in range(2, 2 + outgoing.MOST_EPISODES):
            say(wire.episodes.open(CHAT, history, 1), f"step {history}")
        seen: dict[tuple[int, int], int] = {}
        while (2, 1) not in seen:
            parts, _ = await heard.parts_of(1)
            seen[parts.key] = parts.first
        writer.transport.abort()

    assert seen[1, 1] < 1200, "the rest of the first one was left out"


async def test_no_more_replicas_are_listened_to_than_there_can_be(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 1)
    async with wired() as wire:
        first, own = await ask(wire)
        assert isinstance(await Heard(first).next(), Welcome)
        second, other = await ask(wire)
        async with asyncio.timeout(LONG):
            with suppress(ConnectionError):
                assert await second.read(100) == b""

        assert wire.listener.connections == 1
        for writer in (own, other):
            writer.transport.abort()


async def test_nothing_is_kept_for_a_replica_that_has_left_a_chat_or_asks_anew_or_is_gone():
    async with wired() as wire:
        followed: dict[UUID, dict[OutgoingChat, None]] = wire.listener._followed
        original = wire.episodes.open(CHAT, 1, 1)
        reader, writer = await ask(wire, Follow(1, CHAT, (0, 0), 0), Follow(1, CHAT, (0, 0), 0))
        heard = Heard(reader)
        say(original, "a")
        await heard.parts_of(1)
        assert len(followed[CHAT]) == 1, "the second one takes the place of the first"
        _, _, leave = wire.follow(OTHER)
        async with asyncio.timeout(LONG):
            while OTHER not in followed:
                await started()
            leave()
            while OTHER in followed:
                await started()
        wire.cut()
        writer.transport.abort()
        async with asyncio.timeout(LONG):
            while wire.listener.connections:
                await started()

        assert not followed
