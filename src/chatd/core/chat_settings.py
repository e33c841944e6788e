"""What the deployment sets for chats besides their turns' prompts and models: kept as site settings, read leniently."""

from typing import Annotated, Final, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.reasoning import ReasoningEffort

ADVISOR: Final = "advisor"
WORKSPACE_TTL: Final = "agents_workspace_ttl"
DESKTOP_ENABLED: Final = "desktop_enabled"

_MINUTE_MS: Final = 60_000
SHORTEST_TTL_MS: Final = _MINUTE_MS  # shorter would stop a workspace while it starts
LONGEST_TTL_MS: Final = 30 * 24 * 60 * _MINUTE_MS  # 30 days: what nobody touched for a month nobody needs
_MOST_USES: Final = 1000  # of an advisor in a turn: about as many as a turn has steps
_MOST_TOKENS: Final = 1_000_000  # above what any model writes in one answer

_Value = TypeVar("_Value")


class Advisor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A second model that a chat's model may ask. 0 uses or tokens: as many as it takes. Without a model it is the
    chat's own."""

    enabled: bool = False
    max_uses_per_run: Annotated[int, Meta(ge=0, le=_MOST_USES)] = 0
    max_output_tokens: Annotated[int, Meta(ge=0, le=_MOST_TOKENS)] = 0
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None


def check_workspace_ttl(milliseconds: int) -> None:
    """0 switches it off. Raises InvalidRequest."""
    if milliseconds and not SHORTEST_TTL_MS <= milliseconds <= LONGEST_TTL_MS:
        detail = f"must be 0 (never), or from {SHORTEST_TTL_MS} (a minute) to {LONGEST_TTL_MS} (30 days)"
        raise InvalidRequest("Check workspace_ttl_ms.", validations=[Validation("workspace_ttl_ms", detail)])


def read_setting(stored: str | None, default: _Value) -> _Value:
    """What is stored, if it can be read as such a value: nothing fails for a setting that is of another version."""
    if stored is None:
        return default
    try:
        return msgspec.json.decode(stored, type=type(default))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return default
