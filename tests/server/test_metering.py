"""Traces are made only where a collector is configured."""

import pytest

from chatd.core.errors import StartRefused
from chatd.engine.counting_meter import CountingMeter
from chatd.engine.traced_meter import TracedMeter
from chatd.observe import traces
from chatd.observe.metrics import Metrics
from chatd.server.metering import engine_meter
from chatd.server.settings import Settings
from chatd.testing.fake_clock import FakeClock


async def test_without_a_collector_nothing_is_traced_nor_imported(monkeypatch: pytest.MonkeyPatch):
    def imported(name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(traces, "import_module", imported)
    async with engine_meter(Metrics(), Settings(), clock=FakeClock()) as meter:
        assert isinstance(meter, CountingMeter)


async def test_with_a_collector_turns_are_traced():
    async with engine_meter(Metrics(), Settings(otlp_endpoint="http://127.0.0.1:9"), clock=FakeClock()) as meter:
        assert isinstance(meter, TracedMeter)


async def test_without_opentelemetry_the_start_is_refused(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(traces, "import_module", missing)
    with pytest.raises(StartRefused, match="chatd"):
        async with engine_meter(Metrics(), Settings(otlp_endpoint="http://127.0.0.1:9"), clock=FakeClock()):
            pass
