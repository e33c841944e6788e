"""The workspace of a chat during one turn: looked up when it is first needed, then shared by all that need it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.errors import ChatdError
from chatd.observe.logs import get_logger
from chatd.workspaces.agents.client import AgentClient, agent_client
from chatd.workspaces.agents.errors import AgentUnreachable
from chatd.workspaces.resolving import Resolved, Resolver

_ACKNOWLEDGE_SECONDS: Final = 5.0  # what is missed is made up for by a later turn
_log = get_logger("chatd.turn_workspace")

T = TypeVar("T")

# Told of the agent that a turn has reached, and of None when the turn is over. Returns at once.
Visited = Callable[[Resolved | None], None]


def _nobody(_found: Resolved | None) -> None:
    pass


class _Held(msgspec.Struct, frozen=True):
    resolved: Resolved
    connection: AgentClient
    client: AgentClient  # the same, in the name of the chat


class TurnWorkspace:
    """`epoch` grows with every change of the chat's owner. Whoever made it closes it.

    All methods raise what cancels them as it is: an interrupt never looks like an agent that is slow to answer.
    """

    def __init__(
        self,
        resolver: Resolver,
        clock: Clock,
        *,
        chat_id: UUID,
        ancestors: Sequence[UUID],
        epoch: int,
        visited: Visited = _nobody,
    ) -> None:
        self._resolver = resolver
        self._clock = clock
        self._chat_id = chat_id
        self._ancestors = tuple(ancestors)
        self._epoch = epoch
        self._visited = visited
        self._was_reached = False
        self.generation = 0  # grows when the chat gets another workspace, or the same one built anew
        self.bindings = 0  # grows when it gets another one
        self._held: _Held | None = None
        self._left: list[AgentClient] = []  # calls may still be under way on them
        self._looking = asyncio.Lock()
        self._has_started = False
        self._settled: str | None = None

    async def resolved(self) -> Resolved:
        """Raises WorkspaceUnavailable."""
        return (await self._reached()).resolved

    async def client(self) -> AgentClient:
        """Of the agent where it was found; one that does not answer there is for `ask` to find again. Raises
        WorkspaceUnavailable."""
        return (await self._used()).client

    async def ask(self, work: Callable[[AgentClient], Awaitable[T]], *, is_repeatable: bool) -> T:
        """Do something with the agent. If it can't be reached it is looked for again, once, and asked again; when it
        may have seen what it was asked, only if that `is_repeatable`.

        Raises WorkspaceUnavailable, AgentRefused, AgentUnreachable.
        """
        held = await self._used()
        try:
            return await work(held.client)
        except AgentUnreachable as lost:
            if lost.was_sent and not is_repeatable:
                raise
            _log.info("an agent is looked for again", chat_id=str(self._chat_id), error=lost.message)
        finally:
            self._resolver.used(held.resolved.workspace_id)
        return await work((await self._reached(instead_of=held)).client)

    async def ask_soon(self, work: Callable[[AgentClient], Awaitable[T]], *, seconds: float) -> T:
        """As `ask` for what is repeatable, within so long. Raises TimeoutError too."""
        async with self._clock.timeout(seconds, timer="ask soon"):
            return await self.ask(work, is_repeatable=True)

    def forget(self) -> None:
        """The workspace is built anew: it is looked up again when it is needed."""
        self.generation += 1
        self._drop()

    def rebound(self) -> None:
        """The chat has another workspace."""
        self.bindings += 1
        self.forget()

    def _drop(self) -> None:
        if self._held is not None:
            self._left.append(self._held.connection)
            self._held = None

    def started(self) -> None:
        """A process was started under a key, which the agent keeps until it is told otherwise."""
        self._has_started = True

    def settled(self, keep: str) -> None:
        """What was started under keys that don't begin so is stored, or will never be asked for again."""
        if self._has_started:
            self._settled = keep

    async def acknowledge(self) -> None:
        """Let the agent forget what was settled; what earlier turns have missed as well. Never fails."""
        if (keep := self._settled) is None or (held := self._held) is None:
            return
        self._settled, self._has_started = None, False
        try:
            async with self._clock.timeout(_ACKNOWLEDGE_SECONDS, timer="acknowledge"):
                await held.client.acknowledge_all(keep=keep)
        except (ChatdError, TimeoutError) as error:
            _log.info("keys could not be acknowledged", chat_id=str(self._chat_id), error=str(error))

    async def close(self) -> None:
        if self._was_reached:
            self._visited(None)
        self._drop()
        left, self._left = self._left, []
        async with AsyncExitStack() as closing:  # all of them, also when the turn is cancelled at the first
            for client in left:
                closing.push_async_callback(client.close)

    async def _used(self) -> _Held:
        held = await self._reached()
        self._resolver.used(held.resolved.workspace_id)
        return held

    async def _reached(self, *, instead_of: _Held | None = None) -> _Held:
        """One lookup at a time. Of several that miss the same agent, one looks for it, and all get what it finds."""
        async with self._looking:
            if self._held is not None and self._held is not instead_of:
                return self._held
            if instead_of is not None and self._held is instead_of:
                found = await self._resolver.recover(instead_of.resolved)
                self._drop()
            else:
                found = await self._resolver.resolve(self._chat_id)
            connection = agent_client(found.address, found.token, self._clock)
            client = connection.for_chat(self._chat_id, self._ancestors, self._epoch)
            self._held = _Held(found, connection, client)
            self._was_reached = True
            self._visited(found)
            return self._held
