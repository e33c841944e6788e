"""Hosts of repositories, as administrators see and set them."""

from datetime import datetime
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from chatd.core.git_host_kind import HostKind


class GitProvider(msgspec.Struct, frozen=True, kw_only=True):
    """`host` is as remotes name it, `api_url` where its API is. Its token is never shown."""

    id: UUID
    kind: HostKind
    host: str
    api_url: str
    has_token: bool
    created_at: datetime
    updated_at: datetime


class CreateGitProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`api_url` is needed only where the API is not at its usual place."""

    kind: HostKind
    host: str
    token: str | None = None
    api_url: str | None = None


class UpdateGitProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays, `token: null` takes the token away, and `api_url: null` means the usual place. With
    another host or kind and no `api_url` it is the usual place too."""

    kind: HostKind | UnsetType = UNSET
    host: str | UnsetType = UNSET
    token: str | UnsetType | None = UNSET
    api_url: str | UnsetType | None = UNSET


class GitProviderTest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the host said to the token: `account` is whose it is."""

    ok: bool
    message: str
    account: str | None = None
