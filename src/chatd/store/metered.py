"""A store that measures every query."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Self
from uuid import UUID

from chatd.core.access import EVERYTHING, Filter
from chatd.core.secret import Secret
from chatd.observe.metrics import QueryMeter
from chatd.store.custom_queries import EncryptedColumn, SealedValue
from chatd.store.queries import (
    AuthenticateTokenRow,
    EncryptionKey,
    Group,
    InsertGroupMembersItem,
    ListGroupMembersRow,
    Organization,
    Token,
    TokenKind,
    TouchTokensLastUsedItem,
    TouchUsersLastSeenItem,
    User,
    UserRole,
    UserStatus,
    Version,
)
from chatd.store.store import Store


class MeteredStore:
    """A store that measures every query."""

    def __init__(self, inner: Store, meter: QueryMeter) -> None:
        self._inner = inner
        self._meter = meter

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        async with self._inner.transaction() as tx:
            yield type(self)(tx, self._meter)

    async def ping(self) -> None:
        await self._inner.ping()

    async def get_group_by_id(self, *, id: UUID) -> Group:
        with self._meter.query("get_group_by_id"):
            return await self._inner.get_group_by_id(id=id)

    async def list_groups(self, *, after_id: UUID | None, max_rows: int, authorize: Filter = EVERYTHING) -> list[Group]:
        with self._meter.query("list_groups"):
            return await self._inner.list_groups(after_id=after_id, max_rows=max_rows, authorize=authorize)

    async def insert_group(self, *, id: UUID, name: str, display_name: str) -> Group:
        with self._meter.query("insert_group"):
            return await self._inner.insert_group(id=id, name=name, display_name=display_name)

    async def update_group(self, *, name: str, display_name: str, id: UUID) -> Group:
        with self._meter.query("update_group"):
            return await self._inner.update_group(name=name, display_name=display_name, id=id)

    async def delete_group(self, *, id: UUID) -> int:
        with self._meter.query("delete_group"):
            return await self._inner.delete_group(id=id)

    async def insert_group_members(self, *, group_id: UUID, items: Sequence[InsertGroupMembersItem]) -> int:
        with self._meter.query("insert_group_members"):
            return await self._inner.insert_group_members(group_id=group_id, items=items)

    async def delete_group_member(self, *, group_id: UUID, user_id: UUID) -> int:
        with self._meter.query("delete_group_member"):
            return await self._inner.delete_group_member(group_id=group_id, user_id=user_id)

    async def list_group_members(
        self, *, group_id: UUID, after_id: UUID | None, max_rows: int
    ) -> list[ListGroupMembersRow]:
        with self._meter.query("list_group_members"):
            return await self._inner.list_group_members(group_id=group_id, after_id=after_id, max_rows=max_rows)

    async def list_group_ids_by_user(self, *, user_id: UUID) -> list[UUID]:
        with self._meter.query("list_group_ids_by_user"):
            return await self._inner.list_group_ids_by_user(user_id=user_id)

    async def admit_login(
        self,
        *,
        subjects: Sequence[str],
        free_failures: Sequence[int],
        forget_after: timedelta,
        longest: timedelta,
    ) -> float:
        with self._meter.query("admit_login"):
            return await self._inner.admit_login(
                subjects=subjects, free_failures=free_failures, forget_after=forget_after, longest=longest
            )

    async def settle_login(self, *, cleared: Sequence[str], refunded: Sequence[str]) -> int:
        with self._meter.query("settle_login"):
            return await self._inner.settle_login(cleared=cleared, refunded=refunded)

    async def delete_old_login_failures(self, *, older_than: timedelta) -> int:
        with self._meter.query("delete_old_login_failures"):
            return await self._inner.delete_old_login_failures(older_than=older_than)

    async def insert_setup_code(self, *, hash: bytes) -> int:
        with self._meter.query("insert_setup_code"):
            return await self._inner.insert_setup_code(hash=hash)

    async def get_default_organization(self) -> Organization:
        with self._meter.query("get_default_organization"):
            return await self._inner.get_default_organization()

    async def get_site_setting(self, *, key: str) -> str | None:
        with self._meter.query("get_site_setting"):
            return await self._inner.get_site_setting(key=key)

    async def upsert_site_setting(self, *, key: str, value: str) -> int:
        with self._meter.query("upsert_site_setting"):
            return await self._inner.upsert_site_setting(key=key, value=value)

    async def list_versions(self) -> list[Version]:
        with self._meter.query("list_versions"):
            return await self._inner.list_versions()

    async def get_secret(self, *, name: str) -> Secret | None:
        with self._meter.query("get_secret"):
            return await self._inner.get_secret(name=name)

    async def insert_secret_if_absent(self, *, name: str, value: Secret) -> int:
        with self._meter.query("insert_secret_if_absent"):
            return await self._inner.insert_secret_if_absent(name=name, value=value)

    async def list_encryption_keys(self) -> list[EncryptionKey]:
        with self._meter.query("list_encryption_keys"):
            return await self._inner.list_encryption_keys()

    async def insert_encryption_key(self, *, id: str, canary: str) -> int:
        with self._meter.query("insert_encryption_key"):
            return await self._inner.insert_encryption_key(id=id, canary=canary)

    async def revoke_encryption_keys_except(self, *, id: str) -> int:
        with self._meter.query("revoke_encryption_keys_except"):
            return await self._inner.revoke_encryption_keys_except(id=id)

    async def insert_token(
        self,
        *,
        id: UUID,
        user_id: UUID,
        kind: TokenKind,
        name: str,
        hash: bytes,
        scopes: Sequence[str],
        expires_at: datetime,
        client_ip: str,
        user_agent: str,
    ) -> Token:
        with self._meter.query("insert_token"):
            return await self._inner.insert_token(
                id=id,
                user_id=user_id,
                kind=kind,
                name=name,
                hash=hash,
                scopes=scopes,
                expires_at=expires_at,
                client_ip=client_ip,
                user_agent=user_agent,
            )

    async def insert_session(
        self,
        *,
        id: UUID,
        hash: bytes,
        scopes: Sequence[str],
        expires_at: datetime,
        client_ip: str,
        user_agent: str,
        user_id: UUID,
        verified: str,
    ) -> Token | None:
        with self._meter.query("insert_session"):
            return await self._inner.insert_session(
                id=id,
                hash=hash,
                scopes=scopes,
                expires_at=expires_at,
                client_ip=client_ip,
                user_agent=user_agent,
                user_id=user_id,
                verified=verified,
            )

    async def count_tokens_by_user(self, *, user_id: UUID, kind: TokenKind) -> int:
        with self._meter.query("count_tokens_by_user"):
            return await self._inner.count_tokens_by_user(user_id=user_id, kind=kind)

    async def delete_oldest_sessions(self, *, user_id: UUID, keep: int) -> int:
        with self._meter.query("delete_oldest_sessions"):
            return await self._inner.delete_oldest_sessions(user_id=user_id, keep=keep)

    async def get_token_by_id(self, *, id: UUID) -> Token:
        with self._meter.query("get_token_by_id"):
            return await self._inner.get_token_by_id(id=id)

    async def authenticate_token(self, *, hash: bytes) -> AuthenticateTokenRow | None:
        with self._meter.query("authenticate_token"):
            return await self._inner.authenticate_token(hash=hash)

    async def list_tokens_by_user(
        self, *, user_id: UUID, kind: TokenKind, before_id: UUID | None, max_rows: int
    ) -> list[Token]:
        with self._meter.query("list_tokens_by_user"):
            return await self._inner.list_tokens_by_user(
                user_id=user_id, kind=kind, before_id=before_id, max_rows=max_rows
            )

    async def delete_token(self, *, id: UUID) -> int:
        with self._meter.query("delete_token"):
            return await self._inner.delete_token(id=id)

    async def delete_user_sessions(self, *, user_id: UUID, except_id: UUID | None) -> int:
        with self._meter.query("delete_user_sessions"):
            return await self._inner.delete_user_sessions(user_id=user_id, except_id=except_id)

    async def delete_user_tokens(self, *, user_id: UUID) -> int:
        with self._meter.query("delete_user_tokens"):
            return await self._inner.delete_user_tokens(user_id=user_id)

    async def delete_expired_tokens(self, *, expired_for: timedelta, max_rows: int) -> int:
        with self._meter.query("delete_expired_tokens"):
            return await self._inner.delete_expired_tokens(expired_for=expired_for, max_rows=max_rows)

    async def touch_tokens_last_used(self, *, items: Sequence[TouchTokensLastUsedItem]) -> int:
        with self._meter.query("touch_tokens_last_used"):
            return await self._inner.touch_tokens_last_used(items=items)

    async def get_user_by_id(self, *, id: UUID) -> User:
        with self._meter.query("get_user_by_id"):
            return await self._inner.get_user_by_id(id=id)

    async def get_user_by_login(self, *, login: str) -> User | None:
        with self._meter.query("get_user_by_login"):
            return await self._inner.get_user_by_login(login=login)

    async def get_user_by_username(self, *, username: str) -> User | None:
        with self._meter.query("get_user_by_username"):
            return await self._inner.get_user_by_username(username=username)

    async def list_users(
        self, *, after_id: UUID | None, search: str | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[User]:
        with self._meter.query("list_users"):
            return await self._inner.list_users(
                after_id=after_id, search=search, max_rows=max_rows, authorize=authorize
            )

    async def count_users(self, *, search: str | None, authorize: Filter = EVERYTHING) -> int:
        with self._meter.query("count_users"):
            return await self._inner.count_users(search=search, authorize=authorize)

    async def has_any_user(self) -> bool:
        with self._meter.query("has_any_user"):
            return await self._inner.has_any_user()

    async def insert_user(
        self, *, id: UUID, email: str, username: str, display_name: str, password_hash: str, role: UserRole
    ) -> User:
        with self._meter.query("insert_user"):
            return await self._inner.insert_user(
                id=id,
                email=email,
                username=username,
                display_name=display_name,
                password_hash=password_hash,
                role=role,
            )

    async def insert_first_user(
        self,
        *,
        code_hash: bytes | None,
        id: UUID,
        email: str,
        username: str,
        display_name: str,
        password_hash: str,
    ) -> User | None:
        with self._meter.query("insert_first_user"):
            return await self._inner.insert_first_user(
                code_hash=code_hash,
                id=id,
                email=email,
                username=username,
                display_name=display_name,
                password_hash=password_hash,
            )

    async def update_user_profile(self, *, email: str, username: str, display_name: str, id: UUID) -> User:
        with self._meter.query("update_user_profile"):
            return await self._inner.update_user_profile(
                email=email, username=username, display_name=display_name, id=id
            )

    async def update_user_role(self, *, role: UserRole, id: UUID) -> User:
        with self._meter.query("update_user_role"):
            return await self._inner.update_user_role(role=role, id=id)

    async def update_user_status(self, *, status: UserStatus, id: UUID) -> User:
        with self._meter.query("update_user_status"):
            return await self._inner.update_user_status(status=status, id=id)

    async def update_user_password(self, *, password_hash: str, id: UUID) -> User:
        with self._meter.query("update_user_password"):
            return await self._inner.update_user_password(password_hash=password_hash, id=id)

    async def rehash_password(self, *, stronger: str, id: UUID, verified: str) -> int:
        with self._meter.query("rehash_password"):
            return await self._inner.rehash_password(stronger=stronger, id=id, verified=verified)

    async def delete_user(self, *, id: UUID) -> int:
        with self._meter.query("delete_user"):
            return await self._inner.delete_user(id=id)

    async def lock_active_owners(self) -> list[UUID]:
        with self._meter.query("lock_active_owners"):
            return await self._inner.lock_active_owners()

    async def touch_users_last_seen(self, *, items: Sequence[TouchUsersLastSeenItem]) -> int:
        with self._meter.query("touch_users_last_seen"):
            return await self._inner.touch_users_last_seen(items=items)

    async def list_encrypted_columns(self) -> list[EncryptedColumn]:
        with self._meter.query("list_encrypted_columns"):
            return await self._inner.list_encrypted_columns()

    async def lock_values_under_other_keys(
        self, *, column: EncryptedColumn, key_id: str, max_rows: int
    ) -> list[SealedValue]:
        with self._meter.query("lock_values_under_other_keys"):
            return await self._inner.lock_values_under_other_keys(column=column, key_id=key_id, max_rows=max_rows)

    async def replace_sealed_values(self, *, column: EncryptedColumn, values: Sequence[SealedValue]) -> int:
        with self._meter.query("replace_sealed_values"):
            return await self._inner.replace_sealed_values(column=column, values=values)

    async def list_announced_keys(self) -> list[int]:
        with self._meter.query("list_announced_keys"):
            return await self._inner.list_announced_keys()

    async def hold_announcements(self) -> None:
        with self._meter.query("hold_announcements"):
            await self._inner.hold_announcements()
