"""A whole replica for each test of the API that asks for one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from server.chat_api import ChatApi, chat_api
from server.running import Running, running_server


@pytest.fixture
def serving(database: Any, tmp_path: Path) -> Any:
    @asynccontextmanager
    async def run(**options: Any) -> AsyncIterator[Running]:
        async with running_server(database.dsn, tmp_path, **options) as running:
            yield running

    return run


@pytest_asyncio.fixture
async def chats(database: Any, tmp_path: Path) -> AsyncIterator[ChatApi]:
    """A replica whose model says "Hi." to everything."""
    async with chat_api(database.dsn, tmp_path) as made:
        yield made
