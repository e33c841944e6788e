"""How a Claude model is asked to think, which depends on its version.

  before 4.6   a budget, or none; a call can't be forced meanwhile
  4.6          adaptive, or a budget that is on its way out
  4.7          adaptive only; no thinking unless asked; no sampling from here on
  4.8          and a call may be forced meanwhile
  5            thinks unless told not to, which it may be at no more than high effort
  5.1          Fable and Mythos, which always think: no call can be forced
  5.5          so do Opus and Sonnet, which may be told to do it between calls only; Haiku is as 5 was

From 5.1 and 5.5 on, thinking that goes back is bound to all that came before it. Histories do change (edits, tools,
instructions), so these models are told to drop what no longer fits; else they refuse the request.

A name that does not tell its version is taken for a new model that may be told anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from chatd.core.model import ModelRequest, ToolChoice
from chatd.core.reasoning import ReasoningEffort
from chatd.providers.protocols.anthropic.options import (
    AnthropicOptions,
    binds_thoughts,
    is_always_thinking,
    model_version,
)

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
_DROP_WHAT_CHANGED: Final = {"prefix_mismatch_behavior": "drop_block"}


class ThinkingRules(msgspec.Struct, frozen=True):
    adaptive: bool
    budget: bool
    can_be_off: bool
    between_tools: bool  # instead of off
    while_forced: bool  # may think though a call is forced
    can_force: bool
    xhigh: bool  # knows that effort
    sampling: bool  # takes a temperature and its like
    bound: bool


def rules_of(model: str) -> ThinkingRules:
    version = model_version(model)
    always = is_always_thinking(model)
    if version is None:
        return ThinkingRules(
            adaptive=True,
            budget=not always,
            can_be_off=not always,
            between_tools=True,
            while_forced=True,
            can_force=True,
            xhigh=True,
            sampling=not always,
            bound=False,
        )
    stays_on = always or (version >= (5, 5) and "haiku" not in model)
    return ThinkingRules(
        adaptive=version >= (4, 6),
        budget=version < (4, 7) and not always,
        can_be_off=not stays_on,
        between_tools=stays_on and "sonnet" in model,
        while_forced=version >= (4, 8),
        can_force=not (stays_on and version >= (5, 1)),
        xhigh=version >= (4, 7),
        sampling=version < (4, 7),
        bound=binds_thoughts(model),
    )


def sends_thoughts(request: ModelRequest, options: AnthropicOptions) -> bool:
    """Whether thinking goes back. Where it is bound and off, nobody could say that it may be dropped."""
    is_off = _kind(request, options) in ("disabled", "between_tools")
    return options.send_reasoning and not (is_off and rules_of(request.model).bound)


def thinking_config(
    request: ModelRequest, options: AnthropicOptions, messages: Sequence[Mapping[str, Any]], max_tokens: int
) -> dict[str, Any] | None:
    """The field `thinking`; None to leave it out."""
    rules = rules_of(request.model)
    kind = _kind(request, options)
    is_bound = rules.bound and _has_thoughts(messages)
    if kind is None and is_bound:
        kind = "adaptive"  # as such a model is anyway
    display = {"display": options.thinking_display} if options.thinking_display else {}
    match kind:
        case "adaptive":
            binding = {"block_binding": _DROP_WHAT_CHANGED} if is_bound else {}
            return {"type": "adaptive", "display": "summarized"} | display | binding  # newer models omit it unless told
        case "enabled":
            asked = options.thinking.budget_tokens if options.thinking else None
            wanted = request.reasoning_effort or ReasoningEffort.MEDIUM
            budget = min(asked or _BUDGETS.get(wanted, _LEAST_BUDGET), max_tokens - 1)
            if budget < _LEAST_BUDGET or _goes_on_without_thinking(messages):
                return None
            return {"type": "enabled", "budget_tokens": budget} | display
        case "between_tools":
            return {"type": "between_tools"}
        case "disabled" if rules.adaptive and rules.can_be_off:
            return {"type": "disabled"}
        case _:
            return None


def effort_of(request: ModelRequest, options: AnthropicOptions, thinking: Mapping[str, Any] | None) -> str | None:
    """`output_config.effort`; None to leave it out."""
    if options.effort is not None:
        return options.effort
    wanted = request.reasoning_effort
    rules = rules_of(request.model)
    if wanted is None or not request.capabilities.reasoning or not rules.adaptive:
        return None
    if wanted is ReasoningEffort.NONE:
        return None if rules.can_be_off else "low"
    effort = _EFFORTS[wanted]
    is_off = thinking is not None and thinking["type"] in ("disabled", "between_tools")
    if (is_off and effort in ("xhigh", "max")) or (effort == "xhigh" and not rules.xhigh):
        return "high"
    return effort


def _kind(request: ModelRequest, options: AnthropicOptions) -> str | None:
    """What is wanted, if anyone wants something, as far as the model knows it."""
    rules = rules_of(request.model)
    asked = options.thinking
    kind = asked.type if asked else None
    has_budget = asked is not None and asked.budget_tokens is not None
    wanted = request.reasoning_effort if request.capabilities.reasoning else None
    if kind is None and wanted is ReasoningEffort.NONE:
        kind = "disabled"
    elif kind is None and (wanted is not None or has_budget):
        kind = "enabled" if rules.budget and (has_budget or not rules.adaptive) else "adaptive"
    is_forced = request.tool_choice is ToolChoice.REQUIRED and rules.can_force
    if kind is not None and is_forced and not rules.while_forced:
        return "disabled"
    match kind:
        case "enabled" if not rules.budget:
            return "adaptive"
        case "adaptive" if not rules.adaptive:
            return "enabled"
        case "between_tools" if not rules.between_tools:
            return "disabled"
        case _:
            return kind


def _has_thoughts(messages: Sequence[Mapping[str, Any]]) -> bool:
    return any(block["type"] in THOUGHTS for message in messages for block in message["content"])


def _goes_on_without_thinking(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether results go back to calls that were begun without thinking, by another vendor say: with a budget, the
    vendor wants thinking at the start of the first message since the user spoke, and often gives none in later ones."""
    place = len(messages) - 2
    if place < 0 or messages[-1]["content"][0]["type"] != "tool_result":
        return False
    while place >= 2 and all(block["type"] == "tool_result" for block in messages[place - 1]["content"]):
        place -= 2
    return messages[place]["content"][0]["type"] not in THOUGHTS
