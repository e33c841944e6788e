"""Episodes of one replica, mirrored on another: part by part, whatever happens to the connection between them."""

import asyncio
from random import Random
from uuid import UUID

import pytest

from chatd.background import beside
from chatd.core.parts import ReasoningPart, ToolCallPart, ToolResultPart
from chatd.core.preview import CallPiece, Preview
from chatd.core.roles import Role
from chatd.engine.episodes import RECENT, Episode
from chatd.engine.tools.live_output import LiveOutput
from chatd.observe.metrics import Metrics
from chatd.server.relay.peer import CONNECT_SECONDS
from chatd.server.relay.relay import Relay
from chatd.server.relay.retained import RETAIN_SECONDS
from chatd.testing.fake_clock import FakeClock
from server.relay.relaying import ASKER, CHAT, LONG, OTHER, OWNER, Mirrors, Streams, say, started, wired


def same(mirror: Episode, original: Episode) -> bool:
    return mirror.after(0) == original.after(0) and mirror.last == original.last


async def test_a_mirror_has_the_same_bytes_and_is_closed_with_its_original():
    call = ToolCallPart(tool_call_id="c", tool_name="t", args='{"b": 1, "a":\ud83d}', created_at="now")
    piece = CallPiece(tool_call_id="c", tool_name="t", args_delta='{"b"')
    result = ToolResultPart(tool_call_id="c", tool_name="t", result="nothing")
    thought = ReasoningPart(text="hm", created_at="now")
    async with wired() as wire:
        before = wire.episodes.open(CHAT, 3, 1)
        say(before, "he", "llo")
        mirrors, _, _ = wire.follow()
        await mirrors.like(before)
        for role, part in (
            (Role.ASSISTANT, thought),
            (Role.ASSISTANT, piece),
            (Role.ASSISTANT, call),
            (Role.TOOL, result),
        ):
            before.add(Preview(role, part))
        before.announce()
        after = wire.episodes.open(CHAT, 4, 1)
        say(after, "more")
        wire.episodes.end(CHAT)

        first, second = await mirrors.like(before), await mirrors.like(after)

    assert same(first, before)
    assert same(second, after)
    assert first.is_closed
    assert first.fresh == [], "nobody makes checkpoints of a mirror"
    assert (wire.metrics.sent.value, wire.metrics.received.value) == (7, 7)


async def test_who_comes_late_gets_long_answers_part_by_part():
    async with wired() as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        say(original, *(f"{number} " for number in range(3 * RECENT + 7)))  # some are joined by now
        mirrors, _, _ = wire.follow()
        mirror = await mirrors.like(original)

        seen = 100
        assert mirror.last == 3 * RECENT + 7
        assert mirror.after(seen) == original.after(seen), "also for who has seen some"
        assert mirror.events_after(original.last - 5) == original.events_after(original.last - 5)


async def test_what_is_over_is_told_for_a_moment():
    clock = FakeClock()
    async with wired(clock=clock) as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        say(original, "short")
        wire.episodes.end(CHAT)
        mirrors, _, leave = wire.follow()
        assert same(await mirrors.like(original), original)
        leave()

        await clock.advance(6)
        late, remote, _ = wire.follow()
        await remote.settled((9, 9))
        assert late.all == {}


async def test_other_chats_and_those_that_were_left_are_not_told():
    async with wired() as wire:
        ours, other = wire.episodes.open(CHAT, 1, 1), wire.episodes.open(OTHER, 1, 1)
        mirrors, _, leave = wire.follow()
        left, _, leave_other = wire.follow(OTHER)
        await left.like(other)
        await mirrors.like(ours)
        leave_other()
        assert left.all[other.key].is_closed, "what is here is all that comes"
        say(other, "not for us")
        say(ours, "for us")
        await mirrors.like(ours)
        leave()
        again, _, _ = wire.follow(OTHER)
        assert same(await again.like(other), other)

    assert left.all[other.key].last == 0


@pytest.mark.parametrize("seed", range(8))
async def test_however_often_the_connection_ends_nothing_is_missing_or_doubled(
    seed: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chatd.server.relay.peer.LAST_RETRY_SECONDS", 0.001)
    monkeypatch.setattr("chatd.server.relay.peer.MOST_TRIES", 1000)
    random = Random(seed)
    async with wired() as wire:
        mirrors, _, _ = wire.follow()
        history = 0
        originals: list[Episode] = []
        for step in range(60):
            what = random.random()
            if not originals or what < 0.15:
                history += 1
                originals.append(wire.episodes.open(CHAT, history, 1))
            elif what < 0.35:
                wire.cut()
            elif what < 0.45:
                await mirrors.like(originals[-1])
            else:
                say(originals[-1], *(f"{step}.{place} " for place in range(random.randint(1, 30))))
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)
        wire.episodes.end(CHAT)
        for original in originals:
            assert same(await mirrors.like(original), original)


async def test_after_a_break_only_what_is_missing_is_sent():
    async with wired() as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        say(original, *["word "] * 100)
        mirrors, _, _ = wire.follow()
        await mirrors.like(original)
        wire.cut()
        say(original, "one more")
        await mirrors.like(original)

        # The last one may also have gone to the connection that had just ended.
        assert 101 <= wire.metrics.sent.value <= 102


