"""A whole replica for each test of the API that asks for one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from server.running import Running, running_server


@pytest.fixture
def serving(database: Any, tmp_path: Path) -> Any:
    @asynccontextmanager
    async def run(**options: Any) -> AsyncIterator[Running]:
        async with running_server(database.dsn, tmp_path, **options) as running:
            yield running

    return run
