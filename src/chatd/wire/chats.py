"""Chats as a client sees them: the chat, its messages, what waits in its queue, and what went wrong.

A field that has nothing to say is left out where its type has a default, and null elsewhere.
"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.wire.agent.context import ContextKind, ContextStatus
from chatd.wire.workspaces import WorkspaceSummary

ClientType = Literal["ui", "api"]
PlanMode = Literal["plan", ""]
ExportFormat = Literal["markdown", "json", "html"]

# Made by core/shown_parts.py and by nothing else.
Content = Annotated[
    list[Any],
    Meta(
        description=(
            "Parts in order. Each is an object with a `type`: text, reasoning, tool-call, tool-result, source, file, "
            "file-reference, context-file, skill, or one that this server does not know."
        )
    ),
]


class ChatError(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a turn ended in an error. `kind` is for code; `detail` are the vendor's words."""

    message: str
    retryable: bool
    kind: str | None = None
    provider: str | None = None
    detail: str | None = None
    status_code: int | None = None


class ChatFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that messages of a chat name, without its content."""

    id: UUID
    owner_id: UUID
    organization_id: UUID
    name: str
    mime_type: str
    size_bytes: int
    created_at: datetime


class FileDownload(msgspec.Struct, frozen=True, kw_only=True):
    """An address that gives a file without a session until it expires. `sha256` is of the content, in hexadecimal."""

    url: str
    expires_at: datetime
    sha256: str
    size_bytes: int
    name: str
    mime_type: str


class ChatMatch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a search has found its words: a piece of the newest message that has them, else of the title. `marks` are
    the places of the words in `snippet`, counted in characters (Unicode code points): each from its first to after its
    last."""

    snippet: str
    marks: list[tuple[int, int]]
    message_id: int | None = None


class ChatContextResource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that tells models something. Only what is `ok` is given to the chat; `error` says why another is not."""

    kind: ContextKind
    source: str
    status: ContextStatus
    size_bytes: int
    name: str | None = None
    description: str | None = None
    error: str | None = None


class ChatContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the workspace told the chat when it was asked, which is what its model knows."""

    hash: str
    pinned_at: datetime
    resources: list[ChatContextResource]


class ChatDiffStatus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of the branch that a chat works on, and of its pull request.

    `additions`, `deletions` and `changed_files` are the workspace's, since the branch left the default branch and with
    what is not committed; of a pull request that is over, with nothing new since, its own. `ahead` and `behind` are
    commits, against the upstream or the default branch. `pull_request_state` is open, closed or merged, and left out
    where there is none or nobody has asked; `refreshed_at` is when the host last told.
    """

    chat_id: UUID
    additions: int
    deletions: int
    changed_files: int
    pull_request_title: str
    pull_request_draft: bool
    changes_requested: bool
    branch: str | None = None
    remote_origin: str | None = None
    ahead: int | None = None
    behind: int | None = None
    url: str | None = None
    pull_request_state: Literal["open", "closed", "merged"] | None = None
    author_login: str | None = None
    author_avatar_url: str | None = None
    base_branch: str | None = None
    head_branch: str | None = None
    pr_number: int | None = None
    commits: int | None = None
    approved: bool | None = None
    reviewer_count: int | None = None
    refreshed_at: datetime | None = None


class Chat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`root_chat_id` of a root is its own. `pin_order` is 0 for a chat that is not pinned. `children` are the chats
    that the agent of this one has started. `files`, `workspace` and `context` are there when one chat is asked for,
    `match` when one has searched. Since `context_dirty_since` the workspace has other instructions than the chat was
    given. A fork says which chat it comes from, and up to which message if that was asked for."""

    id: UUID
    organization_id: UUID
    owner_id: UUID
    root_chat_id: UUID
    last_model_config_id: UUID
    title: str
    status: Status
    last_turn_summary: str | None
    summary: str | None
    created_at: datetime
    updated_at: datetime
    archived: bool
    shared: bool
    pin_order: int
    mcp_server_ids: list[UUID]
    labels: dict[str, str]
    has_unread: bool
    client_type: ClientType
    children: list["Chat"]
    owner_username: str | None = None
    owner_name: str | None = None
    parent_chat_id: UUID | None = None
    last_reasoning_effort: ReasoningEffort | None = None
    plan_mode: Literal["plan"] | None = None
    last_error: ChatError | None = None
    queued_for_capacity: bool = False
    forked_from_chat_id: UUID | None = None
    forked_from_message_id: int | None = None
    files: list[ChatFile] | None = None
    workspace_id: UUID | None = None
    workspace: WorkspaceSummary | None = None
    context: ChatContext | None = None
    context_dirty_since: datetime | None = None
    match: ChatMatch | None = None
    diff_status: ChatDiffStatus | None = None


class ChatDiff(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a chat has changed: its open pull request's diff, else that of its workspace against the default branch.

    What is not known is left out; `diff` also where the workspace can't be reached, and for all but the chat's owner.
    Not `is_complete`: it was too long, and notes in brackets say where something is missing.
    """

    chat_id: UUID
    provider: str | None = None
    remote_origin: str | None = None
    branch: str | None = None
    pull_request_url: str | None = None
    diff: str | None = None
    is_complete: bool = True


class ChatMessageUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of the call that made the message, and how many the model's context can hold; null is not known."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    reasoning_tokens: int | None
    cache_creation_tokens: int | None
    cache_read_tokens: int | None
    context_limit: int | None


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The order of messages is that of their ids. `revision` grows when the message is stored or hidden by an edit."""

    id: int
    chat_id: UUID
    created_at: datetime
    revision: int
    role: Role
    content: Content
    created_by: UUID | None = None
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None
    usage: ChatMessageUsage | None = None
    cost_micros: int | None = None
    runtime_ms: int | None = None


class ChatQueuedMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that waits for the turn to end. While it is held someone edits it, and it is not sent."""

    id: int
    chat_id: UUID
    content: Content
    created_at: datetime
    created_by: UUID | None = None
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None
    held_by: UUID | None = None
    held_until: datetime | None = None


class ChatMessagesPage(msgspec.Struct, frozen=True, kw_only=True):
    """Newest first; oldest first when only `after_id` was given. What waits is on the first page alone."""

    messages: list[ChatMessage]
    queued_messages: list[ChatQueuedMessage]
    has_more: bool


class ChatPrompt(msgspec.Struct, frozen=True):
    """What a user has written, in words."""

    id: int
    text: str


class ChatPrompts(msgspec.Struct, frozen=True):
    """Newest first."""

    prompts: list[ChatPrompt]


class FoundMessage(msgspec.Struct, frozen=True):
    """A message in which something was found, `places` times."""

    id: int
    role: Role
    places: int


class FoundMessages(msgspec.Struct, frozen=True):
    """Newest first. `has_more`: ask again, before the last of these."""

    messages: list[FoundMessage]
    has_more: bool


class SentMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a message: it is in the history (`message`), or it waits (`queued_message`).

    `messages` is all that came into the history by it and that people see, in order.
    """

    queued: bool
    message: ChatMessage | None = None
    messages: list[ChatMessage] | None = None
    queued_message: ChatQueuedMessage | None = None


class EditedMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The replacement, and which messages are shown no more."""

    message: ChatMessage
    messages: list[ChatMessage] | None = None
    deleted_message_ids: list[int] | None = None


class PromotedMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Without `message` the chat is stopping, and goes on with it at once."""

    message: ChatMessage | None = None


class ProposedTitle(msgspec.Struct, frozen=True):
    title: str
