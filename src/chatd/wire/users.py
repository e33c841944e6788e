"""People as a client sees them: users, logins, tokens, groups, the one organization."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chatd.core import people
from chatd.core.access import SCOPES, Role

# Longer than any valid value, so that core/people.py can say what is wrong; short enough to bound the work.
_LONGEST = 2048


RULES = "x-rules"  # the key under which a field carries what the API document says of it instead


def _documented(**schema: object) -> Meta:
    """Rules that the API document states and core/people.py checks, all fields at once and in words."""
    return Meta(max_length=_LONGEST, extra_json_schema={RULES: schema})


Text = Annotated[str, Meta(max_length=_LONGEST)]
Email = Annotated[str, _documented(format="email", maxLength=people.EMAIL_LONGEST)]
Name = Annotated[str, _documented(pattern=people.NAME_PATTERN)]
DisplayName = Annotated[str, _documented(maxLength=people.DISPLAY_NAME_LONGEST)]
Password = Annotated[
    str, _documented(format="password", minLength=people.PASSWORD_SHORTEST, maxLength=people.PASSWORD_LONGEST)
]
TokenName = Annotated[str, _documented(minLength=1, maxLength=people.TOKEN_NAME_LONGEST)]
Scope = Annotated[str, _documented(enum=sorted(SCOPES))]


class User(msgspec.Struct):
    id: UUID
    email: str
    username: str
    display_name: str
    role: Role
    status: str
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime | None
    organization_ids: list[UUID]


class UserPage(msgspec.Struct):
    """`next_after` is the `after` of the next page; null on the last one. `count` is what matches in all."""

    users: list[User]
    count: int
    next_after: UUID | None


class CreateUser(msgspec.Struct, forbid_unknown_fields=True):
    email: Email
    username: Name
    password: Password
    display_name: DisplayName = ""
    role: Role = Role.MEMBER


class CreateFirstUser(msgspec.Struct, forbid_unknown_fields=True):
    """`code` is the one-time code that `chatd serve` prints while there is no user."""

    code: Text
    email: Email
    username: Name
    password: Password
    display_name: DisplayName = ""


class FirstUserState(msgspec.Struct):
    exists: bool


class UpdateUser(msgspec.Struct, forbid_unknown_fields=True):
    """What is left out stays."""

    email: Email | UnsetType = UNSET
    username: Name | UnsetType = UNSET
    display_name: DisplayName | UnsetType = UNSET


class UpdateRole(msgspec.Struct, forbid_unknown_fields=True):
    role: Role


class UpdatePassword(msgspec.Struct, forbid_unknown_fields=True):
    """`old_password` is needed for one's own; an owner resets others' without it."""

    password: Password
    old_password: Text = ""


class Login(msgspec.Struct, forbid_unknown_fields=True):
    """`login` is an email address or a username; `email` is its older name."""

    password: Text
    login: Text = ""
    email: Text = ""


class LoggedIn(msgspec.Struct):
    """The token goes into `Authorization: Bearer …`; a browser uses the cookie that comes with it."""

    session_token: str
    expires_at: datetime
    user: User


class Token(msgspec.Struct):
    """An API token or a session, without the token itself, which is shown once, when it is made."""

    id: UUID
    user_id: UUID
    kind: str
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    client_ip: str
    user_agent: str
    current: bool


class TokenPage(msgspec.Struct):
    """`next_before` is the `before` of the next page; null on the last one."""

    tokens: list[Token]
    next_before: UUID | None


class CreateToken(msgspec.Struct, forbid_unknown_fields=True):
    name: TokenName
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=64)] = msgspec.field(default_factory=lambda: ["*:*"])
    lifetime_hours: Annotated[int, Meta(ge=1, le=8760)] = 720


class CreatedToken(msgspec.Struct):
    key: str
    token: Token


class Group(msgspec.Struct):
    id: UUID
    name: str
    display_name: str
    created_at: datetime


class GroupPage(msgspec.Struct):
    groups: list[Group]
    next_after: UUID | None


class GroupMember(msgspec.Struct):
    """What members of a group may know of each other."""

    id: UUID
    username: str
    display_name: str


class GroupMemberPage(msgspec.Struct):
    members: list[GroupMember]
    next_after: UUID | None


class SaveGroup(msgspec.Struct, forbid_unknown_fields=True):
    name: Name
    display_name: DisplayName = ""


class AddGroupMembers(msgspec.Struct, forbid_unknown_fields=True):
    user_ids: Annotated[list[UUID], Meta(min_length=1, max_length=1000)]


class Organization(msgspec.Struct):
    """chatd has exactly one; clients of multi-organization systems ask for it."""

    id: UUID
    name: str
    display_name: str
    is_default: bool
    created_at: datetime


class BuildInfo(msgspec.Struct):
    version: str
    external_url: str
    deployment_id: str
    experiments: list[str]
    webpush_public_key: str  # what a page gives to `pushManager.subscribe` as `applicationServerKey`
