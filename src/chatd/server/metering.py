"""The meter of a replica's engine: metrics always, traces when a collector is configured."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import chatd
from chatd.clock import Clock
from chatd.engine.counting_meter import CountingMeter
from chatd.engine.meter import EngineMeter
from chatd.engine.traced_meter import TracedMeter
from chatd.observe.metrics import Metrics
from chatd.observe.traces import otlp_tracer
from chatd.server.settings import Settings


@asynccontextmanager
async def engine_meter(
    metrics: Metrics, settings: Settings, *, clock: Clock, replica: str = ""
) -> AsyncIterator[EngineMeter]:
    """Traces that are not sent yet are sent at the end of the block. Raises StartRefused when traces are wanted and
    OpenTelemetry is not installed."""
    counting = CountingMeter(metrics.engine, clock.monotonic)
    if settings.otlp_endpoint is None:
        yield counting
        return
    async with otlp_tracer(settings.otlp_endpoint, version=chatd.__version__, replica=replica) as tracer:
        yield TracedMeter(counting, tracer, clock.monotonic)
