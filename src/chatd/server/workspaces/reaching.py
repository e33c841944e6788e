"""The agent in a workspace, for people: with their rights, brought back when it is gone, and counted as use."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import Action, Person
from chatd.server.workspaces.reading import WorkspaceReading
from chatd.wire.workspaces import WorkspaceAgent
from chatd.workspaces.agents.client import AgentClient, agent_client
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.finding import StoredResolver
from chatd.workspaces.resolving import Resolved, WorkspaceUnavailable

LOOK_SECONDS: Final = 5.0  # for a healthy agent to say so; it answers within milliseconds


class Reaching:
    def __init__(self, reading: WorkspaceReading, resolver: StoredResolver, clock: Clock) -> None:
        self._reading = reading
        self._resolver = resolver
        self._clock = clock

    def used(self, workspace_id: UUID) -> None:
        self._resolver.used(workspace_id)

    @asynccontextmanager
    async def agent(self, person: Person, workspace_id: UUID) -> AsyncGenerator[AgentClient]:
        """One that has just answered. Raises NotFound, Forbidden, WorkspaceUnavailable, AgentUnreachable."""
        await self._reading.allowed(person, Action.RUN, workspace_id)
        found = await self._resolver.resolve_workspace(workspace_id)
        self._resolver.used(workspace_id)
        client = self._client(found)
        try:
            try:
                await client.health(seconds=LOOK_SECONDS)
            except AgentUnreachable:
                await client.close()
                client = self._client(await self._resolver.recover(found))
            yield client
        finally:
            await client.close()

    async def health(self, person: Person, workspace_id: UUID) -> WorkspaceAgent:
        """Nothing is started for it, and it is no use. Raises NotFound, Forbidden."""
        await self._reading.allowed(person, Action.RUN, workspace_id)
        try:
            client = self._client(await self._resolver.resolve_workspace(workspace_id))
            try:
                return WorkspaceAgent(reachable=True, health=await client.health(seconds=LOOK_SECONDS))
            finally:
                await client.close()
        except (WorkspaceUnavailable, AgentUnreachable, AgentRefused) as error:
            reason = str(error.reason) if isinstance(error, WorkspaceUnavailable) else error.message
            return WorkspaceAgent(reachable=False, message=reason)

    def _client(self, found: Resolved) -> AgentClient:
        return agent_client(found.address, found.token, self._clock)
