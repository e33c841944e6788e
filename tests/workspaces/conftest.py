"""Fixtures of the tests of workspaces."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from chatd.testing.postgres import Database
from workspaces.deployed import Deployed, deployed
from workspaces.folders import FolderProvisioner


@pytest_asyncio.fixture
async def here(database: Database) -> AsyncIterator[Deployed]:
    async with deployed(database.dsn) as found:
        yield found


@pytest_asyncio.fixture
async def folders(tmp_path: Path) -> AsyncIterator[FolderProvisioner]:
    made = FolderProvisioner(tmp_path / "w")
    yield made
    await made.kill_all()
