"""What people read of one chat: itself, its messages page by page, and what they have written."""

from collections.abc import Iterable
from uuid import UUID

import msgspec

from chatd.core.errors import InvalidRequest, NotFound, Validation
from chatd.core.messages import read_content_leniently
from chatd.core.parts import AnyPart, TextPart
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.core.valid_text import valid_text
from chatd.server.chats.listing import Listing
from chatd.server.chats.shown import shown_message, shown_queued
from chatd.server.chats.shown_chats import shown_chat
from chatd.server.chats.shown_context import shown_context
from chatd.server.workspaces.shown_workspaces import shown_summary
from chatd.store.queries import GetChatRow
from chatd.store.store import Store
from chatd.store.stored_messages import read_message
from chatd.wire import chats as wire
from chatd.wire.workspaces import WorkspaceSummary


class Reading:
    def __init__(self, store: Store, listing: Listing) -> None:
        self._store = store
        self._listing = listing

    async def chat(self, chat_id: UUID) -> wire.Chat:
        """The chat with its children and files, and without messages, which are another question."""
        row = await self.row(chat_id)
        children = [] if row.parent_chat_id else await self._listing.children_of(chat_id)
        waits = row.status is Status.RUNNING and row.replica_id is None
        return msgspec.structs.replace(
            shown_chat(row, children, await self._listing.diffs_of([row, *children])),
            queued_for_capacity=waits,
            files=await self._files(row) or None,
            workspace=await self._workspace(row),
            context=await self._context(row),
        )

    async def _workspace(self, chat: GetChatRow) -> WorkspaceSummary | None:
        """As far as the asker may see it."""
        found = None if chat.workspace_id is None else await self._store.get_workspace(id=chat.workspace_id)
        return None if found is None else shown_summary(found)

    async def _context(self, chat: GetChatRow) -> wire.ChatContext | None:
        if chat.workspace_id is None:
            return None
        row = await self._store.get_chat_context(chat_id=chat.id)
        return None if row is None else shown_context(row)

    async def _files(self, chat: GetChatRow) -> list[wire.ChatFile]:
        return [
            wire.ChatFile(
                id=file.id,
                owner_id=file.owner_id,
                organization_id=chat.organization_id,
                name=file.name,
                mime_type=file.media_type,
                size_bytes=file.size,
                created_at=file.created_at,
            )
            for file in await self._store.list_chat_files(chat_id=chat.id)
        ]

    async def row(self, chat_id: UUID) -> GetChatRow:
        """Raises NotFound, also for what the asker may not see."""
        row = await self._store.get_chat(id=chat_id)
        if row is None:
            raise NotFound("Chat")
        return row

    async def messages(
        self, chat_id: UUID, *, before_id: int | None, after_id: int | None, limit: int
    ) -> wire.ChatMessagesPage:
        if before_id is not None and after_id is not None and after_id >= before_id:
            raise InvalidRequest("Check after_id.", validations=[Validation("after_id", "less than before_id")])
        if before_id is None and after_id is not None:
            rows = await self._store.list_messages_after(chat_id=chat_id, after_id=after_id, max_rows=limit + 1)
        else:
            rows = await self._store.list_messages_page(
                chat_id=chat_id, before_id=before_id, after_id=after_id, max_rows=limit + 1
            )
        if not rows and await self._store.get_chat_state(chat_id=chat_id) is None:
            raise NotFound("Chat")
        is_first = before_id is None and after_id is None
        queued = await self._store.list_queued_messages(chat_id=chat_id) if is_first else []
        return wire.ChatMessagesPage(
            messages=[shown_message(read_message(row)) for row in rows[:limit]],
            queued_messages=[shown_queued(row) for row in queued],
            has_more=len(rows) > limit,
        )

    async def prompts(self, chat_id: UUID, *, limit: int) -> wire.ChatPrompts:
        """What people have written, in words; messages without any are left out."""
        rows = await self._store.list_user_messages(chat_id=chat_id, max_rows=limit)
        if not rows and await self._store.get_chat_state(chat_id=chat_id) is None:
            raise NotFound("Chat")
        said = [(row.id, _text(read_content_leniently(row.content_version, Role.USER, row.content))) for row in rows]
        return wire.ChatPrompts([wire.ChatPrompt(id, text) for id, text in said if text.strip()])

    async def found(self, chat_id: UUID, words: str, *, before_id: int | None, limit: int) -> wire.FoundMessages:
        """Where something was said: newest first."""
        if not words or "\0" in words:
            raise InvalidRequest("Check q.", validations=[Validation("q", "something to look for, without NUL")])
        rows = await self._store.find_messages(chat_id=chat_id, words=words, before_id=before_id, max_rows=limit + 1)
        if not rows and await self._store.get_chat_state(chat_id=chat_id) is None:
            raise NotFound("Chat")
        return wire.FoundMessages(
            messages=[wire.FoundMessage(row.id, row.role, row.places) for row in rows[:limit]],
            has_more=len(rows) > limit,
        )


def _text(parts: Iterable[AnyPart]) -> str:
    return "".join(valid_text(part.text) for part in parts if isinstance(part, TextPart))
