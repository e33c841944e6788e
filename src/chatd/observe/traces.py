"""Traces: what a span is to us, and the tracer that sends spans to a collector with OpenTelemetry, if it is installed.

OpenTelemetry is an extra (`chatd[traces]`) and is imported only when a collector is configured.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from enum import StrEnum
from importlib import import_module
from typing import Any, Final, Protocol

from chatd.core.errors import StartRefused

Value = str | int | float | bool
# The collector may be away when the process ends. What it has not taken by then is lost.
_FLUSH_MILLISECONDS: Final = 3_000


class SpanKind(StrEnum):
    """As OpenTelemetry names them."""

    INTERNAL = "INTERNAL"
    CLIENT = "CLIENT"  # a request to someone else


class Span(Protocol):
    def set(self, name: str, value: Value) -> None: ...

    def fail(self, kind: str) -> None:
        """It ended with an error of this kind; `kind` is one of few words."""
        ...


class Tracer(Protocol):
    def span(self, name: str, kind: SpanKind, attributes: Mapping[str, Value]) -> AbstractContextManager[Span]:
        """Inside of the block it is the parent of new spans. An exception that leaves the block is not looked at:
        its text may hold what people wrote."""
        ...


class OtelTracer:
    """`tracer` is a `Tracer` of OpenTelemetry's API."""

    def __init__(self, tracer: Any) -> None:
        trace = import_module("opentelemetry.trace")
        self._tracer = tracer
        self._kinds = {kind: trace.SpanKind[kind.value] for kind in SpanKind}
        self._error = trace.StatusCode.ERROR

    @contextmanager
    def span(self, name: str, kind: SpanKind, attributes: Mapping[str, Value]) -> Generator[Span]:
        with self._tracer.start_as_current_span(
            name,
            kind=self._kinds[kind],
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            yield _OtelSpan(span, self._error)


class _OtelSpan:
    def __init__(self, span: Any, error: Any) -> None:
        self._span = span
        self._error = error

    def set(self, name: str, value: Value) -> None:
        self._span.set_attribute(name, value)

    def fail(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(self._error)


@asynccontextmanager
async def otlp_tracer(endpoint: str, *, version: str, replica: str) -> AsyncGenerator[OtelTracer]:
    """Sends spans to the collector at `endpoint` (OTLP over HTTP) from a thread of its own, in batches of bounded
    number; what there is at the end of the block is sent then. OTEL_* variables set the rest: headers, sampling.

    Raises StartRefused when OpenTelemetry is not installed.
    """
    try:
        resources = import_module("opentelemetry.sdk.resources")
        sdk = import_module("opentelemetry.sdk.trace")
        exporting = import_module("opentelemetry.sdk.trace.export")
        otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError as error:
        raise StartRefused(
            "Traces need OpenTelemetry, which is not installed. Install chatd[traces], or unset otlp_endpoint."
        ) from error
    about = {"service.name": "chatd", "service.version": version}
    if replica:
        about["service.instance.id"] = replica
    provider = sdk.TracerProvider(resource=resources.Resource.create(about), shutdown_on_exit=False)
    exporter = otlp.OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(exporting.BatchSpanProcessor(exporter))
    try:
        yield OtelTracer(provider.get_tracer("chatd", version))
    finally:
        await asyncio.to_thread(_close, provider)


def _close(provider: Any) -> None:
    provider.force_flush(_FLUSH_MILLISECONDS)
    provider.shutdown()
