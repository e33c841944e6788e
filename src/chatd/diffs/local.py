"""What chats do to their repositories while their turns run, from their workspaces' agents.

One request is under way for each chat that works in a workspace: the agent answers it when something has changed. When
the turn is over it is looked at once more. Other chats cost nothing, and no turn waits for any of this.
"""

import asyncio
import contextvars
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.diff_status import LocalRefs
from chatd.core.errors import ChatdError
from chatd.diffs.keeping import DiffKeeper
from chatd.observe.logs import get_logger
from chatd.stoppable import Stoppable, Stopped
from chatd.wire.agent.git import Repositories, RepositoriesQuery, WatchRepositoriesQuery
from chatd.workspaces.agents.client import WAIT_SECONDS, AgentClient, agent_client
from chatd.workspaces.resolving import Resolved

APART_SECONDS: Final = 3.0  # between two looks: each may be a write, and a reading for every list of the owner
LOOK_SECONDS: Final = 120.0  # that an agent takes at most to look at all repositories of a chat
MOST_FOLLOWED: Final = 1000  # chats of a replica; more don't run on one at a time
_log = get_logger("chatd.diffs")


class LocalDiffs:
    """Of a replica: the `Visits` of its engine."""

    def __init__(self, keeper: DiffKeeper, clock: Clock) -> None:
        self._keeper = keeper
        self._clock = clock
        self._chats: dict[UUID, _Chat] = {}
        self._group: asyncio.TaskGroup | None = None
        self._context = contextvars.Context()

    @property
    def followed(self) -> int:
        return len(self._chats)

    async def run(self) -> None:
        """Until it is cancelled; before and after it nothing is looked at."""
        self._context = contextvars.copy_context()
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                await asyncio.Event().wait()
            finally:
                self._group = None

    def reached(self, chat_id: UUID, owner_id: UUID, found: Resolved) -> None:
        if (chat := self._chats.get(chat_id)) is not None:
            chat.moved(found)
        elif self._group is not None and len(self._chats) < MOST_FOLLOWED:
            chat = self._chats[chat_id] = _Chat(chat_id, owner_id, found)
            self._group.create_task(self._follow(chat), name=f"diff of {chat_id}", context=self._context.copy())

    def left(self, chat_id: UUID) -> None:
        if (chat := self._chats.get(chat_id)) is not None:
            chat.moved(None)

    async def _follow(self, chat: "_Chat") -> None:
        try:
            known = await self._keeper.known(chat.id)
            while True:
                at = chat.at
                client = agent_client(chat.last.address, chat.last.token, self._clock)
                try:
                    if at is not None:
                        known = await self._watch(chat, at, client, known)
                    else:
                        known = await self._look_once_more(chat, client)
                finally:
                    await client.close()
                if at is None and chat.at is None:  # else its next turn has begun
                    break
        except Exception as error:  # noqa: BLE001 - the next turn begins anew
            _log.warning("a repository can't be followed", chat_id=str(chat.id), exc_info=error)
        finally:
            del self._chats[chat.id]

    async def _watch(
        self, chat: "_Chat", at: Resolved, client: AgentClient, known: LocalRefs | None
    ) -> LocalRefs | None:
        """Until the turn is over, or is elsewhere. What was seen is always kept."""
        since: str | None = None
        with suppress(Stopped):
            while True:
                query = WatchRepositoriesQuery(chat=chat.id, since=since, wait_seconds=WAIT_SECONDS)
                try:
                    async with chat.while_at(at):
                        wait = WAIT_SECONDS + LOOK_SECONDS
                        seen = await client.get("/git/watch", query, Repositories, wait_seconds=wait)
                except ChatdError as error:  # it has no git, or is away: then the turn finds it again, and tells
                    _log.info("a repository can't be watched", chat_id=str(chat.id), error=str(error))
                    async with chat.while_at(at):
                        await asyncio.Event().wait()
                    continue
                since = seen.version
                known = await self._keeper.keep(chat.id, chat.owner_id, seen, known=known)
                async with chat.while_at(at):
                    await self._clock.sleep(APART_SECONDS, timer="diff apart")
        return known

    async def _look_once_more(self, chat: "_Chat", client: AgentClient) -> LocalRefs | None:
        """Against what is stored, whoever has stored it."""
        known = await self._keeper.known(chat.id)
        try:
            query = RepositoriesQuery(chat=chat.id)
            seen = await client.get("/git/repositories", query, Repositories, wait_seconds=LOOK_SECONDS)
        except ChatdError as error:
            _log.info("a repository can't be looked at", chat_id=str(chat.id), error=str(error))
            return known
        return await self._keeper.keep(chat.id, chat.owner_id, seen, known=known)


class _Chat:
    """`at` is where its turn works; None when it is over."""

    def __init__(self, id: UUID, owner_id: UUID, found: Resolved) -> None:
        self.id = id
        self.owner_id = owner_id
        self.at: Resolved | None = found
        self.last = found
        self._block: Stoppable | None = None

    def moved(self, at: Resolved | None) -> None:
        self.at = at
        self.last = at or self.last
        if self._block is not None:
            self._block.stop()

    @asynccontextmanager
    async def while_at(self, at: Resolved) -> AsyncGenerator[None]:
        """Raises Stopped once the turn is over, or elsewhere."""
        if self.at is not at:
            raise Stopped
        self._block = Stoppable()
        try:
            async with self._block:
                yield
        finally:
            self._block = None
