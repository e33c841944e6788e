"""What the engine tells those who measure it: turns, calls, tools, compactions and retries, as they happen."""

from asyncio import CancelledError
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Final, Protocol, Self
from uuid import UUID

from chatd.core.accumulate import Accumulator
from chatd.core.failure import Failure, FailureKind
from chatd.core.model import ModelEvent, ModelRequest, Ping, UsageReported
from chatd.engine.episodes import Episodes
from chatd.engine.models import ResolvedModel
from chatd.engine.ways_out import Changed, LetGo, NotOurs

OK: Final = "ok"
CANCELLED: Final = "cancelled"
OTHER_TOOL: Final = "other"  # the name of every tool that there is not: models make names up


class CallMeasure(Protocol):
    """One call of a model, around the block that makes it. `heard` is wanted only while `waits`."""

    waits: bool

    def sent(self, size: int) -> None:
        """The bytes of the request's body."""
        ...

    def heard(self, events: Sequence[ModelEvent]) -> None: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...


class ToolMeasure(Protocol):
    """One call of a tool, around the block that runs it. Without a result it was cancelled."""

    def result(self, size: int, *, is_error: bool, is_cut: bool) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...


class EngineMeter(Protocol):
    """Nothing here may fail or wait, and nothing is told for each chunk of a stream."""

    def turn(self, chat_id: UUID, model: ResolvedModel) -> AbstractContextManager[None]: ...

    def call(self, model: ResolvedModel, request: ModelRequest, accumulator: Accumulator) -> CallMeasure:
        """What was used is read from `accumulator` at the end, be the answer whole or not."""
        ...

    def stepped(self, model: ResolvedModel) -> None:
        """A model has answered."""
        ...

    def retried(self, model: ResolvedModel, kind: FailureKind) -> None: ...

    def compaction(self, model: ResolvedModel) -> AbstractContextManager[None]: ...

    def tool(self, model: ResolvedModel, name: str) -> ToolMeasure:
        """`name` is that of a registered tool, or OTHER_TOOL; `model` is who called it."""
        ...

    def watch(self, episodes: Episodes, running: Callable[[], int]) -> None:
        """Once, before any turn. `running` counts the chats that have a runner."""
        ...


def outcome(error: BaseException | None) -> str:
    """How something ended: `ok`, `cancelled`, or the kind of its failure."""
    if error is None:
        return OK
    failure = getattr(error, "failure", None)
    if isinstance(failure, Failure):
        return str(failure.kind)
    if isinstance(error, CancelledError | GeneratorExit | Changed | NotOurs | LetGo):
        return CANCELLED
    return str(FailureKind.UNKNOWN)


def says_something(events: Sequence[ModelEvent]) -> bool:
    """Whether the answer has begun: pings and counts are no part of it."""
    return any(not isinstance(event, Ping | UsageReported) for event in events)


class _NoMeasure:
    waits = False

    def sent(self, size: int) -> None:
        pass

    def heard(self, events: Sequence[ModelEvent]) -> None:
        pass

    def result(self, size: int, *, is_error: bool, is_cut: bool) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class _NoMeter:
    def turn(self, chat_id: UUID, model: ResolvedModel) -> AbstractContextManager[None]:
        return nullcontext()

    def call(self, model: ResolvedModel, request: ModelRequest, accumulator: Accumulator) -> CallMeasure:
        return _NoMeasure()

    def stepped(self, model: ResolvedModel) -> None:
        pass

    def retried(self, model: ResolvedModel, kind: FailureKind) -> None:
        pass

    def compaction(self, model: ResolvedModel) -> AbstractContextManager[None]:
        return nullcontext()

    def tool(self, model: ResolvedModel, name: str) -> ToolMeasure:
        return _NoMeasure()

    def watch(self, episodes: Episodes, running: Callable[[], int]) -> None:
        pass


NO_METER: Final[EngineMeter] = _NoMeter()
