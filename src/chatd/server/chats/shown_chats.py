"""Chats as clients see them, from each of the rows that they are read as."""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.states import Status
from chatd.server.chats.shown import shown_error
from chatd.store.queries import (
    ChatChange,
    GetChatRow,
    ListChatsRow,
    ListChildChatsRow,
    ListLabeledChatsRow,
    ListPinnedChatsRow,
    SearchChatsRow,
)
from chatd.store.transitions import NewChat
from chatd.wire import chats as wire

ChatRow = GetChatRow | ListChatsRow | ListLabeledChatsRow | ListPinnedChatsRow | ListChildChatsRow | SearchChatsRow
_LABELS: Final = msgspec.json.Decoder(dict[str, str])


Diffs = Mapping[UUID, wire.ChatDiffStatus]
_NO_DIFFS: Final[Diffs] = {}


def shown_chat(row: ChatRow, children: Iterable[ChatRow] = (), diffs: Diffs = _NO_DIFFS) -> wire.Chat:
    """`diffs` are what is known of these chats' repositories."""
    return wire.Chat(
        id=row.id,
        organization_id=row.organization_id,
        owner_id=row.owner_id,
        root_chat_id=row.root_chat_id or row.id,
        parent_chat_id=row.parent_chat_id,
        owner_username=row.owner_username,
        owner_name=row.owner_name or None,
        last_model_config_id=row.last_model_config_id,
        last_reasoning_effort=row.last_reasoning_effort,
        title=row.title,
        status=row.status,
        plan_mode="plan" if row.plan_mode else None,
        last_error=shown_error(row.last_error) if row.status is Status.ERROR else None,
        last_turn_summary=row.last_turn_summary,
        summary=row.summary,
        created_at=row.created_at,
        updated_at=row.updated_at,
        archived=row.archived,
        shared=False,  # chats can't be shared yet
        pin_order=row.pin_order,
        mcp_server_ids=list(row.mcp_server_ids),
        labels=_LABELS.decode(row.labels),
        has_unread=row.has_unread,
        client_type=row.client.value,
        children=[shown_chat(child, diffs=diffs) for child in children],
        forked_from_chat_id=row.forked_from_chat_id,
        forked_from_message_id=row.forked_from_message_id,
        workspace_id=row.workspace_id,
        context_dirty_since=row.context_dirty_since,
        diff_status=diffs.get(row.id),
    )


def chat_after(row: GetChatRow, change: ChatChange) -> GetChatRow:
    """The row that a request has read, as it is after its own transition: nothing has to be read again."""
    kept = {name: getattr(change, name) for name in _MOVED}
    return msgspec.structs.replace(row, **kept)


_MOVED: Final = (
    "status",
    "archived",
    "has_open_calls",
    "queue_length",
    "held_length",
    "generation_attempt",
    "snapshot_version",
    "history_version",
    "queue_version",
    "retry_version",
    "replica_id",
    "runner_id",
    "last_model_config_id",
    "last_reasoning_effort",
    "updated_at",
    "requires_action_deadline_at",
    "compaction_requested_at",
    "last_error",
    "retry_state",
)


def chat_just_made(chat: NewChat, change: ChatChange, username: str) -> GetChatRow:
    """A root that has just been created, as a reader would find it."""
    return GetChatRow(
        id=chat.id,
        organization_id=chat.organization_id,
        owner_id=chat.owner_id,
        parent_chat_id=None,
        root_chat_id=None,
        title=chat.title,
        labels=msgspec.json.encode(chat.labels).decode(),
        mode=chat.mode,
        plan_mode=chat.plan_mode,
        client=chat.client,
        mcp_server_ids=list(chat.mcp_server_ids),
        dynamic_tools=chat.dynamic_tools,
        pin_order=0,
        last_read_message_id=0,
        last_turn_summary=None,
        summary=None,
        summary_generated_at=None,
        created_at=change.happened_at,
        forked_from_chat_id=None,
        forked_from_message_id=None,
        copied_through=0,
        workspace_id=chat.workspace_id,
        context_dirty_since=None,
        owner_username=username,
        owner_name="",
        has_unread=False,
        **{name: getattr(change, name) for name in _MOVED},
    )
