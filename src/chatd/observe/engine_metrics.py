"""Metrics of the engine: calls of models, tools, compactions, retries, chats. docs/operate/metrics.md explains each."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Gauge

from chatd.core.usage import Usage
from chatd.observe.tallies import Tally, TallyBoard

UNKNOWN: Final = "unknown"  # for an empty label
OTHER: Final = "other"  # for all that come after so many
MOST_MODELS: Final = 200  # a deployment has a few dozen; configurations come and go while a process lives
MOST_TOOLS: Final = 200  # of one model; a chat has about thirty, and servers of tools bring more

# Answers take a second to some minutes.
CALL_BUCKETS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
# People notice from a quarter of a second on; models that think first may take a minute.
FIRST_TOKEN_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MESSAGE_BUCKETS: Final = tuple(float(2**power) for power in range(11))  # 1 to 1024
PROMPT_BUCKETS: Final = tuple(float(1024 * 4**power) for power in range(10))  # 1 KiB to 256 MiB, which are images
# Reading a file takes a millisecond, a build many minutes.
TOOL_BUCKETS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
RESULT_BUCKETS: Final = tuple(float(64 * 4**power) for power in range(9))  # 64 bytes to 4 MiB

_MODEL: Final = ("provider", "model")


class EngineMetrics:
    """In the registry of `Metrics`. `of` gives those of one model; what it gives may be kept."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.board = TallyBoard(registry)
        count, spread = self.board.count, self.board.spread
        self.calls = count("chatd_provider_calls_total", "Calls of models, by how they ended.", *_MODEL, "outcome")
        self.call_seconds = spread(
            "chatd_provider_call_seconds", "Time of a call, to the end of its answer.", CALL_BUCKETS, *_MODEL
        )
        self.first_token_seconds = spread(
            "chatd_provider_first_token_seconds", "Time until an answer begins.", FIRST_TOKEN_BUCKETS, *_MODEL
        )
        self.tokens = count("chatd_provider_tokens_total", "Tokens that providers reported.", *_MODEL, "kind")
        self.cost = count("chatd_provider_cost_microdollars_total", "Cost of those tokens, where known.", *_MODEL)
        self.prompt_messages = spread(
            "chatd_provider_prompt_messages", "Messages of a prompt.", MESSAGE_BUCKETS, *_MODEL
        )
        self.prompt_bytes = spread("chatd_provider_prompt_bytes", "Size of a request.", PROMPT_BUCKETS, *_MODEL)
        self.retries = count("chatd_provider_retries_total", "Calls that are made again.", *_MODEL, "kind")
        self.steps = count("chatd_steps_total", "Answers of models, tools not yet run.", *_MODEL)
        self.compactions = count("chatd_compactions_total", "Histories that were summarised.", *_MODEL, "result")
        self.tool_calls = count("chatd_tool_calls_total", "Calls of tools.", *_MODEL, "tool", "outcome")
        self.tool_cuts = count("chatd_tool_results_truncated_total", "Results cut to fit.", *_MODEL, "tool")
        self.tool_seconds = spread("chatd_tool_seconds", "Time of a call of a tool.", TOOL_BUCKETS, "tool")
        self.tool_bytes = spread("chatd_tool_result_bytes", "Size of a result.", RESULT_BUCKETS, "tool")
        self.dropped = count("chatd_stream_parts_dropped_total", "Live parts that found no room.").of()
        self.pushes = count("chatd_push_messages_total", "Messages to browsers.", "outcome")
        self._chats = Gauge("chatd_chats", "Chats that this process runs.", ["state"], registry=registry)
        self._queued = Gauge("chatd_chats_queued", "Chats that wait for any process.", ["pool"], registry=registry)
        self.generating = 0
        self._chats.labels("generating").set_function(lambda: self.generating)
        self._models: dict[tuple[str, str], ModelMetrics] = {}

    def of(self, provider: str, model: str) -> "ModelMetrics":
        key = (provider, model)
        found = self._models.get(key)
        if found is None:
            if len(self._models) >= MOST_MODELS:
                key = (provider, OTHER)
            found = self._models.get(key)
        if found is None:
            found = self._models[key] = ModelMetrics(self, key[0] or UNKNOWN, key[1] or UNKNOWN)
        return found

    def watch_chats(self, running: Callable[[], int]) -> None:
        """`running` counts the chats that have a runner; it is asked whenever the metrics are read."""
        self._chats.labels("waiting").set_function(lambda: max(0, running() - self.generating))

    def queue(self, *, roots: float, children: float) -> None:
        """So many chats of the whole deployment wait; not a number when that is not known."""
        self._queued.labels("root").set(roots)
        self._queued.labels("child").set(children)


