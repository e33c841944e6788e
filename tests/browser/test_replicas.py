"""A page and the replicas behind it: whichever of them dies, the page ends showing exactly what the database holds."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from playwright.async_api import Browser, Page, expect

from browser.app import App, Tabs, composer, rows, say
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Hold, Say, Turn
from cli.running import Server, serving
from server.relay.replica_servers import FIRST, replicas
from server.running import Api

pytestmark = pytest.mark.asyncio(loop_scope="session")

# A replica is taken for dead when its lease of ten seconds is over.
TAKEN_OVER_MS = 60_000
LOST = (
    "ERR_CONNECTION",
    "ERR_FAILED",
    "ERR_EMPTY_RESPONSE",
    "ERR_INCOMPLETE",
    "ERR_NETWORK",
    "WebSocket",
    "502",
    "503",
)


class Answers:
    """The first time half an answer and then silence; whoever asks again gets a whole one."""

    def __init__(self) -> None:
        self.never = asyncio.Event()
        self._asked = 0

    def __call__(self, asked: Asked) -> Turn:
        if asked.last_text != FIRST:
            return Turn(Say(f"About {asked.last_text}."))
        self._asked += 1
        if self._asked > 1:
            return Turn(Say("The ", "whole ", "answer."))
        return Turn(Say("The ", "half ", "and ", "no ", "more."), faults=[Hold(self.never, before_event=6)])


class Switch:
    """What stands before replicas in real life: one address, whichever of them answers."""

    def __init__(self) -> None:
        self.url = ""
        self.servers: list[Server] = []

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for server in self.servers:
            at = urlsplit(server.url)
            try:
                upstream_reader, upstream = await asyncio.open_connection(at.hostname, at.port)
            except OSError:
                continue
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_pour(reader, upstream))
                tasks.create_task(_pour(upstream_reader, writer))
            return
        writer.close()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one of both has closed; then the other is closed too."""
    try:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def switch() -> AsyncIterator[Switch]:
    made = Switch()
    server = await asyncio.start_server(made.carry, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()


@asynccontextmanager
async def tabs(browser: Browser, url: str) -> AsyncIterator[Tabs]:
    made = Tabs(browser, url)
    try:
        yield made
    finally:
        await made.close()
    made.forgive(*LOST)
    assert made.complaints == [], "the browser complains"


async def shown(page: Page) -> list[tuple[str, str]]:
    """What was said, as the page has it."""
    return [
        ("user" if kind == "user" else "assistant", text.strip())
        for kind, text in await page.evaluate(
            """() => [...document.querySelectorAll("[data-row=user],[data-row=text]")].map((row) =>
                [row.dataset.row, (row.querySelector("p") ?? row).innerText])"""
        )
    ]


async def stored(api: Api, chat: UUID) -> list[tuple[str, str]]:
    """The same, as the database has it."""
    page = await api.get(f"/api/experimental/chats/{chat}/messages?limit=200")
    assert page.status == 200, page
    return [
        (message["role"], part["text"])
        for message in reversed(page.body["messages"])
        for part in message["content"]
        if part["type"] == "text"
    ]


async def opened(app: Tabs, api: Api, chat: UUID) -> Page:
    """A page that shows the half of the answer that there is."""
    page = await app.sign_in(api)
    await page.goto(f"/chats/{chat}")
    await expect(composer(page)).to_be_visible()
    await expect(rows(page, "text")).to_have_text(["The half and"])
    return page


async def ends_whole(page: Page, api: Api, chat: UUID) -> None:
    await expect(rows(page, "text")).to_have_text(["The whole answer."], timeout=TAKEN_OVER_MS)
    await expect(rows(page, "end")).to_have_count(1, timeout=TAKEN_OVER_MS)
    assert await shown(page) == await stored(api, chat) == [("user", FIRST), ("assistant", "The whole answer.")]


async def killed(server: Server) -> None:
    server.kill(signal.SIGKILL)
    await server.ended()


@pytest.mark.behaviour("WEB-2")
async def test_the_owner_of_a_turn_is_killed_while_the_page_is_on_another_replica(
    chromium: Browser, database: Any, tmp_path: Path
):
    answers = Answers()
    async with replicas(2, database.dsn, tmp_path, answers) as all, tabs(chromium, all.servers[1].url) as app:
        chat = await all.begin()
        page = await opened(app, all.apis[1], chat)
        await killed(all.servers[0])
        await ends_whole(page, all.apis[1], chat)
        answers.never.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-2")
async def test_the_replica_that_runs_the_turn_and_serves_the_page_is_killed(
    chromium: Browser, database: Any, tmp_path: Path
):
    answers = Answers()
    async with switch() as front, replicas(2, database.dsn, tmp_path, answers) as all, tabs(chromium, front.url) as app:
        front.servers = all.servers
        chat = await all.begin()
        page = await opened(app, all.apis[0], chat)
        await killed(all.servers[0])
        await ends_whole(page, all.apis[1], chat)
        answers.never.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-2")
async def test_all_replicas_are_killed_and_come_back(chromium: Browser, database: Any, tmp_path: Path):
    answers = Answers()
    async with (
        switch() as front,
        replicas(2, database.dsn, tmp_path, answers) as all,
        tabs(chromium, front.url) as app,
        AsyncExitStack() as later,
    ):
        front.servers = all.servers
        chat = await all.begin()
        page = await opened(app, all.apis[0], chat)
        for server in all.servers:
            await killed(server)
        await expect(page.get_by_text("The connection was lost.")).to_be_visible(timeout=TAKEN_OVER_MS)
        again = await later.enter_async_context(serving(tmp_path / "data", **all.environ))
        front.servers = [again]
        await ends_whole(page, Api(all.apis[0]._http, again.url, all.apis[0].token), chat)
        answers.never.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-2")
async def test_two_tabs_on_two_replicas_show_the_same(chromium: Browser, database: Any, tmp_path: Path):
    async with replicas(2, database.dsn, tmp_path, Answers()) as all:
        chat = await all.apis[0].post("/api/experimental/chats", {"content": [{"type": "text", "text": "hello"}]})
        id = UUID(chat.body["id"])
        async with tabs(chromium, all.servers[0].url) as one, tabs(chromium, all.servers[1].url) as other:
            pages = [await app.sign_in(api) for app, api in zip((one, other), all.apis, strict=True)]
            for page in pages:
                await page.goto(f"/chats/{id}")
                await expect(rows(page, "text")).to_have_text(["About hello."])
            for number, page in enumerate((*pages, *pages)):
                await say(page, f"number {number}")
                for each in pages:
                    await expect(rows(each, "text").last).to_have_text(f"About number {number}.")
                    await expect(rows(each, "end")).to_have_count(number + 2)
            seen = [await shown(page) for page in pages]
            held = await stored(all.apis[0], id)

    assert seen == [held, held]
    assert len(held) == 10


@pytest.mark.long
@pytest.mark.behaviour("WEB-2")
async def test_a_page_that_is_closed_in_a_turn_shows_all_of_it_when_it_is_opened_again(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    await app.page.close()
    held.set()
    await app.chats.resting(chat)
    page = await app.tab(app.context)
    await app.open(chat, page)
    await expect(rows(page, "text")).to_have_text(["Half an answer."])
    assert await shown(page) == await stored(app.chats.mia, UUID(chat["id"]))