async def test_what_tools_say_comes_along_and_is_over_with_their_result():
    async with wired() as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        original.live = LiveOutput(original.announce)
        mirrors, _, _ = wire.follow()
        original.live.of("call")("10 %")
        await mirrors.until(lambda: _live(mirrors, original) == [("call", "10 %")])
        original.live.of("call")("20 %")
        await mirrors.until(lambda: _live(mirrors, original) == [("call", "20 %")])
        original.add(Preview(Role.TOOL, ToolResultPart(tool_call_id="call", tool_name="t", result='"ok"')))
        original.announce()
        await mirrors.like(original)

        assert _live(mirrors, original) == []


def _live(mirrors: Mirrors, original: Episode) -> list[tuple[str, str]]:
    mirror = mirrors.all.get(original.key)
    said = mirror.live.after(0) if mirror is not None and mirror.live is not None else []
    return [(word.tool_call_id, word.text) for word in said]


async def test_parts_that_are_on_their_way_are_waited_for():
    async with wired() as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        mirrors, remote, _ = wire.follow()
        assert not remote.is_settled((1, 1)), "nobody has answered yet"
        await mirrors.like(original)
        assert remote.is_settled((1, 1)), "this attempt is the one that is asked about"
        assert not remote.is_settled((2, 1))
        async with asyncio.timeout(LONG), asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(remote.settled((2, 1)))
            say(original, "the", "last", "words")
            wire.episodes.open(CHAT, 2, 1)
            await waiting

        assert same(mirrors.all[original.key], original)


async def test_a_replica_that_is_away_is_not_waited_for_and_asked_again():
    clock = FakeClock()
    async with wired(clock=clock) as wire:
        wire.is_up = False
        original = wire.episodes.open(CHAT, 1, 1)
        mirrors, remote, _ = wire.follow()
        await clock.wait_for("relay-retry")
        assert remote.is_lost
        await remote.settled((9, 9))
        wire.is_up = True
        say(original, "still here")
        await clock.advance(0.1)

        assert same(await mirrors.like(original), original)
        assert not remote.is_lost


async def test_what_ended_and_was_forgotten_while_the_connection_was_away_is_over_here_too():
    clock = FakeClock()
    async with wired(clock=clock) as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        mirrors, remote, _ = wire.follow()
        mirror = await mirrors.like(original)
        wire.is_up = False
        wire.cut()
        await clock.wait_for("relay-retry")
        wire.episodes.end(CHAT)
        for _ in range(int(RETAIN_SECONDS) + 1):
            await clock.advance(1)
        wire.is_up = True
        await clock.wait_for("relay-retry")
        await clock.advance(2)
        await mirrors.until(lambda: mirror.is_closed)

        assert remote.is_settled((9, 9))
        assert not remote.is_over


async def test_a_replica_that_stays_away_is_given_up_and_can_be_asked_anew():
    clock = FakeClock()
    async with wired(clock=clock) as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        say(original, "some")
        mirrors, remote, _ = wire.follow()
        mirror = await mirrors.like(original)
        wire.is_up = False
        wire.cut()
        while not remote.is_over:
            await clock.wait_for("relay-retry")
            await clock.advance(2)
        tried = wire.dialled
        assert mirror.is_closed
        assert wire.relay.peers == 0

        wire.is_up = True
        again, _, _ = wire.follow()
        assert same(await again.like(original), original)
        assert 10 <= tried < 20


async def test_a_replica_that_takes_a_connection_and_says_nothing_is_hung_up_on():
    clock, writers = FakeClock(), list[asyncio.StreamWriter]()
    silent = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)

    async def dial(_: UUID) -> Streams:
        reader, writer = await asyncio.open_connection(*silent.sockets[0].getsockname())
        writers.append(writer)
        return reader, writer

    relay = Relay(ASKER, dial, clock, Metrics().streams)
    async with beside({"relay": relay.run()}):
        await started()
        remote, _ = relay.follow(CHAT, OWNER, (0, 0), lambda _: None)
        await clock.wait_for("relay-connect")
        async with asyncio.timeout(LONG):
            while len(writers) < 2:
                await started()
        await clock.advance(CONNECT_SECONDS)
        await clock.wait_for("relay-retry")

        assert remote.is_lost
        assert [
            writer.is_closing()
            for writer in writers
            if writer.get_extra_info("peername") == silent.sockets[0].getsockname()
        ] == [True]
        for writer in writers:
            writer.transport.abort()
    silent.close()


async def test_a_connection_that_nothing_is_followed_over_ends():
    clock = FakeClock()
    async with wired(clock=clock) as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        mirrors, _, leave = wire.follow()
        await mirrors.like(original)
        assert wire.relay.peers == 1
        leave()
        await clock.wait_for("relay-idle")
        await clock.advance(61)
        async with asyncio.timeout(LONG):
            while wire.relay.peers or wire.listener.connections:
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)
