"""The machine's Chromium, for pictures of the web app."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    found = os.environ.get("CHATD_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found is not None, "pictures of the web app need Chromium (Debian: sudo apt install chromium)"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            await browser.close()
