"""The outermost layer: every query asks first whether the actor may.

dbgen keeps the methods in the interface's order and their signatures right, and adds a refusing stub for a new query.
Bodies are written by hand: no logic here, one check and one query each.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from chatd.core.access import (
    EVERYTHING,
    Action,
    Actor,
    Everything,
    Filter,
    Kind,
    Nothing,
    OwnedBy,
    Person,
    Resource,
    scopes_within,
)
from chatd.core.errors import Forbidden, NotAuthorized
from chatd.core.reasoning import ReasoningEffort
from chatd.core.secret import Secret
from chatd.core.side_kind import SideKind
from chatd.core.spend import Period
from chatd.core.workspaces.kinds import BuildReason, BuildStatus, BuildTransition, ProvisionerKind
from chatd.store.actor import asked_from, require_actor
from chatd.store.authorizer import Authorizer
from chatd.store.custom_queries import EncryptedColumn, SealedValue
from chatd.store.filters import both
from chatd.store.queries import (
    AuditLog,
    AuthenticateTokenRow,
    Chat,
    ChatChange,
    ChatCheckpoint,
    ChatClient,
    ChatContext,
    ChatDiffStatus,
    ChatDraft,
    ChatMode,
    ChatSend,
    ChatState,
    CheckpointRow,
    CountMessagesSinceSummaryRow,
    CountQueuedChatsRow,
    CountTemplateWorkspacesRow,
    EncryptionKey,
    File,
    FindMessagesRow,
    FinishWorkspaceBuildRow,
    GetChatRow,
    GetFileMetadataRow,
    GetProviderRow,
    GetTurnContextRow,
    GetWorkspaceAgentRow,
    GetWorkspaceRow,
    GetWorkspaceSpecRow,
    GitProvider,
    GitProviderKind,
    Group,
    IndexMessagesRow,
    InsertBuildLogsItem,
    InsertGroupMembersItem,
    LeaseStaleDiffStatusesRow,
    ListCarriedOutBuildsRow,
    ListChatFilesRow,
    ListChatsInWorkspaceRow,
    ListChatsRow,
    ListChatVersionsRow,
    ListChildChatsRow,
    ListCompactionThresholdsRow,
    ListGitProvidersRow,
    ListGroupMembersRow,
    ListLabeledChatsRow,
    ListModelOriginsRow,
    ListOfferedModelsRow,
    ListOfferedTemplatesRow,
    ListOwnedChatsRow,
    ListPinnedChatsRow,
    ListProvidersRow,
    ListPushSubscriptionsRow,
    ListSiteSettingsRow,
    ListSpendingRow,
    ListUnindexedChatsRow,
    ListUserMessagesRow,
    ListWorkspaceChatsRow,
    ListWorkspacesRow,
    MarkContextsRow,
    Message,
    MessageRow,
    ModelConfig,
    Organization,
    PinChatRow,
    Provider,
    QueuedMessage,
    Replica,
    ResolveWorkspaceRow,
    SearchChatsRow,
    SumCostByChatRow,
    SumCostByDayRow,
    SumCostByModelRow,
    SumCostByUserRow,
    SumCostOfFamilyRow,
    Template,
    Token,
    TokenKind,
    TouchTokensLastUsedItem,
    TouchUsersLastSeenItem,
    UsageLimit,
    User,
    UserRole,
    UserStatus,
    Version,
    WorkspaceBuild,
    WorkspaceBuildLog,
)
from chatd.store.store import Store


class AuthorizedStore:
    def __init__(self, inner: Store, authorizer: Authorizer, *, in_transaction: bool = False) -> None:
        self._inner = inner
        self._authorizer = authorizer
        self._in_transaction = in_transaction

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        async with self._inner.transaction() as tx:
            yield type(self)(tx, self._authorizer, in_transaction=True)

    async def ping(self) -> None:
        await self._inner.ping()

    def _allow(self, method: str, action: Action, resource: Resource) -> Actor:
        actor = require_actor(method)
        self._authorizer.check(actor, action, resource)
        return actor

    def _allow_giving_rights(self, method: str, action: Action, resource: Resource) -> None:
        """As `_allow`, for what could make more of a narrow token: it must not create an owner or become one."""
        actor = self._allow(method, action, resource)
        if isinstance(actor, Person) and not actor.is_unlimited:
            raise Forbidden("This needs a token with all scopes, because it gives rights away.")

    def _allow_machine(self, method: str, action: Action, resource: Resource) -> None:
        """As `_allow`, for what no person may see, whatever their role."""
        if isinstance(self._allow(method, action, resource), Person):
            raise NotAuthorized(action=action, resource=resource.kind)

    @asynccontextmanager
    async def _audited(self, method: str) -> AsyncIterator[Store]:
        """For changes that the database writes down by itself (`write_audit`): it is told first whose they are."""
        actor, origin = require_actor(method), asked_from()
        is_person = isinstance(actor, Person)
        said: dict[str, Any] = {
            "kind": "user" if is_person else "machine",
            "id": actor.user_id if is_person else None,
            "name": actor.username if is_person else actor.name,
            "request_id": origin.request_id,
            "client_address": origin.client_address,
        }
        if self._in_transaction:
            await self._inner.set_audit_actor(**said)
            yield self._inner
            return
        async with self._inner.transaction() as tx:
            await tx.set_audit_actor(**said)
            yield tx

    def _visible(self, method: str, kind: Kind, asked: Filter, action: Action = Action.READ) -> Filter:
        return both(asked, self._authorizer.filter(require_actor(method), kind, action))

    def _only_owner(self, method: str, action: Action, asked: UUID | None) -> UUID | None:
        """For a query that takes the owner whose chats it may touch: this actor's share of what was asked for."""
        asked_filter = EVERYTHING if asked is None else OwnedBy(asked)
        match both(asked_filter, self._authorizer.filter(require_actor(method), Kind.CHAT, action)):
            case Everything():
                return None
            case OwnedBy(user_id):
                return user_id
            case Nothing():
                raise NotAuthorized(action=action, resource=Kind.CHAT)

    async def _group(self, actor: Actor, group_id: UUID) -> Resource:
        """A group as far as this actor matters: whether they are in it."""
        if not isinstance(actor, Person):
            return Resource(Kind.GROUP)
        mine = await self._inner.list_group_ids_by_user(user_id=actor.user_id)
        return Resource(Kind.GROUP, members=frozenset({actor.user_id} if group_id in mine else ()))

    async def set_audit_actor(
        self, *, kind: str, id: UUID | None, name: str, request_id: str, client_address: str
    ) -> int:
        self._allow_machine("set_audit_actor", Action.CREATE, Resource(Kind.AUDIT))
        return await self._inner.set_audit_actor(
            kind=kind, id=id, name=name, request_id=request_id, client_address=client_address
        )

    async def insert_refused_attempt(
        self,
        *,
        actor_id: UUID | None,
        actor_name: str,
        action: str,
        target_kind: str,
        target: str,
        request_id: str,
        client_address: str,
    ) -> int:
        self._allow_machine("insert_refused_attempt", Action.CREATE, Resource(Kind.AUDIT))
        return await self._inner.insert_refused_attempt(
            actor_id=actor_id,
            actor_name=actor_name,
            action=action,
            target_kind=target_kind,
            target=target,
            request_id=request_id,
            client_address=client_address,
        )

    async def list_audit_entries(
        self,
        *,
        before_id: int | None,
        actor_id: UUID | None,
        action: str | None,
        target_kind: str | None,
        target_id: str | None,
        outcome: str | None,
        since: datetime | None,
        until: datetime | None,
        max_rows: int,
    ) -> list[AuditLog]:
        self._allow("list_audit_entries", Action.READ, Resource(Kind.AUDIT))
        return await self._inner.list_audit_entries(
            before_id=before_id,
            actor_id=actor_id,
            action=action,
            target_kind=target_kind,
            target_id=target_id,
            outcome=outcome,
            since=since,
            until=until,
            max_rows=max_rows,
        )

    async def delete_old_audit_entries(self, *, older_than: timedelta, max_rows: int) -> int:
        self._allow_machine("delete_old_audit_entries", Action.DELETE, Resource(Kind.AUDIT))
        return await self._inner.delete_old_audit_entries(older_than=older_than, max_rows=max_rows)

    async def get_chat(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetChatRow | None:
        authorize = self._visible("get_chat", Kind.CHAT, authorize)
        return await self._inner.get_chat(id=id, authorize=authorize)

    async def get_chat_state(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatState | None:
        authorize = self._visible("get_chat_state", Kind.CHAT, authorize)
        return await self._inner.get_chat_state(chat_id=chat_id, authorize=authorize)

    async def list_chats(
        self,
        *,
        archived: bool,
        before_updated_at: datetime | None,
        before_id: UUID | None,
        with_pinned: bool,
        title_part: str | None,
        unread: bool | None,
        statuses: Sequence[str] | None,
        pull_requests: Sequence[str] | None,
        max_rows: int,
        authorize: Filter = EVERYTHING,
    ) -> list[ListChatsRow]:
        authorize = self._visible("list_chats", Kind.CHAT, authorize)
        return await self._inner.list_chats(
            archived=archived,
            before_updated_at=before_updated_at,
            before_id=before_id,
            with_pinned=with_pinned,
            title_part=title_part,
            unread=unread,
            statuses=statuses,
            pull_requests=pull_requests,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def list_labeled_chats(
        self,
        *,
        archived: bool,
        labels: str,
        before_updated_at: datetime | None,
        before_id: UUID | None,
        with_pinned: bool,
        title_part: str | None,
        unread: bool | None,
        statuses: Sequence[str] | None,
        pull_requests: Sequence[str] | None,
        max_rows: int,
        authorize: Filter = EVERYTHING,
    ) -> list[ListLabeledChatsRow]:
        authorize = self._visible("list_labeled_chats", Kind.CHAT, authorize)
        return await self._inner.list_labeled_chats(
            archived=archived,
            labels=labels,
            before_updated_at=before_updated_at,
            before_id=before_id,
            with_pinned=with_pinned,
            title_part=title_part,
            unread=unread,
            statuses=statuses,
            pull_requests=pull_requests,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def list_pinned_chats(
        self,
        *,
        owner_id: UUID,
        labels: str,
        after_pin_order: int | None,
        after_id: UUID | None,
        title_part: str | None,
        unread: bool | None,
        statuses: Sequence[str] | None,
        pull_requests: Sequence[str] | None,
        max_rows: int,
        authorize: Filter = EVERYTHING,
    ) -> list[ListPinnedChatsRow]:
        authorize = self._visible("list_pinned_chats", Kind.CHAT, authorize)
        return await self._inner.list_pinned_chats(
            owner_id=owner_id,
            labels=labels,
            after_pin_order=after_pin_order,
            after_id=after_id,
            title_part=title_part,
            unread=unread,
            statuses=statuses,
            pull_requests=pull_requests,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def list_child_chats(
        self, *, root_chat_ids: Sequence[UUID], max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[ListChildChatsRow]:
        authorize = self._visible("list_child_chats", Kind.CHAT, authorize)
        return await self._inner.list_child_chats(
            root_chat_ids=root_chat_ids,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def update_chat(
        self, *, title: str | None, labels: str | None, plan_mode: bool | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> Chat | None:
        authorize = self._visible("update_chat", Kind.CHAT, authorize, Action.UPDATE)
        return await self._inner.update_chat(
            title=title,
            labels=labels,
            plan_mode=plan_mode,
            id=id,
            authorize=authorize,
        )

    async def pin_chat(self, *, id: UUID, place: int, authorize: Filter = EVERYTHING) -> list[PinChatRow]:
        authorize = self._visible("pin_chat", Kind.CHAT, authorize, Action.UPDATE)
        return await self._inner.pin_chat(
            id=id,
            place=place,
            authorize=authorize,
        )

    async def mark_chat_read(self, *, message_id: int, id: UUID, authorize: Filter = EVERYTHING) -> int | None:
        authorize = self._visible("mark_chat_read", Kind.CHAT, authorize, Action.UPDATE)
        return await self._inner.mark_chat_read(message_id=message_id, id=id, authorize=authorize)

    async def replace_chat_title(
        self, *, title: str, id: UUID, expected: str, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        authorize = self._visible("replace_chat_title", Kind.CHAT, authorize, Action.UPDATE)
        return await self._inner.replace_chat_title(title=title, id=id, expected=expected, authorize=authorize)

    async def set_turn_label(
        self, *, id: UUID, history_version: int, label: str | None, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        authorize = self._visible("set_turn_label", Kind.CHAT, authorize, Action.UPDATE)
        return await self._inner.set_turn_label(
            id=id, history_version=history_version, label=label, authorize=authorize
        )

    async def set_chat_summary(
        self, *, id: UUID, history_version: int, summary: str, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        authorize = self._visible("set_chat_summary", Kind.CHAT, authorize, Action.UPDATE)
        return await self._inner.set_chat_summary(
            id=id, history_version=history_version, summary=summary, authorize=authorize
        )

    async def count_messages_since_summary(
        self, *, id: UUID, history_version: int, authorize: Filter = EVERYTHING
    ) -> CountMessagesSinceSummaryRow | None:
        authorize = self._visible("count_messages_since_summary", Kind.CHAT, authorize)
        return await self._inner.count_messages_since_summary(
            id=id, history_version=history_version, authorize=authorize
        )

    async def write_checkpoints(self, *, writer: UUID, ranges: Sequence[CheckpointRow], done: Sequence[UUID]) -> int:
        self._allow("write_checkpoints", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.write_checkpoints(writer=writer, ranges=ranges, done=done)

    async def list_checkpoints(
        self, *, chat_id: UUID, history_version: int, authorize: Filter = EVERYTHING
    ) -> list[ChatCheckpoint]:
        authorize = self._visible("list_checkpoints", Kind.CHAT, authorize)
        return await self._inner.list_checkpoints(chat_id=chat_id, history_version=history_version, authorize=authorize)

    async def delete_stale_checkpoints(self) -> int:
        self._allow_machine("delete_stale_checkpoints", Action.DELETE, Resource(Kind.CHAT))
        return await self._inner.delete_stale_checkpoints()

    async def insert_file(
        self, *, id: UUID, organization_id: UUID, owner_id: UUID, name: str, media_type: str, data: bytes, sha256: bytes
    ) -> int:
        self._allow("insert_file", Action.CREATE, Resource(Kind.FILE, owner=owner_id))
        return await self._inner.insert_file(
            id=id,
            organization_id=organization_id,
            owner_id=owner_id,
            name=name,
            media_type=media_type,
            data=data,
            sha256=sha256,
        )

    async def attach_file(
        self,
        *,
        chat_id: UUID,
        id: UUID,
        organization_id: UUID,
        owner_id: UUID,
        name: str,
        media_type: str,
        sha256: bytes,
        data: bytes,
        most_files: int,
    ) -> str:
        self._allow("attach_file", Action.RUN, Resource(Kind.CHAT, owner=owner_id))
        self._allow("attach_file", Action.CREATE, Resource(Kind.FILE, owner=owner_id))
        return await self._inner.attach_file(
            chat_id=chat_id,
            id=id,
            organization_id=organization_id,
            owner_id=owner_id,
            name=name,
            media_type=media_type,
            sha256=sha256,
            data=data,
            most_files=most_files,
        )

    async def get_file(self, *, id: UUID, authorize: Filter = EVERYTHING) -> File | None:
        authorize = self._visible("get_file", Kind.FILE, authorize)
        return await self._inner.get_file(id=id, authorize=authorize)

    async def get_file_metadata(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetFileMetadataRow | None:
        authorize = self._visible("get_file_metadata", Kind.FILE, authorize)
        return await self._inner.get_file_metadata(id=id, authorize=authorize)

    async def list_chat_files(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> list[ListChatFilesRow]:
        authorize = self._visible("list_chat_files", Kind.FILE, authorize)
        return await self._inner.list_chat_files(chat_id=chat_id, authorize=authorize)

    async def lock_orphan_files(self, *, older_than: timedelta, max_rows: int) -> list[UUID]:
        self._allow("lock_orphan_files", Action.DELETE, Resource(Kind.FILE))
        return await self._inner.lock_orphan_files(older_than=older_than, max_rows=max_rows)

    async def delete_orphan_files(self, *, ids: Sequence[UUID]) -> int:
        self._allow("delete_orphan_files", Action.DELETE, Resource(Kind.FILE))
        return await self._inner.delete_orphan_files(ids=ids)

    async def get_chat_context(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatContext | None:
        authorize = self._visible("get_chat_context", Kind.CHAT, authorize)
        return await self._inner.get_chat_context(chat_id=chat_id, authorize=authorize)

    async def upsert_chat_context(
        self, *, hash: str, snapshot: str, chat_id: UUID, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        authorize = self._visible("upsert_chat_context", Kind.CHAT, authorize, Action.UPDATE)
        return await self._inner.upsert_chat_context(hash=hash, snapshot=snapshot, chat_id=chat_id, authorize=authorize)

    async def mark_contexts(self, *, hash: str, workspace_id: UUID) -> list[MarkContextsRow]:
        self._allow_machine("mark_contexts", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.mark_contexts(workspace_id=workspace_id, hash=hash)

    async def get_diff_status(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatDiffStatus | None:
        authorize = self._visible("get_diff_status", Kind.CHAT, authorize)
        return await self._inner.get_diff_status(chat_id=chat_id, authorize=authorize)

    async def list_diff_statuses(
        self, *, chat_ids: Sequence[UUID], authorize: Filter = EVERYTHING
    ) -> list[ChatDiffStatus]:
        authorize = self._visible("list_diff_statuses", Kind.CHAT, authorize)
        return await self._inner.list_diff_statuses(chat_ids=chat_ids, authorize=authorize)

    async def upsert_diff_refs(
        self,
        *,
        chat_id: UUID,
        git_root: str,
        git_branch: str,
        git_head: str,
        git_upstream: str,
        git_remote_origin: str,
        git_host: str,
        git_path: str,
        ahead: int | None,
        behind: int | None,
        additions: int,
        deletions: int,
        changed_files: int,
        at: datetime,
    ) -> ChatDiffStatus | None:
        self._allow_machine("upsert_diff_refs", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.upsert_diff_refs(
            chat_id=chat_id,
            git_root=git_root,
            git_branch=git_branch,
            git_head=git_head,
            git_upstream=git_upstream,
            git_remote_origin=git_remote_origin,
            git_host=git_host,
            git_path=git_path,
            ahead=ahead,
            behind=behind,
            additions=additions,
            deletions=deletions,
            changed_files=changed_files,
            at=at,
        )

    async def forget_pull_request(self, *, chat_id: UUID, git_host: str, git_path: str, git_branch: str) -> int:
        self._allow_machine("forget_pull_request", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.forget_pull_request(
            chat_id=chat_id, git_host=git_host, git_path=git_path, git_branch=git_branch
        )

    async def update_pull_request(
        self,
        *,
        url: str,
        pull_request_state: str,
        pull_request_title: str,
        pull_request_draft: bool,
        pull_request_number: int | None,
        changes_requested: bool,
        approved: bool | None,
        reviewer_count: int | None,
        commits: int | None,
        pull_request_additions: int | None,
        pull_request_deletions: int | None,
        pull_request_files: int | None,
        author_login: str,
        author_avatar_url: str,
        base_branch: str,
        head_branch: str,
        at: datetime,
        changed_at: datetime,
        leased_until: datetime,
        stale_at: datetime,
        chat_id: UUID,
        git_host: str,
        git_path: str,
        git_branch: str,
    ) -> ChatDiffStatus | None:
        self._allow_machine("update_pull_request", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.update_pull_request(
            url=url,
            pull_request_state=pull_request_state,
            pull_request_title=pull_request_title,
            pull_request_draft=pull_request_draft,
            pull_request_number=pull_request_number,
            changes_requested=changes_requested,
            approved=approved,
            reviewer_count=reviewer_count,
            commits=commits,
            pull_request_additions=pull_request_additions,
            pull_request_deletions=pull_request_deletions,
            pull_request_files=pull_request_files,
            author_login=author_login,
            author_avatar_url=author_avatar_url,
            base_branch=base_branch,
            head_branch=head_branch,
            at=at,
            changed_at=changed_at,
            leased_until=leased_until,
            stale_at=stale_at,
            chat_id=chat_id,
            git_host=git_host,
            git_path=git_path,
            git_branch=git_branch,
        )

    async def postpone_diff_statuses(
        self, *, stale_at: datetime, chat_ids: Sequence[UUID], leased_until: datetime
    ) -> int:
        self._allow_machine("postpone_diff_statuses", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.postpone_diff_statuses(
            stale_at=stale_at,
            chat_ids=chat_ids,
            leased_until=leased_until,
        )

    async def mark_diff_stale(self, *, at: datetime, chat_id: UUID) -> int:
        self._allow_machine("mark_diff_stale", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.mark_diff_stale(
            at=at,
            chat_id=chat_id,
        )

    async def lease_stale_diff_statuses(
        self, *, leased_until: datetime, at: datetime, max_rows: int
    ) -> list[LeaseStaleDiffStatusesRow]:
        self._allow_machine("lease_stale_diff_statuses", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.lease_stale_diff_statuses(
            leased_until=leased_until,
            at=at,
            max_rows=max_rows,
        )

    async def pause_git_host(self, *, host: str, until: datetime) -> int:
        self._allow_machine("pause_git_host", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.pause_git_host(
            host=host,
            until=until,
        )

    async def get_git_host_pause(self, *, host: str, at: datetime) -> datetime | None:
        self._allow_machine("get_git_host_pause", Action.READ, Resource(Kind.CHAT))
        return await self._inner.get_git_host_pause(host=host, at=at)

    async def resume_git_host(self, *, host: str) -> int:
        self._allow_machine("resume_git_host", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.resume_git_host(
            host=host,
        )

    async def insert_git_provider(
        self, *, id: UUID, kind: GitProviderKind, host: str, api_url: str, token: Secret | None
    ) -> int:
        self._allow("insert_git_provider", Action.CREATE, Resource(Kind.GIT_PROVIDER))
        async with self._audited("insert_git_provider") as tx:
            return await tx.insert_git_provider(id=id, kind=kind, host=host, api_url=api_url, token=token)

    async def update_git_provider(self, *, kind: GitProviderKind, host: str, api_url: str, id: UUID) -> int:
        self._allow("update_git_provider", Action.UPDATE, Resource(Kind.GIT_PROVIDER))
        async with self._audited("update_git_provider") as tx:
            return await tx.update_git_provider(kind=kind, host=host, api_url=api_url, id=id)

    async def update_git_provider_token(self, *, token: Secret | None, id: UUID) -> int:
        self._allow("update_git_provider_token", Action.UPDATE, Resource(Kind.GIT_PROVIDER))
        async with self._audited("update_git_provider_token") as tx:
            return await tx.update_git_provider_token(token=token, id=id)

    async def list_git_providers(self) -> list[ListGitProvidersRow]:
        self._allow("list_git_providers", Action.READ, Resource(Kind.GIT_PROVIDER))
        return await self._inner.list_git_providers()

    async def list_git_providers_with_tokens(self) -> list[GitProvider]:
        self._allow_machine("list_git_providers_with_tokens", Action.READ, Resource(Kind.GIT_PROVIDER))
        return await self._inner.list_git_providers_with_tokens()

    async def delete_git_provider(self, *, id: UUID) -> int:
        self._allow("delete_git_provider", Action.DELETE, Resource(Kind.GIT_PROVIDER))
        async with self._audited("delete_git_provider") as tx:
            return await tx.delete_git_provider(id=id)

    async def get_group_by_id(self, *, id: UUID) -> Group:
        actor = require_actor("get_group_by_id")
        self._authorizer.check(actor, Action.READ, await self._group(actor, id))
        return await self._inner.get_group_by_id(id=id)

    async def list_groups(self, *, after_id: UUID | None, max_rows: int, authorize: Filter = EVERYTHING) -> list[Group]:
        authorize = self._visible("list_groups", Kind.GROUP, authorize)
        return await self._inner.list_groups(after_id=after_id, max_rows=max_rows, authorize=authorize)

    async def insert_group(self, *, id: UUID, name: str, display_name: str) -> Group:
        self._allow("insert_group", Action.CREATE, Resource(Kind.GROUP))
        async with self._audited("insert_group") as tx:
            return await tx.insert_group(id=id, name=name, display_name=display_name)

    async def update_group(self, *, name: str, display_name: str, id: UUID) -> Group:
        self._allow("update_group", Action.UPDATE, Resource(Kind.GROUP))
        async with self._audited("update_group") as tx:
            return await tx.update_group(name=name, display_name=display_name, id=id)

    async def delete_group(self, *, id: UUID) -> int:
        self._allow("delete_group", Action.DELETE, Resource(Kind.GROUP))
        async with self._audited("delete_group") as tx:
            return await tx.delete_group(id=id)

    async def insert_group_members(self, *, group_id: UUID, items: Sequence[InsertGroupMembersItem]) -> int:
        self._allow("insert_group_members", Action.UPDATE, Resource(Kind.GROUP))
        async with self._audited("insert_group_members") as tx:
            return await tx.insert_group_members(group_id=group_id, items=items)

    async def delete_group_member(self, *, group_id: UUID, user_id: UUID) -> int:
        self._allow("delete_group_member", Action.UPDATE, Resource(Kind.GROUP))
        async with self._audited("delete_group_member") as tx:
            return await tx.delete_group_member(group_id=group_id, user_id=user_id)

    async def list_group_members(
        self, *, group_id: UUID, after_id: UUID | None, max_rows: int
    ) -> list[ListGroupMembersRow]:
        actor = require_actor("list_group_members")
        self._authorizer.check(actor, Action.READ, await self._group(actor, group_id))
        return await self._inner.list_group_members(group_id=group_id, after_id=after_id, max_rows=max_rows)

    async def list_group_ids_by_user(self, *, user_id: UUID) -> list[UUID]:
        self._allow("list_group_ids_by_user", Action.READ, Resource(Kind.USER, owner=user_id))
        return await self._inner.list_group_ids_by_user(user_id=user_id)

    async def admit_login(
        self,
        *,
        subjects: Sequence[str],
        free_failures: Sequence[int],
        forget_after: timedelta,
        longest: timedelta,
    ) -> float:
        self._allow("admit_login", Action.CREATE, Resource(Kind.LOGIN))
        return await self._inner.admit_login(
            subjects=subjects, free_failures=free_failures, forget_after=forget_after, longest=longest
        )

    async def settle_login(self, *, cleared: Sequence[str], refunded: Sequence[str]) -> int:
        self._allow("settle_login", Action.UPDATE, Resource(Kind.LOGIN))
        return await self._inner.settle_login(cleared=cleared, refunded=refunded)

    async def delete_old_login_failures(self, *, older_than: timedelta) -> int:
        self._allow("delete_old_login_failures", Action.DELETE, Resource(Kind.LOGIN))
        return await self._inner.delete_old_login_failures(older_than=older_than)

    async def insert_setup_code(self, *, hash: bytes) -> int:
        self._allow("insert_setup_code", Action.CREATE, Resource(Kind.LOGIN))
        return await self._inner.insert_setup_code(hash=hash)

    async def list_messages_page(
        self,
        *,
        chat_id: UUID,
        before_id: int | None,
        after_id: int | None,
        max_rows: int,
        authorize: Filter = EVERYTHING,
    ) -> list[Message]:
        authorize = self._visible("list_messages_page", Kind.CHAT, authorize)
        return await self._inner.list_messages_page(
            chat_id=chat_id,
            before_id=before_id,
            after_id=after_id,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def list_messages_after(
        self, *, chat_id: UUID, after_id: int, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[Message]:
        authorize = self._visible("list_messages_after", Kind.CHAT, authorize)
        return await self._inner.list_messages_after(
            chat_id=chat_id, after_id=after_id, max_rows=max_rows, authorize=authorize
        )

    async def list_user_messages(
        self, *, chat_id: UUID, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[ListUserMessagesRow]:
        authorize = self._visible("list_user_messages", Kind.CHAT, authorize)
        return await self._inner.list_user_messages(
            chat_id=chat_id,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def find_messages(
        self, *, words: str, chat_id: UUID, before_id: int | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[FindMessagesRow]:
        authorize = self._visible("find_messages", Kind.CHAT, authorize)
        return await self._inner.find_messages(
            words=words,
            chat_id=chat_id,
            before_id=before_id,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def get_send(self, *, chat_id: UUID, key: UUID, authorize: Filter = EVERYTHING) -> ChatSend | None:
        authorize = self._visible("get_send", Kind.CHAT, authorize)
        return await self._inner.get_send(
            chat_id=chat_id,
            key=key,
            authorize=authorize,
        )

    async def delete_old_sends(self, *, older_than: timedelta, max_rows: int) -> int:
        self._allow_machine("delete_old_sends", Action.DELETE, Resource(Kind.CHAT))
        return await self._inner.delete_old_sends(older_than=older_than, max_rows=max_rows)

    async def list_prompt_messages(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> list[Message]:
        authorize = self._visible("list_prompt_messages", Kind.CHAT, authorize)
        return await self._inner.list_prompt_messages(chat_id=chat_id, authorize=authorize)

    async def get_message(self, *, chat_id: UUID, id: int, authorize: Filter = EVERYTHING) -> Message | None:
        authorize = self._visible("get_message", Kind.CHAT, authorize)
        return await self._inner.get_message(chat_id=chat_id, id=id, authorize=authorize)

    async def has_unread(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> bool:
        authorize = self._visible("has_unread", Kind.CHAT, authorize)
        return await self._inner.has_unread(chat_id=chat_id, authorize=authorize)

    async def sum_cost_by_model(
        self, *, owner_id: UUID, since: datetime, until: datetime, authorize: Filter = EVERYTHING
    ) -> list[SumCostByModelRow]:
        authorize = self._visible("sum_cost_by_model", Kind.CHAT, authorize)
        return await self._inner.sum_cost_by_model(owner_id=owner_id, since=since, until=until, authorize=authorize)

    async def sum_cost_by_chat(
        self, *, owner_id: UUID, since: datetime, until: datetime, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[SumCostByChatRow]:
        authorize = self._visible("sum_cost_by_chat", Kind.CHAT, authorize)
        return await self._inner.sum_cost_by_chat(
            owner_id=owner_id, since=since, until=until, max_rows=max_rows, authorize=authorize
        )

    async def sum_cost_by_day(
        self, *, owner_id: UUID, since: datetime, until: datetime, authorize: Filter = EVERYTHING
    ) -> list[SumCostByDayRow]:
        authorize = self._visible("sum_cost_by_day", Kind.CHAT, authorize)
        return await self._inner.sum_cost_by_day(owner_id=owner_id, since=since, until=until, authorize=authorize)

    async def sum_cost_by_user(
        self, *, since: datetime, until: datetime, after_id: UUID | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[SumCostByUserRow]:
        authorize = self._visible("sum_cost_by_user", Kind.CHAT, authorize)
        return await self._inner.sum_cost_by_user(
            since=since, until=until, after_id=after_id, max_rows=max_rows, authorize=authorize
        )

    async def sum_cost_of_family(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> SumCostOfFamilyRow | None:
        authorize = self._visible("sum_cost_of_family", Kind.CHAT, authorize)
        return await self._inner.sum_cost_of_family(chat_id=chat_id, authorize=authorize)

    async def sum_runtime_ms(
        self, *, owner_id: UUID, since: datetime, until: datetime, authorize: Filter = EVERYTHING
    ) -> int:
        authorize = self._visible("sum_runtime_ms", Kind.CHAT, authorize)
        return await self._inner.sum_runtime_ms(owner_id=owner_id, since=since, until=until, authorize=authorize)

    async def insert_provider(
        self,
        *,
        id: UUID,
        name: str,
        kind: str,
        display_name: str,
        base_url: str,
        api_key: Secret | None,
        options: str,
        enabled: bool,
    ) -> int:
        self._allow("insert_provider", Action.CREATE, Resource(Kind.PROVIDER))
        async with self._audited("insert_provider") as tx:
            return await tx.insert_provider(
                id=id,
                name=name,
                kind=kind,
                display_name=display_name,
                base_url=base_url,
                api_key=api_key,
                options=options,
                enabled=enabled,
            )

    async def update_provider(
        self, *, name: str, display_name: str, base_url: str, options: str, enabled: bool, id: UUID
    ) -> int:
        self._allow("update_provider", Action.UPDATE, Resource(Kind.PROVIDER))
        async with self._audited("update_provider") as tx:
            return await tx.update_provider(
                name=name, display_name=display_name, base_url=base_url, options=options, enabled=enabled, id=id
            )

    async def update_provider_key(self, *, api_key: Secret | None, id: UUID) -> int:
        self._allow("update_provider_key", Action.UPDATE, Resource(Kind.PROVIDER))
        async with self._audited("update_provider_key") as tx:
            return await tx.update_provider_key(api_key=api_key, id=id)

    async def get_provider(self, *, id: UUID) -> GetProviderRow | None:
        self._allow("get_provider", Action.READ, Resource(Kind.PROVIDER))
        return await self._inner.get_provider(id=id)

    async def get_provider_with_key(self, *, id: UUID) -> Provider | None:
        self._allow_machine("get_provider_with_key", Action.READ, Resource(Kind.PROVIDER))
        return await self._inner.get_provider_with_key(id=id)

    async def lock_models(self) -> int:
        self._allow_machine("lock_models", Action.UPDATE, Resource(Kind.MODEL))
        return await self._inner.lock_models()

    async def list_providers(self) -> list[ListProvidersRow]:
        self._allow("list_providers", Action.READ, Resource(Kind.PROVIDER))
        return await self._inner.list_providers()

    async def delete_provider(self, *, id: UUID) -> int:
        self._allow("delete_provider", Action.DELETE, Resource(Kind.PROVIDER))
        async with self._audited("delete_provider") as tx:
            return await tx.delete_provider(id=id)

    async def insert_model_config(
        self,
        *,
        id: UUID,
        provider_id: UUID,
        model: str,
        display_name: str,
        enabled: bool,
        context_limit: int,
        compression_threshold: int,
        options: str,
        input_price: Decimal | None,
        output_price: Decimal | None,
        cache_read_price: Decimal | None,
        cache_write_price: Decimal | None,
    ) -> ModelConfig:
        self._allow("insert_model_config", Action.CREATE, Resource(Kind.MODEL))
        async with self._audited("insert_model_config") as tx:
            return await tx.insert_model_config(
                id=id,
                provider_id=provider_id,
                model=model,
                display_name=display_name,
                enabled=enabled,
                context_limit=context_limit,
                compression_threshold=compression_threshold,
                options=options,
                input_price=input_price,
                output_price=output_price,
                cache_read_price=cache_read_price,
                cache_write_price=cache_write_price,
            )

    async def update_model_config(
        self,
        *,
        provider_id: UUID,
        model: str,
        display_name: str,
        enabled: bool,
        context_limit: int,
        compression_threshold: int,
        options: str,
        input_price: Decimal | None,
        output_price: Decimal | None,
        cache_read_price: Decimal | None,
        cache_write_price: Decimal | None,
        id: UUID,
    ) -> ModelConfig | None:
        self._allow("update_model_config", Action.UPDATE, Resource(Kind.MODEL))
        async with self._audited("update_model_config") as tx:
            return await tx.update_model_config(
                provider_id=provider_id,
                model=model,
                display_name=display_name,
                enabled=enabled,
                context_limit=context_limit,
                compression_threshold=compression_threshold,
                options=options,
                input_price=input_price,
                output_price=output_price,
                cache_read_price=cache_read_price,
                cache_write_price=cache_write_price,
                id=id,
            )

    async def get_model_config(self, *, id: UUID) -> ModelConfig | None:
        self._allow("get_model_config", Action.READ, Resource(Kind.MODEL))
        return await self._inner.get_model_config(id=id)

    async def get_default_model_config(self) -> ModelConfig | None:
        self._allow("get_default_model_config", Action.READ, Resource(Kind.MODEL))
        return await self._inner.get_default_model_config()

    async def list_model_configs(self) -> list[ModelConfig]:
        self._allow("list_model_configs", Action.READ, Resource(Kind.PROVIDER))
        return await self._inner.list_model_configs()

    async def list_offered_models(self) -> list[ListOfferedModelsRow]:
        self._allow("list_offered_models", Action.READ, Resource(Kind.MODEL))
        return await self._inner.list_offered_models()

    async def elect_default_model_config(self) -> int:
        self._allow_machine("elect_default_model_config", Action.UPDATE, Resource(Kind.MODEL))
        async with self._audited("elect_default_model_config") as tx:
            return await tx.elect_default_model_config()

    async def set_default_model_config(self, *, id: UUID) -> int:
        self._allow("set_default_model_config", Action.UPDATE, Resource(Kind.MODEL))
        async with self._audited("set_default_model_config") as tx:
            return await tx.set_default_model_config(id=id)

    async def delete_model_config(self, *, id: UUID) -> int:
        self._allow("delete_model_config", Action.DELETE, Resource(Kind.MODEL))
        async with self._audited("delete_model_config") as tx:
            return await tx.delete_model_config(id=id)

    async def list_model_origins(self) -> list[ListModelOriginsRow]:
        self._allow("list_model_origins", Action.READ, Resource(Kind.PROVIDER))
        return await self._inner.list_model_origins()

    async def upsert_push_subscription(
        self,
        *,
        id: UUID,
        endpoint_hash: bytes,
        endpoint: Secret,
        p256dh: bytes,
        auth: Secret,
        user_id: UUID,
        token_id: UUID,
    ) -> int:
        self._allow("upsert_push_subscription", Action.CREATE, Resource(Kind.PUSH_SUBSCRIPTION, owner=user_id))
        return await self._inner.upsert_push_subscription(
            id=id,
            endpoint_hash=endpoint_hash,
            endpoint=endpoint,
            p256dh=p256dh,
            auth=auth,
            user_id=user_id,
            token_id=token_id,
        )

    async def delete_oldest_push_subscriptions(self, *, user_id: UUID, keep: int) -> int:
        self._allow("delete_oldest_push_subscriptions", Action.DELETE, Resource(Kind.PUSH_SUBSCRIPTION, owner=user_id))
        return await self._inner.delete_oldest_push_subscriptions(user_id=user_id, keep=keep)

    async def list_push_subscriptions(self, *, user_id: UUID, max_rows: int) -> list[ListPushSubscriptionsRow]:
        self._allow("list_push_subscriptions", Action.READ, Resource(Kind.PUSH_SUBSCRIPTION, owner=user_id))
        return await self._inner.list_push_subscriptions(user_id=user_id, max_rows=max_rows)

    async def delete_push_subscription(self, *, user_id: UUID, endpoint_hash: bytes) -> int:
        self._allow("delete_push_subscription", Action.DELETE, Resource(Kind.PUSH_SUBSCRIPTION, owner=user_id))
        return await self._inner.delete_push_subscription(user_id=user_id, endpoint_hash=endpoint_hash)

    async def drop_push_subscription(self, *, id: UUID) -> int:
        self._allow("drop_push_subscription", Action.DELETE, Resource(Kind.PUSH_SUBSCRIPTION))
        return await self._inner.drop_push_subscription(id=id)

    async def list_queued_messages(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> list[QueuedMessage]:
        authorize = self._visible("list_queued_messages", Kind.CHAT, authorize)
        return await self._inner.list_queued_messages(chat_id=chat_id, authorize=authorize)

    async def get_draft(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatDraft | None:
        authorize = self._visible("get_draft", Kind.CHAT, authorize)
        return await self._inner.get_draft(chat_id=chat_id, authorize=authorize)

    async def beat_replica(
        self,
        *,
        host_id: str | None,
        id: UUID,
        url: str,
        host: str,
        pid: int,
        version: str,
        provisioners: Sequence[str] | None,
    ) -> int:
        self._allow("beat_replica", Action.UPDATE, Resource(Kind.REPLICA))
        return await self._inner.beat_replica(
            host_id=host_id, id=id, url=url, host=host, pid=pid, version=version, provisioners=provisioners
        )

    async def get_replica(self, *, id: UUID) -> Replica | None:
        self._allow("get_replica", Action.READ, Resource(Kind.REPLICA))
        return await self._inner.get_replica(id=id)

    async def list_live_replicas(self) -> list[Replica]:
        self._allow("list_live_replicas", Action.READ, Resource(Kind.REPLICA))
        return await self._inner.list_live_replicas()

    async def expire_replica(self, *, id: UUID) -> int:
        self._allow("expire_replica", Action.UPDATE, Resource(Kind.REPLICA))
        return await self._inner.expire_replica(id=id)

    async def delete_replica(self, *, id: UUID) -> int:
        self._allow("delete_replica", Action.DELETE, Resource(Kind.REPLICA))
        return await self._inner.delete_replica(id=id)

    async def delete_dead_replicas(self, *, silent_for: timedelta) -> int:
        self._allow("delete_dead_replicas", Action.DELETE, Resource(Kind.REPLICA))
        return await self._inner.delete_dead_replicas(silent_for=silent_for)

    async def delete_old_hosts(self, *, unseen_for: timedelta) -> int:
        self._allow("delete_old_hosts", Action.DELETE, Resource(Kind.REPLICA))
        return await self._inner.delete_old_hosts(unseen_for=unseen_for)

    async def list_owned_chats(self, *, replica_id: UUID) -> list[ListOwnedChatsRow]:
        self._allow("list_owned_chats", Action.READ, Resource(Kind.CHAT))
        return await self._inner.list_owned_chats(replica_id=replica_id)

    async def list_chat_versions(self, *, chat_ids: Sequence[UUID]) -> list[ListChatVersionsRow]:
        self._allow("list_chat_versions", Action.READ, Resource(Kind.CHAT))
        return await self._inner.list_chat_versions(chat_ids=chat_ids)

    async def count_queued_chats(self) -> CountQueuedChatsRow:
        self._allow("count_queued_chats", Action.READ, Resource(Kind.CHAT))
        return await self._inner.count_queued_chats()

    async def search_chats(
        self,
        *,
        words: str,
        owner_id: UUID | None,
        archived: bool,
        labels: str,
        with_pins: bool,
        after_place: int,
        after_updated_at: datetime | None,
        after_id: UUID | None,
        unread: bool | None,
        statuses: Sequence[str] | None,
        pull_requests: Sequence[str] | None,
        max_rows: int,
        authorize: Filter = EVERYTHING,
    ) -> list[SearchChatsRow]:
        authorize = self._visible("search_chats", Kind.CHAT, authorize)
        return await self._inner.search_chats(
            words=words,
            owner_id=owner_id,
            archived=archived,
            labels=labels,
            with_pins=with_pins,
            after_place=after_place,
            after_updated_at=after_updated_at,
            after_id=after_id,
            unread=unread,
            statuses=statuses,
            pull_requests=pull_requests,
            max_rows=max_rows,
            authorize=authorize,
        )

    async def index_messages(self, *, chat_ids: Sequence[UUID], most: int) -> list[IndexMessagesRow]:
        self._allow_machine("index_messages", Action.UPDATE, Resource(Kind.CHAT))
        return await self._inner.index_messages(chat_ids=chat_ids, most=most)

    async def list_unindexed_chats(self, *, after_id: UUID, max_rows: int) -> list[ListUnindexedChatsRow]:
        self._allow_machine("list_unindexed_chats", Action.READ, Resource(Kind.CHAT))
        return await self._inner.list_unindexed_chats(after_id=after_id, max_rows=max_rows)

    async def insert_side_cost(
        self,
        *,
        kind: SideKind,
        model_config_id: UUID,
        input_tokens: int | None,
        output_tokens: int | None,
        reasoning_tokens: int | None,
        cache_creation_tokens: int | None,
        cache_read_tokens: int | None,
        cost_microdollars: int | None,
        chat_id: UUID,
        authorize: Filter = EVERYTHING,
    ) -> int | None:
        authorize = self._visible("insert_side_cost", Kind.CHAT, authorize, Action.RUN)
        return await self._inner.insert_side_cost(
            kind=kind,
            model_config_id=model_config_id,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            reasoning_tokens=reasoning_tokens,
            cache_creation_tokens=cache_creation_tokens,
            cache_read_tokens=cache_read_tokens,
            cost_microdollars=cost_microdollars,
            chat_id=chat_id,
            authorize=authorize,
        )

    async def get_default_organization(self) -> Organization:
        self._allow("get_default_organization", Action.READ, Resource(Kind.ORGANIZATION))
        return await self._inner.get_default_organization()

    async def get_site_setting(self, *, key: str) -> str | None:
        self._allow("get_site_setting", Action.READ, Resource(Kind.SETTING))
        return await self._inner.get_site_setting(key=key)

    async def list_site_settings(self, *, keys: Sequence[str]) -> list[ListSiteSettingsRow]:
        self._allow("list_site_settings", Action.READ, Resource(Kind.SETTING))
        return await self._inner.list_site_settings(keys=keys)

    async def delete_site_setting(self, *, key: str) -> int:
        self._allow("delete_site_setting", Action.UPDATE, Resource(Kind.SETTING))
        async with self._audited("delete_site_setting") as tx:
            return await tx.delete_site_setting(key=key)

    async def upsert_site_setting(self, *, key: str, value: str) -> int:
        self._allow("upsert_site_setting", Action.UPDATE, Resource(Kind.SETTING))
        async with self._audited("upsert_site_setting") as tx:
            return await tx.upsert_site_setting(key=key, value=value)

    async def list_versions(self) -> list[Version]:
        self._allow("list_versions", Action.READ, Resource(Kind.SETTING))
        return await self._inner.list_versions()

    async def get_secret(self, *, name: str) -> Secret | None:
        self._allow("get_secret", Action.READ, Resource(Kind.SECRET))
        return await self._inner.get_secret(name=name)

    async def insert_secret_if_absent(self, *, name: str, value: Secret) -> int:
        self._allow("insert_secret_if_absent", Action.CREATE, Resource(Kind.SECRET))
        return await self._inner.insert_secret_if_absent(name=name, value=value)

    async def list_encryption_keys(self) -> list[EncryptionKey]:
        self._allow("list_encryption_keys", Action.READ, Resource(Kind.ENCRYPTION_KEY))
        return await self._inner.list_encryption_keys()

    async def insert_encryption_key(self, *, id: str, canary: str) -> int:
        self._allow("insert_encryption_key", Action.CREATE, Resource(Kind.ENCRYPTION_KEY))
        async with self._audited("insert_encryption_key") as tx:
            return await tx.insert_encryption_key(id=id, canary=canary)

    async def revoke_encryption_keys_except(self, *, id: str) -> int:
        self._allow("revoke_encryption_keys_except", Action.UPDATE, Resource(Kind.ENCRYPTION_KEY))
        async with self._audited("revoke_encryption_keys_except") as tx:
            return await tx.revoke_encryption_keys_except(id=id)

    async def insert_template(
        self,
        *,
        id: UUID,
        organization_id: UUID,
        name: str,
        display_name: str,
        description: str,
        icon: str,
        readme: str,
        provisioner: ProvisionerKind,
        config: str,
        parameters: str,
        agents_allowed: bool,
        allows_user_autostop: bool,
        default_ttl_ms: int,
        activity_bump_ms: int,
        max_lifetime_ms: int,
        deprecated: str,
        created_by: UUID | None,
    ) -> Template:
        self._allow("insert_template", Action.CREATE, Resource(Kind.TEMPLATE))
        async with self._audited("insert_template") as tx:
            return await tx.insert_template(
                id=id,
                organization_id=organization_id,
                name=name,
                display_name=display_name,
                description=description,
                icon=icon,
                readme=readme,
                provisioner=provisioner,
                config=config,
                parameters=parameters,
                agents_allowed=agents_allowed,
                allows_user_autostop=allows_user_autostop,
                default_ttl_ms=default_ttl_ms,
                activity_bump_ms=activity_bump_ms,
                max_lifetime_ms=max_lifetime_ms,
                deprecated=deprecated,
                created_by=created_by,
            )

    async def seed_template(
        self,
        *,
        id: UUID,
        name: str,
        display_name: str,
        description: str,
        icon: str,
        readme: str,
        provisioner: ProvisionerKind,
        config: str,
    ) -> int:
        self._allow_machine("seed_template", Action.CREATE, Resource(Kind.TEMPLATE))
        async with self._audited("seed_template") as tx:
            return await tx.seed_template(
                id=id,
                name=name,
                display_name=display_name,
                description=description,
                icon=icon,
                readme=readme,
                provisioner=provisioner,
                config=config,
            )

    async def update_template(
        self,
        *,
        name: str,
        display_name: str,
        description: str,
        icon: str,
        readme: str,
        config: str,
        parameters: str,
        agents_allowed: bool,
        allows_user_autostop: bool,
        default_ttl_ms: int,
        activity_bump_ms: int,
        max_lifetime_ms: int,
        deprecated: str,
        id: UUID,
    ) -> Template | None:
        self._allow("update_template", Action.UPDATE, Resource(Kind.TEMPLATE))
        async with self._audited("update_template") as tx:
            return await tx.update_template(
                name=name,
                display_name=display_name,
                description=description,
                icon=icon,
                readme=readme,
                config=config,
                parameters=parameters,
                agents_allowed=agents_allowed,
                allows_user_autostop=allows_user_autostop,
                default_ttl_ms=default_ttl_ms,
                activity_bump_ms=activity_bump_ms,
                max_lifetime_ms=max_lifetime_ms,
                deprecated=deprecated,
                id=id,
            )

    async def delete_template(self, *, id: UUID) -> int:
        self._allow("delete_template", Action.DELETE, Resource(Kind.TEMPLATE))
        async with self._audited("delete_template") as tx:
            return await tx.delete_template(id=id)

    async def get_template(self, *, id: UUID) -> Template | None:
        self._allow("get_template", Action.READ, Resource(Kind.TEMPLATE))
        return await self._inner.get_template(id=id)

    async def list_templates(self, *, organization_id: UUID) -> list[Template]:
        self._allow("list_templates", Action.READ, Resource(Kind.TEMPLATE))
        return await self._inner.list_templates(organization_id=organization_id)

    async def offers_templates(self) -> bool:
        self._allow("offers_templates", Action.READ, Resource(Kind.TEMPLATE))
        return await self._inner.offers_templates()

    async def list_offered_templates(
        self, *, owner_id: UUID, recently: timedelta, organization_id: UUID
    ) -> list[ListOfferedTemplatesRow]:
        self._allow("list_offered_templates", Action.READ, Resource(Kind.TEMPLATE))
        return await self._inner.list_offered_templates(
            owner_id=owner_id, recently=recently, organization_id=organization_id
        )

    async def count_template_workspaces(
        self, *, template_ids: Sequence[UUID], authorize: Filter = EVERYTHING
    ) -> list[CountTemplateWorkspacesRow]:
        authorize = self._visible("count_template_workspaces", Kind.WORKSPACE, authorize)
        return await self._inner.count_template_workspaces(template_ids=template_ids, authorize=authorize)

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
        actor = self._allow("insert_token", Action.CREATE, Resource(Kind.TOKEN, owner=user_id))
        if isinstance(actor, Person) and not scopes_within(actor.scopes, scopes):
            raise Forbidden("A token can't make one that may do more than itself.")
        if isinstance(actor, Person) and actor.expires_at is not None and expires_at > actor.expires_at:
            raise Forbidden("A token can't make one that lasts longer than itself.")
        async with self._audited("insert_token") as tx:
            return await tx.insert_token(
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
        self._allow("insert_session", Action.CREATE, Resource(Kind.LOGIN))
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
        self._allow("count_tokens_by_user", Action.READ, Resource(Kind.TOKEN, owner=user_id))
        return await self._inner.count_tokens_by_user(user_id=user_id, kind=kind)

    async def delete_oldest_sessions(self, *, user_id: UUID, keep: int) -> int:
        self._allow("delete_oldest_sessions", Action.DELETE, Resource(Kind.LOGIN))
        return await self._inner.delete_oldest_sessions(user_id=user_id, keep=keep)

    async def get_token_by_id(self, *, id: UUID) -> Token:
        actor = require_actor("get_token_by_id")
        token = await self._inner.get_token_by_id(id=id)
        self._authorizer.check(actor, Action.READ, Resource(Kind.TOKEN, owner=token.user_id))
        return token

    async def authenticate_token(self, *, hash: bytes) -> AuthenticateTokenRow | None:
        self._allow("authenticate_token", Action.READ, Resource(Kind.LOGIN))
        return await self._inner.authenticate_token(hash=hash)

    async def list_tokens_by_user(
        self, *, user_id: UUID, kind: TokenKind, before_id: UUID | None, max_rows: int
    ) -> list[Token]:
        self._allow("list_tokens_by_user", Action.READ, Resource(Kind.TOKEN, owner=user_id))
        return await self._inner.list_tokens_by_user(user_id=user_id, kind=kind, before_id=before_id, max_rows=max_rows)

    async def delete_token(self, *, id: UUID) -> int:
        actor = require_actor("delete_token")
        token = await self._inner.get_token_by_id(id=id)
        if not (isinstance(actor, Person) and actor.token_id == id):  # any token may end itself
            self._authorizer.check(actor, Action.DELETE, Resource(Kind.TOKEN, owner=token.user_id))
        async with self._audited("delete_token") as tx:
            return await tx.delete_token(id=id)

    async def delete_user_sessions(self, *, user_id: UUID, except_id: UUID | None) -> int:
        self._allow("delete_user_sessions", Action.DELETE, Resource(Kind.TOKEN, owner=user_id))
        async with self._audited("delete_user_sessions") as tx:
            return await tx.delete_user_sessions(user_id=user_id, except_id=except_id)

    async def delete_user_tokens(self, *, user_id: UUID) -> int:
        self._allow("delete_user_tokens", Action.DELETE, Resource(Kind.TOKEN, owner=user_id))
        async with self._audited("delete_user_tokens") as tx:
            return await tx.delete_user_tokens(user_id=user_id)

    async def delete_expired_tokens(self, *, expired_for: timedelta, max_rows: int) -> int:
        self._allow("delete_expired_tokens", Action.DELETE, Resource(Kind.TOKEN))
        return await self._inner.delete_expired_tokens(expired_for=expired_for, max_rows=max_rows)

    async def touch_tokens_last_used(self, *, items: Sequence[TouchTokensLastUsedItem]) -> int:
        self._allow("touch_tokens_last_used", Action.UPDATE, Resource(Kind.LOGIN))
        return await self._inner.touch_tokens_last_used(items=items)

    async def create_chat(
        self,
        *,
        chat_id: UUID,
        organization_id: UUID,
        owner_id: UUID,
        parent_id: UUID | None,
        title: str,
        labels: str,
        mode: ChatMode | None,
        plan_mode: bool,
        client: ChatClient,
        mcp_server_ids: Sequence[UUID],
        dynamic_tools: str,
        model_config_id: UUID,
        reasoning_effort: ReasoningEffort | None,
        rows: Sequence[MessageRow],
        file_ids: Sequence[UUID],
        most_files: int,
        workspace_id: UUID | None,
        taker: UUID | None,
        taker_runner: UUID | None,
        root_capacity: int | None,
        child_capacity: int | None,
    ) -> ChatChange | None:
        self._allow("create_chat", Action.CREATE, Resource(Kind.CHAT, owner=owner_id))
        if workspace_id is not None:
            self._allow("create_chat", Action.RUN, Resource(Kind.WORKSPACE, owner=owner_id))
        return await self._inner.create_chat(
            chat_id=chat_id,
            organization_id=organization_id,
            owner_id=owner_id,
            parent_id=parent_id,
            title=title,
            labels=labels,
            mode=mode,
            plan_mode=plan_mode,
            client=client,
            mcp_server_ids=mcp_server_ids,
            dynamic_tools=dynamic_tools,
            model_config_id=model_config_id,
            reasoning_effort=reasoning_effort,
            rows=rows,
            file_ids=file_ids,
            most_files=most_files,
            workspace_id=workspace_id,
            taker=taker,
            taker_runner=taker_runner,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
        )

    async def fork_chat(
        self,
        *,
        chat_id: UUID,
        owner_id: UUID,
        source_id: UUID,
        only_owner: UUID | None,
        at_message: int | None,
        title: str | None,
    ) -> ChatChange | None:
        self._allow("fork_chat", Action.CREATE, Resource(Kind.CHAT, owner=owner_id))
        only_owner = self._only_owner("fork_chat", Action.READ, only_owner)
        return await self._inner.fork_chat(
            chat_id=chat_id,
            owner_id=owner_id,
            source_id=source_id,
            only_owner=only_owner,
            at_message=at_message,
            title=title,
        )

    async def send_message(
        self,
        *,
        chat_id: UUID,
        only_owner: UUID | None,
        message: MessageRow,
        interrupts: bool,
        file_ids: Sequence[UUID],
        most_queued: int,
        most_files: int,
        send_key: UUID | None,
        fingerprint: UUID | None,
        planning: bool | None,
        taker: UUID | None,
        taker_runner: UUID | None,
        root_capacity: int | None,
        child_capacity: int | None,
    ) -> ChatChange | None:
        only_owner = self._only_owner("send_message", Action.RUN, only_owner)
        return await self._inner.send_message(
            chat_id=chat_id,
            only_owner=only_owner,
            message=message,
            interrupts=interrupts,
            file_ids=file_ids,
            most_queued=most_queued,
            most_files=most_files,
            send_key=send_key,
            fingerprint=fingerprint,
            planning=planning,
            taker=taker,
            taker_runner=taker_runner,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
        )

    async def edit_message(
        self,
        *,
        chat_id: UUID,
        only_owner: UUID | None,
        edited_id: int,
        message: MessageRow,
        file_ids: Sequence[UUID],
        most_files: int,
        taker: UUID | None,
        taker_runner: UUID | None,
        root_capacity: int | None,
        child_capacity: int | None,
    ) -> ChatChange | None:
        only_owner = self._only_owner("edit_message", Action.RUN, only_owner)
        return await self._inner.edit_message(
            chat_id=chat_id,
            only_owner=only_owner,
            edited_id=edited_id,
            message=message,
            file_ids=file_ids,
            most_files=most_files,
            taker=taker,
            taker_runner=taker_runner,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
        )

    async def interrupt(self, *, chat_id: UUID, only_owner: UUID | None) -> ChatChange | None:
        only_owner = self._only_owner("interrupt", Action.UPDATE, only_owner)
        return await self._inner.interrupt(chat_id=chat_id, only_owner=only_owner)

    async def request_compaction(
        self,
        *,
        chat_id: UUID,
        only_owner: UUID | None,
        taker: UUID | None,
        taker_runner: UUID | None,
        root_capacity: int | None,
        child_capacity: int | None,
    ) -> ChatChange | None:
        only_owner = self._only_owner("request_compaction", Action.RUN, only_owner)
        return await self._inner.request_compaction(
            chat_id=chat_id,
            only_owner=only_owner,
            taker=taker,
            taker_runner=taker_runner,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
        )

    async def complete_requires_action(
        self, *, chat_id: UUID, only_owner: UUID | None, rows: Sequence[MessageRow]
    ) -> ChatChange | None:
        only_owner = self._only_owner("complete_requires_action", Action.RUN, only_owner)
        return await self._inner.complete_requires_action(chat_id=chat_id, only_owner=only_owner, rows=rows)

    async def archive(self, *, chat_id: UUID, only_owner: UUID | None) -> list[ChatChange]:
        only_owner = self._only_owner("archive", Action.UPDATE, only_owner)
        return await self._inner.archive(chat_id=chat_id, only_owner=only_owner)

    async def unarchive(self, *, chat_id: UUID, only_owner: UUID | None) -> list[ChatChange]:
        only_owner = self._only_owner("unarchive", Action.UPDATE, only_owner)
        return await self._inner.unarchive(chat_id=chat_id, only_owner=only_owner)

    async def reconcile_invalid(self, *, chat_id: UUID, only_owner: UUID | None, error: str) -> ChatChange | None:
        only_owner = self._only_owner("reconcile_invalid", Action.UPDATE, only_owner)
        return await self._inner.reconcile_invalid(chat_id=chat_id, only_owner=only_owner, error=error)

    async def bind_workspace(
        self, *, chat_id: UUID, only_owner: UUID | None, runner_id: UUID | None, workspace_id: UUID | None
    ) -> ChatChange | None:
        only_owner = self._only_owner("bind_workspace", Action.RUN, only_owner)
        if workspace_id is not None:
            self._allow("bind_workspace", Action.RUN, Resource(Kind.WORKSPACE, owner=only_owner))
        return await self._inner.bind_workspace(
            chat_id=chat_id, only_owner=only_owner, runner_id=runner_id, workspace_id=workspace_id
        )

    async def delete_queued(self, *, chat_id: UUID, only_owner: UUID | None, queued_id: int) -> ChatChange | None:
        only_owner = self._only_owner("delete_queued", Action.UPDATE, only_owner)
        return await self._inner.delete_queued(chat_id=chat_id, only_owner=only_owner, queued_id=queued_id)

    async def promote_queued(
        self,
        *,
        chat_id: UUID,
        only_owner: UUID | None,
        queued_id: int,
        taker: UUID | None,
        taker_runner: UUID | None,
        root_capacity: int | None,
        child_capacity: int | None,
    ) -> ChatChange | None:
        only_owner = self._only_owner("promote_queued", Action.RUN, only_owner)
        return await self._inner.promote_queued(
            chat_id=chat_id,
            only_owner=only_owner,
            queued_id=queued_id,
            taker=taker,
            taker_runner=taker_runner,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
        )

    async def reorder_queued(
        self, *, chat_id: UUID, only_owner: UUID | None, queued_ids: Sequence[int]
    ) -> ChatChange | None:
        only_owner = self._only_owner("reorder_queued", Action.UPDATE, only_owner)
        return await self._inner.reorder_queued(chat_id=chat_id, only_owner=only_owner, queued_ids=queued_ids)

    async def hold_queued(
        self, *, chat_id: UUID, only_owner: UUID | None, queued_id: int, holder: UUID, hold_for: timedelta
    ) -> ChatChange | None:
        only_owner = self._only_owner("hold_queued", Action.UPDATE, only_owner)
        return await self._inner.hold_queued(
            chat_id=chat_id, only_owner=only_owner, queued_id=queued_id, holder=holder, hold_for=hold_for
        )

    async def release_queued(
        self,
        *,
        chat_id: UUID,
        only_owner: UUID | None,
        queued_id: int,
        holder: UUID,
        message: MessageRow | None,
        file_ids: Sequence[UUID],
        most_files: int,
        taker: UUID | None,
        taker_runner: UUID | None,
        root_capacity: int | None,
        child_capacity: int | None,
    ) -> ChatChange | None:
        only_owner = self._only_owner("release_queued", Action.RUN, only_owner)
        return await self._inner.release_queued(
            chat_id=chat_id,
            only_owner=only_owner,
            queued_id=queued_id,
            holder=holder,
            message=message,
            file_ids=file_ids,
            most_files=most_files,
            taker=taker,
            taker_runner=taker_runner,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
        )

    async def release_overdue(self, *, most_chats: int) -> list[ChatChange]:
        self._allow("release_overdue", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.release_overdue(most_chats=most_chats)

    async def acquire(
        self,
        *,
        taker: UUID,
        runner_ids: Sequence[UUID],
        root_capacity: int | None,
        child_capacity: int | None,
        most_takeovers: int,
        error: str,
    ) -> list[ChatChange]:
        self._allow("acquire", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.acquire(
            taker=taker,
            runner_ids=runner_ids,
            root_capacity=root_capacity,
            child_capacity=child_capacity,
            most_takeovers=most_takeovers,
            error=error,
        )

    async def abandon(self, *, chat_id: UUID, runner_id: UUID) -> ChatChange | None:
        self._allow("abandon", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.abandon(chat_id=chat_id, runner_id=runner_id)

    async def hand_over(self, *, replica_id: UUID, most_chats: int) -> list[ChatChange]:
        self._allow("hand_over", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.hand_over(replica_id=replica_id, most_chats=most_chats)

    async def give_up(self, *, chat_id: UUID, error: str) -> ChatChange | None:
        self._allow("give_up", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.give_up(chat_id=chat_id, error=error)

    async def record_attempt(self, *, chat_id: UUID, runner_id: UUID, history_version: int) -> ChatChange | None:
        self._allow("record_attempt", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.record_attempt(chat_id=chat_id, runner_id=runner_id, history_version=history_version)

    async def record_retry(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, retry: str
    ) -> ChatChange | None:
        self._allow("record_retry", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.record_retry(
            chat_id=chat_id, runner_id=runner_id, history_version=history_version, retry=retry
        )

    async def save_draft(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, draft: MessageRow
    ) -> ChatChange | None:
        self._allow("save_draft", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.save_draft(
            chat_id=chat_id, runner_id=runner_id, history_version=history_version, draft=draft
        )

    async def commit_step(
        self,
        *,
        chat_id: UUID,
        runner_id: UUID,
        history_version: int,
        rows: Sequence[MessageRow],
        finish: bool,
        compacted: bool,
    ) -> ChatChange | None:
        self._allow("commit_step", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.commit_step(
            chat_id=chat_id,
            runner_id=runner_id,
            history_version=history_version,
            rows=rows,
            finish=finish,
            compacted=compacted,
        )

    async def enter_requires_action(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, wait_for: timedelta
    ) -> ChatChange | None:
        self._allow("enter_requires_action", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.enter_requires_action(
            chat_id=chat_id, runner_id=runner_id, history_version=history_version, wait_for=wait_for
        )

    async def cancel_requires_action(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, reason: str
    ) -> ChatChange | None:
        self._allow("cancel_requires_action", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.cancel_requires_action(
            chat_id=chat_id, runner_id=runner_id, history_version=history_version, reason=reason
        )

    async def finish_turn(self, *, chat_id: UUID, runner_id: UUID, history_version: int) -> ChatChange | None:
        self._allow("finish_turn", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.finish_turn(chat_id=chat_id, runner_id=runner_id, history_version=history_version)

    async def finish_interruption(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, rows: Sequence[MessageRow]
    ) -> ChatChange | None:
        self._allow("finish_interruption", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.finish_interruption(
            chat_id=chat_id, runner_id=runner_id, history_version=history_version, rows=rows
        )

    async def finish_error(
        self,
        *,
        chat_id: UUID,
        runner_id: UUID | None,
        history_version: int | None,
        rows: Sequence[MessageRow],
        error: str,
    ) -> ChatChange | None:
        self._allow("finish_error", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.finish_error(
            chat_id=chat_id, runner_id=runner_id, history_version=history_version, rows=rows, error=error
        )

    async def has_usage_limits(self) -> bool:
        self._allow("has_usage_limits", Action.READ, Resource(Kind.USAGE_LIMIT))
        return await self._inner.has_usage_limits()

    async def list_spending(
        self, *, day_start: datetime, week_start: datetime, month_start: datetime, user_id: UUID
    ) -> list[ListSpendingRow]:
        self._allow("list_spending", Action.READ, Resource(Kind.USAGE_LIMIT, owner=user_id))
        return await self._inner.list_spending(
            day_start=day_start, week_start=week_start, month_start=month_start, user_id=user_id
        )

    async def list_usage_limits(self) -> list[UsageLimit]:
        self._allow("list_usage_limits", Action.READ, Resource(Kind.USAGE_LIMIT))
        return await self._inner.list_usage_limits()

    async def upsert_usage_limit(
        self, *, user_id: UUID | None, group_id: UUID | None, period: Period, microdollars: int | None
    ) -> int:
        self._allow("upsert_usage_limit", Action.UPDATE, Resource(Kind.USAGE_LIMIT))
        async with self._audited("upsert_usage_limit") as tx:
            return await tx.upsert_usage_limit(
                user_id=user_id, group_id=group_id, period=period, microdollars=microdollars
            )

    async def delete_usage_limit(self, *, user_id: UUID | None, group_id: UUID | None, period: Period) -> int:
        self._allow("delete_usage_limit", Action.DELETE, Resource(Kind.USAGE_LIMIT))
        async with self._audited("delete_usage_limit") as tx:
            return await tx.delete_usage_limit(user_id=user_id, group_id=group_id, period=period)

    async def get_turn_context(self, *, model_config_id: UUID, chat_id: UUID) -> GetTurnContextRow | None:
        self._allow_machine("get_turn_context", Action.RUN, Resource(Kind.CHAT))
        return await self._inner.get_turn_context(model_config_id=model_config_id, chat_id=chat_id)

    async def get_custom_prompt(self, *, user_id: UUID) -> str | None:
        self._allow("get_custom_prompt", Action.READ, Resource(Kind.USER, owner=user_id))
        return await self._inner.get_custom_prompt(user_id=user_id)

    async def upsert_custom_prompt(self, *, user_id: UUID, custom_prompt: str) -> int:
        self._allow("upsert_custom_prompt", Action.UPDATE_PERSONAL, Resource(Kind.USER, owner=user_id))
        return await self._inner.upsert_custom_prompt(user_id=user_id, custom_prompt=custom_prompt)

    async def list_compaction_thresholds(self, *, user_id: UUID) -> list[ListCompactionThresholdsRow]:
        self._allow("list_compaction_thresholds", Action.READ, Resource(Kind.USER, owner=user_id))
        return await self._inner.list_compaction_thresholds(user_id=user_id)

    async def upsert_compaction_threshold(self, *, user_id: UUID, model_config_id: UUID, threshold_percent: int) -> int:
        self._allow("upsert_compaction_threshold", Action.UPDATE_PERSONAL, Resource(Kind.USER, owner=user_id))
        return await self._inner.upsert_compaction_threshold(
            user_id=user_id, model_config_id=model_config_id, threshold_percent=threshold_percent
        )

    async def delete_compaction_threshold(self, *, user_id: UUID, model_config_id: UUID) -> int:
        self._allow("delete_compaction_threshold", Action.UPDATE_PERSONAL, Resource(Kind.USER, owner=user_id))
        return await self._inner.delete_compaction_threshold(user_id=user_id, model_config_id=model_config_id)

    async def get_user_by_id(self, *, id: UUID) -> User:
        self._allow("get_user_by_id", Action.READ, Resource(Kind.USER, owner=id))
        return await self._inner.get_user_by_id(id=id)

    async def get_user_by_login(self, *, login: str) -> User | None:
        self._allow("get_user_by_login", Action.READ, Resource(Kind.LOGIN))
        return await self._inner.get_user_by_login(login=login)

    async def get_user_by_username(self, *, username: str) -> User | None:
        actor = require_actor("get_user_by_username")
        user = await self._inner.get_user_by_username(username=username)
        self._authorizer.check(actor, Action.READ, Resource(Kind.USER, owner=user.id if user else None))
        return user

    async def list_users(
        self, *, after_id: UUID | None, search: str | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[User]:
        authorize = self._visible("list_users", Kind.USER, authorize)
        return await self._inner.list_users(after_id=after_id, search=search, max_rows=max_rows, authorize=authorize)

    async def count_users(self, *, search: str | None, authorize: Filter = EVERYTHING) -> int:
        authorize = self._visible("count_users", Kind.USER, authorize)
        return await self._inner.count_users(search=search, authorize=authorize)

    async def has_any_user(self) -> bool:
        self._allow("has_any_user", Action.READ, Resource(Kind.USER))
        return await self._inner.has_any_user()

    async def insert_user(
        self, *, id: UUID, email: str, username: str, display_name: str, password_hash: str, role: UserRole
    ) -> User:
        allow = self._allow if role is UserRole.MEMBER else self._allow_giving_rights
        allow("insert_user", Action.CREATE, Resource(Kind.USER))
        async with self._audited("insert_user") as tx:
            return await tx.insert_user(
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
        self._allow("insert_first_user", Action.CREATE, Resource(Kind.USER))
        async with self._audited("insert_first_user") as tx:
            return await tx.insert_first_user(
                code_hash=code_hash,
                id=id,
                email=email,
                username=username,
                display_name=display_name,
                password_hash=password_hash,
            )

    async def update_user_profile(self, *, email: str, username: str, display_name: str, id: UUID) -> User:
        self._allow("update_user_profile", Action.UPDATE_PERSONAL, Resource(Kind.USER, owner=id))
        async with self._audited("update_user_profile") as tx:
            return await tx.update_user_profile(email=email, username=username, display_name=display_name, id=id)

    async def update_user_role(self, *, role: UserRole, id: UUID) -> User:
        self._allow_giving_rights("update_user_role", Action.UPDATE, Resource(Kind.USER, owner=id))
        async with self._audited("update_user_role") as tx:
            return await tx.update_user_role(role=role, id=id)

    async def update_user_status(self, *, status: UserStatus, id: UUID) -> User:
        self._allow("update_user_status", Action.UPDATE, Resource(Kind.USER, owner=id))
        async with self._audited("update_user_status") as tx:
            return await tx.update_user_status(status=status, id=id)

    async def update_user_password(self, *, password_hash: str, id: UUID) -> User:
        self._allow_giving_rights("update_user_password", Action.UPDATE_PERSONAL, Resource(Kind.USER, owner=id))
        async with self._audited("update_user_password") as tx:
            return await tx.update_user_password(password_hash=password_hash, id=id)

    async def rehash_password(self, *, stronger: str, id: UUID, verified: str) -> int:
        self._allow("rehash_password", Action.UPDATE, Resource(Kind.LOGIN))
        return await self._inner.rehash_password(stronger=stronger, id=id, verified=verified)

    async def delete_user(self, *, id: UUID) -> int:
        self._allow("delete_user", Action.DELETE, Resource(Kind.USER, owner=id))
        async with self._audited("delete_user") as tx:
            return await tx.delete_user(id=id)

    async def lock_active_owners(self) -> list[UUID]:
        self._allow("lock_active_owners", Action.UPDATE, Resource(Kind.USER))
        return await self._inner.lock_active_owners()

    async def touch_users_last_seen(self, *, items: Sequence[TouchUsersLastSeenItem]) -> int:
        self._allow("touch_users_last_seen", Action.UPDATE, Resource(Kind.LOGIN))
        return await self._inner.touch_users_last_seen(items=items)

    async def insert_workspace_build(
        self,
        *,
        kept_parameters: str,
        workspace_id: UUID,
        after_number: int,
        id: UUID,
        transition: BuildTransition,
        reason: BuildReason,
        initiator_id: UUID | None,
        key: UUID | None,
        parameters: str,
        authorize: Filter = EVERYTHING,
    ) -> WorkspaceBuild | None:
        action = Action.DELETE if transition is BuildTransition.DELETE else Action.UPDATE
        authorize = self._visible("insert_workspace_build", Kind.WORKSPACE, authorize, action)
        return await self._inner.insert_workspace_build(
            kept_parameters=kept_parameters,
            workspace_id=workspace_id,
            after_number=after_number,
            id=id,
            transition=transition,
            reason=reason,
            initiator_id=initiator_id,
            key=key,
            parameters=parameters,
            authorize=authorize,
        )

    async def get_workspace_build(self, *, id: UUID, authorize: Filter = EVERYTHING) -> WorkspaceBuild | None:
        authorize = self._visible("get_workspace_build", Kind.WORKSPACE, authorize)
        return await self._inner.get_workspace_build(id=id, authorize=authorize)

    async def get_workspace_build_by_key(self, *, key: UUID, authorize: Filter = EVERYTHING) -> WorkspaceBuild | None:
        authorize = self._visible("get_workspace_build_by_key", Kind.WORKSPACE, authorize)
        return await self._inner.get_workspace_build_by_key(key=key, authorize=authorize)

    async def list_workspace_builds(
        self, *, workspace_id: UUID, before_number: int | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[WorkspaceBuild]:
        authorize = self._visible("list_workspace_builds", Kind.WORKSPACE, authorize)
        return await self._inner.list_workspace_builds(
            workspace_id=workspace_id, before_number=before_number, max_rows=max_rows, authorize=authorize
        )

    async def claim_workspace_builds(
        self,
        *,
        replica_id: UUID,
        host_id: str,
        provisioners: Sequence[ProvisionerKind],
        known_ids: Sequence[UUID],
        max_rows: int,
    ) -> list[WorkspaceBuild]:
        self._allow_machine("claim_workspace_builds", Action.UPDATE, Resource(Kind.WORKSPACE))
        return await self._inner.claim_workspace_builds(
            replica_id=replica_id, host_id=host_id, provisioners=provisioners, known_ids=known_ids, max_rows=max_rows
        )

    async def finish_workspace_build(
        self,
        *,
        status: BuildStatus,
        error: str,
        error_code: str,
        id: UUID,
        replica_id: UUID,
        lifetime: timedelta | None,
        agent_address: str | None,
        ttl: timedelta | None,
    ) -> FinishWorkspaceBuildRow | None:
        self._allow_machine("finish_workspace_build", Action.UPDATE, Resource(Kind.WORKSPACE))
        async with self._audited("finish_workspace_build") as tx:
            return await tx.finish_workspace_build(
                status=status,
                error=error,
                error_code=error_code,
                id=id,
                replica_id=replica_id,
                lifetime=lifetime,
                agent_address=agent_address,
                ttl=ttl,
            )

    async def cancel_workspace_build(
        self, *, cancelled_by: UUID | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> WorkspaceBuild | None:
        authorize = self._visible("cancel_workspace_build", Kind.WORKSPACE, authorize, Action.UPDATE)
        return await self._inner.cancel_workspace_build(cancelled_by=cancelled_by, id=id, authorize=authorize)

    async def list_carried_out_builds(self, *, replica_id: UUID) -> list[ListCarriedOutBuildsRow]:
        self._allow_machine("list_carried_out_builds", Action.READ, Resource(Kind.WORKSPACE))
        return await self._inner.list_carried_out_builds(replica_id=replica_id)

    async def fail_unclaimed_builds(self, *, error: str, older_than: timedelta) -> list[WorkspaceBuild]:
        self._allow_machine("fail_unclaimed_builds", Action.UPDATE, Resource(Kind.WORKSPACE))
        return await self._inner.fail_unclaimed_builds(error=error, older_than=older_than)

    async def orphan_workspace(
        self, *, workspace_id: UUID, initiator_id: UUID | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> WorkspaceBuild | None:
        authorize = self._visible("orphan_workspace", Kind.WORKSPACE, authorize, Action.DELETE)
        async with self._audited("orphan_workspace") as inner:
            return await inner.orphan_workspace(
                workspace_id=workspace_id, initiator_id=initiator_id, id=id, authorize=authorize
            )

    async def list_orphans(self, *, host_id: str, after_id: UUID, max_rows: int) -> list[UUID]:
        self._allow_machine("list_orphans", Action.READ, Resource(Kind.WORKSPACE))
        return await self._inner.list_orphans(host_id=host_id, after_id=after_id, max_rows=max_rows)

    async def settle_orphan(self, *, workspace_id: UUID) -> int:
        self._allow_machine("settle_orphan", Action.DELETE, Resource(Kind.WORKSPACE))
        return await self._inner.settle_orphan(workspace_id=workspace_id)

    async def insert_build_logs(
        self, *, items: Sequence[InsertBuildLogsItem], build_id: UUID, replica_id: UUID, most_lines: int
    ) -> int:
        self._allow_machine("insert_build_logs", Action.UPDATE, Resource(Kind.WORKSPACE))
        return await self._inner.insert_build_logs(
            items=items, build_id=build_id, replica_id=replica_id, most_lines=most_lines
        )

    async def list_build_logs(
        self, *, build_id: UUID, after_id: int, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[WorkspaceBuildLog]:
        authorize = self._visible("list_build_logs", Kind.WORKSPACE, authorize)
        return await self._inner.list_build_logs(
            build_id=build_id, after_id=after_id, max_rows=max_rows, authorize=authorize
        )

    async def delete_old_build_logs(self, *, older_than: timedelta, max_rows: int) -> int:
        self._allow_machine("delete_old_build_logs", Action.DELETE, Resource(Kind.WORKSPACE))
        return await self._inner.delete_old_build_logs(older_than=older_than, max_rows=max_rows)

    async def insert_workspace(
        self,
        *,
        id: UUID,
        organization_id: UUID,
        owner_id: UUID,
        template_id: UUID,
        name: str,
        host_id: str | None,
        parameters: str,
        agent_token: Secret,
        ttl_ms: int | None,
        build_id: UUID,
        reason: BuildReason,
        initiator_id: UUID | None,
        key: UUID | None,
        build_parameters: str,
    ) -> WorkspaceBuild:
        self._allow("insert_workspace", Action.CREATE, Resource(Kind.WORKSPACE, owner=owner_id))
        async with self._audited("insert_workspace") as tx:
            return await tx.insert_workspace(
                id=id,
                organization_id=organization_id,
                owner_id=owner_id,
                template_id=template_id,
                name=name,
                host_id=host_id,
                parameters=parameters,
                agent_token=agent_token,
                ttl_ms=ttl_ms,
                build_id=build_id,
                reason=reason,
                initiator_id=initiator_id,
                key=key,
                build_parameters=build_parameters,
            )

    async def lock_workspaces_of(self, *, owner_id: UUID) -> int:
        self._allow("lock_workspaces_of", Action.CREATE, Resource(Kind.WORKSPACE, owner=owner_id))
        return await self._inner.lock_workspaces_of(owner_id=owner_id)

    async def count_workspaces(self, *, owner_id: UUID, authorize: Filter = EVERYTHING) -> int:
        authorize = self._visible("count_workspaces", Kind.WORKSPACE, authorize)
        return await self._inner.count_workspaces(owner_id=owner_id, authorize=authorize)

    async def get_workspace(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetWorkspaceRow | None:
        authorize = self._visible("get_workspace", Kind.WORKSPACE, authorize)
        return await self._inner.get_workspace(id=id, authorize=authorize)

    async def get_workspace_id(self, *, owner_id: UUID, name: str, authorize: Filter = EVERYTHING) -> UUID | None:
        authorize = self._visible("get_workspace_id", Kind.WORKSPACE, authorize)
        return await self._inner.get_workspace_id(owner_id=owner_id, name=name, authorize=authorize)

    async def list_workspaces(
        self, *, owner_id: UUID | None, after_id: UUID | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[ListWorkspacesRow]:
        authorize = self._visible("list_workspaces", Kind.WORKSPACE, authorize)
        return await self._inner.list_workspaces(
            owner_id=owner_id, after_id=after_id, max_rows=max_rows, authorize=authorize
        )

    async def update_workspace(
        self, *, name: str, ttl_ms: int | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        authorize = self._visible("update_workspace", Kind.WORKSPACE, authorize, Action.UPDATE)
        async with self._audited("update_workspace") as tx:
            return await tx.update_workspace(name=name, ttl_ms=ttl_ms, id=id, authorize=authorize)

    async def set_workspace_deadline(
        self, *, deadline: datetime | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        authorize = self._visible("set_workspace_deadline", Kind.WORKSPACE, authorize, Action.UPDATE)
        return await self._inner.set_workspace_deadline(deadline=deadline, id=id, authorize=authorize)

    async def get_workspace_spec(self, *, id: UUID) -> GetWorkspaceSpecRow | None:
        self._allow_machine("get_workspace_spec", Action.RUN, Resource(Kind.WORKSPACE))
        return await self._inner.get_workspace_spec(id=id)

    async def resolve_workspace(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ResolveWorkspaceRow | None:
        authorize = self._visible("resolve_workspace", Kind.WORKSPACE, authorize, Action.RUN)
        return await self._inner.resolve_workspace(chat_id=chat_id, authorize=authorize)

    async def get_workspace_agent(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetWorkspaceAgentRow | None:
        authorize = self._visible("get_workspace_agent", Kind.WORKSPACE, authorize, Action.RUN)
        return await self._inner.get_workspace_agent(id=id, authorize=authorize)

    async def bump_workspaces(self, *, replica_id: UUID, used_ids: Sequence[UUID]) -> int:
        self._allow_machine("bump_workspaces", Action.UPDATE, Resource(Kind.WORKSPACE))
        return await self._inner.bump_workspaces(replica_id=replica_id, used_ids=used_ids)

    async def stop_overdue_workspaces(self, *, again_after: timedelta, max_rows: int) -> list[WorkspaceBuild]:
        self._allow_machine("stop_overdue_workspaces", Action.UPDATE, Resource(Kind.WORKSPACE))
        return await self._inner.stop_overdue_workspaces(again_after=again_after, max_rows=max_rows)

    async def list_host_workspaces(self, *, host_id: str, after_id: UUID, max_rows: int) -> list[UUID]:
        self._allow_machine("list_host_workspaces", Action.READ, Resource(Kind.WORKSPACE))
        return await self._inner.list_host_workspaces(host_id=host_id, after_id=after_id, max_rows=max_rows)

    async def set_agent_address(self, *, agent_address: str, id: UUID, build_number: int) -> int:
        self._allow_machine("set_agent_address", Action.UPDATE, Resource(Kind.WORKSPACE))
        return await self._inner.set_agent_address(agent_address=agent_address, id=id, build_number=build_number)

    async def count_running_workspaces(self) -> int:
        self._allow_machine("count_running_workspaces", Action.READ, Resource(Kind.WORKSPACE))
        return await self._inner.count_running_workspaces()

    async def list_workspace_chats(
        self, *, workspace_ids: Sequence[UUID], authorize: Filter = EVERYTHING
    ) -> list[ListWorkspaceChatsRow]:
        authorize = self._visible("list_workspace_chats", Kind.CHAT, authorize)
        return await self._inner.list_workspace_chats(workspace_ids=workspace_ids, authorize=authorize)

    async def list_chats_in_workspace(
        self, *, workspace_id: UUID, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[ListChatsInWorkspaceRow]:
        authorize = self._visible("list_chats_in_workspace", Kind.CHAT, authorize)
        return await self._inner.list_chats_in_workspace(
            workspace_id=workspace_id, max_rows=max_rows, authorize=authorize
        )

    async def list_encrypted_columns(self) -> list[EncryptedColumn]:
        self._allow("list_encrypted_columns", Action.READ, Resource(Kind.ENCRYPTION_KEY))
        return await self._inner.list_encrypted_columns()

    async def lock_values_under_other_keys(
        self, *, column: EncryptedColumn, key_id: str, max_rows: int
    ) -> list[SealedValue]:
        self._allow("lock_values_under_other_keys", Action.UPDATE, Resource(Kind.ENCRYPTION_KEY))
        return await self._inner.lock_values_under_other_keys(column=column, key_id=key_id, max_rows=max_rows)

    async def replace_sealed_values(self, *, column: EncryptedColumn, values: Sequence[SealedValue]) -> int:
        self._allow("replace_sealed_values", Action.UPDATE, Resource(Kind.ENCRYPTION_KEY))
        return await self._inner.replace_sealed_values(column=column, values=values)

    async def list_announced_keys(self) -> list[int]:
        self._allow("list_announced_keys", Action.READ, Resource(Kind.ENCRYPTION_KEY))
        return await self._inner.list_announced_keys()

    async def hold_announcements(self) -> None:
        self._allow("hold_announcements", Action.UPDATE, Resource(Kind.ENCRYPTION_KEY))
        await self._inner.hold_announcements()
