"""Clients of real agents, for tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

from agent.running import CHAT, AgentProcess
from chatd.clock import Clock, SystemClock
from chatd.core.secret import Secret
from chatd.workspaces.agents.client import AgentClient, agent_client


@asynccontextmanager
async def client_of(
    agent: AgentProcess, *, chat: UUID = CHAT, epoch: int = 1, clock: Clock | None = None
) -> AsyncGenerator[AgentClient]:
    """In the name of a chat."""
    client = agent_client(agent.address, Secret(agent.token), clock or SystemClock())
    try:
        yield client.for_chat(chat, [], epoch)
    finally:
        await client.close()
