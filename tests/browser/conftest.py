"""The web app in a real browser, on a whole replica with a scripted vendor: one browser for all, a server for each."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from browser.app import App, app_on

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def built() -> None:
    """The app as it is now; `make test` has built it already, and then this does nothing."""
    with Path(_ROOT / "scripts" / "build-web").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # workers build one after the other
        subprocess.run([_ROOT / "scripts" / "build-web"], check=True, capture_output=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium(built: None) -> AsyncIterator[Browser]:
    found = os.environ.get("CHATD_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.fail("The tests of the web app need Chromium (Debian: sudo apt install chromium).")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def apps(chromium: Browser, database: Any, tmp_path: Path) -> AsyncIterator[Any]:
    """Makes the app with settings of one's own: `async with apps(turns, **settings) as app`."""

    @asynccontextmanager
    async def make(*turns: Any, **settings: Any) -> AsyncIterator[App]:
        async with app_on(chromium, database.dsn, tmp_path, turns, **settings) as app:
            yield app

    yield make


@pytest_asyncio.fixture(loop_scope="session")
async def app(apps: Any) -> AsyncIterator[App]:
    """With a model that says "Hi." until a test says otherwise."""
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(apps())
