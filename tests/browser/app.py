"""What a test does to the app: a member `mia` in a browser, an API beside it, and a model that plays a script."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect

from chatd.server.middleware.authentication import session_cookie_name
from chatd.testing.vendors.script import Refuse, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api
from server.running import Api

# What a browser on two busy cores may take; nothing waits for it that comes sooner.
PATIENCE_MS = 15_000
# What Chromium says without a network: of requests, of those of the service worker, and of pieces that come late.
OFFLINE = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "preload CSS", "dynamically imported module", "WebSocket")
expect.set_options(timeout=PATIENCE_MS)


class Tabs:
    """Pages of a server. Every one is watched: an error in its console fails the test."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser = browser
        self.url = url
        self.complaints: list[str] = []
        self._contexts: list[BrowserContext] = []

    async def sign_in(self, api: Api, **options: Any) -> Page:
        """A tab of someone who is signed in, in a browser of its own."""
        context = await self._browser.new_context(base_url=self.url, **options)
        self._contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        await context.add_cookies(
            [
                {
                    "name": session_cookie_name(False),
                    "value": api.token,
                    "domain": urlsplit(self.url).hostname or "",
                    "path": "/",
                    "httpOnly": True,
                }
            ]
        )
        return await self.tab(context)

    async def tab(self, context: BrowserContext) -> Page:
        page = await context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        return page

    async def anonymous(self, **options: Any) -> Page:
        context = await self._browser.new_context(base_url=self.url, **options)
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        return await self.tab(context)

    def _hear(self, message: ConsoleMessage) -> None:
        """A page that is left while its sockets open says so in its console: that is no fault of the app's."""
        if message.type == "error" and not message.text.startswith("WebSocket connection to"):
            self.complaints.append(message.text)

    def forgive(self, *words: str) -> None:
        """What this test makes the browser complain about: a refused request, a lost connection."""
        self.complaints[:] = [one for one in self.complaints if not any(word in one for word in words)]

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()


class App(Tabs):
    """`page` is mia's first tab."""

    def __init__(self, browser: Browser, chats: ChatApi) -> None:
        super().__init__(browser, chats.running.api.url)
        self.chats = chats
        self.page: Page
        self.context: BrowserContext

    def plays(self, *turns: Turn | Refuse) -> None:
        """The model's next answers; the last one again and again."""
        self.chats.script._turns[:] = turns

    async def open(self, chat: dict[str, Any], page: Page | None = None) -> Page:
        page = page or self.page
        await page.goto(f"/chats/{chat['id']}")
        await expect(composer(page)).to_be_visible()
        return page

    async def stored(self, chat: dict[str, Any]) -> list[dict[str, Any]]:
        """What the database holds, oldest first."""
        page = await self.chats.mia.get(f"{CHATS}/{chat['id']}/messages?limit=200")
        return list(reversed(page.body["messages"]))


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


def rows(page: Page, kind: str) -> Locator:
    """Rows of the timeline, as far as they are drawn."""
    return page.locator(f"[data-row={kind}]")


async def say(page: Page, text: str) -> None:
    await composer(page).fill(text)
    await composer(page).press("Enter")


async def until(page: Page, expression: str, arg: Any = None) -> None:
    """Waits for an expression to hold in the page. Playwright's own `wait_for_function` is refused by the policy."""
    try:
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while not await page.evaluate(expression, arg):  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # noqa: TID251  a browser's clock can't be moved from here
    except TimeoutError:
        raise AssertionError(f"it never came to be: {expression}") from None


@asynccontextmanager
async def app_on(
    browser: Browser, dsn: str, data_dir: Path, turns: Sequence[Turn | Refuse], **settings: Any
) -> AsyncIterator[App]:
    async with chat_api(dsn, data_dir, turns or (Turn(Say("Hi.")),), **settings) as chats:
        app = App(browser, chats)
        try:
            app.page = await app.sign_in(chats.mia)
            app.context = app.page.context
            yield app
        finally:
            complaints = list(app.complaints)  # those of the end, when the server goes away, are none
            await app.close()
    # Only now, when all is closed: a complaint is no reason to leave a server behind.
    assert complaints == [], f"the browser complains: {complaints}"
