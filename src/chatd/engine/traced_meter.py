"""The meter that traces: turns, calls, tools and compactions as spans, named as the GenAI conventions say.

Spans say who was asked, how long it took, what it used and how it ended; never what anybody wrote.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Self
from uuid import UUID

from chatd.core.accumulate import Accumulator
from chatd.core.failure import FailureKind
from chatd.core.model import ModelEvent, ModelRequest
from chatd.core.provider_kind import ProviderKind
from chatd.core.usage import Usage
from chatd.engine.episodes import Episodes
from chatd.engine.meter import CANCELLED, OK, CallMeasure, EngineMeter, ToolMeasure, outcome, says_something
from chatd.engine.models import ResolvedModel
from chatd.observe.traces import Span, SpanKind, Tracer, Value

# What the conventions call them; a name that they do not know is ours.
_PROVIDERS: Final = {
    ProviderKind.AZURE: "azure.ai.openai",
    ProviderKind.BEDROCK: "aws.bedrock",
    ProviderKind.GOOGLE: "gcp.gemini",
    ProviderKind.VERTEX: "gcp.vertex_ai",
}


class TracedMeter:
    """Tells `inner` everything, too. `monotonic` gives seconds."""

    def __init__(self, inner: EngineMeter, tracer: Tracer, monotonic: Callable[[], float]) -> None:
        self._inner = inner
        self._tracer = tracer
        self._monotonic = monotonic

    @contextmanager
    def turn(self, chat_id: UUID, model: ResolvedModel) -> Generator[None]:
        attributes = _attributes("invoke_agent", model)
        attributes["gen_ai.agent.name"] = "chatd"
        attributes["gen_ai.conversation.id"] = str(chat_id)
        with self._tracer.span("invoke_agent chatd", SpanKind.INTERNAL, attributes) as span:
            try:
                with self._inner.turn(chat_id, model):
                    yield
            except BaseException as error:
                _end(span, outcome(error))
                raise

    def call(self, model: ResolvedModel, request: ModelRequest, accumulator: Accumulator) -> CallMeasure:
        attributes = _attributes("chat", model)
        attributes["gen_ai.request.stream"] = True
        if request.max_output_tokens is not None:
            attributes["gen_ai.request.max_tokens"] = request.max_output_tokens
        inner = self._inner.call(model, request, accumulator)
        span = self._tracer.span(f"chat {model.model}", SpanKind.CLIENT, attributes)
        return _TracedCall(inner, span, accumulator, self._monotonic)

    def stepped(self, model: ResolvedModel) -> None:
        self._inner.stepped(model)

    def retried(self, model: ResolvedModel, kind: FailureKind) -> None:
        self._inner.retried(model, kind)

    @contextmanager
    def compaction(self, model: ResolvedModel) -> Generator[None]:
        # The conventions have no name for it.
        with self._tracer.span("compaction", SpanKind.INTERNAL, _attributes("compaction", model)) as span:
            try:
                with self._inner.compaction(model):
                    yield
            except BaseException as error:
                _end(span, outcome(error))
                raise

    def tool(self, model: ResolvedModel, name: str) -> ToolMeasure:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
        }
        span = self._tracer.span(f"execute_tool {name}", SpanKind.INTERNAL, attributes)
        return _TracedTool(self._inner.tool(model, name), span)

    def watch(self, episodes: Episodes, running: Callable[[], int]) -> None:
        self._inner.watch(episodes, running)


class _TracedCall:
    def __init__(
        self,
        inner: CallMeasure,
        span: AbstractContextManager[Span],
        accumulator: Accumulator,
        monotonic: Callable[[], float],
    ) -> None:
        self.waits = True
        self._inner = inner
        self._entered = span
        self._accumulator = accumulator
        self._monotonic = monotonic
        self._span: Span | None = None
        self._began = 0.0

    def sent(self, size: int) -> None:
        self._inner.sent(size)

    def heard(self, events: Sequence[ModelEvent]) -> None:
        if self._inner.waits:
            self._inner.heard(events)
        if says_something(events):
            self.waits = False
            if self._span is not None:
                self._span.set("gen_ai.response.time_to_first_chunk", self._monotonic() - self._began)

    async def __aenter__(self) -> Self:
        self._span = self._entered.__enter__()
        self._began = self._monotonic()
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object, /) -> None:
        await self._inner.__aexit__(type(error) if error else None, error, None)
        if self._span is not None:
            _set_usage(self._span, self._accumulator.usage)
            _end(self._span, outcome(error))
        # Not told of the error: nothing but its kind is to be known.
        self._entered.__exit__(None, None, None)


class _TracedTool:
    def __init__(self, inner: ToolMeasure, span: AbstractContextManager[Span]) -> None:
        self._inner = inner
        self._entered = span
        self._span: Span | None = None
        self._outcome = CANCELLED

    def result(self, size: int, *, is_error: bool, is_cut: bool) -> None:
        self._inner.result(size, is_error=is_error, is_cut=is_cut)
        self._outcome = "tool_error" if is_error else OK

    def __enter__(self) -> Self:
        self._span = self._entered.__enter__()
        self._inner.__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object, /) -> None:
        self._inner.__exit__(type(error) if error else None, error, None)
        if self._span is not None:
            _end(self._span, self._outcome)
        self._entered.__exit__(None, None, None)


def _attributes(operation: str, model: ResolvedModel) -> dict[str, Value]:
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": _PROVIDERS.get(model.kind, str(model.kind)),
        "gen_ai.request.model": model.model,
    }


def _set_usage(span: Span, usage: Usage) -> None:
    """The conventions count what came from and went into a cache as input."""
    cached, written = usage.cache_read_tokens, usage.cache_creation_tokens
    counts = (
        ("gen_ai.usage.input_tokens", _sum(usage.input_tokens, cached, written)),
        ("gen_ai.usage.output_tokens", usage.output_tokens),
        ("gen_ai.usage.cache_read.input_tokens", cached),
        ("gen_ai.usage.cache_creation.input_tokens", written),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens),
    )
    for name, count in counts:
        if count is not None:
            span.set(name, count)


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _end(span: Span, ended: str) -> None:
    """Being interrupted is no error, but it is worth knowing."""
    if ended == CANCELLED:
        span.set("chatd.cancelled", True)
    elif ended != OK:
        span.fail(ended)
