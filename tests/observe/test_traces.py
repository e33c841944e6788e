"""Spans as OpenTelemetry gets them."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from aiohttp import web
from opentelemetry import trace

from chatd.core.errors import StartRefused
from chatd.observe import traces
from chatd.observe.traces import OtelTracer, SpanKind, otlp_tracer


class RecordedSpan:
    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name = name
        self.options = options
        self.attributes: dict[str, Any] = {}
        self.status: Any = None

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes[name] = value

    def set_status(self, status: Any) -> None:
        self.status = status


class RecordingTracer:
    """Of OpenTelemetry's own kind."""

    def __init__(self) -> None:
        self.spans: list[RecordedSpan] = []

    @contextmanager
    def start_as_current_span(self, name: str, **options: Any) -> Generator[RecordedSpan]:
        self.spans.append(RecordedSpan(name, options))
        yield self.spans[-1]


def test_a_span_has_its_kind_and_attributes_and_the_error_by_its_kind_only():
    recorded = RecordingTracer()
    with suppress(ValueError), OtelTracer(recorded).span("chat m", SpanKind.CLIENT, {"a": 1}) as span:
        span.set("b", "x")
        span.fail("rate_limit")
        raise ValueError("what someone wrote")

    (only,) = recorded.spans
    assert (only.name, only.options["kind"], only.options["attributes"]) == ("chat m", trace.SpanKind.CLIENT, {"a": 1})
    assert only.attributes == {"b": "x", "error.type": "rate_limit"}
    assert only.status == trace.StatusCode.ERROR
    # Else OpenTelemetry adds the exception's text and traceback.
    assert (only.options["record_exception"], only.options["set_status_on_exception"]) == (False, False)


async def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(traces, "import_module", missing)
    with pytest.raises(StartRefused, match=r"chatd\[traces\]"):
        async with otlp_tracer("http://127.0.0.1:4318", version="1", replica=""):
            pass


async def test_spans_reach_a_collector_before_the_block_ends():
    bodies: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        async with otlp_tracer(f"http://127.0.0.1:{port}/", version="1.2", replica="0") as tracer:
            with tracer.span("outer", SpanKind.INTERNAL, {}), tracer.span("inner", SpanKind.CLIENT, {"k": "v"}):
                pass
    finally:
        await runner.cleanup()

    sent = b"".join(bodies)
    assert all(name in sent for name in (b"outer", b"inner", b"chatd", b"1.2"))
