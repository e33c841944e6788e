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


async def test_with_a_collector_turns_are_traced_or_the_start_is_refused():
    settings = Settings(otlp_endpoint="http://127.0.0.1:9")
    try:
        import opentelemetry.sdk  # noqa: F401  # pyright: ignore
    except ImportError:
        with pytest.raises(StartRefused, match="chatd"):
            async with engine_meter(Metrics(), settings, clock=FakeClock()):
                pass
    else:
        async with engine_meter(Metrics(), settings, clock=FakeClock()) as meter:
            assert isinstance(meter, TracedMeter)
