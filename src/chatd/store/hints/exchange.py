"""One connection for hints, kept alive: what the Postgres and the NATS implementation have in common.

Delivery: lossy and possibly doubled, in order per sender. Without a connection hints wait in a bounded
outbox; after each connect every subscriber is told of a gap.
"""

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from chatd.background import beside
from chatd.clock import Clock
from chatd.observe.logs import get_logger
from chatd.store.hints.frames import PAYLOAD_LIMIT, TOPIC_LIMIT, Cutter, Joiner, Missing
from chatd.store.hints.outbox import Outbox
from chatd.store.hints.subscribers import Hint, Receive, Subscribers, Subscription

CONNECT_SECONDS = 10.0  # a connect that takes longer is tried anew
ANSWER_SECONDS = 10.0  # a peer silent for longer is gone, however open the connection looks
PROBE_SECONDS = 15.0  # idle time before asking; with the answer's limit a dead peer is noticed within 25 s
FLUSH_SECONDS = 2.0  # what a stopping server gives its last hints
FIRST_RETRY_SECONDS = 0.1  # a restarted Postgres answers within about this time
LAST_RETRY_SECONDS = 10.0  # polls repair what hints miss, so there is no hurry beyond this
_DOUBLINGS = 7  # from the first to the last delay: 0.1 s doubled 7 times is above 10 s
_SENDER_BYTES = 8  # random bytes that tell senders apart

_log = get_logger(__name__)


class Wire(Protocol):
    """An open connection. Its calls return when the other side has answered."""

    @property
    def frame_limit(self) -> int:
        """The largest frame it carries, in bytes."""
        ...

    async def send(self, frames: Sequence[bytes]) -> None: ...

    async def probe(self) -> None: ...

    async def close(self, *, broken: bool) -> None:
        """Let go of the connection; `broken` means that no farewell is worth the wait. Never raises."""
        ...


class Listener(Protocol):
    """What a wire reports to."""

    def receive(self, frame: bytes) -> None: ...

    def missed(self) -> None:
        """The wire had to drop frames."""
        ...

    def lost(self) -> None:
        """The connection has ended."""
        ...


Dial = Callable[[Listener], Awaitable[Wire]]


