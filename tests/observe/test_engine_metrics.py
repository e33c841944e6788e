"""Labels of the engine's metrics stay few, whatever there is to count."""

from prometheus_client import CollectorRegistry

from chatd.core.usage import Usage
from chatd.observe.engine_metrics import MOST_MODELS, MOST_TOOLS, EngineMetrics


def labels(registry: CollectorRegistry, name: str, label: str) -> set[str]:
    return {one.labels[label] for metric in registry.collect() for one in metric.samples if one.name == name}


def test_models_that_come_after_many_are_counted_together():
    registry = CollectorRegistry()
    metrics = EngineMetrics(registry)
    for number in range(MOST_MODELS + 50):
        metrics.of("openai", f"model-{number}").stepped()

    assert len(labels(registry, "chatd_steps_total", "model")) == MOST_MODELS + 1
    together = {"provider": "openai", "model": "other"}
    assert registry.get_sample_value("chatd_steps_total", together) == 50


def test_tools_that_come_after_many_are_counted_together():
    registry = CollectorRegistry()
    model = EngineMetrics(registry).of("openai", "gpt")
    for number in range(MOST_TOOLS + 50):
        model.tool(f"tool-{number}").called("ok", 1.0)

    assert len(labels(registry, "chatd_tool_calls_total", "tool")) == MOST_TOOLS + 1
    assert registry.get_sample_value("chatd_tool_seconds_count", {"tool": "other"}) == 50


def test_what_has_no_name_is_unknown():
    registry = CollectorRegistry()
    EngineMetrics(registry).of("", "").tool("").called("ok", 1.0)

    names = {"provider": "unknown", "model": "unknown", "tool": "unknown", "outcome": "ok"}
    assert registry.get_sample_value("chatd_tool_calls_total", names) == 1


def test_a_kind_of_token_that_was_not_reported_is_no_series():
    registry = CollectorRegistry()
    EngineMetrics(registry).of("openai", "gpt").used(Usage(input_tokens=3), cost=None)

    assert labels(registry, "chatd_provider_tokens_total", "kind") == {"input"}
    assert (
        registry.get_sample_value("chatd_provider_cost_microdollars_total", {"provider": "openai", "model": "gpt"}) == 0
    )


def test_chats_that_are_not_in_a_turn_wait():
    registry = CollectorRegistry()
    metrics = EngineMetrics(registry)
    metrics.watch_chats(lambda: 5)
    metrics.generating = 2

    assert registry.get_sample_value("chatd_chats", {"state": "generating"}) == 2
    assert registry.get_sample_value("chatd_chats", {"state": "waiting"}) == 3
