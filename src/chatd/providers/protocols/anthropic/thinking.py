"""How a Claude model is asked to think, which depends on its version.

  before 4.6   a budget, or none; a call can't be forced meanwhile
  4.6          adaptive, or a budget that is on its way out
  4.7          adaptive only; no thinking unless asked
  4.8          and a call may be forced meanwhile
  5            thinks unless told not to, which it may be at no more than high effort
  5.5          always thinks, but for Haiku; Mythos and Fable always did

A name that does not tell its version is taken for a new model that may be told anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from chatd.core.model import ModelRequest, ToolChoice
from chatd.core.reasoning import ReasoningEffort
from chatd.providers.protocols.anthropic.options import AnthropicOptions, model_version

THOUGHTS: Final = frozenset(("thinking", "redacted_thinking"))

_LEAST_BUDGET: Final = 1024  # the vendor's
_EFFORTS: Final[Mapping[ReasoningEffort, str]] = {
    ReasoningEffort.MINIMAL: "low",
    ReasoningEffort.LOW: "low",
    ReasoningEffort.MEDIUM: "medium",
    ReasoningEffort.HIGH: "high",
    ReasoningEffort.XHIGH: "xhigh",
    ReasoningEffort.MAX: "max",
}
# For models that know no effort: doubling, up to what leaves room for an answer in the default limit.
_BUDGETS: Final[Mapping[ReasoningEffort, int]] = {
    ReasoningEffort.MINIMAL: _LEAST_BUDGET,
    ReasoningEffort.LOW: 2048,
    ReasoningEffort.MEDIUM: 4096,
    ReasoningEffort.HIGH: 8192,
    ReasoningEffort.XHIGH: 16_384,
    ReasoningEffort.MAX: 24_576,
}


class _Rules(msgspec.Struct, frozen=True):
    adaptive: bool
    budget: bool
    can_be_off: bool
    while_forced: bool  # may think though a call is forced


def thinking_config(
    request: ModelRequest, options: AnthropicOptions, messages: Sequence[Mapping[str, Any]], max_tokens: int
) -> dict[str, Any] | None:
    """The field `thinking`; None to leave it out."""
    rules = _rules(request.model)
    asked = options.thinking
    kind = asked.type if asked else None
    budget = asked.budget_tokens if asked else None
    wanted = request.reasoning_effort if request.capabilities.reasoning else None
    if kind is None and wanted is ReasoningEffort.NONE:
        kind = "disabled"
    elif kind is None and (wanted is not None or budget is not None):
        kind = "enabled" if rules.budget and (budget is not None or not rules.adaptive) else "adaptive"
    if kind is not None and request.tool_choice is ToolChoice.REQUIRED and not rules.while_forced:
        kind = "disabled"
    display = {"display": options.thinking_display} if options.thinking_display else {}
    match kind:
        case "adaptive":
            return {"type": "adaptive", "display": "summarized"} | display  # newer models omit it unless told
        case "enabled":
            budget = min(budget or _BUDGETS.get(wanted or ReasoningEffort.MEDIUM, _LEAST_BUDGET), max_tokens - 1)
            if budget < _LEAST_BUDGET or _goes_on_without_thinking(messages):
                return None
            return {"type": "enabled", "budget_tokens": budget} | display
        case "disabled" if rules.adaptive and rules.can_be_off:
            return {"type": "disabled"}
        case _:
            return None


def effort_of(request: ModelRequest, options: AnthropicOptions, thinking: Mapping[str, Any] | None) -> str | None:
    """`output_config.effort`; None to leave it out."""
    if options.effort is not None:
        return options.effort
    wanted = request.reasoning_effort
    rules = _rules(request.model)
    if wanted is None or not request.capabilities.reasoning or not rules.adaptive:
        return None
    if wanted is ReasoningEffort.NONE:
        return None if rules.can_be_off else "low"
    effort = _EFFORTS[wanted]
    is_off = thinking is not None and thinking["type"] == "disabled"
    return "high" if is_off and effort in ("xhigh", "max") else effort


def _rules(model: str) -> _Rules:
    version = model_version(model)
    always = "mythos" in model or "fable" in model
    if version is None:
        return _Rules(adaptive=True, budget=not always, can_be_off=not always, while_forced=True)
    return _Rules(
        adaptive=version >= (4, 6),
        budget=version < (4, 7) and not always,
        can_be_off=not always and (version < (5, 5) or "haiku" in model),
        while_forced=version >= (4, 8),
    )


def _goes_on_without_thinking(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether results go back to a call that was made without thinking, by another vendor say: with a budget, the
    vendor wants thinking at the start of that message."""
    if len(messages) < 2:
        return False
    call, results = messages[-2]["content"], messages[-1]["content"]
    return results[0]["type"] == "tool_result" and call[0]["type"] not in THOUGHTS
