"""What chats are told by their workspaces: given once, kept as it was, and another one only when someone asks.

A prompt that changed by itself would make every prompt cache cold, and a model follow rules that it was not given at
the start. So a chat keeps what it was given; that the workspace has something else by now is noted and shown.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import WORKER
from chatd.core.errors import ChatdError, NotFound
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.store import Store
from chatd.wire.agent.context import WorkspaceContext
from chatd.workspaces.agents.client import AgentClient, agent_client
from chatd.workspaces.agents.errors import AgentUnreachable
from chatd.workspaces.contexts.cache import ContextCache
from chatd.workspaces.contexts.pinned import PinnedContext, decoded, encoded, pin_of
from chatd.workspaces.resolving import Resolved, Resolver

_READ_SECONDS: Final = 5.0  # an agent that is there answers at once; a turn does without what does not come
_MOST_BYTES: Final = 32 * 1024 * 1024  # of texts that are kept decoded
_MOST_LOOKS: Final = 1000  # that wait; the next turn in a workspace asks again
_log = get_logger("chatd.contexts")

# Told of the owner and the chat that was given something else than its workspace has by now.
Drifted = Callable[[UUID, UUID], None]


class Contexts:
    """Of a replica."""

    def __init__(self, store: Store, resolver: Resolver, clock: Clock, drifted: Drifted) -> None:
        self._store = store
        self._resolver = resolver
        self._clock = clock
        self._drifted = drifted
        self._cache = ContextCache(clock)
        self._pins: OrderedDict[tuple[UUID, str], PinnedContext] = OrderedDict()
        self._bytes = 0
        self._looks: dict[UUID, UUID] = {}  # at the workspace, through one of its chats
        self._wanted = asyncio.Event()
        self._idle = asyncio.Event()

    async def pinned(self, chat_id: UUID, workspace_id: UUID, hash: str) -> PinnedContext | None:
        """What the chat was given under this hash; None when that was in another workspace."""
        key = (workspace_id, hash)
        if (kept := self._pins.get(key)) is not None:
            self._pins.move_to_end(key)
            return kept
        row = await self._store.get_chat_context(chat_id=chat_id)
        found = decoded(row.snapshot) if row is not None else None
        if found is None or found.workspace_id != workspace_id:
            return None
        self._keep(found)
        return found

    async def pin(self, chat_id: UUID, workspace_id: UUID, client: AgentClient) -> PinnedContext:
        """Give the chat what its workspace has, as of the last five minutes. Raises AgentRefused, AgentUnreachable,
        TimeoutError."""
        context = await self._cache.get(workspace_id, lambda: self._read(workspace_id, client))
        return await self._store_pin(chat_id, pin_of(workspace_id, context))

    async def refresh(self, chat_id: UUID) -> PinnedContext:
        """Give the chat what its workspace has at this moment. Raises WorkspaceUnavailable, AgentRefused,
        AgentUnreachable, TimeoutError and NotFound."""
        resolved = await self._resolver.resolve(chat_id)
        try:
            context = await self._read_now(resolved)
        except AgentUnreachable:  # it leaves when nobody uses it, and comes back when someone does
            context = await self._read_now(await self._resolver.recover(resolved))
        return await self._store_pin(chat_id, pin_of(resolved.workspace_id, context))

    def look_later(self, chat_id: UUID, workspace_id: UUID) -> None:
        """Find out in the background whether its workspace has something else by now, unless that was done lately."""
        if self._cache.fresh(workspace_id) is None and len(self._looks) < _MOST_LOOKS:
            self._looks[workspace_id] = chat_id
            self._wanted.set()

    async def run(self) -> None:
        """Looks for drift, one workspace after the other, until it is cancelled."""
        while True:
            await self._wanted.wait()
            while self._looks:
                workspace_id = next(iter(self._looks))
                await self._look(self._looks[workspace_id])
                del self._looks[workspace_id]
            self._wanted.clear()
            self._idle.set()

    async def idle(self) -> None:
        """Until there is nothing left to look at."""
        while self._looks:
            self._idle.clear()
            await self._idle.wait()

    async def _look(self, chat_id: UUID) -> None:
        try:
            with acting_as(WORKER):
                resolved = await self._resolver.resolve(chat_id)
                async with self._agent_at(resolved) as client:
                    id = resolved.workspace_id
                    await self._cache.get(id, lambda: self._read(id, client))
        except (ChatdError, TimeoutError) as error:
            _log.info("a workspace could not be looked at", chat_id=str(chat_id), error=str(error))
        except Exception as error:  # noqa: BLE001 - the next chat's is looked at all the same
            _log.warning("looking at a workspace failed", chat_id=str(chat_id), exc_info=error)

    async def _read_now(self, resolved: Resolved) -> WorkspaceContext:
        async with self._agent_at(resolved) as client:
            id = resolved.workspace_id
            return await self._cache.read_now(id, lambda: self._read(id, client))

    @asynccontextmanager
    async def _agent_at(self, resolved: Resolved) -> AsyncGenerator[AgentClient]:
        client = agent_client(resolved.address, resolved.token, self._clock)
        try:
            yield client
        finally:
            await client.close()

    async def _read(self, workspace_id: UUID, client: AgentClient) -> WorkspaceContext:
        async with self._clock.timeout(_READ_SECONDS, timer="read context"):
            context = await client.get("/context", None, WorkspaceContext)
        with acting_as(WORKER):
            for chat in await self._store.mark_contexts(workspace_id=workspace_id, hash=context.hash):
                self._drifted(chat.owner_id, chat.id)
        return context

    async def _store_pin(self, chat_id: UUID, pinned: PinnedContext) -> PinnedContext:
        stored = await self._store.upsert_chat_context(chat_id=chat_id, hash=pinned.hash, snapshot=encoded(pinned))
        if stored is None:
            raise NotFound("Chat")
        self._keep(pinned)
        return pinned

    def _keep(self, pinned: PinnedContext) -> None:
        key = (pinned.workspace_id, pinned.hash)
        if (last := self._pins.pop(key, None)) is not None:
            self._bytes -= last.size
        self._pins[key] = pinned
        self._bytes += pinned.size
        while self._bytes > _MOST_BYTES:
            self._bytes -= self._pins.popitem(last=False)[1].size
