"""Templates as a client sees them: what workspaces are made of."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chatd.core.workspaces import limits, template_checks
from chatd.core.workspaces.kinds import ProvisionerKind
from chatd.core.workspaces.parameters import Option, Parameter, ParameterType
from chatd.wire.users import RULES

_LONGEST = 1 << 20  # as the largest body, so that core can say what is wrong


def _documented(**schema: object) -> Meta:
    """Rules that the API document states and core/workspaces checks."""
    return Meta(max_length=_LONGEST, extra_json_schema={RULES: schema})


Name = Annotated[str, _documented(pattern=template_checks.NAME_PATTERN)]
DisplayName = Annotated[str, _documented(maxLength=template_checks.DISPLAY_NAME_LONGEST)]
Description = Annotated[str, _documented(maxLength=template_checks.DESCRIPTION_LONGEST)]
Icon = Annotated[str, _documented(maxLength=template_checks.ICON_LONGEST)]
Readme = Annotated[str, _documented(maxLength=template_checks.README_MOST_BYTES)]
Deprecated = Annotated[str, _documented(maxLength=template_checks.DEPRECATED_LONGEST)]
Span = Annotated[int, Meta(ge=0, le=template_checks.LONGEST_MS)]
Parameters = Annotated[
    list[Parameter], Meta(max_length=1000, extra_json_schema={RULES: {"maxItems": limits.MOST_PARAMETERS}})
]


class TemplateParameter(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of who makes a workspace. One without a default is required; one that is not mutable keeps its
    first value; an ephemeral one is for one build only."""

    name: str
    type: ParameterType
    display_name: str
    description: str
    required: bool
    default: str | None
    mutable: bool
    ephemeral: bool
    options: list[Option]
    regex: str
    regex_error: str
    min: float | None
    max: float | None


class Template(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Times are milliseconds, 0 for none. `workspace_count` are those of it that one may see. `config` is for admins
    and auditors alone. `deprecated` says why no new workspaces are made of it."""

    id: UUID
    organization_id: UUID
    name: str
    display_name: str
    description: str
    icon: str
    readme: str
    provisioner: ProvisionerKind
    parameters: list[TemplateParameter]
    agents_allowed: bool
    allows_user_autostop: bool
    default_ttl_ms: int
    activity_bump_ms: int
    max_lifetime_ms: int
    deprecated: str
    workspace_count: int
    created_at: datetime
    updated_at: datetime
    config: dict[str, Any] | None = None


class CreateTemplate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`config` is the provisioner's; docs/workspaces.md lists its fields."""

    name: Name
    provisioner: ProvisionerKind
    display_name: DisplayName = ""
    description: Description = ""
    icon: Icon = ""
    readme: Readme = ""
    config: dict[str, Any] = {}
    parameters: Parameters = []
    agents_allowed: bool = True
    allows_user_autostop: bool = True
    default_ttl_ms: Span = 0
    activity_bump_ms: Span = 3_600_000
    max_lifetime_ms: Span = 0
    deprecated: Deprecated = ""


class UpdateTemplate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays; `config` and `parameters` are replaced as a whole. Workspaces that are there have it
    from their next start on."""

    name: Name | UnsetType = UNSET
    display_name: DisplayName | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    icon: Icon | UnsetType = UNSET
    readme: Readme | UnsetType = UNSET
    config: dict[str, Any] | UnsetType = UNSET
    parameters: Parameters | UnsetType = UNSET
    agents_allowed: bool | UnsetType = UNSET
    allows_user_autostop: bool | UnsetType = UNSET
    default_ttl_ms: Span | UnsetType = UNSET
    activity_bump_ms: Span | UnsetType = UNSET
    max_lifetime_ms: Span | UnsetType = UNSET
    deprecated: Deprecated | UnsetType = UNSET
