"""A small populated database that store tests start from."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec

from chatd.core.access import Person, Role
from chatd.minting import uuid7
from chatd.store.migrate import shipped_functions
from chatd.store.pool import connect
from chatd.store.queries import Group, InsertGroupMembersItem, Token, TokenKind, User, UserRole
from chatd.store.store import SqlStore

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def new_id() -> UUID:
    return uuid7(NOW)


class World(msgspec.Struct, frozen=True):
    """An owner, a member with a session and a group, and a stranger with neither."""

    sql: SqlStore
    owner: User
    member: User
    stranger: User
    group: Group
    token: Token

    @property
    def member_person(self) -> Person:
        return person(self.member)


def person(user: User, *, scopes: frozenset[str] = frozenset({"*:*"})) -> Person:
    return Person(user.id, Role(user.role), user.username, scopes)


async def add_user(sql: SqlStore, name: str, role: UserRole = UserRole.MEMBER) -> User:
    return await sql.insert_user(
        id=new_id(), email=f"{name}@example.com", username=name, display_name="", password_hash="x", role=role
    )


async def add_token(sql: SqlStore, user: User, name: str = "session", kind: TokenKind = TokenKind.SESSION) -> Token:
    id = new_id()
    return await sql.insert_token(
        id=id,
        user_id=user.id,
        kind=kind,
        name=name,
        hash=id.bytes * 2,
        scopes=["*:*"],
        expires_at=datetime.now(UTC) + timedelta(hours=1),  # noqa: TID251 - the database compares it with its own time
        client_ip="",
        user_agent="",
    )


@asynccontextmanager
async def open_sql(dsn: str) -> AsyncIterator[SqlStore]:
    """The innermost layer over one connection."""
    connection = await connect(dsn, function_schema=shipped_functions().schema)
    try:
        yield SqlStore(connection)
    finally:
        await connection.close()


async def populate(sql: SqlStore) -> World:
    owner = await add_user(sql, "olga", UserRole.OWNER)
    member = await add_user(sql, "mia")
    stranger = await add_user(sql, "sam")
    group = await sql.insert_group(id=new_id(), name="crew", display_name="Crew")
    await sql.insert_group_members(group_id=group.id, items=[InsertGroupMembersItem(member.id)])
    return World(sql, owner, member, stranger, group, await add_token(sql, member))
