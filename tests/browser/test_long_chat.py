"""A chat of 5,000 messages: it opens at its end with one page of them, and scrolls back without losing the place."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Page, Request, Route, expect

from browser.app import PATIENCE_MS, App, composer, rows, say, until
from browser.long_chats import long_chat

pytestmark = pytest.mark.asyncio(loop_scope="session")

TURNS = 2500  # and the first one: a question and an answer each
PAGE = 50  # messages that are read at once
MOST_ROWS = 80  # that are drawn at once: what fits the window, and some around it
OLDER = "**/messages?*before_id=*"


class Read:
    """How much a page asks for."""

    def __init__(self, page: Page) -> None:
        self.pages = 0
        self.streamed = 0
        page.on("request", self._asked)
        page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def _asked(self, request: Request) -> None:
        if "/messages?" in request.url:
            self.pages += 1

    def _received(self, frame: str | bytes) -> None:
        text = frame if isinstance(frame, str) else frame.decode()
        self.streamed += text.count('"type":"message"')


async def drawn(page: Page) -> int:
    return await page.evaluate("document.querySelectorAll('[data-row]').length")


@pytest.mark.behaviour("WEB-15")
async def test_a_chat_of_5000_messages_opens_at_its_end_with_one_page(app: App, database: Any):
    chat = await long_chat(app, database.dsn, TURNS)
    read = Read(app.page)
    await app.open(chat)
    await expect(rows(app.page, "text").last).to_contain_text(f"Answer {TURNS}")
    await expect(rows(app.page, "text").last).to_be_in_viewport()
    count = await drawn(app.page)
    await say(app.page, "and now?")
    await expect(rows(app.page, "text").last).to_have_text("Hi.")

    assert count <= MOST_ROWS
    assert read.pages == 1
    assert read.streamed <= 2, "the question and its answer; what was read is not streamed again"


@pytest.mark.behaviour("WEB-3")
@pytest.mark.behaviour("WEB-15")
async def test_older_pages_come_in_front_and_nothing_moves(app: App, database: Any):
    """Each is asked for before the top is reached, and held up until the reader stands still: nothing may move."""
    page = app.page
    arrived: asyncio.Queue[Route] = asyncio.Queue()
    await page.route(OLDER, arrived.put)
    chat = await long_chat(app, database.dsn, TURNS)
    await app.open(chat)
    await expect(rows(page, "text").last).to_contain_text(f"Answer {TURNS}")
    log = page.get_by_role("log")
    for _ in range(4):
        await log.evaluate("(log) => { log.scrollTop = 600 }")
        async with asyncio.timeout(PATIENCE_MS / 1000):
            route = await arrived.get()
        await until(page, "document.querySelector('[role=log]').ariaBusy === 'true'")
        before = await _place(page)
        await route.continue_()
        await until(page, "document.querySelector('[role=log]').ariaBusy === 'false'")
        await until(page, "([key, top]) => Math.abs(window.topOf(key) - top) <= 1", [before["key"], before["top"]])
        assert await drawn(page) <= MOST_ROWS
    await page.unroute(OLDER)


@pytest.mark.long
@pytest.mark.behaviour("WEB-3")
@pytest.mark.behaviour("WEB-15")
async def test_the_beginning_is_reached_by_scrolling(app: App, database: Any):
    page = app.page
    chat = await long_chat(app, database.dsn, 500, answered="Answer {n}. " + "More words. " * 30)
    read = Read(page)
    await app.open(chat)
    await expect(rows(page, "text").last).to_contain_text("Answer 500.")
    log, most = page.get_by_role("log"), 0
    first = rows(page, "user").filter(has_text="the very first")
    for _ in range(100):
        if await first.count() > 0:
            break
        await log.press("Home")
        await until(page, "document.querySelector('[role=log]').ariaBusy === 'false'")
        most = max(most, await drawn(page))
    await log.press("Home")
    await expect(first).to_be_in_viewport()
    await page.get_by_role("button", name="To the end").click()
    await expect(rows(page, "text").last).to_contain_text("Answer 500.")
    await expect(rows(page, "text").last).to_be_in_viewport()
    await expect(composer(page)).to_be_visible()

    assert most <= MOST_ROWS
    assert read.pages <= 1 + 1002 // PAGE + 1, "no page is read twice"


async def _place(page: Page) -> dict[str, Any]:
    """The first row that is seen whole, by its words, and how far below the edge it is."""
    return await page.evaluate(
        """async () => {
            const log = document.querySelector("[role=log]")
            const edge = log.getBoundingClientRect().top
            const rows = () => [...log.querySelectorAll("[data-row=user],[data-row=text]")]
            window.topOf = (key) => {
                const row = rows().find((one) => one.innerText === key)
                return row ? row.getBoundingClientRect().top - edge : NaN
            }
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
            const row = rows().find((one) => one.getBoundingClientRect().top >= edge)
            return { key: row.innerText, top: row.getBoundingClientRect().top - edge }
        }"""
    )
