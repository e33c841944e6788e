"""One question to a model: the history made legal, the request addressed and signed, the stream guarded."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from chatd.clock import Clock
from chatd.core.errors import InvalidRequest
from chatd.core.failure import FailureSignals, Fault, classify, not_configured
from chatd.core.model import ModelEvent, ModelRequest
from chatd.core.repair import RepairWarning, repair
from chatd.core.repair.warnings import Loss
from chatd.observe.logs import get_logger
from chatd.providers.hosts import Host
from chatd.providers.stream import ModelCall, ModelCallFailed, StreamLimits, open_stream
from chatd.providers.transport import OutboundRequest, Transport

_log = get_logger("chatd.providers")
_MOST_NAMED: Final = 5  # of many losses of a kind: enough to find them
_LONGEST_DETAIL: Final = 200  # characters; names of files and tools can be long


class Asked(msgspec.Struct, frozen=True):
    """Whom to ask, and how patiently. `provider` is what people call it."""

    host: Host
    provider: str
    limits: StreamLimits = StreamLimits()


@asynccontextmanager
async def ask(
    asked: Asked,
    request: ModelRequest,
    *,
    transport: Transport,
    clock: Clock,
    sent: Callable[[int], None] | None = None,
) -> AsyncGenerator[AsyncIterator[list[ModelEvent]]]:
    """As `open_stream`. What of the history can't be told to this vendor is left out, with a warning in the log.
    `sent` is told the bytes of the request's body."""
    protocol = asked.host.protocol(request.model)
    capabilities = request.capabilities
    if not request.tools and not request.provider_tools:
        # Without tools some vendors refuse calls in a history, and others make up calls of what they see there.
        capabilities = msgspec.structs.replace(capabilities, tools=False)
    repaired = repair(request.messages, protocol=protocol.name, provider=request.provider, capabilities=capabilities)
    _warn_of(repaired.warnings, asked, request)
    began_at = clock.monotonic()
    outbound = await _prepared(asked, msgspec.structs.replace(request, messages=repaired.messages), clock)
    if sent is not None:
        sent(len(outbound.body))
    left = asked.limits.first_event - (clock.monotonic() - began_at)
    limits = msgspec.structs.replace(asked.limits, first_event=left)
    call = ModelCall(asked.provider, protocol, asked.host.framing, outbound, limits)
    async with open_stream(call, transport=transport, clock=clock) as stream:
        yield stream


def _warn_of(warnings: Sequence[RepairWarning], asked: Asked, request: ModelRequest) -> None:
    """One line for each kind of loss: the same parts are lost with every call of a chat that has changed its vendor."""
    by_loss: dict[Loss, list[RepairWarning]] = {}
    for warning in warnings:
        by_loss.setdefault(warning.loss, []).append(warning)
    for loss, losses in by_loss.items():
        _log.warning(
            "a part of the history can't be told to the model",
            provider=asked.provider,
            model=request.model,
            loss=str(loss),
            count=len(losses),
            messages=list(dict.fromkeys(warning.message for warning in losses))[:_MOST_NAMED],
            details=list(dict.fromkeys(warning.detail[:_LONGEST_DETAIL] for warning in losses))[:_MOST_NAMED],
        )


async def _prepared(asked: Asked, request: ModelRequest, clock: Clock) -> OutboundRequest:
    """Whoever gives out credentials is waited for no longer than the vendor itself."""
    try:
        async with clock.timeout(asked.limits.first_event, timer="model credentials"):
            return await asked.host.prepare(request)
    except InvalidRequest as error:
        raise ModelCallFailed(not_configured(error, provider=asked.provider)) from error
    except TimeoutError as error:
        signals = FailureSignals(fault=Fault.STARTUP_TIMEOUT, provider=asked.provider)
        raise ModelCallFailed(classify(signals, clock.now())) from error
