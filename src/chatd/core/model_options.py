"""How a configured model is called: limits, sampling, effort, timeouts, and what its vendor is told besides.

Stored as JSON beside the model; what a newer chatd has added is ignored when it is read.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from chatd.core.errors import Validation
from chatd.core.model import Capabilities
from chatd.core.reasoning import ReasoningEffort

MOST_SECONDS: Final = 3600  # a model that is silent for an hour has been forgotten by its vendor
_EFFORTS: Final = tuple(ReasoningEffort)

Seconds = Annotated[float, Meta(gt=0, le=MOST_SECONDS)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]


class EffortRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How hard the model thinks when nobody says, and the most that one may ask for."""

    default: ReasoningEffort
    max: ReasoningEffort

    def clamp(self, asked: ReasoningEffort | None, scale: Sequence[ReasoningEffort] = _EFFORTS) -> ReasoningEffort:
        """What to tell a model of this scale: what was asked for, else the next less, else the least it knows."""
        wanted = self.default if asked is None else asked
        allowed = self.selectable(scale)
        less = [effort for effort in allowed if _EFFORTS.index(effort) <= _EFFORTS.index(wanted)]
        if less:
            return less[-1]
        return next((effort for effort in _EFFORTS if effort in scale), self.max)

    def selectable(self, scale: Sequence[ReasoningEffort] = _EFFORTS) -> tuple[ReasoningEffort, ...]:
        """Those of the model's scale that one may ask for, from least to most."""
        most = _EFFORTS.index(self.max)
        return tuple(effort for effort in _EFFORTS[: most + 1] if effort in scale)


class CapabilityOverrides(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the operator knows better than the catalogue. Left out: as the catalogue says."""

    images: bool | None = None
    pdfs: bool | None = None
    text_files: bool | None = None
    tools: bool | None = None
    reasoning: bool | None = None
    temperature: bool | None = None
    system_messages: bool | None = None
    max_image_bytes: Annotated[int, Meta(ge=1, le=2**40)] | None = None

    def apply(self, capabilities: Capabilities) -> Capabilities:
        said = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        return msgspec.structs.replace(capabilities, **said)


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`provider_options` has one key, the vendor's (`anthropic`, `openai`, …), with the options of its protocol."""

    max_output_tokens: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    reasoning_effort: EffortRange | None = None
    first_event_seconds: Seconds | None = None
    silence_seconds: Seconds | None = None
    capabilities: CapabilityOverrides | None = None
    provider_options: Mapping[str, Mapping[str, Any]] | None = None


def effort_problems(effort: EffortRange | None, *, field: str) -> list[Validation]:
    if effort is None or _EFFORTS.index(effort.default) <= _EFFORTS.index(effort.max):
        return []
    return [Validation(f"{field}.default", f"at most {effort.max}, which is the max")]


def without_empty(options: ModelOptions) -> ModelOptions:
    """Empty objects say nothing."""
    provider_options = {name: value for name, value in (options.provider_options or {}).items() if value}
    capabilities = None if options.capabilities == CapabilityOverrides() else options.capabilities
    return msgspec.structs.replace(options, provider_options=provider_options or None, capabilities=capabilities)
