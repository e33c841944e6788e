"""A small populated database that store tests start from."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from chatd.core.access import Person, Role
from chatd.core.roles import Role as MessageRole
from chatd.core.secret import Secret
from chatd.core.workspaces.kinds import BuildReason, ProvisionerKind
from chatd.minting import uuid7
from chatd.store.cipher import Cipher, EncryptionKey
from chatd.store.migrate import shipped_functions
from chatd.store.pool import connect
from chatd.store.queries import (
    ChatChange,
    ChatClient,
    Group,
    InsertGroupMembersItem,
    MessageRow,
    Token,
    TokenKind,
    User,
    UserRole,
    WorkspaceBuild,
)
from chatd.store.store import SqlStore

NOW = datetime(2030, 1, 1, tzinfo=UTC)
MODEL = uuid7(NOW)  # messages name models, but no row of theirs is needed


CIPHER = Cipher([EncryptionKey(b"k" * 32)])
TEMPLATE: dict[str, Any] = {
    "name": "local",
    "display_name": "",
    "description": "",
    "icon": "",
    "readme": "",
    "config": "{}",
    "parameters": "[]",
    "agents_allowed": True,
    "allows_user_autostop": True,
    "default_ttl_ms": 0,
    "activity_bump_ms": 3_600_000,
    "max_lifetime_ms": 0,
    "deprecated": "",
}


def new_id() -> UUID:
    return uuid7(NOW)


class World(msgspec.Struct, frozen=True):
    """An owner, a member with a session, a group, a file, a running chat and a workspace that is being built; a
    stranger; a provider, a model, a template."""

    sql: SqlStore
    owner: User
    member: User
    stranger: User
    group: Group
    token: Token
    chat: ChatChange
    new_file: dict[str, Any]
    provider_id: UUID
    model_id: UUID
    build: WorkspaceBuild
    template_id: UUID

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


def row(text: str = "Hello", role: MessageRole = MessageRole.USER, *, by: UUID | None = None) -> MessageRow:
    content = msgspec.json.encode([{"type": "text", "text": text}]).decode()
    return MessageRow(role, content, 1, created_by=by)


async def add_chat(sql: SqlStore, user: User, *, parent: UUID | None = None) -> ChatChange:
    """A chat that runs, with one message; nobody has taken it."""
    organization = await sql.get_default_organization()
    change = await sql.create_chat(
        chat_id=new_id(),
        organization_id=organization.id,
        owner_id=user.id,
        parent_id=parent,
        title="A chat",
        labels="{}",
        mode=None,
        plan_mode=False,
        client=ChatClient.API,
        mcp_server_ids=(),
        dynamic_tools="[]",
        model_config_id=MODEL,
        reasoning_effort=None,
        rows=[row(by=user.id)],
        file_ids=(),
        most_files=1,
        workspace_id=None,
        taker=None,
        taker_runner=None,
        root_capacity=None,
        child_capacity=None,
    )
    assert change is not None
    assert change.outcome == "applied"
    return change


async def add_template(sql: SqlStore, **fields: Any) -> UUID:
    organization = await sql.get_default_organization()
    given: dict[str, Any] = {
        **TEMPLATE,
        "id": new_id(),
        "organization_id": organization.id,
        "provisioner": ProvisionerKind.LOCAL,
        "created_by": None,
        **fields,
    }
    template = await sql.insert_template(**given)
    return template.id


async def workspace_of(sql: SqlStore, user: User, template_id: UUID, **fields: Any) -> dict[str, Any]:
    """Arguments of insert_workspace."""
    return {
        "id": new_id(),
        "organization_id": (await sql.get_default_organization()).id,
        "owner_id": user.id,
        "template_id": template_id,
        "name": f"w{new_id().hex[-12:]}",
        "host_id": None,
        "parameters": "{}",
        "agent_token": CIPHER.encrypt(Secret("token")),
        "ttl_ms": None,
        "build_id": new_id(),
        "reason": BuildReason.INITIATOR,
        "initiator_id": user.id,
        "key": None,
        "build_parameters": "{}",
        **fields,
    }


async def add_workspace(sql: SqlStore, user: User, template_id: UUID, **fields: Any) -> WorkspaceBuild:
    """A workspace whose first build waits for someone to carry it out."""
    return await sql.insert_workspace(**await workspace_of(sql, user, template_id, **fields))


async def file_of(sql: SqlStore, user: User, content: bytes = b"content") -> dict[str, Any]:
    """Arguments of insert_file."""
    return {
        "id": new_id(),
        "organization_id": (await sql.get_default_organization()).id,
        "owner_id": user.id,
        "name": "a.txt",
        "media_type": "text/plain",
        "data": content,
        "sha256": hashlib.sha256(content).digest(),
    }


async def add_provider(sql: SqlStore, name: str = "vendor") -> UUID:
    id = new_id()
    await sql.insert_provider(
        id=id, name=name, kind="openai", display_name="", base_url="", api_key=None, options="{}", enabled=True
    )
    return id


async def add_model(sql: SqlStore, provider_id: UUID) -> UUID:
    model = await sql.insert_model_config(
        id=new_id(),
        provider_id=provider_id,
        model="m",
        display_name="",
        enabled=True,
        context_limit=1000,
        compression_threshold=70,
        options="{}",
        input_price=None,
        output_price=None,
        cache_read_price=None,
        cache_write_price=None,
    )
    return model.id


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
    token, chat = await add_token(sql, member), await add_chat(sql, member)
    new_file = await file_of(sql, member)
    await sql.insert_file(**new_file)
    provider_id = await add_provider(sql)
    model_id = await add_model(sql, provider_id)
    template_id = await add_template(sql)
    build = await add_workspace(sql, member, template_id, name="mine")
    return World(sql, owner, member, stranger, group, token, chat, new_file, provider_id, model_id, build, template_id)
