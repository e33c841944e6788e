"""One tiny real call to a provider, and in words what came of it."""

from typing import Final
from urllib.parse import urlsplit

import msgspec

from chatd.clock import Clock
from chatd.core.errors import InvalidRequest
from chatd.core.failure import Failure, FailureSignals, Fault, classify, not_configured
from chatd.core.model import Capabilities, Finished, ModelRequest, PromptMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.providers.hosts import Host
from chatd.providers.stream import ModelCall, ModelCallFailed, StreamLimits, open_stream
from chatd.providers.transport import Transport, TransportFault

PROBE_SECONDS: Final = 30.0  # a person waits for it; a vendor that is well answers in two
_TOKENS: Final = 16  # the least that every vendor takes
_PROMPT: Final = "Say OK."
# OpenAI's word for a model that was still thinking when those were spent: it is there, and it works.
_STILL_THINKING: Final = "output limit was reached"
_UNREACHABLE: Final = frozenset((Fault.CONNECT_FAILED, Fault.DNS))


class ProbeResult(msgspec.Struct, frozen=True):
    """Either the milliseconds until the first event of a whole answer, or the failure."""

    first_event_ms: int | None = None
    failure: Failure | None = None


async def probe(
    host: Host,
    *,
    provider: str,
    model: str,
    transport: Transport,
    clock: Clock,
    capabilities: Capabilities,
    options: str = "{}",
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
    started_at = clock.monotonic()
    try:
        async with clock.timeout(PROBE_SECONDS, timer="probe"):
            return ProbeResult(first_event_ms=await _ask(host, request, transport, clock))
    except TimeoutError:
        return ProbeResult(failure=classify(FailureSignals(fault=Fault.TIMED_OUT, provider=provider), clock.now()))
    except ModelCallFailed as failed:
        if _STILL_THINKING in failed.failure.detail:
            return ProbeResult(first_event_ms=round((clock.monotonic() - started_at) * 1000))
        return ProbeResult(failure=failed.failure)
    except InvalidRequest as error:
        return ProbeResult(failure=not_configured(error, provider=provider))


async def _ask(host: Host, request: ModelRequest, transport: Transport, clock: Clock) -> int:
    call = ModelCall(
        provider=request.provider,
        protocol=host.protocol(request.model),
        framing=host.framing,
        request=await host.prepare(request),
        limits=StreamLimits(first_event=PROBE_SECONDS, silence=PROBE_SECONDS),
    )
    started_at = clock.monotonic()
    first_at: float | None = None
    try:
        async with open_stream(call, transport=transport, clock=clock) as stream:
            async for events in stream:
                first_at = first_at or clock.monotonic()
                if isinstance(events[-1], Finished):
                    break
    except ModelCallFailed as failed:
        raise _told_of_address(failed, call.request.url) from failed
    return round(((first_at or clock.monotonic()) - started_at) * 1000)


def _told_of_address(failed: ModelCallFailed, url: str) -> ModelCallFailed:
    """In a turn it is most likely passing that nobody answers; whoever tests a provider most likely mistyped."""
    cause = failed.__cause__
    if not isinstance(cause, TransportFault) or cause.fault not in _UNREACHABLE:
        return failed
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    message = f"Nobody answers at {host}:{port}. Check the base URL and that the server runs."
    return ModelCallFailed(msgspec.structs.replace(failed.failure, message=message, wording=None))