class Exchange:
    """Satisfies `chatd.store.hints.Hints`. Made by `exchange`, which also runs it."""

    def __init__(self, dial: Dial, *, where: str, clock: Clock) -> None:
        self._dial = dial
        self._where = where
        self._clock = clock
        self._subscribers = Subscribers()
        self._outbox = Outbox()
        self._cutter = Cutter(os.urandom(_SENDER_BYTES))
        self._joiner = Joiner()
        self._connected = asyncio.Event()
        self._waiting = asyncio.Event()  # the outbox holds something
        self._empty = asyncio.Event()  # the outbox is empty and its last content has arrived
        self._empty.set()
        self._closed = False
        self._failures = 0

    def publish(self, topic: str, payload: bytes = b"") -> None:
        if not topic or "*" in topic or len(topic.encode()) > TOPIC_LIMIT:
            raise ValueError(f"a topic has 1 to {TOPIC_LIMIT} bytes and no *: {topic[:TOPIC_LIMIT]!r}")
        if len(payload) > PAYLOAD_LIMIT:
            raise ValueError(f"a payload has at most {PAYLOAD_LIMIT} bytes, not {len(payload)}")
        if self._closed:
            return
        self._outbox.add(Hint(topic, payload))
        self._empty.clear()
        self._waiting.set()

    def subscribe(self, topic: str, receive: Receive) -> Subscription:
        return self._subscribers.add(topic, receive)

    @property
    def connected(self) -> bool:
        return self._connected.is_set()

    async def wait_connected(self) -> None:
        await self._connected.wait()

    async def run(self) -> None:
        """Connect, exchange, connect again; until cancelled."""
        while True:
            try:
                await self._session()
            except Exception as error:  # noqa: BLE001  hints only hurry: no trouble with them may end the server
                delay = min(FIRST_RETRY_SECONDS * 2**self._failures, LAST_RETRY_SECONDS)
                delay *= 1 + random.random() / 2  # noqa: S311  replicas should not come back all at once
                self._failures = min(self._failures + 1, _DOUBLINGS)
                _log.warning(
                    "no connection for hints; polls go on",
                    where=self._where,
                    error=error,
                    retry_seconds=delay,
                )
                await self._clock.sleep(delay, timer="hints-retry")

    async def flush(self) -> None:
        """Give what waits a moment to leave."""
        self._closed = True
        if not self.connected:
            return
        try:
            async with self._clock.timeout(FLUSH_SECONDS, timer="hints-flush"):
                await self._empty.wait()
        except TimeoutError:
            _log.warning("the last hints could not be sent", where=self._where)

    async def _session(self) -> None:
        """One connection from start to end; raises whatever ended it."""
        life = asyncio.timeout(None)
        try:
            await self._live(life)
        except TimeoutError:
            if life.expired():
                raise ConnectionError("the other side closed the connection") from None
            raise

    async def _live(self, life: asyncio.Timeout) -> None:
        async with life:
            peer = _Peer(self._subscribers, self._joiner_of_this_session(), self._clock, life)
            try:
                async with self._clock.timeout(CONNECT_SECONDS, timer="hints-connect"):
                    wire = await self._dial(peer)
            except BaseException:
                peer.deaf = True  # a connection given up may still report its end
                raise
            broken = True
            try:
                _log.info("connected for hints", where=self._where)
                self._connected.set()
                self._subscribers.gap()
                while True:
                    await self._exchange(wire)
                    self._failures = 0
            except asyncio.CancelledError:
                broken = life.expired()
                raise
            finally:
                peer.deaf = True
                self._connected.clear()
                await wire.close(broken=broken)

    async def _exchange(self, wire: Wire) -> None:
        """Send what waits; when nothing does for a while, ask whether anyone is there."""
        if not self._outbox:
            self._waiting.clear()
            self._empty.set()
            try:
                async with self._clock.timeout(PROBE_SECONDS, timer="hints-idle"):
                    await self._waiting.wait()
                # Who published goes first: what it does next is waited for more than the hint, and more may follow.
                await self._clock.sleep(0, timer="hints-yield")
            except TimeoutError:
                async with self._clock.timeout(ANSWER_SECONDS, timer="hints-answer"):
                    await wire.probe()
                for missing in self._joiner.expire(self._clock.monotonic()):
                    self._subscribers.gap(missing.topic)
                return
        dropped, hints = self._outbox.take()
        try:
            frames = self._cutter.cut(hints, dropped=dropped, limit=wire.frame_limit)
            async with self._clock.timeout(ANSWER_SECONDS, timer="hints-answer"):
                await wire.send(frames)
        except BaseException:
            self._outbox.put_back(dropped, hints)
            raise

    def _joiner_of_this_session(self) -> Joiner:
        self._joiner = Joiner()  # halves from before the connect stay halves; everyone hears of a gap
        return self._joiner


class _Peer:
    """The listener of one session."""

    def __init__(self, subscribers: Subscribers, joiner: Joiner, clock: Clock, life: asyncio.Timeout) -> None:
        self._subscribers = subscribers
        self._joiner = joiner
        self._clock = clock
        self._life = life
        self.deaf = False

    def receive(self, frame: bytes) -> None:
        if self.deaf:
            return
        for arrived in self._joiner.feed(frame, self._clock.monotonic()):
            if isinstance(arrived, Missing):
                self._subscribers.gap(arrived.topic)
            else:
                self._subscribers.deliver(arrived)

    def missed(self) -> None:
        if not self.deaf:
            self._subscribers.gap()

    def lost(self) -> None:
        if not self.deaf and not self._life.expired():
            self._life.reschedule(asyncio.get_running_loop().time())  # ends the session wherever it waits


@asynccontextmanager
async def exchange(dial: Dial, *, where: str, clock: Clock) -> AsyncGenerator[Exchange]:
    """Run an exchange for as long as the block runs. It does not wait for the first connection."""
    hints = Exchange(dial, where=where, clock=clock)
    async with beside({"hints": hints.run()}):
        yield hints
        await hints.flush()
