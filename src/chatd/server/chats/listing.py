"""Lists of chats: the pinned ones in their order, then the last active first, with their children in them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.access import EVERYTHING, Filter, OwnedBy
from chatd.core.chat_search import ChatSearch, askable, read_labels, read_search
from chatd.core.errors import InvalidRequest, Validation
from chatd.core.snippets import read_snippet
from chatd.server.chats.shown_chats import ChatRow, Diffs, shown_chat
from chatd.server.chats.shown_diff import shown_diff
from chatd.store.queries import GetChatRow, ListChildChatsRow, SearchChatsRow
from chatd.store.store import Store
from chatd.wire import chats as wire

MOST_CHILDREN: Final = 1000  # on one page, of all its chats
_AFTER_PINS: Final = 2**31 - 1  # the place of all that is not pinned


class Page(msgspec.Struct, frozen=True):
    """`after_id` is the last chat of the page before; `offset` are chats to leave out first."""

    limit: int
    offset: int = 0
    after_id: UUID | None = None


class _Asked(msgspec.Struct, frozen=True):
    search: ChatSearch
    labels: str  # JSON, as stored
    owner: UUID | None
    authorize: Filter


class Listing:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def roots(self, *, q: str, labels: Sequence[str], owner_id: UUID | None, page: Page) -> list[wire.Chat]:
        """Root chats of one user, or of everyone, that the actor may see: who may see what is decided by the query,
        before it counts rows."""
        search, wanted = read_search(q), read_labels(labels)
        if search.only_shared:
            return []
        authorize = EVERYTHING if owner_id is None else OwnedBy(owner_id)
        asked = _Asked(search, msgspec.json.encode(wanted).decode(), owner_id, authorize)
        rows = await self._rows(asked, page)
        children = await self._children([row.id for row in rows])
        diffs = await self.diffs_of([*rows, *(child for each in children.values() for child in each)])
        return [_listed(row, children[row.id], diffs) for row in rows]

    async def diffs_of(self, rows: Sequence[ChatRow]) -> Diffs:
        """What is known of their repositories. Chats without a workspace have none, and cost nothing."""
        ids = [row.id for row in rows if row.workspace_id is not None]
        if not ids:
            return {}
        return {row.chat_id: shown_diff(row) for row in await self._store.list_diff_statuses(chat_ids=ids)}

    async def by_workspace(self, workspace_ids: Sequence[UUID]) -> dict[UUID, UUID]:
        """The root that was last active in each, of those that the actor may see."""
        rows = await self._store.list_workspace_chats(workspace_ids=workspace_ids)
        return {row.workspace_id: row.id for row in rows if row.workspace_id is not None}

    async def children_of(self, root_id: UUID) -> list[ListChildChatsRow]:
        return await self._store.list_child_chats(root_chat_ids=[root_id], max_rows=MOST_CHILDREN)

    async def _rows(self, asked: _Asked, page: Page) -> Sequence[ChatRow]:
        after = None if page.after_id is None else await self._cursor(page.after_id)
        most = page.offset + page.limit
        rows: list[ChatRow] = []
        # Pins are their owner's: a list of everyone's chats has none.
        has_pins = asked.owner is not None and not asked.search.archived
        if asked.search.words is not None:
            return (await self._searched(asked, asked.search.words, after, most, with_pins=has_pins))[page.offset :]
        if has_pins and (after is None or after.pin_order > 0):
            rows += await self._pinned(asked, after, most)
            after = None
        if len(rows) < most:
            rows += await self._others(asked, after, most - len(rows), with_pinned=not has_pins)
        return rows[page.offset :]

    async def _pinned(self, asked: _Asked, after: GetChatRow | None, most: int) -> Sequence[ChatRow]:
        if asked.owner is None:
            return []
        return await self._store.list_pinned_chats(
            owner_id=asked.owner,
            labels=asked.labels,
            after_pin_order=after.pin_order if after else None,
            after_id=after.id if after else None,
            title_part=asked.search.title,
            unread=asked.search.has_unread,
            statuses=asked.search.statuses,
            pull_requests=asked.search.pull_requests,
            max_rows=most,
            authorize=asked.authorize,
        )

    async def _others(
        self, asked: _Asked, after: GetChatRow | None, most: int, *, with_pinned: bool
    ) -> Sequence[ChatRow]:
        search = asked.search
        if asked.labels == "{}":
            return await self._store.list_chats(
                archived=search.archived,
                before_updated_at=after.updated_at if after else None,
                before_id=after.id if after else None,
                with_pinned=with_pinned,
                title_part=search.title,
                unread=search.has_unread,
                statuses=search.statuses,
                pull_requests=search.pull_requests,
                max_rows=most,
                authorize=asked.authorize,
            )
        return await self._store.list_labeled_chats(
            archived=search.archived,
            labels=asked.labels,
            before_updated_at=after.updated_at if after else None,
            before_id=after.id if after else None,
            with_pinned=with_pinned,
            title_part=search.title,
            unread=search.has_unread,
            statuses=search.statuses,
            pull_requests=search.pull_requests,
            max_rows=most,
            authorize=asked.authorize,
        )

    async def _searched(
        self, asked: _Asked, words: str, after: GetChatRow | None, most: int, *, with_pins: bool
    ) -> Sequence[ChatRow]:
        place = 0
        if after is not None:
            place = after.pin_order if with_pins and after.pin_order else _AFTER_PINS
        return await self._store.search_chats(
            words=askable(words),
            owner_id=asked.owner,
            archived=asked.search.archived,
            labels=asked.labels,
            with_pins=with_pins,
            after_place=place,
            after_updated_at=after.updated_at if after else None,
            after_id=after.id if after else None,
            unread=asked.search.has_unread,
            statuses=asked.search.statuses,
            pull_requests=asked.search.pull_requests,
            max_rows=most,
            authorize=asked.authorize,
        )

    async def _children(self, root_ids: list[UUID]) -> dict[UUID, list[ListChildChatsRow]]:
        found: dict[UUID, list[ListChildChatsRow]] = defaultdict(list)
        if root_ids:
            for row in await self._store.list_child_chats(root_chat_ids=root_ids, max_rows=MOST_CHILDREN):
                if row.root_chat_id is not None:
                    found[row.root_chat_id].append(row)
        return found

    async def _cursor(self, id: UUID) -> GetChatRow:
        row = await self._store.get_chat(id=id)
        if row is None:
            raise InvalidRequest("Check after_id.", validations=[Validation("after_id", "the id of a chat")])
        return row


def _listed(row: ChatRow, children: Sequence[ListChildChatsRow], diffs: Diffs) -> wire.Chat:
    chat = shown_chat(row, children, diffs)
    if not isinstance(row, SearchChatsRow):
        return chat
    snippet = read_snippet(row.snippet)
    match = wire.ChatMatch(snippet=snippet.text, marks=list(snippet.marks), message_id=row.message_id)
    return msgspec.structs.replace(chat, match=match)
