"""Hints: "look again at this topic", from any replica to all, over the database's LISTEN and NOTIFY.

`nats_hints` is its twin for clusters in which NOTIFY is too busy. Both keep the promises of `Hints`.
"""

import base64
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Protocol

import asyncpg

from chatd.clock import Clock
from chatd.core.errors import StartRefused
from chatd.store.hints.exchange import Listener, Wire, exchange
from chatd.store.hints.subscribers import Gap, Hint, Receive, Subscription

__all__ = ["Gap", "Hint", "Hints", "Receive", "Subscription", "open_hints", "postgres_hints"]

CHANNEL = "chatd_hints"
FRAME_LIMIT = 5_997  # bytes: 7,996 characters of base64, and NOTIFY takes less than 8,000
CLOSE_SECONDS = 1.0  # for a farewell to a server that may be busy; after it the connection is cut
NOTIFY = "SELECT pg_notify($1, frame) FROM unnest($2::text[]) AS frame"


class Hints(Protocol):
    """Used from one event loop. Trouble with the connection is never the caller's."""

    def publish(self, topic: str, payload: bytes = b"") -> None:
        """Tell all subscribers of all replicas, this one included. Returns at once.

        Hints made in the same turn of the loop leave together, and a hint equal to one that still waits is
        that one. ValueError: the payload is above 1 MB, or the topic is empty, too long or contains `*`.
        """
        ...

    def subscribe(self, topic: str, receive: Receive) -> Subscription:
        """Call `receive` with each hint about `topic` (or `prefix*`), and with Gap when some may be missing.

        A Gap follows every connect, also the first one if it comes after the subscription.
        """
        ...

    @property
    def connected(self) -> bool: ...

    async def wait_connected(self) -> None: ...


@asynccontextmanager
async def postgres_hints(dsn_provider: Callable[[], str], *, clock: Clock) -> AsyncGenerator[Hints]:
    """Hints over one connection of their own. `dsn_provider` is asked before each connect."""

    async def dial(listener: Listener) -> Wire:
        connection = await asyncpg.connect(
            dsn_provider(),
            # A hint need not survive a crash of the database; without this each would wait for the disk.
            server_settings={"application_name": "chatd hints", "synchronous_commit": "off"},
        )
        wire = _PostgresWire(connection)

        def notified(_connection: object, _pid: int, _channel: str, payload: object) -> None:
            listener.receive(_decode(payload))

        try:
            connection.add_termination_listener(lambda _: listener.lost())
            await connection.add_listener(CHANNEL, notified)
        except BaseException:
            await wire.close(broken=True)
            raise
        return wire

    async with exchange(dial, where="Postgres", clock=clock) as hints:
        yield hints


def open_hints(url: str | None, *, dsn: Callable[[], str], clock: Clock) -> AbstractAsyncContextManager[Hints]:
    """Hints over NATS when there is a URL for it, else over Postgres."""
    if not url:
        return postgres_hints(dsn, clock=clock)
    if not url.startswith(("nats://", "tls://")):
        raise StartRefused("The URL for hints must start with nats:// or tls://. Correct CHATD_HINTS_URL.")
    from chatd.store.hints.nats import nats_hints  # most servers never need the NATS client

    return nats_hints(url, clock=clock)


class _PostgresWire:
    frame_limit = FRAME_LIMIT

    def __init__(self, connection: "asyncpg.Connection[Any]") -> None:
        self._connection = connection

    async def send(self, frames: Sequence[bytes]) -> None:
        await self._connection.execute(NOTIFY, CHANNEL, [base64.b64encode(frame).decode() for frame in frames])

    async def probe(self) -> None:
        await self._connection.execute("SELECT 1")

    async def close(self, *, broken: bool) -> None:
        try:
            if not broken:
                with suppress(OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                    await self._connection.close(timeout=CLOSE_SECONDS)
        finally:
            self._connection.terminate()


def _decode(text: object) -> bytes:
    """The frame, or nothing readable, which counts as something missed."""
    try:
        return base64.b64decode(str(text), validate=True)
    except ValueError:
        return b""
