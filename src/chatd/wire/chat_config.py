"""What admins set for all chats, and users for their own."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chatd.core.chat_settings import LONGEST_TTL_MS
from chatd.core.custom_prompt import MOST_BYTES
from chatd.core.reasoning import ReasoningEffort
from chatd.core.spend import Period
from chatd.core.turn_settings import ModelContext

PromptText = Annotated[str, Meta(max_length=2 * MOST_BYTES)]  # longer than any valid one, so that the rule is told
Percent = Annotated[int, Meta(ge=0, le=100)]
Micros = Annotated[int, Meta(ge=0, le=10**15)]


class SystemPrompt(msgspec.Struct):
    """`default_system_prompt` is chatd's own; it stands before the deployment's where it is included."""

    system_prompt: str
    include_default_system_prompt: bool
    default_system_prompt: str


class SaveSystemPrompt(msgspec.Struct, forbid_unknown_fields=True):
    """Whether chatd's own prompt is included stays as it is when that is left out."""

    system_prompt: PromptText
    include_default_system_prompt: bool | UnsetType = UNSET


class PlanModeInstructions(msgspec.Struct, forbid_unknown_fields=True):
    plan_mode_instructions: PromptText


class ModelOverride(msgspec.Struct):
    """The model for this side of the work; none: the chat's own. `is_malformed`: what is stored can't be read."""

    context: ModelContext
    model_config_id: UUID | None
    reasoning_effort: ReasoningEffort | None
    is_malformed: bool


class SaveModelOverride(msgspec.Struct, forbid_unknown_fields=True):
    """Without a model the override is cleared."""

    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None


class WorkspaceTtl(msgspec.Struct, forbid_unknown_fields=True):
    """How long a workspace may be idle. 0: as long as it likes."""

    workspace_ttl_ms: Annotated[int, Meta(ge=0, le=LONGEST_TTL_MS)]


class DesktopEnabled(msgspec.Struct, forbid_unknown_fields=True):
    """Whether agents may use a virtual desktop."""

    enable_desktop: bool


class UserPrompt(msgspec.Struct, forbid_unknown_fields=True):
    """What the user wants every chat of theirs to know."""

    custom_prompt: PromptText


class CompactionThreshold(msgspec.Struct):
    model_config_id: UUID
    threshold_percent: int


class CompactionThresholds(msgspec.Struct):
    """Instead of the models' own. 100: never by itself."""

    thresholds: list[CompactionThreshold]


class SaveCompactionThreshold(msgspec.Struct, forbid_unknown_fields=True):
    threshold_percent: Percent


class UsageLimit(msgspec.Struct):
    """Of one user, of each member of a group, or of everyone who has no other (neither id). No `limit_micros`: as much
    as they like."""

    user_id: UUID | None
    group_id: UUID | None
    period: Period
    limit_micros: int | None


class UsageLimits(msgspec.Struct):
    limits: list[UsageLimit]


class SaveUsageLimit(msgspec.Struct, forbid_unknown_fields=True):
    period: Period
    limit_micros: Micros | None
    user_id: UUID | None = None
    group_id: UUID | None = None
