"""A Chromium and a server with chats in it: what the figures of the web app are taken with."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import msgspec
from aiohttp import ClientSession
from playwright.async_api import Browser, BrowserContext, async_playwright

from bench.processes import PASSWORD, Measured, chatd_serve, new_data_dir, started
from chatd.clock import SystemClock
from chatd.server.middleware.authentication import session_cookie_name
from chatd.store.embedded import embedded_postgres

ROOT = Path(__file__).parents[2]
_CHATS = "/api/experimental/chats"

# Questions and answers, after those that are there.
_FILL = """
INSERT INTO messages (
    chat_id, id, created_at, revision, role, visibility, compressed, deleted, content_version, content
)
SELECT
    last.chat_id, last.id + n, last.created_at + interval '1 second' * n, last.revision,
    (CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END)::message_role, 'both', false, false, 1,
    jsonb_build_array(jsonb_build_object(
        'type', 'text', 'text', 'Message ' || n || '. ' || repeat('And more. ', n % 40)
    ))
FROM (SELECT * FROM messages WHERE chat_id = $1 ORDER BY id DESC LIMIT 1) AS last, generate_series(1, $2::int) AS n
"""


class Site(msgspec.Struct, frozen=True):
    """A server, its database, and the token of its admin."""

    server: Measured
    dsn: str
    token: str
    http: ClientSession

    async def add_model(self, url: str) -> None:
        """One that answers in place of the demo model."""
        vendor = {"type": "anthropic", "name": "scripted", "api_key": "none", "base_url": url}
        made = await self._post(f"{_CHATS}/providers", vendor)
        model = {"ai_provider_id": made["id"], "model": "scripted", "context_limit": 1_000_000, "is_default": True}
        await self._post(f"{_CHATS}/model-configs", model)

    async def begin(self, text: str) -> str:
        return (await self._post(_CHATS, _said(text)))["id"]

    async def say(self, chat: str, text: str) -> None:
        await self._post(f"{_CHATS}/{chat}/messages", _said(text))

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self.http.post(self.server.url + path, json=body, headers=headers) as answer:
            assert answer.status < 300, await answer.text()
            return await answer.json()

    async def fill(self, chat: str, messages: int) -> None:
        connection = await asyncpg.connect(self.dsn)
        try:
            async with connection.transaction():
                await connection.execute("SELECT set_config('chatd.transition', 'load', true)")
                await connection.execute(_FILL, chat, messages)
                await connection.execute("SELECT setval('messages_id_seq', (SELECT max(id) FROM messages))")
        finally:
            await connection.close()

    async def visitor(self, browser: Browser) -> BrowserContext:
        """A browser of someone who is signed in, with nothing in its cache."""
        context = await browser.new_context(base_url=self.server.url, viewport={"width": 1280, "height": 800})
        name, domain = session_cookie_name(False), urlsplit(self.server.url).hostname or ""
        await context.add_cookies(
            [{"name": name, "value": self.token, "domain": domain, "path": "/", "httpOnly": True}]
        )
        return context


def _said(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """`chatd serve` with the demo model, on a Postgres of its own."""
    await asyncio.to_thread(subprocess.run, [ROOT / "scripts" / "build-web"], check=True, capture_output=True)
    admin = {"CHATD_BOOTSTRAP_ADMIN_EMAIL": "a@example.com", "CHATD_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
    async with AsyncExitStack() as stack:
        data_dir = stack.enter_context(new_data_dir())
        postgres = await stack.enter_async_context(embedded_postgres(data_dir / "postgres", clock=SystemClock()))
        command = [*chatd_serve(data_dir), "--requests-per-minute", "0"]
        server = await stack.enter_async_context(started(*command, CHATD_DATABASE_URL=postgres.dsn, **admin))
        http = await stack.enter_async_context(ClientSession())
        login = {"login": "admin", "password": PASSWORD}
        async with http.post(f"{server.url}/api/v2/users/login", json=login) as answer:
            token = (await answer.json())["session_token"]
        yield Site(server, postgres.dsn, token, http)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    found = os.environ.get("CHATD_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found is not None, "figures of the web app need Chromium (Debian: sudo apt install chromium)"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            await browser.close()
