"""Fixtures of the tests of the agent's client."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent.running import AgentProcess, running_agent
from chatd.workspaces.agents.client import AgentClient
from workspaces.agents.clients import client_of


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncGenerator[AgentProcess]:
    async with running_agent(tmp_path / "agent") as running:
        yield running


@pytest.fixture
async def client(agent: AgentProcess) -> AsyncGenerator[AgentClient]:
    async with client_of(agent) as made:
        yield made
