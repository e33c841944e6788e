"""Fixtures of the tests of diffs."""

from collections.abc import AsyncIterator

import pytest_asyncio

from chatd.testing.postgres import Database
from workspaces.deployed import Deployed, deployed


@pytest_asyncio.fixture
async def here(database: Database) -> AsyncIterator[Deployed]:
    async with deployed(database.dsn) as found:
        yield found
