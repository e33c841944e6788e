"""What was seen of a chat's repository is stored, if it is news, and its owner's lists are told."""

from collections.abc import Callable
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import GIT_SYNC
from chatd.core.diff_status import LocalRefs, after_look
from chatd.diffs.refs import refs_of, stored_refs
from chatd.store.actor import acting_as
from chatd.store.store import Store
from chatd.wire.agent.git import Repositories

# Told of the owner and of the chat whose status has changed.
Changed = Callable[[UUID, UUID], None]


class DiffKeeper:
    """`due` is called when there may be something to ask a host for."""

    def __init__(self, store: Store, clock: Clock, changed: Changed, due: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._changed = changed
        self._due = due

    async def known(self, chat_id: UUID) -> LocalRefs | None:
        with acting_as(GIT_SYNC):
            row = await self._store.get_diff_status(chat_id=chat_id)
        return None if row is None else stored_refs(row)

    async def keep(
        self, chat_id: UUID, owner_id: UUID, seen: Repositories, *, known: LocalRefs | None
    ) -> LocalRefs | None:
        """What is known from now on; `known` is what was before. Nothing is written that was known."""
        found = refs_of(seen)
        if found is None:
            return known
        now = after_look(known, found)
        if now == known:
            return known
        with acting_as(GIT_SYNC):
            async with self._store.transaction() as tx:
                # By what is stored: others look too, and may have seen this before.
                await tx.forget_pull_request(
                    chat_id=chat_id, git_host=now.host, git_path=now.path, git_branch=now.branch
                )
                row = await tx.upsert_diff_refs(
                    chat_id=chat_id,
                    git_root=now.root,
                    git_branch=now.branch,
                    git_head=now.head,
                    git_upstream=now.upstream,
                    git_remote_origin=now.origin,
                    git_host=now.host,
                    git_path=now.path,
                    ahead=now.ahead,
                    behind=now.behind,
                    additions=now.additions,
                    deletions=now.deletions,
                    changed_files=now.changed_files,
                    at=self._clock.now(),
                )
        if row is not None:
            self._changed(owner_id, chat_id)
            self._due()
        return now