class ModelMetrics:
    """Those of one model."""

    def __init__(self, metrics: EngineMetrics, provider: str, model: str) -> None:
        self._metrics = metrics
        self._labels = (provider, model)
        self._seconds = metrics.call_seconds.of(provider, model)
        self._first_token = metrics.first_token_seconds.of(provider, model)
        self._cost = metrics.cost.of(provider, model)
        self._messages = metrics.prompt_messages.of(provider, model)
        self._bytes = metrics.prompt_bytes.of(provider, model)
        self._steps = metrics.steps.of(provider, model)
        self._calls: dict[str, Tally] = {}
        self._tokens: dict[str, Tally] = {}
        self._tools: dict[str, ToolMetrics] = {}

    def called(self, outcome: str, seconds: float, *, messages: int) -> None:
        calls = self._calls.get(outcome)
        if calls is None:
            calls = self._calls[outcome] = self._metrics.calls.of(*self._labels, outcome)
        calls.value += 1
        self._seconds.add(seconds)
        self._messages.add(messages)

    def sent(self, size: int) -> None:
        self._bytes.add(size)

    def began(self, seconds: float) -> None:
        """The answer, after so long."""
        self._first_token.add(seconds)

    def used(self, usage: Usage, cost: int | None) -> None:
        self._count("input", usage.input_tokens)
        self._count("output", usage.output_tokens)
        self._count("cache_read", usage.cache_read_tokens)
        self._count("cache_creation", usage.cache_creation_tokens)
        self._count("reasoning", usage.reasoning_tokens)
        if cost:
            self._cost.value += cost

    def stepped(self) -> None:
        self._steps.value += 1

    def retried(self, kind: str) -> None:
        self._metrics.retries.of(*self._labels, kind).value += 1

    def compacted(self, result: str) -> None:
        self._metrics.compactions.of(*self._labels, result).value += 1

    def tool(self, name: str) -> "ToolMetrics":
        if name not in self._tools and len(self._tools) >= MOST_TOOLS:
            name = OTHER
        found = self._tools.get(name)
        if found is None:
            found = self._tools[name] = ToolMetrics(self._metrics, *self._labels, name or UNKNOWN)
        return found

    def _count(self, kind: str, tokens: int | None) -> None:
        if not tokens:
            return
        counter = self._tokens.get(kind)
        if counter is None:
            counter = self._tokens[kind] = self._metrics.tokens.of(*self._labels, kind)
        counter.value += tokens


class ToolMetrics:
    """Those of one tool, called by one model."""

    def __init__(self, metrics: EngineMetrics, provider: str, model: str, tool: str) -> None:
        self._metrics = metrics
        self._labels = (provider, model, tool)
        self._seconds = metrics.tool_seconds.of(tool)
        self._bytes = metrics.tool_bytes.of(tool)
        self._calls: dict[str, Tally] = {}

    def called(self, outcome: str, seconds: float) -> None:
        calls = self._calls.get(outcome)
        if calls is None:
            calls = self._calls[outcome] = self._metrics.tool_calls.of(*self._labels, outcome)
        calls.value += 1
        self._seconds.add(seconds)

    def answered(self, size: int, *, is_cut: bool) -> None:
        self._bytes.add(size)
        if is_cut:
            self._metrics.tool_cuts.of(*self._labels).value += 1
