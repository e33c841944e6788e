"""What agents said of their instructions, for a while. Readers wait only for the one request that brings what they
want, and share it."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.wire.agent.context import WorkspaceContext

KEPT_SECONDS: Final = 300.0
_MOST_BYTES: Final = 32 * 1024 * 1024  # of texts; an agent tells at most 2 MiB


class _Kept(msgspec.Struct, frozen=True):
    context: WorkspaceContext
    read_at: float
    size: int


class _Flight:
    """A request under way."""

    def __init__(self) -> None:
        self.landed = asyncio.Event()
        self.error: Exception | None = None


class ContextCache:
    """Of a replica. One agent serves a workspace, so that they go by the workspace."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[UUID, _Kept] = OrderedDict()
        self._flights: dict[UUID, _Flight] = {}
        self._bytes = 0

    def fresh(self, workspace_id: UUID) -> WorkspaceContext | None:
        """What was read within the last five minutes."""
        kept = self._kept.get(workspace_id)
        if kept is None or self._clock.monotonic() - kept.read_at >= KEPT_SECONDS:
            return None
        self._kept.move_to_end(workspace_id)
        return kept.context

    async def get(self, workspace_id: UUID, read: Callable[[], Awaitable[WorkspaceContext]]) -> WorkspaceContext:
        """Fresh, or read now, by one of those who want it. Raises what `read` does, to all who waited for it."""
        while True:
            if (fresh := self.fresh(workspace_id)) is not None:
                return fresh
            if (flight := self._flights.get(workspace_id)) is None:
                return await self.read_now(workspace_id, read)
            await flight.landed.wait()
            if flight.error is not None:
                raise flight.error
            # Else it has landed, or its reader was cancelled and someone else must fly.

    async def read_now(self, workspace_id: UUID, read: Callable[[], Awaitable[WorkspaceContext]]) -> WorkspaceContext:
        """Whatever is kept."""
        flight = self._flights[workspace_id] = _Flight()
        try:
            context = await read()
        except Exception as error:
            flight.error = error
            raise
        else:
            self._keep(workspace_id, context)
            return context
        finally:
            if self._flights.get(workspace_id) is flight:
                del self._flights[workspace_id]
            flight.landed.set()

    def _keep(self, workspace_id: UUID, context: WorkspaceContext) -> None:
        size = sum(len(resource.content) for resource in context.resources)
        self._forget(self._kept.pop(workspace_id, None))
        self._kept[workspace_id] = _Kept(context, self._clock.monotonic(), size)
        self._bytes += size
        while self._bytes > _MOST_BYTES:
            self._forget(self._kept.popitem(last=False)[1])

    def _forget(self, gone: _Kept | None) -> None:
        self._bytes -= gone.size if gone else 0
