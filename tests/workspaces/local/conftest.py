"""Local workspaces need bubblewrap; without it their tests are skipped, but not where nothing may be."""

import os
from pathlib import Path

import pytest

from chatd.workspaces.local.account import sandbox_account
from chatd.workspaces.local.bubblewrap import find_bubblewrap
from chatd.workspaces.provisioner import BuildFailed


@pytest.fixture
async def bubblewrap() -> None:
    try:
        await find_bubblewrap("bwrap", sandbox_account(None))
    except BuildFailed as failed:
        if os.environ.get("CI"):
            raise
        pytest.skip(failed.message)


@pytest.fixture
def root(bubblewrap: None, tmp_path: Path) -> Path:
    """Below a folder that is closed to others, as a server's data directory is."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder / "workspaces"
