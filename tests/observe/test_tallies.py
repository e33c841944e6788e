"""Numbers of our own look to Prometheus as the client's do."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import generate_latest

from chatd.observe.tallies import TallyBoard

BOUNDS = (0.5, 1.0, 1024.0)
VALUES = (0.1, 0.5, 0.6, 1.0, 7, 5000)


def shown(registry: CollectorRegistry) -> dict[tuple[str, Any], float]:
    """Without the times at which the client made its own."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if not sample.name.endswith("_created")
    }


def test_a_counter_and_a_histogram_have_the_samples_that_the_client_gives():
    theirs, ours = CollectorRegistry(), CollectorRegistry()
    counter = Counter("calls_total", "Calls.", ["kind"], registry=theirs).labels("x")
    histogram = Histogram("seconds", "Time.", ["kind"], buckets=BOUNDS, registry=theirs).labels("x")
    board = TallyBoard(ours)
    tally, spread = board.count("calls_total", "Calls.", "kind"), board.spread("seconds", "Time.", BOUNDS, "kind")
    for value in VALUES:
        counter.inc(3)
        tally.of("x").value += 3
        histogram.observe(value)
        spread.of("x").add(value)

    assert shown(ours) == shown(theirs)


def test_what_was_never_moved_is_described_and_has_no_numbers():
    registry = CollectorRegistry()
    TallyBoard(registry).count("calls_total", "Calls.", "kind")

    assert shown(registry) == {}
    assert b"# HELP calls_total Calls.\n# TYPE calls_total counter\n" in generate_latest(registry)
