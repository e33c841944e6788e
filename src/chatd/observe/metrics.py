"""Metrics of one process, in a registry of its own, rendered as Prometheus text."""

import os
import platform
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from time import perf_counter
from types import TracebackType
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.process_collector import ProcessCollector

from chatd.core.errors import NotFound
from chatd.observe.engine_metrics import EngineMetrics
from chatd.observe.git_host_metrics import GitHostMetrics
from chatd.observe.stream_metrics import StreamMetrics
from chatd.observe.workspace_metrics import WorkspaceMetrics

# Queries take 0.1 ms to a few ms when all is well; the upper ones show lock waits and timeouts.
QUERY_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
# Requests take 1 ms to 100 ms; streams last for minutes and end in the last bucket.
REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)

NO_ROUTE = "-"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})


class Route(Protocol):
    """The request under way. Read when something is counted: the template is known only after routing."""

    @property
    def template(self) -> str: ...
    @property
    def method(self) -> str: ...


class QueryMeter(Protocol):
    """What the store asks of metrics."""

    def query(self, name: str) -> AbstractContextManager[None]: ...


_route: ContextVar[Route | None] = ContextVar("chatd_route", default=None)


@contextmanager
def in_route(route: Route) -> Generator[None]:
    """Queries inside the block count for this route."""
    token = _route.set(route)
    try:
        yield
    finally:
        _route.reset(token)


def known_method(method: str) -> str:
    """The method as a label: a client must not be able to make up new ones."""
    return method if method in _METHODS else "OTHER"


class Metrics:
    """Every metric chatd has. `monotonic` gives seconds. Children are kept: `labels()` is the dear part."""

    def __init__(self, *, monotonic: Callable[[], float] = perf_counter, version: str = "", replica: str = "") -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._monotonic = monotonic
        self.engine = EngineMetrics(self.registry)
        board = self.engine.board
        self.streams = StreamMetrics(self.registry, board)
        self.workspaces = WorkspaceMetrics(self.registry, board)
        self.git_hosts = GitHostMetrics(board)
        self._query_seconds = board.spread("chatd_db_query_seconds", "Time of one query.", QUERY_BUCKETS, "query")
        self._queries = board.count(
            "chatd_db_queries_total", "Queries by the route that made them.", "route", "method", "query"
        )
        self._query_errors = Counter(
            "chatd_db_query_errors_total",
            "Queries that failed; finding nothing is no failure.",
            ["query"],
            registry=self.registry,
        )
        self._requests = Counter(
            "chatd_http_requests_total",
            "Requests answered.",
            ["route", "method", "status"],
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "chatd_http_request_seconds",
            "Time from the request's head to the end of its answer.",
            ["route", "method"],
            registry=self.registry,
            buckets=REQUEST_BUCKETS,
        )
        self._in_progress = Gauge("chatd_http_requests_in_progress", "Requests under way.", registry=self.registry)
        Info("chatd_process", "What is running.", registry=self.registry).info(
            {
                "version": version,
                "replica": replica,
                "pid": str(os.getpid()),
                "python": platform.python_version(),
            }
        )
        ProcessCollector(registry=self.registry)
        self._request_children: dict[tuple[str, str, str], tuple[Counter, Histogram]] = {}

    def query(self, name: str) -> AbstractContextManager[None]:
        """Measure one query; `name` is its method's name."""
        return _QueryTimer(self, name)

    def query_done(self, name: str, seconds: float, *, failed: bool) -> None:
        self._query_seconds.of(name).add(seconds)
        route = _route.get()
        if route is None:
            self._queries.of(NO_ROUTE, NO_ROUTE, name).value += 1
        else:
            self._queries.of(route.template, route.method, name).value += 1
        if failed:
            self._query_errors.labels(name).inc()

    def request_started(self) -> None:
        self._in_progress.inc()

    def request_done(self, route: Route, *, status: int, seconds: float) -> None:
        """Count a finished request; `status` becomes its class (`2xx`)."""
        self._in_progress.dec()
        key = (route.template, route.method, f"{status // 100}xx")
        children = self._request_children.get(key)
        if children is None:
            children = (self._requests.labels(*key), self._request_seconds.labels(*key[:2]))
            self._request_children[key] = children
        children[0].inc()
        children[1].observe(seconds)

    def monotonic(self) -> float:
        return self._monotonic()

    def render(self) -> tuple[bytes, str]:
        """The Prometheus text, and its content type."""
        return generate_latest(self.registry), CONTENT_TYPE_LATEST


class _QueryTimer:
    """A context manager by hand: half the cost of a generator, and it is on the path of every query."""

    __slots__ = ("_metrics", "_name", "_started")

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._metrics = metrics
        self._name = name
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = self._metrics.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        seconds = self._metrics.monotonic() - self._started
        # Not found is an answer, and a cancelled query (no Exception) is nobody's failure.
        failed = isinstance(error, Exception) and not isinstance(error, NotFound)
        self._metrics.query_done(self._name, seconds, failed=failed)
