"""Hints over a NATS server or cluster; the twin of the Postgres implementation in `hints`."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from chatd.clock import Clock
from chatd.observe.logs import get_logger
from chatd.store.hints import Hints
from chatd.store.hints.exchange import Listener, Wire, exchange

SUBJECT = "chatd.hints"
FRAME_LIMIT = 1 << 20  # bytes: the limit of a NATS server as it is delivered; a server may say less
CONNECT_SECONDS = 5  # of one attempt, of which there are two
CLOSE_SECONDS = 1.0  # for a farewell; after it the socket is left to the operating system
PENDING_MESSAGES = 4_096  # messages that may wait for this process; beyond it they are dropped and a gap is told
PENDING_BYTES = 16 << 20  # bytes of the same
_ECHO_BYTES = 8  # random bytes that make an echo's subject one's own

_log = get_logger(__name__)


@asynccontextmanager
async def nats_hints(url: str, *, clock: Clock, subject: str = SUBJECT) -> AsyncGenerator[Hints]:
    """Hints through the NATS servers of `url` (several with commas). All replicas share the subject."""

    async def dial(listener: Listener) -> Wire:
        client = Client()
        wire = _NatsWire(client, subject, clock)
        troubles: list[Exception] = []

        async def on_error(error: Exception) -> None:
            troubles[:] = [error]
            if isinstance(error, nats.errors.SlowConsumerError):
                listener.missed()
            elif "permissions violation" in str(error).lower():  # the server tells and goes on, deaf to us
                _log.warning("NATS does not let us use the subject", subject=subject, error=error)

        async def on_closed() -> None:
            listener.lost()

        async def on_message(message: Msg) -> None:
            listener.receive(message.data)

        try:
            await client.connect(
                servers=url.split(","),
                name="chatd hints",
                error_cb=on_error,
                closed_cb=on_closed,
                # The exchange connects anew, on its clock. (0 attempts would mean for ever.)
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=CONNECT_SECONDS,
            )
            await wire.listen(on_message)
        except nats.errors.NoServersError as error:
            await wire.close(broken=True)
            raise (troubles[0] if troubles else error) from error
        except BaseException:
            await wire.close(broken=True)
            raise
        return wire

    async with exchange(dial, where="NATS", clock=clock) as hints:
        yield hints


class _NatsWire:
    """An open connection, and a subject on which it hears itself.

    The client's own `flush` asks the server ahead of what still waits to be written, so its answer proves
    nothing. An echo of our own leaves after everything else and comes back when the server has it all.
    """

    def __init__(self, client: Client, subject: str, clock: Clock) -> None:
        self._client = client
        self._subject = subject
        self._clock = clock
        self._echo = f"{subject}.echo.{os.urandom(_ECHO_BYTES).hex()}"
        self._asked = 0
        self._heard = asyncio.Event()

    @property
    def frame_limit(self) -> int:
        return min(self._client.max_payload, FRAME_LIMIT)

    async def listen(self, received: Callable[[Msg], Awaitable[None]]) -> None:
        """Subscribe, and return when the server knows it."""

        async def echoed(message: Msg) -> None:
            if int(message.data) == self._asked:
                self._heard.set()

        await self._client.subscribe(self._echo, cb=echoed)  # pyright: ignore[reportUnknownMemberType]
        await self._client.subscribe(  # pyright: ignore[reportUnknownMemberType]
            self._subject, cb=received, pending_msgs_limit=PENDING_MESSAGES, pending_bytes_limit=PENDING_BYTES
        )
        await self.probe()

    async def send(self, frames: Sequence[bytes]) -> None:
        for frame in frames:
            await self._client.publish(self._subject, frame)
        await self.probe()

    async def probe(self) -> None:
        self._asked += 1
        self._heard.clear()
        await self._client.publish(self._echo, b"%d" % self._asked)
        await self._heard.wait()

    async def close(self, *, broken: bool) -> None:
        # The client raises all sorts of things when its connection is half gone.
        with suppress(Exception):
            async with self._clock.timeout(CLOSE_SECONDS, timer="hints-close"):
                await self._client.close()
