"""What the deployment sets for all turns: prompts, and which model does which side of the work."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from chatd.core.reasoning import ReasoningEffort

SYSTEM_PROMPT: Final = "system_prompt"
INCLUDE_DEFAULT_PROMPT: Final = "include_default_system_prompt"
PLAN_MODE_INSTRUCTIONS: Final = "plan_mode_instructions"


class ModelContext(StrEnum):
    """Where another model than the chat's may be set."""

    GENERAL = "general"  # subagents
    EXPLORE = "explore"  # subagents that only read
    TITLE_GENERATION = "title_generation"
    COMPACTION = "compaction"

    @property
    def key(self) -> str:
        """Of the site setting."""
        return f"model_override:{self}"


class ModelOverride(msgspec.Struct, frozen=True, omit_defaults=True):
    model_config_id: UUID
    reasoning_effort: ReasoningEffort | None = None


class TurnSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`include_default` is None when nobody has set it. `unreadable` are keys that count as not set.

    `offers_workspaces`: there is a template that models may make them from.
    """

    system_prompt: str = ""
    include_default: bool | None = None
    plan_mode_instructions: str = ""
    overrides: Mapping[ModelContext, ModelOverride] = {}
    unreadable: frozenset[str] = frozenset()
    offers_workspaces: bool = False

    @property
    def includes_default(self) -> bool:
        """Whether chatd's own prompt stands before the deployment's. Unless set: only when there is none."""
        return not self.system_prompt if self.include_default is None else self.include_default


KEYS: Final = (
    SYSTEM_PROMPT,
    INCLUDE_DEFAULT_PROMPT,
    PLAN_MODE_INSTRUCTIONS,
    *(context.key for context in ModelContext),
)
_Value = TypeVar("_Value")
_TEXT: Final = msgspec.json.Decoder(str)
_FLAG: Final = msgspec.json.Decoder(bool)
_OVERRIDE: Final = msgspec.json.Decoder(ModelOverride)


def read_turn_settings(stored: Mapping[str, str]) -> TurnSettings:
    """From the site settings of KEYS, by key, as JSON. Never fails: a turn runs whatever is stored."""
    unreadable: set[str] = set()

    def read(key: str, decoder: "msgspec.json.Decoder[_Value]") -> _Value | None:
        text = stored.get(key)
        if text is None:
            return None
        try:
            return decoder.decode(text)
        except (msgspec.DecodeError, ValueError, RecursionError):
            unreadable.add(key)
            return None

    overrides = {context: found for context in ModelContext if (found := read(context.key, _OVERRIDE))}
    return TurnSettings(
        system_prompt=read(SYSTEM_PROMPT, _TEXT) or "",
        include_default=read(INCLUDE_DEFAULT_PROMPT, _FLAG),
        plan_mode_instructions=read(PLAN_MODE_INSTRUCTIONS, _TEXT) or "",
        overrides=overrides,
        unreadable=frozenset(unreadable),
    )
