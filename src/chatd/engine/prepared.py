"""What a turn is made with, once: the chat's model, tools, sections and window."""

from collections.abc import Mapping
from uuid import UUID

import msgspec

from chatd.core.compaction import Window
from chatd.core.model import PromptMessage
from chatd.core.reasoning import ReasoningEffort
from chatd.core.system_prompt import Circumstances
from chatd.core.turn_settings import TurnSettings
from chatd.engine.models import ResolvedModel
from chatd.engine.tools.registry import Seat
from chatd.engine.tools.toolset import Toolset
from chatd.store.queries import GetTurnContextRow
from chatd.wire.agent.context import ContextResource


class Basis(msgspec.Struct, frozen=True):
    """What tools and sections are made from, before the chat's workspace has said anything."""

    chat: GetTurnContextRow
    seat: Seat
    given: Circumstances
    settings: TurnSettings


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """`sections` stand between the system messages of the history and the rest;
    `opening` in their place where the history has no system messages of its own. `summarizer` makes summaries."""

    title: str
    model: ResolvedModel
    summarizer: ResolvedModel
    effort: ReasoningEffort | None
    organization_id: UUID
    ancestors: tuple[UUID, ...] = ()  # of the chat, the nearest first
    tools: Toolset
    window: Window
    origins: dict[UUID, str]  # the provider of each configured model
    generation: int = 0  # of `Models`, when it was made
    sections: tuple[PromptMessage, ...] = ()
    opening: tuple[PromptMessage, ...] = ()
    basis: Basis
    skills: Mapping[str, ContextResource] = {}  # of the workspace, by name
    informed_at: int | None = None  # the generation of TurnWorkspace that was asked what it tells models
    told_at: int | None = None  # the `bindings` of TurnWorkspace whose workspace has told something
