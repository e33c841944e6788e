"""What a chat has changed, for who asks now."""

from uuid import UUID

import msgspec

from chatd.core.access import Action, Kind, Person, Resource, may
from chatd.diffs.asking import DiffFinder
from chatd.server.chats.reading import Reading
from chatd.store.store import Store
from chatd.wire import chats as wire


class Diffing:
    def __init__(self, store: Store, reading: Reading, finder: DiffFinder) -> None:
        self._store = store
        self._reading = reading
        self._finder = finder

    async def diff(self, person: Person, chat_id: UUID) -> wire.ChatDiff:
        """Who reads the chat learns which branch it is about; the diff itself is for who may reach into the
        workspace. Raises NotFound."""
        row = await self._reading.row(chat_id)
        if row.workspace_id is None:
            return wire.ChatDiff(chat_id=chat_id)
        status = await self._store.get_diff_status(chat_id=chat_id)
        shown = wire.ChatDiff(chat_id=chat_id)
        if status is not None:
            shown = wire.ChatDiff(
                chat_id=chat_id,
                provider=await self._finder.kind_of(status.git_host),
                remote_origin=status.git_remote_origin or None,
                branch=status.git_branch or None,
                pull_request_url=status.url or None,
            )
        if not may(person, Action.RUN, Resource(Kind.WORKSPACE, owner=row.owner_id)):
            return shown
        found = await self._finder.find(chat_id, status)
        if found is None:
            return shown
        return msgspec.structs.replace(
            shown,
            diff=found.text,
            is_complete=found.is_complete,
            pull_request_url=found.url or shown.pull_request_url,
        )
