"""Fixtures of the agent's tests."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent.running import AgentProcess, running_agent


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncGenerator[AgentProcess]:
    """A real agent in the foreground, with its folder and its home below `tmp_path`."""
    async with running_agent(tmp_path / "agent") as running:
        yield running
