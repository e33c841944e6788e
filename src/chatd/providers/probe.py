"""One tiny real call to a provider, and in words what came of it."""

import os
from typing import Final
from urllib.parse import urlsplit

import msgspec

from chatd.clock import Clock
from chatd.core.cost import Prices, cost_microdollars
from chatd.core.errors import InvalidRequest
from chatd.core.failure import Failure, FailureSignals, Fault, classify, not_configured
from chatd.core.model import Capabilities, Finished, ModelRequest, PromptMessage, UsageReported
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.usage import Usage
from chatd.observe.engine_metrics import ModelMetrics
from chatd.providers.hosts import Host
from chatd.providers.stream import ModelCall, ModelCallFailed, StreamLimits, open_stream
from chatd.providers.transport import Transport, TransportFault

PROBE_SECONDS: Final = 30.0  # a person waits for it; a vendor that is well answers in two
_TOKENS: Final = 16  # the least that every vendor takes
_PROMPT: Final = "Say OK."
# OpenAI's word for a model that was still thinking when those were spent: it is there, and it works.
_STILL_THINKING: Final = "output limit was reached"
_OK: Final = "ok"
_CANCELLED: Final = "cancelled"  # who asked did not wait
_UNREACHABLE: Final = frozenset((Fault.CONNECT_FAILED, Fault.DNS))


class ProbeResult(msgspec.Struct, frozen=True):
    """Either the milliseconds until the first event of a whole answer, or the failure."""

    first_event_ms: int | None = None
    failure: Failure | None = None


class CountedProbe(msgspec.Struct, frozen=True):
    """Where a probe counts as a call, and what its tokens cost."""

    metrics: ModelMetrics
    prices: Prices


async def probe(
    host: Host,
    *,
    provider: str,
    model: str,
    transport: Transport,
    clock: Clock,
    capabilities: Capabilities,
    options: str = "{}",
    counted: CountedProbe | None = None,
) -> ProbeResult:
    """Ask for a few tokens. Never raises for what the provider, the network or its configuration does wrong."""
    request = ModelRequest(
        model=model,
        messages=(PromptMessage(Role.USER, (TextPart(text=_PROMPT),)),),
        provider=provider,
        max_output_tokens=_TOKENS,
        cache_prompt=False,
        capabilities=capabilities,
        options=options,
    )
    call = _Call(host, request, transport, clock)
    outcome = _CANCELLED
    started_at = clock.monotonic()
    try:
        result = await call.result()
        outcome = _OK if result.failure is None else str(result.failure.kind)
        return result
    finally:
        if counted is not None:
            call.count(counted, outcome, clock.monotonic() - started_at)


class _Call:
    """What is there of a call at any moment."""

    def __init__(self, host: Host, request: ModelRequest, transport: Transport, clock: Clock) -> None:
        self._host = host
        self._request = request
        self._transport = transport
        self._clock = clock
        self._usage = Usage()
        self._bytes: int | None = None

    async def result(self) -> ProbeResult:
        provider = self._request.provider
        started_at = self._clock.monotonic()
        try:
            async with self._clock.timeout(PROBE_SECONDS, timer="probe"):
                seconds = await self._ask()
                return ProbeResult(first_event_ms=round(seconds * 1000))
        except TimeoutError:
            signals = FailureSignals(fault=Fault.TIMED_OUT, provider=provider)
            return ProbeResult(failure=classify(signals, self._clock.now()))
        except ModelCallFailed as failed:
            if _STILL_THINKING in failed.failure.detail:
                return ProbeResult(first_event_ms=round((self._clock.monotonic() - started_at) * 1000))
            return ProbeResult(failure=failed.failure)
        except InvalidRequest as error:
            return ProbeResult(failure=not_configured(error, provider=provider))

    async def _ask(self) -> float:
        outbound = await self._host.prepare(self._request)
        self._bytes = len(outbound.body)
        call = ModelCall(
            provider=self._request.provider,
            protocol=self._host.protocol(self._request.model),
            framing=self._host.framing,
            request=outbound,
            limits=StreamLimits(first_event=PROBE_SECONDS, silence=PROBE_SECONDS),
        )
        started_at = self._clock.monotonic()
        first_at: float | None = None
        try:
            async with open_stream(call, transport=self._transport, clock=self._clock) as stream:
                async for events in stream:
                    first_at = first_at or self._clock.monotonic()
                    for event in events:
                        if isinstance(event, UsageReported):
                            self._usage = event.usage
                    if isinstance(events[-1], Finished):
                        break
        except ModelCallFailed as failed:
            raise _told_of_address(failed, outbound.url) from failed
        return (first_at or self._clock.monotonic()) - started_at

    def count(self, counted: CountedProbe, outcome: str, seconds: float) -> None:
        metrics = counted.metrics
        metrics.called(outcome, seconds, messages=len(self._request.messages))
        if self._bytes is not None:
            metrics.sent(self._bytes)
        try:
            cost = cost_microdollars(self._usage, counted.prices)
        except ValueError:  # no number of dollars: the prices are wrong
            cost = None
        metrics.used(self._usage, cost)


def _told_of_address(failed: ModelCallFailed, url: str) -> ModelCallFailed:
    """In a turn it is most likely passing that nobody answers; whoever tests a provider most likely mistyped."""
    cause = failed.__cause__
    if not isinstance(cause, TransportFault) or cause.fault not in _UNREACHABLE:
        return failed
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if cause.fault is Fault.DNS:
        message = f"No server is called {parts.hostname}. Check the address."
    else:
        message = f"Nobody answers at {host}:{port}. Check the address and that the server runs."
    detail = _in_words(cause.__cause__)
    return ModelCallFailed(msgspec.structs.replace(failed.failure, message=message, detail=detail, wording=None))


def _in_words(error: BaseException | None) -> str:
    """The system's own words for it. The client's have much around them that tells a person nothing."""
    number = getattr(getattr(error, "os_error", None), "errno", None)
    return os.strerror(number) if isinstance(number, int) and number > 0 else ""
