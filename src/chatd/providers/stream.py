"""The one guarded stream: from a request to the events of a whole answer, or one classified failure.

Nothing leaves here that looks whole and is not: the stream either ends with `Finished`, or raises ModelCallFailed.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Final, Protocol, Self

import aiohttp
import msgspec

from chatd.clock import Clock
from chatd.core.failure import Failure, FailureSignals, Fault, classify
from chatd.core.failure.detail import DOTS
from chatd.core.model import Finished, ModelEvent, VendorError
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.protocol import VendorProtocol
from chatd.providers.transport import OutboundRequest, Transport, TransportFault
from chatd.stoppable import Stoppable, Stopped

FIRST_EVENT_SECONDS: Final = 60.0
SILENCE_SECONDS: Final = 300.0
DRAIN_SECONDS: Final = 0.2  # the end follows the last event at once; a vendor that holds it back loses the connection
# The longest answers have 128 000 tokens, and vendors spend up to 500 bytes on the event of each: twice that.
MOST_ANSWER_BYTES: Final = 128 * 1024 * 1024
_MOST_ERROR_BYTES: Final = 64 * 1024  # of an error's body; nothing longer is read by anyone
_ERROR_SECONDS: Final = 5.0  # for an error's body, which follows its status at once
# A success that is no stream: a whole answer, an error under a wrong status, a page of a proxy's. Any other type may be
# a stream, for some compatible servers name theirs wrongly or not at all.
_NO_STREAM: Final = ("application/json", "application/problem+json", "text/html", "application/xhtml+xml")
_PLAIN_HEADERS: Final = frozenset(("accept", "anthropic-beta", "anthropic-version", "content-type"))  # the rest: keys
_SHORTEST_KEY: Final = 6  # characters; less would be found in ordinary words


class Framing(Protocol):
    def feed(self, chunk: bytes) -> list[WireEvent]: ...

    def end(self) -> list[WireEvent]: ...


class StreamLimits(msgspec.Struct, frozen=True):
    """Seconds until the first event (a ping counts), and between any two signs of life after it."""

    first_event: float = FIRST_EVENT_SECONDS
    silence: float = SILENCE_SECONDS


class ModelCall(msgspec.Struct, frozen=True):
    """`provider` is what failures are said to be of."""

    provider: str
    protocol: VendorProtocol
    framing: Callable[[], Framing]
    request: OutboundRequest
    limits: StreamLimits = StreamLimits()


class ModelCallFailed(Exception):
    """The attempt is over. `failure` says what to tell people and whether to try again."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@asynccontextmanager
async def open_stream(
    call: ModelCall, *, transport: Transport, clock: Clock
) -> AsyncGenerator[AsyncIterator[list[ModelEvent]]]:
    """Iterate over lists of events: those that came with one read share a list, and nothing waits for more.

    ModelCallFailed comes out of the block. Leaving it early, or being cancelled in it, closes the socket.
    """
    try:
        async with _Watch(call.limits, clock) as watch, _answer(call, transport, clock) as response:
            yield _events(call, response, watch, clock)
    except (TransportFault, UnreadableStream, _Silent, _Refused) as error:
        raise ModelCallFailed(classify(_signals(call, error), clock.now())) from error


@asynccontextmanager
async def _answer(call: ModelCall, transport: Transport, clock: Clock) -> AsyncGenerator[aiohttp.ClientResponse]:
    async with transport.post(call.request) as response:
        if response.status >= 300 or response.content_type in _NO_STREAM:
            body = await _error_body(response, clock)
            # A good status without a stream is a wrong address or a proxy's page.
            raise _Refused(
                FailureSignals(
                    fault=Fault.PROTOCOL if response.status < 300 else None,
                    status_code=response.status,
                    headers=dict(response.headers),
                    body=_without_keys(body.decode("utf-8", "replace"), call.request),
                    content_type=response.content_type,
                    provider=call.provider,
                )
            )
        yield response


async def _error_body(response: aiohttp.ClientResponse, clock: Clock) -> bytes:
    """As much of it as comes soon: the status alone says most, and is not lost with the connection."""
    body = bytearray()
    with suppress(aiohttp.ClientError, TimeoutError):
        async with clock.timeout(_ERROR_SECONDS, timer="model error body"):
            while len(body) < _MOST_ERROR_BYTES and (piece := await response.content.readany()):
                body += piece
    return bytes(body[:_MOST_ERROR_BYTES])


