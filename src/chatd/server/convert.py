"""Stored rows as clients see them: a password hash or a token's hash has no field to go to."""

from uuid import UUID

from chatd.core.access import Role
from chatd.store import queries
from chatd.wire import users as wire


def user(row: queries.User, organization_id: UUID) -> wire.User:
    return wire.User(
        id=row.id,
        email=row.email,
        username=row.username,
        display_name=row.display_name,
        role=Role(row.role),
        status=row.status,
        created_at=row.created_at,
        updated_at=row.updated_at,
        last_seen_at=row.last_seen_at,
        organization_ids=[organization_id],
    )


def token(row: queries.Token, *, current: UUID | None) -> wire.Token:
    return wire.Token(
        id=row.id,
        user_id=row.user_id,
        kind=row.kind,
        name=row.name,
        scopes=list(row.scopes),
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        client_ip=row.client_ip,
        user_agent=row.user_agent,
        current=row.id == current,
    )


def group(row: queries.Group) -> wire.Group:
    return wire.Group(row.id, row.name, row.display_name, row.created_at)


def organization(row: queries.Organization) -> wire.Organization:
    return wire.Organization(row.id, row.name, row.display_name, row.is_default, row.created_at)
