"""A store that measures every query."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Self
from uuid import UUID

from chatd.core.access import EVERYTHING, Filter
from chatd.core.reasoning import ReasoningEffort
from chatd.core.secret import Secret
from chatd.core.side_kind import SideKind
from chatd.core.spend import Period
from chatd.core.workspaces.kinds import BuildReason, BuildStatus, BuildTransition, ProvisionerKind
from chatd.observe.metrics import QueryMeter
from chatd.store.custom_queries import EncryptedColumn, SealedValue
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

    async def set_audit_actor(
        self, *, kind: str, id: UUID | None, name: str, request_id: str, client_address: str
    ) -> int:
        with self._meter.query("set_audit_actor"):
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
        with self._meter.query("insert_refused_attempt"):
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
        with self._meter.query("list_audit_entries"):
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
        with self._meter.query("delete_old_audit_entries"):
            return await self._inner.delete_old_audit_entries(older_than=older_than, max_rows=max_rows)

    async def get_chat(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetChatRow | None:
        with self._meter.query("get_chat"):
            return await self._inner.get_chat(id=id, authorize=authorize)

    async def get_chat_state(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatState | None:
        with self._meter.query("get_chat_state"):
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
        with self._meter.query("list_chats"):
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
        with self._meter.query("list_labeled_chats"):
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
        with self._meter.query("list_pinned_chats"):
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
        with self._meter.query("list_child_chats"):
            return await self._inner.list_child_chats(
                root_chat_ids=root_chat_ids, max_rows=max_rows, authorize=authorize
            )

    async def update_chat(
        self, *, title: str | None, labels: str | None, plan_mode: bool | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> Chat | None:
        with self._meter.query("update_chat"):
            return await self._inner.update_chat(
                title=title, labels=labels, plan_mode=plan_mode, id=id, authorize=authorize
            )

    async def pin_chat(self, *, id: UUID, place: int, authorize: Filter = EVERYTHING) -> list[PinChatRow]:
        with self._meter.query("pin_chat"):
            return await self._inner.pin_chat(id=id, place=place, authorize=authorize)

    async def mark_chat_read(self, *, message_id: int, id: UUID, authorize: Filter = EVERYTHING) -> int | None:
        with self._meter.query("mark_chat_read"):
            return await self._inner.mark_chat_read(message_id=message_id, id=id, authorize=authorize)

    async def replace_chat_title(
        self, *, title: str, id: UUID, expected: str, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        with self._meter.query("replace_chat_title"):
            return await self._inner.replace_chat_title(title=title, id=id, expected=expected, authorize=authorize)

    async def set_turn_label(
        self, *, id: UUID, history_version: int, label: str | None, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        with self._meter.query("set_turn_label"):
            return await self._inner.set_turn_label(
                id=id, history_version=history_version, label=label, authorize=authorize
            )

    async def set_chat_summary(
        self, *, id: UUID, history_version: int, summary: str, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        with self._meter.query("set_chat_summary"):
            return await self._inner.set_chat_summary(
                id=id, history_version=history_version, summary=summary, authorize=authorize
            )

    async def count_messages_since_summary(
        self, *, id: UUID, history_version: int, authorize: Filter = EVERYTHING
    ) -> CountMessagesSinceSummaryRow | None:
        with self._meter.query("count_messages_since_summary"):
            return await self._inner.count_messages_since_summary(
                id=id, history_version=history_version, authorize=authorize
            )

    async def write_checkpoints(self, *, writer: UUID, ranges: Sequence[CheckpointRow], done: Sequence[UUID]) -> int:
        with self._meter.query("write_checkpoints"):
            return await self._inner.write_checkpoints(writer=writer, ranges=ranges, done=done)

    async def list_checkpoints(
        self, *, chat_id: UUID, history_version: int, authorize: Filter = EVERYTHING
    ) -> list[ChatCheckpoint]:
        with self._meter.query("list_checkpoints"):
            return await self._inner.list_checkpoints(
                chat_id=chat_id, history_version=history_version, authorize=authorize
            )

    async def delete_stale_checkpoints(self) -> int:
        with self._meter.query("delete_stale_checkpoints"):
            return await self._inner.delete_stale_checkpoints()

    async def insert_file(
        self, *, id: UUID, organization_id: UUID, owner_id: UUID, name: str, media_type: str, data: bytes, sha256: bytes
    ) -> int:
        with self._meter.query("insert_file"):
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
        with self._meter.query("attach_file"):
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
        with self._meter.query("get_file"):
            return await self._inner.get_file(id=id, authorize=authorize)

    async def get_file_metadata(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetFileMetadataRow | None:
        with self._meter.query("get_file_metadata"):
            return await self._inner.get_file_metadata(id=id, authorize=authorize)

    async def list_chat_files(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> list[ListChatFilesRow]:
        with self._meter.query("list_chat_files"):
            return await self._inner.list_chat_files(chat_id=chat_id, authorize=authorize)

    async def lock_orphan_files(self, *, older_than: timedelta, max_rows: int) -> list[UUID]:
        with self._meter.query("lock_orphan_files"):
            return await self._inner.lock_orphan_files(older_than=older_than, max_rows=max_rows)

    async def delete_orphan_files(self, *, ids: Sequence[UUID]) -> int:
        with self._meter.query("delete_orphan_files"):
            return await self._inner.delete_orphan_files(ids=ids)

    async def get_chat_context(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatContext | None:
        with self._meter.query("get_chat_context"):
            return await self._inner.get_chat_context(chat_id=chat_id, authorize=authorize)

    async def upsert_chat_context(
        self, *, hash: str, snapshot: str, chat_id: UUID, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        with self._meter.query("upsert_chat_context"):
            return await self._inner.upsert_chat_context(
                hash=hash, snapshot=snapshot, chat_id=chat_id, authorize=authorize
            )

    async def mark_contexts(self, *, hash: str, workspace_id: UUID) -> list[MarkContextsRow]:
        with self._meter.query("mark_contexts"):
            return await self._inner.mark_contexts(hash=hash, workspace_id=workspace_id)

    async def get_diff_status(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatDiffStatus | None:
        with self._meter.query("get_diff_status"):
            return await self._inner.get_diff_status(chat_id=chat_id, authorize=authorize)

    async def list_diff_statuses(
        self, *, chat_ids: Sequence[UUID], authorize: Filter = EVERYTHING
    ) -> list[ChatDiffStatus]:
        with self._meter.query("list_diff_statuses"):
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
        with self._meter.query("upsert_diff_refs"):
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
        with self._meter.query("forget_pull_request"):
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
        with self._meter.query("update_pull_request"):
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
        with self._meter.query("postpone_diff_statuses"):
            return await self._inner.postpone_diff_statuses(
                stale_at=stale_at, chat_ids=chat_ids, leased_until=leased_until
            )

    async def mark_diff_stale(self, *, at: datetime, chat_id: UUID) -> int:
        with self._meter.query("mark_diff_stale"):
            return await self._inner.mark_diff_stale(at=at, chat_id=chat_id)

    async def lease_stale_diff_statuses(
        self, *, leased_until: datetime, at: datetime, max_rows: int
    ) -> list[LeaseStaleDiffStatusesRow]:
        with self._meter.query("lease_stale_diff_statuses"):
            return await self._inner.lease_stale_diff_statuses(leased_until=leased_until, at=at, max_rows=max_rows)

    async def pause_git_host(self, *, host: str, until: datetime) -> int:
        with self._meter.query("pause_git_host"):
            return await self._inner.pause_git_host(host=host, until=until)

    async def get_git_host_pause(self, *, host: str, at: datetime) -> datetime | None:
        with self._meter.query("get_git_host_pause"):
            return await self._inner.get_git_host_pause(host=host, at=at)

    async def resume_git_host(self, *, host: str) -> int:
        with self._meter.query("resume_git_host"):
            return await self._inner.resume_git_host(host=host)

    async def insert_git_provider(
        self, *, id: UUID, kind: GitProviderKind, host: str, api_url: str, token: Secret | None
    ) -> int:
        with self._meter.query("insert_git_provider"):
            return await self._inner.insert_git_provider(id=id, kind=kind, host=host, api_url=api_url, token=token)

    async def update_git_provider(self, *, kind: GitProviderKind, host: str, api_url: str, id: UUID) -> int:
        with self._meter.query("update_git_provider"):
            return await self._inner.update_git_provider(kind=kind, host=host, api_url=api_url, id=id)

    async def update_git_provider_token(self, *, token: Secret | None, id: UUID) -> int:
        with self._meter.query("update_git_provider_token"):
            return await self._inner.update_git_provider_token(token=token, id=id)

    async def list_git_providers(self) -> list[ListGitProvidersRow]:
        with self._meter.query("list_git_providers"):
            return await self._inner.list_git_providers()

    async def list_git_providers_with_tokens(self) -> list[GitProvider]:
        with self._meter.query("list_git_providers_with_tokens"):
            return await self._inner.list_git_providers_with_tokens()

    async def delete_git_provider(self, *, id: UUID) -> int:
        with self._meter.query("delete_git_provider"):
            return await self._inner.delete_git_provider(id=id)

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

    async def list_messages_page(
        self,
        *,
        chat_id: UUID,
        before_id: int | None,
        after_id: int | None,
        max_rows: int,
        authorize: Filter = EVERYTHING,
    ) -> list[Message]:
        with self._meter.query("list_messages_page"):
            return await self._inner.list_messages_page(
                chat_id=chat_id, before_id=before_id, after_id=after_id, max_rows=max_rows, authorize=authorize
            )

    async def list_messages_after(
        self, *, chat_id: UUID, after_id: int, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[Message]:
        with self._meter.query("list_messages_after"):
            return await self._inner.list_messages_after(
                chat_id=chat_id, after_id=after_id, max_rows=max_rows, authorize=authorize
            )

    async def list_user_messages(
        self, *, chat_id: UUID, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[ListUserMessagesRow]:
        with self._meter.query("list_user_messages"):
            return await self._inner.list_user_messages(chat_id=chat_id, max_rows=max_rows, authorize=authorize)

    async def find_messages(
        self, *, words: str, chat_id: UUID, before_id: int | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[FindMessagesRow]:
        with self._meter.query("find_messages"):
            return await self._inner.find_messages(
                words=words, chat_id=chat_id, before_id=before_id, max_rows=max_rows, authorize=authorize
            )

    async def get_send(self, *, chat_id: UUID, key: UUID, authorize: Filter = EVERYTHING) -> ChatSend | None:
        with self._meter.query("get_send"):
            return await self._inner.get_send(chat_id=chat_id, key=key, authorize=authorize)

    async def delete_old_sends(self, *, older_than: timedelta, max_rows: int) -> int:
        with self._meter.query("delete_old_sends"):
            return await self._inner.delete_old_sends(older_than=older_than, max_rows=max_rows)

    async def list_prompt_messages(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> list[Message]:
        with self._meter.query("list_prompt_messages"):
            return await self._inner.list_prompt_messages(chat_id=chat_id, authorize=authorize)

    async def get_message(self, *, chat_id: UUID, id: int, authorize: Filter = EVERYTHING) -> Message | None:
        with self._meter.query("get_message"):
            return await self._inner.get_message(chat_id=chat_id, id=id, authorize=authorize)

    async def has_unread(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> bool:
        with self._meter.query("has_unread"):
            return await self._inner.has_unread(chat_id=chat_id, authorize=authorize)

    async def sum_cost_by_model(
        self, *, owner_id: UUID, since: datetime, until: datetime, authorize: Filter = EVERYTHING
    ) -> list[SumCostByModelRow]:
        with self._meter.query("sum_cost_by_model"):
            return await self._inner.sum_cost_by_model(owner_id=owner_id, since=since, until=until, authorize=authorize)

    async def sum_cost_by_chat(
        self, *, owner_id: UUID, since: datetime, until: datetime, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[SumCostByChatRow]:
        with self._meter.query("sum_cost_by_chat"):
            return await self._inner.sum_cost_by_chat(
                owner_id=owner_id, since=since, until=until, max_rows=max_rows, authorize=authorize
            )

    async def sum_cost_by_day(
        self, *, owner_id: UUID, since: datetime, until: datetime, authorize: Filter = EVERYTHING
    ) -> list[SumCostByDayRow]:
        with self._meter.query("sum_cost_by_day"):
            return await self._inner.sum_cost_by_day(owner_id=owner_id, since=since, until=until, authorize=authorize)

    async def sum_cost_by_user(
        self, *, since: datetime, until: datetime, after_id: UUID | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[SumCostByUserRow]:
        with self._meter.query("sum_cost_by_user"):
            return await self._inner.sum_cost_by_user(
                since=since, until=until, after_id=after_id, max_rows=max_rows, authorize=authorize
            )

    async def sum_cost_of_family(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> SumCostOfFamilyRow | None:
        with self._meter.query("sum_cost_of_family"):
            return await self._inner.sum_cost_of_family(chat_id=chat_id, authorize=authorize)

    async def sum_runtime_ms(
        self, *, owner_id: UUID, since: datetime, until: datetime, authorize: Filter = EVERYTHING
    ) -> int:
        with self._meter.query("sum_runtime_ms"):
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
        with self._meter.query("insert_provider"):
            return await self._inner.insert_provider(
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
        with self._meter.query("update_provider"):
            return await self._inner.update_provider(
                name=name, display_name=display_name, base_url=base_url, options=options, enabled=enabled, id=id
            )

    async def update_provider_key(self, *, api_key: Secret | None, id: UUID) -> int:
        with self._meter.query("update_provider_key"):
            return await self._inner.update_provider_key(api_key=api_key, id=id)

    async def get_provider(self, *, id: UUID) -> GetProviderRow | None:
        with self._meter.query("get_provider"):
            return await self._inner.get_provider(id=id)

    async def get_provider_with_key(self, *, id: UUID) -> Provider | None:
        with self._meter.query("get_provider_with_key"):
            return await self._inner.get_provider_with_key(id=id)

    async def lock_models(self) -> int:
        with self._meter.query("lock_models"):
            return await self._inner.lock_models()

    async def list_providers(self) -> list[ListProvidersRow]:
        with self._meter.query("list_providers"):
            return await self._inner.list_providers()

    async def delete_provider(self, *, id: UUID) -> int:
        with self._meter.query("delete_provider"):
            return await self._inner.delete_provider(id=id)

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
        with self._meter.query("insert_model_config"):
            return await self._inner.insert_model_config(
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
        with self._meter.query("update_model_config"):
            return await self._inner.update_model_config(
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
        with self._meter.query("get_model_config"):
            return await self._inner.get_model_config(id=id)

    async def get_default_model_config(self) -> ModelConfig | None:
        with self._meter.query("get_default_model_config"):
            return await self._inner.get_default_model_config()

    async def list_model_configs(self) -> list[ModelConfig]:
        with self._meter.query("list_model_configs"):
            return await self._inner.list_model_configs()

    async def list_offered_models(self) -> list[ListOfferedModelsRow]:
        with self._meter.query("list_offered_models"):
            return await self._inner.list_offered_models()

    async def elect_default_model_config(self) -> int:
        with self._meter.query("elect_default_model_config"):
            return await self._inner.elect_default_model_config()

    async def set_default_model_config(self, *, id: UUID) -> int:
        with self._meter.query("set_default_model_config"):
            return await self._inner.set_default_model_config(id=id)

    async def delete_model_config(self, *, id: UUID) -> int:
        with self._meter.query("delete_model_config"):
            return await self._inner.delete_model_config(id=id)

    async def list_model_origins(self) -> list[ListModelOriginsRow]:
        with self._meter.query("list_model_origins"):
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
        with self._meter.query("upsert_push_subscription"):
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
        with self._meter.query("delete_oldest_push_subscriptions"):
            return await self._inner.delete_oldest_push_subscriptions(user_id=user_id, keep=keep)

    async def list_push_subscriptions(self, *, user_id: UUID, max_rows: int) -> list[ListPushSubscriptionsRow]:
        with self._meter.query("list_push_subscriptions"):
            return await self._inner.list_push_subscriptions(user_id=user_id, max_rows=max_rows)

    async def delete_push_subscription(self, *, user_id: UUID, endpoint_hash: bytes) -> int:
        with self._meter.query("delete_push_subscription"):
            return await self._inner.delete_push_subscription(user_id=user_id, endpoint_hash=endpoint_hash)

    async def drop_push_subscription(self, *, id: UUID) -> int:
        with self._meter.query("drop_push_subscription"):
            return await self._inner.drop_push_subscription(id=id)

    async def list_queued_messages(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> list[QueuedMessage]:
        with self._meter.query("list_queued_messages"):
            return await self._inner.list_queued_messages(chat_id=chat_id, authorize=authorize)

    async def get_draft(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ChatDraft | None:
        with self._meter.query("get_draft"):
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
        with self._meter.query("beat_replica"):
            return await self._inner.beat_replica(
                host_id=host_id, id=id, url=url, host=host, pid=pid, version=version, provisioners=provisioners
            )

    async def get_replica(self, *, id: UUID) -> Replica | None:
        with self._meter.query("get_replica"):
            return await self._inner.get_replica(id=id)

    async def list_live_replicas(self) -> list[Replica]:
        with self._meter.query("list_live_replicas"):
            return await self._inner.list_live_replicas()

    async def expire_replica(self, *, id: UUID) -> int:
        with self._meter.query("expire_replica"):
            return await self._inner.expire_replica(id=id)

    async def delete_replica(self, *, id: UUID) -> int:
        with self._meter.query("delete_replica"):
            return await self._inner.delete_replica(id=id)

    async def delete_dead_replicas(self, *, silent_for: timedelta) -> int:
        with self._meter.query("delete_dead_replicas"):
            return await self._inner.delete_dead_replicas(silent_for=silent_for)

    async def delete_old_hosts(self, *, unseen_for: timedelta) -> int:
        with self._meter.query("delete_old_hosts"):
            return await self._inner.delete_old_hosts(unseen_for=unseen_for)

    async def list_owned_chats(self, *, replica_id: UUID) -> list[ListOwnedChatsRow]:
        with self._meter.query("list_owned_chats"):
            return await self._inner.list_owned_chats(replica_id=replica_id)

    async def list_chat_versions(self, *, chat_ids: Sequence[UUID]) -> list[ListChatVersionsRow]:
        with self._meter.query("list_chat_versions"):
            return await self._inner.list_chat_versions(chat_ids=chat_ids)

    async def count_queued_chats(self) -> CountQueuedChatsRow:
        with self._meter.query("count_queued_chats"):
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
        with self._meter.query("search_chats"):
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
        with self._meter.query("index_messages"):
            return await self._inner.index_messages(chat_ids=chat_ids, most=most)

    async def list_unindexed_chats(self, *, after_id: UUID, max_rows: int) -> list[ListUnindexedChatsRow]:
        with self._meter.query("list_unindexed_chats"):
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
        with self._meter.query("insert_side_cost"):
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
        with self._meter.query("get_default_organization"):
            return await self._inner.get_default_organization()

    async def get_site_setting(self, *, key: str) -> str | None:
        with self._meter.query("get_site_setting"):
            return await self._inner.get_site_setting(key=key)

    async def list_site_settings(self, *, keys: Sequence[str]) -> list[ListSiteSettingsRow]:
        with self._meter.query("list_site_settings"):
            return await self._inner.list_site_settings(keys=keys)

    async def delete_site_setting(self, *, key: str) -> int:
        with self._meter.query("delete_site_setting"):
            return await self._inner.delete_site_setting(key=key)

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
        with self._meter.query("insert_template"):
            return await self._inner.insert_template(
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
        with self._meter.query("seed_template"):
            return await self._inner.seed_template(
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
        with self._meter.query("update_template"):
            return await self._inner.update_template(
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
        with self._meter.query("delete_template"):
            return await self._inner.delete_template(id=id)

    async def get_template(self, *, id: UUID) -> Template | None:
        with self._meter.query("get_template"):
            return await self._inner.get_template(id=id)

    async def list_templates(self, *, organization_id: UUID) -> list[Template]:
        with self._meter.query("list_templates"):
            return await self._inner.list_templates(organization_id=organization_id)

    async def offers_templates(self) -> bool:
        with self._meter.query("offers_templates"):
            return await self._inner.offers_templates()

    async def list_offered_templates(
        self, *, owner_id: UUID, recently: timedelta, organization_id: UUID
    ) -> list[ListOfferedTemplatesRow]:
        with self._meter.query("list_offered_templates"):
            return await self._inner.list_offered_templates(
                owner_id=owner_id, recently=recently, organization_id=organization_id
            )

    async def count_template_workspaces(
        self, *, template_ids: Sequence[UUID], authorize: Filter = EVERYTHING
    ) -> list[CountTemplateWorkspacesRow]:
        with self._meter.query("count_template_workspaces"):
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
        with self._meter.query("create_chat"):
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
        with self._meter.query("fork_chat"):
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
        with self._meter.query("send_message"):
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
        with self._meter.query("edit_message"):
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
        with self._meter.query("interrupt"):
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
        with self._meter.query("request_compaction"):
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
        with self._meter.query("complete_requires_action"):
            return await self._inner.complete_requires_action(chat_id=chat_id, only_owner=only_owner, rows=rows)

    async def archive(self, *, chat_id: UUID, only_owner: UUID | None) -> list[ChatChange]:
        with self._meter.query("archive"):
            return await self._inner.archive(chat_id=chat_id, only_owner=only_owner)

    async def unarchive(self, *, chat_id: UUID, only_owner: UUID | None) -> list[ChatChange]:
        with self._meter.query("unarchive"):
            return await self._inner.unarchive(chat_id=chat_id, only_owner=only_owner)

    async def reconcile_invalid(self, *, chat_id: UUID, only_owner: UUID | None, error: str) -> ChatChange | None:
        with self._meter.query("reconcile_invalid"):
            return await self._inner.reconcile_invalid(chat_id=chat_id, only_owner=only_owner, error=error)

    async def bind_workspace(
        self, *, chat_id: UUID, only_owner: UUID | None, runner_id: UUID | None, workspace_id: UUID | None
    ) -> ChatChange | None:
        with self._meter.query("bind_workspace"):
            return await self._inner.bind_workspace(
                chat_id=chat_id, only_owner=only_owner, runner_id=runner_id, workspace_id=workspace_id
            )

    async def delete_queued(self, *, chat_id: UUID, only_owner: UUID | None, queued_id: int) -> ChatChange | None:
        with self._meter.query("delete_queued"):
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
        with self._meter.query("promote_queued"):
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
        with self._meter.query("reorder_queued"):
            return await self._inner.reorder_queued(chat_id=chat_id, only_owner=only_owner, queued_ids=queued_ids)

    async def hold_queued(
        self, *, chat_id: UUID, only_owner: UUID | None, queued_id: int, holder: UUID, hold_for: timedelta
    ) -> ChatChange | None:
        with self._meter.query("hold_queued"):
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
        with self._meter.query("release_queued"):
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
        with self._meter.query("release_overdue"):
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
        with self._meter.query("acquire"):
            return await self._inner.acquire(
                taker=taker,
                runner_ids=runner_ids,
                root_capacity=root_capacity,
                child_capacity=child_capacity,
                most_takeovers=most_takeovers,
                error=error,
            )

    async def abandon(self, *, chat_id: UUID, runner_id: UUID) -> ChatChange | None:
        with self._meter.query("abandon"):
            return await self._inner.abandon(chat_id=chat_id, runner_id=runner_id)

    async def hand_over(self, *, replica_id: UUID, most_chats: int) -> list[ChatChange]:
        with self._meter.query("hand_over"):
            return await self._inner.hand_over(replica_id=replica_id, most_chats=most_chats)

    async def give_up(self, *, chat_id: UUID, error: str) -> ChatChange | None:
        with self._meter.query("give_up"):
            return await self._inner.give_up(chat_id=chat_id, error=error)

    async def record_attempt(self, *, chat_id: UUID, runner_id: UUID, history_version: int) -> ChatChange | None:
        with self._meter.query("record_attempt"):
            return await self._inner.record_attempt(
                chat_id=chat_id, runner_id=runner_id, history_version=history_version
            )

    async def record_retry(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, retry: str
    ) -> ChatChange | None:
        with self._meter.query("record_retry"):
            return await self._inner.record_retry(
                chat_id=chat_id, runner_id=runner_id, history_version=history_version, retry=retry
            )

    async def save_draft(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, draft: MessageRow
    ) -> ChatChange | None:
        with self._meter.query("save_draft"):
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
        with self._meter.query("commit_step"):
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
        with self._meter.query("enter_requires_action"):
            return await self._inner.enter_requires_action(
                chat_id=chat_id, runner_id=runner_id, history_version=history_version, wait_for=wait_for
            )

    async def cancel_requires_action(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, reason: str
    ) -> ChatChange | None:
        with self._meter.query("cancel_requires_action"):
            return await self._inner.cancel_requires_action(
                chat_id=chat_id, runner_id=runner_id, history_version=history_version, reason=reason
            )

    async def finish_turn(self, *, chat_id: UUID, runner_id: UUID, history_version: int) -> ChatChange | None:
        with self._meter.query("finish_turn"):
            return await self._inner.finish_turn(chat_id=chat_id, runner_id=runner_id, history_version=history_version)

    async def finish_interruption(
        self, *, chat_id: UUID, runner_id: UUID, history_version: int, rows: Sequence[MessageRow]
    ) -> ChatChange | None:
        with self._meter.query("finish_interruption"):
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
        with self._meter.query("finish_error"):
            return await self._inner.finish_error(
                chat_id=chat_id, runner_id=runner_id, history_version=history_version, rows=rows, error=error
            )

    async def has_usage_limits(self) -> bool:
        with self._meter.query("has_usage_limits"):
            return await self._inner.has_usage_limits()

    async def list_spending(
        self, *, day_start: datetime, week_start: datetime, month_start: datetime, user_id: UUID
    ) -> list[ListSpendingRow]:
        with self._meter.query("list_spending"):
            return await self._inner.list_spending(
                day_start=day_start, week_start=week_start, month_start=month_start, user_id=user_id
            )

    async def list_usage_limits(self) -> list[UsageLimit]:
        with self._meter.query("list_usage_limits"):
            return await self._inner.list_usage_limits()

    async def upsert_usage_limit(
        self, *, user_id: UUID | None, group_id: UUID | None, period: Period, microdollars: int | None
    ) -> int:
        with self._meter.query("upsert_usage_limit"):
            return await self._inner.upsert_usage_limit(
                user_id=user_id, group_id=group_id, period=period, microdollars=microdollars
            )

    async def delete_usage_limit(self, *, user_id: UUID | None, group_id: UUID | None, period: Period) -> int:
        with self._meter.query("delete_usage_limit"):
            return await self._inner.delete_usage_limit(user_id=user_id, group_id=group_id, period=period)

    async def get_turn_context(self, *, model_config_id: UUID, chat_id: UUID) -> GetTurnContextRow | None:
        with self._meter.query("get_turn_context"):
            return await self._inner.get_turn_context(model_config_id=model_config_id, chat_id=chat_id)

    async def get_custom_prompt(self, *, user_id: UUID) -> str | None:
        with self._meter.query("get_custom_prompt"):
            return await self._inner.get_custom_prompt(user_id=user_id)

    async def upsert_custom_prompt(self, *, user_id: UUID, custom_prompt: str) -> int:
        with self._meter.query("upsert_custom_prompt"):
            return await self._inner.upsert_custom_prompt(user_id=user_id, custom_prompt=custom_prompt)

    async def list_compaction_thresholds(self, *, user_id: UUID) -> list[ListCompactionThresholdsRow]:
        with self._meter.query("list_compaction_thresholds"):
            return await self._inner.list_compaction_thresholds(user_id=user_id)

    async def upsert_compaction_threshold(self, *, user_id: UUID, model_config_id: UUID, threshold_percent: int) -> int:
        with self._meter.query("upsert_compaction_threshold"):
            return await self._inner.upsert_compaction_threshold(
                user_id=user_id, model_config_id=model_config_id, threshold_percent=threshold_percent
            )

    async def delete_compaction_threshold(self, *, user_id: UUID, model_config_id: UUID) -> int:
        with self._meter.query("delete_compaction_threshold"):
            return await self._inner.delete_compaction_threshold(user_id=user_id, model_config_id=model_config_id)

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
        with self._meter.query("insert_workspace_build"):
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
        with self._meter.query("get_workspace_build"):
            return await self._inner.get_workspace_build(id=id, authorize=authorize)

    async def get_workspace_build_by_key(self, *, key: UUID, authorize: Filter = EVERYTHING) -> WorkspaceBuild | None:
        with self._meter.query("get_workspace_build_by_key"):
            return await self._inner.get_workspace_build_by_key(key=key, authorize=authorize)

    async def list_workspace_builds(
        self, *, workspace_id: UUID, before_number: int | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[WorkspaceBuild]:
        with self._meter.query("list_workspace_builds"):
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
        with self._meter.query("claim_workspace_builds"):
            return await self._inner.claim_workspace_builds(
                replica_id=replica_id,
                host_id=host_id,
                provisioners=provisioners,
                known_ids=known_ids,
                max_rows=max_rows,
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
        with self._meter.query("finish_workspace_build"):
            return await self._inner.finish_workspace_build(
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
        with self._meter.query("cancel_workspace_build"):
            return await self._inner.cancel_workspace_build(cancelled_by=cancelled_by, id=id, authorize=authorize)

    async def list_carried_out_builds(self, *, replica_id: UUID) -> list[ListCarriedOutBuildsRow]:
        with self._meter.query("list_carried_out_builds"):
            return await self._inner.list_carried_out_builds(replica_id=replica_id)

    async def fail_unclaimed_builds(self, *, error: str, older_than: timedelta) -> list[WorkspaceBuild]:
        with self._meter.query("fail_unclaimed_builds"):
            return await self._inner.fail_unclaimed_builds(error=error, older_than=older_than)

    async def orphan_workspace(
        self, *, workspace_id: UUID, initiator_id: UUID | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> WorkspaceBuild | None:
        with self._meter.query("orphan_workspace"):
            return await self._inner.orphan_workspace(
                workspace_id=workspace_id, initiator_id=initiator_id, id=id, authorize=authorize
            )

    async def list_orphans(self, *, host_id: str, after_id: UUID, max_rows: int) -> list[UUID]:
        with self._meter.query("list_orphans"):
            return await self._inner.list_orphans(host_id=host_id, after_id=after_id, max_rows=max_rows)

    async def settle_orphan(self, *, workspace_id: UUID) -> int:
        with self._meter.query("settle_orphan"):
            return await self._inner.settle_orphan(workspace_id=workspace_id)

    async def insert_build_logs(
        self, *, items: Sequence[InsertBuildLogsItem], build_id: UUID, replica_id: UUID, most_lines: int
    ) -> int:
        with self._meter.query("insert_build_logs"):
            return await self._inner.insert_build_logs(
                items=items, build_id=build_id, replica_id=replica_id, most_lines=most_lines
            )

    async def list_build_logs(
        self, *, build_id: UUID, after_id: int, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[WorkspaceBuildLog]:
        with self._meter.query("list_build_logs"):
            return await self._inner.list_build_logs(
                build_id=build_id, after_id=after_id, max_rows=max_rows, authorize=authorize
            )

    async def delete_old_build_logs(self, *, older_than: timedelta, max_rows: int) -> int:
        with self._meter.query("delete_old_build_logs"):
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
        with self._meter.query("insert_workspace"):
            return await self._inner.insert_workspace(
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
        with self._meter.query("lock_workspaces_of"):
            return await self._inner.lock_workspaces_of(owner_id=owner_id)

    async def count_workspaces(self, *, owner_id: UUID, authorize: Filter = EVERYTHING) -> int:
        with self._meter.query("count_workspaces"):
            return await self._inner.count_workspaces(owner_id=owner_id, authorize=authorize)

    async def get_workspace(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetWorkspaceRow | None:
        with self._meter.query("get_workspace"):
            return await self._inner.get_workspace(id=id, authorize=authorize)

    async def get_workspace_id(self, *, owner_id: UUID, name: str, authorize: Filter = EVERYTHING) -> UUID | None:
        with self._meter.query("get_workspace_id"):
            return await self._inner.get_workspace_id(owner_id=owner_id, name=name, authorize=authorize)

    async def list_workspaces(
        self, *, owner_id: UUID | None, after_id: UUID | None, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[ListWorkspacesRow]:
        with self._meter.query("list_workspaces"):
            return await self._inner.list_workspaces(
                owner_id=owner_id, after_id=after_id, max_rows=max_rows, authorize=authorize
            )

    async def update_workspace(
        self, *, name: str, ttl_ms: int | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        with self._meter.query("update_workspace"):
            return await self._inner.update_workspace(name=name, ttl_ms=ttl_ms, id=id, authorize=authorize)

    async def set_workspace_deadline(
        self, *, deadline: datetime | None, id: UUID, authorize: Filter = EVERYTHING
    ) -> UUID | None:
        with self._meter.query("set_workspace_deadline"):
            return await self._inner.set_workspace_deadline(deadline=deadline, id=id, authorize=authorize)

    async def get_workspace_spec(self, *, id: UUID) -> GetWorkspaceSpecRow | None:
        with self._meter.query("get_workspace_spec"):
            return await self._inner.get_workspace_spec(id=id)

    async def resolve_workspace(self, *, chat_id: UUID, authorize: Filter = EVERYTHING) -> ResolveWorkspaceRow | None:
        with self._meter.query("resolve_workspace"):
            return await self._inner.resolve_workspace(chat_id=chat_id, authorize=authorize)

    async def get_workspace_agent(self, *, id: UUID, authorize: Filter = EVERYTHING) -> GetWorkspaceAgentRow | None:
        with self._meter.query("get_workspace_agent"):
            return await self._inner.get_workspace_agent(id=id, authorize=authorize)

    async def bump_workspaces(self, *, replica_id: UUID, used_ids: Sequence[UUID]) -> int:
        with self._meter.query("bump_workspaces"):
            return await self._inner.bump_workspaces(replica_id=replica_id, used_ids=used_ids)

    async def stop_overdue_workspaces(self, *, again_after: timedelta, max_rows: int) -> list[WorkspaceBuild]:
        with self._meter.query("stop_overdue_workspaces"):
            return await self._inner.stop_overdue_workspaces(again_after=again_after, max_rows=max_rows)

    async def list_host_workspaces(self, *, host_id: str, after_id: UUID, max_rows: int) -> list[UUID]:
        with self._meter.query("list_host_workspaces"):
            return await self._inner.list_host_workspaces(host_id=host_id, after_id=after_id, max_rows=max_rows)

    async def set_agent_address(self, *, agent_address: str, id: UUID, build_number: int) -> int:
        with self._meter.query("set_agent_address"):
            return await self._inner.set_agent_address(agent_address=agent_address, id=id, build_number=build_number)

    async def count_running_workspaces(self) -> int:
        with self._meter.query("count_running_workspaces"):
            return await self._inner.count_running_workspaces()

    async def list_workspace_chats(
        self, *, workspace_ids: Sequence[UUID], authorize: Filter = EVERYTHING
    ) -> list[ListWorkspaceChatsRow]:
        with self._meter.query("list_workspace_chats"):
            return await self._inner.list_workspace_chats(workspace_ids=workspace_ids, authorize=authorize)

    async def list_chats_in_workspace(
        self, *, workspace_id: UUID, max_rows: int, authorize: Filter = EVERYTHING
    ) -> list[ListChatsInWorkspaceRow]:
        with self._meter.query("list_chats_in_workspace"):
            return await self._inner.list_chats_in_workspace(
                workspace_id=workspace_id, max_rows=max_rows, authorize=authorize
            )

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