async def _events(
    call: ModelCall, response: aiohttp.ClientResponse, watch: "_Watch", clock: Clock
) -> AsyncIterator[list[ModelEvent]]:
    framing, reader = call.framing(), call.protocol.reader()
    read = 0
    async for chunk in response.content.iter_any():
        watch.touch()
        read += len(chunk)
        if read > MOST_ANSWER_BYTES:
            raise UnreadableStream("the answer is too large")
        events = [event for wire in framing.feed(chunk) for event in reader.read(wire)]
        if events:
            yield _checked(events, call)
            if isinstance(events[-1], Finished):
                await _drain(response, clock)
                return
    last = [*(event for wire in framing.end() for event in reader.read(wire)), *reader.end()]
    if not last or not isinstance(last[-1], Finished):
        raise TransportFault(Fault.STREAM_CLOSED_EARLY, "the stream ended before its terminal event")
    yield _checked(last, call)


async def _drain(response: aiohttp.ClientResponse, clock: Clock) -> None:
    """Read the end of a body whose answer is whole, so that the connection can be used again; soon, or not at all."""
    with suppress(aiohttp.ClientError, TimeoutError):
        async with clock.timeout(DRAIN_SECONDS, timer="model stream drain"):
            while await response.content.readany():
                pass


def _checked(events: list[ModelEvent], call: ModelCall) -> list[ModelEvent]:
    for event in events:
        if isinstance(event, VendorError):
            raise _Refused(_vendor_error(event, call))
    return events


class _Watch:
    """Ends the block when the vendor says nothing for too long; `_Silent` comes out of it."""

    def __init__(self, limits: StreamLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._block = Stoppable()
        self._began_at = clock.monotonic()
        self._heard_at: float | None = None
        self._fault = Fault.STARTUP_TIMEOUT
        self._forget: Callable[[], None] | None = None

    def touch(self) -> None:
        self._heard_at = self._clock.monotonic()

    def _look(self) -> None:
        """What is heard meanwhile is not told here: look again before silence could have lasted too long."""
        if self._heard_at is None:
            left, timer = self._began_at + self._limits.first_event - self._clock.monotonic(), "model first event"
        else:
            left, timer = self._heard_at + self._limits.silence - self._clock.monotonic(), "model silence"
            self._fault = Fault.STREAM_SILENCE
        if left > 0:
            self._forget = self._clock.after(min(left, self._limits.silence), self._look, timer=timer)
        else:
            self._block.stop()

    async def __aenter__(self) -> Self:
        await self._block.__aenter__()
        self._look()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._forget is not None:
            self._forget()
        try:
            await self._block.__aexit__(exc_type, exc, tb)
        except Stopped:
            raise _Silent(self._fault) from None


class _Silent(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class _Refused(Exception):
    """The vendor said no, by a status or inside of the stream."""

    def __init__(self, signals: FailureSignals) -> None:
        super().__init__(signals.text or str(signals.status_code))
        self.signals = signals


def _without_keys(text: str, request: OutboundRequest) -> str:
    """A vendor may quote the key that it refuses, in a form that no pattern knows."""
    for name, value in request.headers.items():
        key = value.rpartition(" ")[2]  # of "Bearer key" too
        if name.lower() not in _PLAIN_HEADERS and len(key) >= _SHORTEST_KEY:
            text = text.replace(key, DOTS)
    return text


def _vendor_error(event: VendorError, call: ModelCall) -> FailureSignals:
    headers = {} if event.retry_after_seconds is None else {"retry-after": str(event.retry_after_seconds)}
    return FailureSignals(
        status_code=event.status_code,
        headers=headers,
        provider=call.provider,
        text=_without_keys(event.text, call.request),
        error_type=event.error_type,
        error_code=event.error_code,
    )


def _signals(call: ModelCall, error: TransportFault | UnreadableStream | _Silent | _Refused) -> FailureSignals:
    match error:
        case _Refused():
            return error.signals
        case TransportFault():
            return FailureSignals(fault=error.fault, provider=call.provider, text=error.text)
        case _Silent():
            return FailureSignals(fault=error.fault, provider=call.provider)
        case UnreadableStream():
            return FailureSignals(fault=Fault.PROTOCOL, provider=call.provider, text=str(error))
