"""Workspaces as a client sees them: where commands run, what was built when, and what a build said."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chatd.core.states import Status
from chatd.core.workspaces import limits, template_checks
from chatd.core.workspaces.kinds import BuildReason, BuildStatus, BuildTransition
from chatd.core.workspaces.states import WorkspaceState
from chatd.wire.agent.health import Health
from chatd.wire.users import RULES

_LONGEST = 1 << 20  # as the largest body, so that core can say what is wrong

WorkspaceName = Annotated[
    str, Meta(max_length=_LONGEST, extra_json_schema={RULES: {"pattern": template_checks.NAME_PATTERN}})
]
Span = Annotated[int, Meta(ge=0, le=template_checks.LONGEST_MS)]
Values = Annotated[
    dict[str, str], Meta(max_length=1000, extra_json_schema={RULES: {"maxProperties": limits.MOST_PARAMETERS}})
]


class WorkspaceBuild(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that is done to a workspace. `initiator_id` is left out where chatd did it by itself; `error` says
    why it failed."""

    id: UUID
    workspace_id: UUID
    number: int
    transition: BuildTransition
    status: BuildStatus
    reason: BuildReason
    created_at: datetime
    initiator_id: UUID | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: str = ""
    error_code: str = ""
    cancelling: bool = False


class LatestBuild(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: UUID
    number: int
    transition: BuildTransition
    status: BuildStatus
    created_at: datetime
    finished_at: datetime | None = None
    error: str = ""
    error_code: str = ""


class WorkspaceChat(msgspec.Struct, frozen=True):
    """A chat that works in a workspace."""

    id: UUID
    title: str
    status: Status
    updated_at: datetime


class WorkspaceAgent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether the agent in the workspace answers; else why not."""

    reachable: bool
    health: Health | None = None
    message: str | None = None


class Workspace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """It stops by itself at `deadline`, which use puts off, up to `max_deadline`; without them it runs on. `ttl_ms` is
    its own time until then: null is the template's, 0 none. `host_id` is the machine that it is on, where only that one
    reaches it. `chats` are there when one workspace is asked for, `agent` when that was asked for too."""

    id: UUID
    organization_id: UUID
    owner_id: UUID
    owner_name: str
    template_id: UUID
    template_name: str
    name: str
    state: WorkspaceState
    parameters: dict[str, str]
    ttl_ms: int | None
    latest_build: LatestBuild
    last_used_at: datetime
    created_at: datetime
    updated_at: datetime
    deadline: datetime | None = None
    max_deadline: datetime | None = None
    host_id: str | None = None
    chats: list[WorkspaceChat] | None = None
    agent: WorkspaceAgent | None = None


class WorkspacePage(msgspec.Struct, frozen=True):
    """`next_after` is the `after` of the next page; null on the last one."""

    workspaces: list[Workspace]
    next_after: UUID | None


class WorkspaceSummary(msgspec.Struct, frozen=True):
    """Of the workspace that a chat works in."""

    id: UUID
    name: str
    state: WorkspaceState
    template_name: str


class CreateWorkspace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Without a name it is given one. `parameters` are values by the names of the template's."""

    template_id: UUID
    name: WorkspaceName | None = None
    parameters: Values = {}
    ttl_ms: Span | None = None


class UpdateWorkspace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays. `ttl_ms`: null is the template's; one that runs has it from now on."""

    name: WorkspaceName | UnsetType = UNSET
    ttl_ms: Span | UnsetType | None = UNSET


class CreateBuild(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`parameters` are for a start: values that are left out stay as they are."""

    transition: BuildTransition
    parameters: Values | None = None


class WorkspaceBuildPage(msgspec.Struct, frozen=True):
    """Newest first. `next_before` is the `before` of the next page."""

    builds: list[WorkspaceBuild]
    next_before: int | None


class BuildLogLine(msgspec.Struct, frozen=True):
    """`id` grows from line to line; `level` is info, warning or error."""

    id: int
    created_at: datetime
    level: str
    stage: str
    line: str


class BuildLogs(msgspec.Struct, frozen=True):
    """`next_after` is the `after` of what follows; null when that was all, for now."""

    logs: list[BuildLogLine]
    next_after: int | None
    build: WorkspaceBuild
