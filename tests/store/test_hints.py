"""What both transports of hints promise, over a real Postgres and a real NATS server."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from chatd.clock import SystemClock
from chatd.core.errors import StartRefused
from chatd.store.hints import Gap, Hint, Hints, open_hints
from chatd.store.hints import outbox as hint_outbox
from chatd.store.hints.exchange import ANSWER_SECONDS, LAST_RETRY_SECONDS, PROBE_SECONDS, Exchange
from chatd.testing.fake_clock import FakeClock
from store.hints.transports import PATIENCE, NatsTransport, PostgresTransport, Transport


class Inbox:
    """A receiver that remembers, and that can be waited for."""

    def __init__(self) -> None:
        self.received: list[object] = []
        self._more = asyncio.Event()

    def __call__(self, what: object) -> None:
        self.received.append(what)
        self._more.set()

    @property
    def hints(self) -> list[Hint]:
        return [what for what in self.received if isinstance(what, Hint)]

    @property
    def gaps(self) -> int:
        return self.received.count(Gap())

    async def until(self, reached: Callable[["Inbox"], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not reached(self):
                self._more.clear()
                await self._more.wait()

    async def until_topic(self, topic: str) -> None:
        await self.until(lambda inbox: any(hint.topic == topic for hint in inbox.hints))


@pytest.fixture
def postgres(request: pytest.FixtureRequest) -> PostgresTransport:
    return PostgresTransport(request.getfixturevalue("empty_database").dsn)


@pytest.fixture(params=["postgres", "nats"])
def transport(request: pytest.FixtureRequest) -> Iterator[Transport]:
    if request.param == "postgres":
        yield request.getfixturevalue("postgres")
    else:
        nats = NatsTransport()
        yield nats
        nats.stop()


@asynccontextmanager
async def connected(transport: Transport) -> AsyncGenerator[Hints]:
    async with transport.open(SystemClock()) as hints, asyncio.timeout(PATIENCE):
        await hints.wait_connected()
        yield hints


async def test_a_hint_reaches_the_other_replica_and_the_own_one_once(transport: Transport):
    async with connected(transport) as one, connected(transport) as two:
        here, there = Inbox(), Inbox()
        one.subscribe("chat:1", here)
        two.subscribe("chat:1", there)
        one.publish("chat:1", b"changed")
        one.publish("chat:1", b"end")
        for inbox in (here, there):
            await inbox.until(lambda inbox: len(inbox.hints) >= 2)
            assert inbox.received == [Hint("chat:1", b"changed"), Hint("chat:1", b"end")]


async def test_hints_of_one_publisher_keep_their_order(transport: Transport):
    async with connected(transport) as one, connected(transport) as two:
        inbox = Inbox()
        two.subscribe("n", inbox)
        for turn in range(5):
            for number in range(200):
                one.publish("n", b"%d" % (turn * 200 + number))
            await SystemClock().sleep(0, timer="another turn of the loop")
        await inbox.until(lambda inbox: len(inbox.received) == 1000)
        assert [int(hint.payload) for hint in inbox.hints] == list(range(1000))


async def test_equal_hints_that_wait_together_arrive_once(transport: Transport):
    async with connected(transport) as hints:
        inbox = Inbox()
        hints.subscribe("chat:1", inbox)
        for _ in range(100):
            hints.publish("chat:1", b"a")
            hints.publish("chat:1", b"b")
        hints.publish("chat:1", b"end")
        await inbox.until(lambda inbox: Hint("chat:1", b"end") in inbox.received)
        assert [hint.payload for hint in inbox.hints] == [b"a", b"b", b"end"]


async def test_hints_made_in_one_turn_of_the_loop_leave_as_one_message(transport: Transport):
    messages, inbox = Inbox(), Inbox()
    async with connected(transport) as hints, transport.tap(messages):
        hints.subscribe("chat:*", inbox)
        for number in range(50):
            hints.publish(f"chat:{number}")
        await inbox.until(lambda inbox: len(inbox.hints) == 50)
        hints.publish("chat:end")
        await inbox.until_topic("chat:end")
        await messages.until(lambda messages: len(messages.received) >= 2)
        assert len(messages.received) == 2


async def test_each_subscriber_hears_its_own_topics_and_prefixes_only(transport: Transport):
    async with connected(transport) as hints:
        one, prefix, everything = Inbox(), Inbox(), Inbox()
        hints.subscribe("chat:1", one)
        hints.subscribe("chat:*", prefix)
        hints.subscribe("*", everything)
        for topic in ("chat:1", "chat:12", "user:1", "end"):
            hints.publish(topic)
        await everything.until_topic("end")
        assert [hint.topic for hint in one.hints] == ["chat:1"]
        assert [hint.topic for hint in prefix.hints] == ["chat:1", "chat:12"]
        assert [hint.topic for hint in everything.hints] == ["chat:1", "chat:12", "user:1", "end"]


@pytest.mark.parametrize("size", [0, 5_900, 6_000, 300_000, 1_000_000])
async def test_a_payload_of_any_allowed_size_arrives_whole(transport: Transport, size: int):
    payload = bytes(range(256)) * (size // 256 + 1)
    async with connected(transport) as one, connected(transport) as two:
        inbox = Inbox()
        two.subscribe("*", inbox)
        one.publish("before")
        one.publish("large", payload[:size])
        one.publish("after")
        await inbox.until_topic("after")
        assert inbox.received == [Hint("before"), Hint("large", payload[:size]), Hint("after")]


async def test_a_payload_or_topic_that_is_too_large_is_refused(transport: Transport):
    async with transport.open(SystemClock()) as hints:
        for topic, payload in [("t", bytes(1_000_001)), ("", b""), ("t" * 201, b""), ("chat:*", b"")]:
            with pytest.raises(ValueError, match=r"a (payload|topic) has"):
                hints.publish(topic, payload)
        with pytest.raises(ValueError, match="prefix followed by one"):
            hints.subscribe("a*b*", Inbox())


async def test_after_a_lost_connection_every_subscriber_hears_of_a_gap_and_then_what_waited(
    transport: Transport,
):
    clock = FakeClock()
    async with transport.open(clock) as hints:
        await hints.wait_connected()
        one, other = Inbox(), Inbox()
        hints.subscribe("chat:1", one)
        hints.subscribe("user:*", other)
        await transport.cut()
        await clock.wait_for("hints-retry")
        assert not hints.connected
        hints.publish("chat:1", b"while away")
        assert one.received == []
        await clock.advance(LAST_RETRY_SECONDS)
        await one.until(lambda inbox: len(inbox.hints) == 1)
        assert one.received == [Gap(), Hint("chat:1", b"while away")]
        assert other.received == [Gap()]
        assert hints.connected


async def test_a_replica_that_missed_nothing_itself_hears_no_gap_when_another_reconnects(
    postgres: PostgresTransport,
):
    async with connected(postgres) as one:
        await postgres.cut()
        async with connected(postgres) as two, asyncio.timeout(PATIENCE):
            inbox = Inbox()
            two.subscribe("*", inbox)
            await one.wait_connected()
            one.publish("end")
            await inbox.until_topic("end")
            assert inbox.gaps == 0


async def test_it_connects_again_after_every_loss(transport: Transport):
    async with connected(transport) as hints:
        inbox = Inbox()
        hints.subscribe("*", inbox)
        for cuts in range(1, 4):
            await transport.cut()
            await inbox.until(lambda inbox, cuts=cuts: inbox.gaps >= cuts)
            hints.publish(f"cut:{cuts}")
            await inbox.until_topic(f"cut:{cuts}")


async def test_a_subscriber_from_before_the_first_connection_hears_of_a_gap(transport: Transport):
    async with transport.open(SystemClock()) as hints:
        inbox = Inbox()
        hints.subscribe("*", inbox)
        await inbox.until(lambda inbox: inbox.gaps == 1)


async def test_a_connection_that_went_silent_is_noticed_and_replaced(transport: Transport):
    clock = FakeClock()
    async with transport.through_proxy(clock) as (hints, proxy):
        await hints.wait_connected()
        inbox = Inbox()
        hints.subscribe("*", inbox)
        await clock.wait_for("hints-idle")
        proxy.silence()
        await clock.advance(PROBE_SECONDS)
        await clock.wait_for("hints-answer")
        await clock.advance(ANSWER_SECONDS)
        await clock.wait_for("hints-retry")
        await clock.advance(LAST_RETRY_SECONDS)
        await inbox.until(lambda inbox: inbox.gaps == 1)


async def test_an_idle_connection_is_probed_and_kept(transport: Transport):
    clock = FakeClock()
    async with transport.open(clock) as hints:
        await hints.wait_connected()
        inbox = Inbox()
        hints.subscribe("*", inbox)
        for _ in range(3):
            await clock.wait_for("hints-idle")
            await clock.advance(PROBE_SECONDS)
        await clock.wait_for("hints-idle")
        hints.publish("end")
        await inbox.until_topic("end")
        assert inbox.gaps == 0


async def test_when_too_many_hints_wait_all_replicas_hear_of_a_gap_instead(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hint_outbox, "HINT_LIMIT", 10)
    async with connected(transport) as one, connected(transport) as two:
        here, there = Inbox(), Inbox()
        one.subscribe("*", here)
        two.subscribe("*", there)
        for number in range(11):
            one.publish(f"n:{number}")
        one.publish("end")
        for inbox in (here, there):
            await inbox.until_topic("end")
            assert inbox.received == [Gap(), Hint("end")]


async def test_a_receiver_that_raises_does_not_stop_the_others(transport: Transport):
    def broken(_: Hint | Gap) -> None:
        raise RuntimeError("my own mistake")

    async with connected(transport) as hints:
        inbox = Inbox()
        hints.subscribe("chat:1", broken)
        hints.subscribe("chat:1", inbox)
        hints.publish("chat:1", b"first")
        await inbox.until(lambda inbox: len(inbox.hints) == 1)
        hints.publish("chat:1", b"second")
        await inbox.until(lambda inbox: len(inbox.hints) == 2)


async def test_a_closed_subscription_hears_nothing_more(transport: Transport):
    async with connected(transport) as hints:
        closed, first, inbox = Inbox(), Inbox(), Inbox()
        subscription = hints.subscribe("chat:1", closed)

        def close_the_next(_: Hint | Gap) -> None:
            later.close()

        hints.subscribe("chat:2", close_the_next)
        later = hints.subscribe("chat:2", first)
        hints.subscribe("*", inbox)
        subscription.close()
        subscription.close()
        hints.publish("chat:1")
        hints.publish("chat:2")
        await inbox.until_topic("chat:2")
        assert closed.received == []
        assert first.received == []


async def test_what_was_published_just_before_the_end_still_leaves(transport: Transport):
    async with connected(transport) as two:
        inbox = Inbox()
        two.subscribe("*", inbox)
        async with connected(transport) as one:
            one.publish("last words")
        await inbox.until_topic("last words")
        one.publish("too late")
        assert not one.connected


async def test_it_ends_at_once_when_it_never_connected():
    async with open_hints("nats://127.0.0.1:1", dsn=str, clock=FakeClock()) as hints:
        hints.publish("nobody hears this")
        assert not hints.connected


async def test_an_error_in_the_block_comes_out_as_it_is(transport: Transport):
    with pytest.raises(KeyError):
        async with connected(transport):
            raise KeyError


async def test_trouble_is_logged_without_the_credentials_of_the_url(capsys: pytest.CaptureFixture[str]):
    clock = FakeClock()
    url = "nats://someone:hunter2@127.0.0.1:1"
    async with open_hints(url, dsn=str, clock=clock):
        await clock.wait_for("hints-retry")
    logged = capsys.readouterr()
    assert "no connection for hints" in logged.out + logged.err
    assert "hunter2" not in logged.out + logged.err


async def test_without_a_url_hints_go_through_postgres_and_other_schemes_are_refused():
    async with open_hints(None, dsn=lambda: "postgresql://nobody@127.0.0.1:1/none", clock=FakeClock()) as hints:
        assert isinstance(hints, Exchange)
    with pytest.raises(StartRefused) as refused:
        open_hints("redis://:hunter2@there", dsn=str, clock=FakeClock())
    assert "nats://" in refused.value.message
    assert "hunter2" not in refused.value.message
