"""One question to a model: the history made legal, the request addressed and signed, the stream guarded."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from chatd.clock import Clock
from chatd.core.errors import InvalidRequest
from chatd.core.failure import FailureSignals, Fault, classify
from chatd.core.model import ModelEvent, ModelRequest
from chatd.core.repair import repair
from chatd.observe.logs import get_logger
from chatd.providers.hosts import Host
from chatd.providers.stream import ModelCall, ModelCallFailed, StreamLimits, open_stream
from chatd.providers.transport import Transport

_log = get_logger("chatd.providers")


class Asked(msgspec.Struct, frozen=True):
    """Whom to ask, and how patiently. `provider` is what people call it."""

    host: Host
    provider: str
    limits: StreamLimits = StreamLimits()


@asynccontextmanager
async def ask(
    asked: Asked, request: ModelRequest, *, transport: Transport, clock: Clock
) -> AsyncGenerator[AsyncIterator[list[ModelEvent]]]:
    """As `open_stream`. What of the history can't be told to this vendor is left out, with a warning in the log."""
    protocol = asked.host.protocol(request.model)
    repaired = repair(
        request.messages, protocol=protocol.name, provider=request.provider, capabilities=request.capabilities
    )
    for warning in repaired.warnings:
        _log.warning(
            "a part of the history can't be told to the model",
            provider=asked.provider,
            model=request.model,
            message=warning.message,
            loss=str(warning.loss),
            detail=warning.detail,
        )
    try:
        outbound = await asked.host.prepare(msgspec.structs.replace(request, messages=repaired.messages))
    except InvalidRequest as error:
        signals = FailureSignals(fault=Fault.CREDENTIALS, provider=asked.provider, text=error.message)
        raise ModelCallFailed(classify(signals, clock.now())) from error
    call = ModelCall(asked.provider, protocol, asked.host.framing, outbound, asked.limits)
    async with open_stream(call, transport=transport, clock=clock) as stream:
        yield stream
