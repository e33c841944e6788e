"""A data directory for a whole server."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from cli.running import until_no_process_of
from store.embedded.conftest import reachable_folder


@pytest_asyncio.fixture
async def data_dir() -> AsyncIterator[Path]:
    """Removed at the end, when nothing runs in it any more; a process left behind fails the test."""
    folder = reachable_folder()
    yield folder / "data"
    await until_no_process_of(folder)
    shutil.rmtree(folder)
