"""Metrics of live streams: clients, and what replicas have of each other. docs/operate/metrics.md explains each."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge

from chatd.observe.tallies import TallyBoard


class StreamMetrics:
    """In the registry of `Metrics`. `sent`, `received` and `failed` are numbers to add to."""

    def __init__(self, registry: CollectorRegistry, board: TallyBoard) -> None:
        self._streams = Gauge("chatd_streams", "Clients that follow a chat or their list of chats.", registry=registry)
        self._connections = Gauge(
            "chatd_relay_connections",
            "Connections of replicas, by who dialled.",
            ["dialled"],
            registry=registry,
        )
        parts = board.count("chatd_relay_parts_total", "Live parts between replicas.", "direction")
        self.sent, self.received = parts.of("sent"), parts.of("received")
        self.failed = board.count("chatd_relay_failures_total", "Tries to reach another replica that failed.").of()

    def watch_streams(self, open: Callable[[], int]) -> None:
        """Asked whenever the metrics are read, like those below."""
        self._streams.set_function(open)

    def watch_relay(self, *, theirs: Callable[[], int], ours: Callable[[], int]) -> None:
        self._connections.labels("by_others").set_function(theirs)
        self._connections.labels("by_us").set_function(ours)
