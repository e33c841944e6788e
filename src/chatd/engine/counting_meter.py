"""The meter that counts: what the engine does, as metrics."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Self
from uuid import UUID

from chatd.core.accumulate import Accumulator
from chatd.core.failure import FailureKind
from chatd.core.model import ModelEvent, ModelRequest
from chatd.engine.episodes import Episode, Episodes
from chatd.engine.flight import cost_of
from chatd.engine.meter import CANCELLED, OK, CallMeasure, ToolMeasure, outcome, says_something
from chatd.engine.models import ResolvedModel
from chatd.observe.engine_metrics import EngineMetrics, ModelMetrics, ToolMetrics

_TIMEOUTS: Final = frozenset((FailureKind.TIMEOUT, FailureKind.STARTUP_TIMEOUT, FailureKind.STREAM_SILENCE_TIMEOUT))


class CountingMeter:
    """`monotonic` gives seconds."""

    def __init__(self, metrics: EngineMetrics, monotonic: Callable[[], float]) -> None:
        self._metrics = metrics
        self._monotonic = monotonic
        self._episodes: dict[UUID, Episode] = {}  # the newest of each chat in a turn

    @contextmanager
    def turn(self, chat_id: UUID, model: ResolvedModel) -> Generator[None]:
        self._metrics.generating += 1
        try:
            yield
        finally:
            self._metrics.generating -= 1
            self._ended(self._episodes.pop(chat_id, None))

    def call(self, model: ResolvedModel, request: ModelRequest, accumulator: Accumulator) -> CallMeasure:
        return _Call(self._of(model), model, request, accumulator, self._monotonic)

    def stepped(self, model: ResolvedModel) -> None:
        self._of(model).stepped()

    def retried(self, model: ResolvedModel, kind: FailureKind) -> None:
        self._of(model).retried(str(kind))

    def compaction(self, model: ResolvedModel) -> AbstractContextManager[None]:
        return _counted_compaction(self._of(model))

    def tool(self, model: ResolvedModel, name: str) -> ToolMeasure:
        return _Tool(self._of(model).tool(name), self._monotonic)

    def watch(self, episodes: Episodes, running: Callable[[], int]) -> None:
        episodes.on_open(self._opened)
        self._metrics.watch_chats(running)

    def _opened(self, episode: Episode) -> None:
        self._ended(self._episodes.get(episode.chat_id))
        self._episodes[episode.chat_id] = episode

    def _of(self, model: ResolvedModel) -> ModelMetrics:
        return self._metrics.of(model.kind, model.model)

    def _ended(self, episode: Episode | None) -> None:
        if episode is not None and episode.dropped:
            self._metrics.dropped.value += episode.dropped


@contextmanager
def _counted_compaction(metrics: ModelMetrics) -> Generator[None]:
    try:
        yield
    except BaseException as error:
        ended = outcome(error)
        if ended != CANCELLED:
            metrics.compacted("timeout" if ended in _TIMEOUTS else "error")
        raise
    metrics.compacted("success")


class _Call:
    __slots__ = ("_accumulator", "_began", "_metrics", "_model", "_monotonic", "_request", "waits")

    def __init__(
        self,
        metrics: ModelMetrics,
        model: ResolvedModel,
        request: ModelRequest,
        accumulator: Accumulator,
        monotonic: Callable[[], float],
    ) -> None:
        self.waits = True
        self._metrics = metrics
        self._model = model
        self._request = request
        self._accumulator = accumulator
        self._monotonic = monotonic
        self._began = 0.0

    def sent(self, size: int) -> None:
        self._metrics.sent(size)

    def heard(self, events: Sequence[ModelEvent]) -> None:
        if says_something(events):
            self.waits = False
            self._metrics.began(self._monotonic() - self._began)

    async def __aenter__(self) -> Self:
        self._began = self._monotonic()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object, /) -> None:
        seconds = self._monotonic() - self._began
        self._metrics.called(outcome(error), seconds, messages=len(self._request.messages))
        usage = self._accumulator.usage
        try:
            cost = cost_of([usage], self._model)
        except ValueError:  # no number of dollars: whoever stores the answer says so
            cost = None
        self._metrics.used(usage, cost)


class _Tool:
    __slots__ = ("_began", "_metrics", "_monotonic", "_outcome")

    def __init__(self, metrics: ToolMetrics, monotonic: Callable[[], float]) -> None:
        self._metrics = metrics
        self._monotonic = monotonic
        self._began = 0.0
        self._outcome = CANCELLED

    def result(self, size: int, *, is_error: bool, is_cut: bool) -> None:
        self._outcome = "error" if is_error else OK
        self._metrics.answered(size, is_cut=is_cut)

    def __enter__(self) -> Self:
        self._began = self._monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._metrics.called(self._outcome, self._monotonic() - self._began)
