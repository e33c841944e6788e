"""Turns that are measured: what was counted, and the spans that were made."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from chatd.clock import Clock
from chatd.engine.counting_meter import CountingMeter
from chatd.engine.meter import NO_METER, EngineMeter
from chatd.engine.traced_meter import TracedMeter
from chatd.observe.metrics import Metrics
from chatd.observe.traces import SpanKind, Value
from engine.chatting import MODEL

ANTHROPIC = {"provider": "anthropic", "model": MODEL}


class Measured:
    """`meter` is for `chatting`."""

    def __init__(self) -> None:
        self._registry_of = Metrics()

    def meter(self, clock: Clock) -> EngineMeter:
        return CountingMeter(self._registry_of.engine, clock.monotonic)

    def value(self, name: str, **labels: str) -> float | None:
        return self._registry_of.registry.get_sample_value(name, labels)

    def of_model(self, name: str, **labels: str) -> float | None:
        return self.value(name, **ANTHROPIC, **labels)

    def by(self, label: str, name: str) -> dict[str, float]:
        """The values of a metric by one label."""
        samples = [one for metric in self._registry_of.registry.collect() for one in metric.samples if one.name == name]
        return {one.labels[label]: one.value for one in samples}


class RecordedSpan:
    def __init__(
        self, name: str, kind: SpanKind, attributes: Mapping[str, Value], parent: "RecordedSpan | None"
    ) -> None:
        self.name = name
        self.kind = kind
        self.attributes = dict(attributes)
        self.parent = parent
        self.failed: str | None = None
        self.is_over = False

    def set(self, name: str, value: Value) -> None:
        assert not self.is_over
        self.attributes[name] = value

    def fail(self, kind: str) -> None:
        assert not self.is_over
        self.failed = kind


class RecordingTracer:
    """Notes spans in the order in which they began."""

    def __init__(self) -> None:
        self.spans: list[RecordedSpan] = []
        self._current: ContextVar[RecordedSpan | None] = ContextVar("span", default=None)

    def meter(self, clock: Clock) -> EngineMeter:
        return TracedMeter(NO_METER, self, clock.monotonic)

    @contextmanager
    def span(self, name: str, kind: SpanKind, attributes: Mapping[str, Value]) -> Generator[RecordedSpan]:
        span = RecordedSpan(name, kind, attributes, self._current.get())
        self.spans.append(span)
        token = self._current.set(span)
        try:
            yield span
        finally:
            self._current.reset(token)
            span.is_over = True

    def tree(self) -> list[str]:
        """Each span under its parent."""
        return [f"{one.parent.name} > {one.name}" if one.parent else one.name for one in self.spans]

    def named(self, name: str) -> list[RecordedSpan]:
        return [one for one in self.spans if one.name == name]

    def written(self) -> str:
        """All that a collector would be told."""
        told: list[Any] = [[one.name, one.attributes, one.failed] for one in self.spans]
        return repr(told)
