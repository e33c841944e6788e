"""The conversation as one reads it: nothing moves that the reader did not move."""

import asyncio
import json
import re
from statistics import median
from typing import Any

import pytest
from playwright.async_api import Page, Route, WebSocketRoute, expect

from browser.app import PATIENCE_MS, App, composer, rows, say, until
from browser.long_chats import long_chat
from chatd.testing.vendors.script import Call, Hold, Say, Think, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")

WATCH_SHIFTS = """() => {
    window.shifts = []
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
            for (const { node } of entry.sources) {
                const at = node instanceof Element ? node : node?.parentElement
                if (at?.closest("main")) window.shifts.push(at.outerHTML.slice(0, 200))
            }
        }
    }).observe({ type: "layout-shift", buffered: false })
}"""
# What a picture has moved is told after it.
NEXT_PICTURE = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
PARAGRAPH = "A paragraph that is long enough to be broken into two lines in a window of the usual width, as they are. "
ANSWER = (
    *[PARAGRAPH + f"**Number {n}**.\n\n" for n in range(12)],
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\n",
    *[f"print({n})\n" for n in range(12)],
    "```\n\nThe end.",
)


async def test_nothing_moves_while_a_long_answer_comes(app: App):
    begun, rest, end = asyncio.Event(), asyncio.Event(), asyncio.Event()
    holds = (Hold(begun, before_event=7), Hold(rest, before_event=20), Hold(end, before_event=30))
    app.plays(Turn(Think("Let me ", "see."), Say(*ANSWER), faults=holds))
    chat = await app.chats.create("Tell me all of it")
    await app.open(chat)
    await expect(rows(app.page, "user")).to_be_visible()
    await expect(rows(app.page, "reasoning")).to_be_visible()
    await app.page.evaluate(WATCH_SHIFTS)
    begun.set()
    await expect(rows(app.page, "text")).to_contain_text("Number 0")
    rest.set()
    await expect(rows(app.page, "text")).to_contain_text("print(6)")
    end.set()
    await expect(rows(app.page, "end")).to_be_in_viewport()
    shifts = await app.page.evaluate(f"{NEXT_PICTURE}.then(() => window.shifts)")
    assert shifts == [], "\n".join(shifts)


class Dammed:
    """The stream of a chat, which can be held up: what comes meanwhile arrives at once when it is let go."""

    def __init__(self) -> None:
        self._held: list[Any] | None = None
        self._to_page: WebSocketRoute | None = None
        self.is_over = asyncio.Event()

    async def watch(self, page: Page) -> None:
        await page.route_web_socket(re.compile("/chats/[^/]+/stream"), self._opened)

    def hold(self) -> None:
        self._held = []

    def let_go(self) -> None:
        self.give(len(self._held or ()))
        self._held = None

    def give(self, count: int) -> None:
        """The next few, as one."""
        assert self._held is not None
        assert self._to_page is not None
        self._to_page.send(json.dumps(self._held[:count]))
        del self._held[:count]

    def _opened(self, to_page: WebSocketRoute) -> None:
        self._to_page = to_page
        to_page.connect_to_server().on_message(self._came)

    def _came(self, message: str | bytes) -> None:
        assert self._to_page is not None
        if self._held is None:
            self._to_page.send(message)
            return
        events = json.loads(message)
        self._held += events
        if any(event["type"] == "status" and event["status"]["status"] == "waiting" for event in events):
            self.is_over.set()


# What each picture has shown, looked at right after it was drawn: whether the end of the turn is there, and what is
# left below. A message is handled before timers and before the next picture.
WATCH_PICTURES = """() => {
    window.pictures = []
    const { port1, port2 } = new MessageChannel()
    const next = () => requestAnimationFrame(() => port1.postMessage(null))
    port2.onmessage = () => {
        const log = document.querySelector("[role=log]")
        const left = log.scrollHeight - log.scrollTop - log.clientHeight
        window.pictures.push([log.querySelector("[data-row=end]") !== null, left])
        next()
    }
    next()
}"""


@pytest.mark.long
async def test_the_end_of_a_turn_is_in_its_place_in_the_first_picture_that_has_it(app: App):
    end, stream = asyncio.Event(), Dammed()
    app.plays(Turn(Say(*ANSWER, *ANSWER), faults=(Hold(end, before_event=50),)))
    await stream.watch(app.page)
    chat = await app.chats.create("Tell me all of it")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_contain_text("print(1)")
    stream.hold()
    end.set()
    await asyncio.wait_for(stream.is_over.wait(), PATIENCE_MS / 1000)
    await app.page.evaluate(WATCH_SHIFTS)
    await app.page.evaluate(WATCH_PICTURES)
    stream.let_go()
    await expect(rows(app.page, "end")).to_be_in_viewport()
    shifts = await app.page.evaluate(f"{NEXT_PICTURE}.then(() => window.shifts)")
    pictures = await app.page.evaluate("window.pictures")
    assert [left for has_end, left in pictures if has_end and left > 1] == []
    assert shifts == [], "\n".join(shifts)


async def to_top(page: Page) -> None:
    """As a reader does: again, when rows that come into view turn out to be higher than was thought."""
    await until(
        page,
        """(() => {
            const log = document.querySelector("[role=log]")
            log.scrollTop = 0
            return log.querySelector("[role=alert]") !== null
        })()""",
    )


@pytest.mark.long
async def test_who_reads_further_up_stays_there_and_is_told_of_what_is_new(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 40)
    held = asyncio.Event()
    app.plays(Turn(Say("Something ", *["new. "] * 200), faults=(Hold(held, before_event=4),)))
    await app.open(chat)
    await expect(rows(app.page, "text").last).to_have_text("Answer 40")
    await say(app.page, "go on")
    await expect(rows(app.page, "text").last).to_have_text("Something")
    row = rows(app.page, "user").filter(has_text="Question 30")
    await app.page.get_by_role("log").hover()
    await app.page.mouse.wheel(0, -1500)
    await expect(app.page.get_by_role("button", name="To the end")).to_be_visible()
    top = "document.querySelector('[role=log]').scrollTop"
    before = await app.page.evaluate(top)
    held.set()
    await app.chats.resting(chat)
    await expect(app.page.get_by_role("button", name="New below")).to_be_visible()
    assert await app.page.evaluate(top) == before
    await app.page.get_by_role("button", name="New below").click()
    await expect(rows(app.page, "end").last).to_be_in_viewport()
    await expect(app.page.get_by_role("button", name="New below")).to_have_count(0)
    await expect(row).to_have_count(0)


@pytest.mark.long
async def test_who_is_at_the_end_stays_there_when_the_panel_takes_room(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 40, answered="Answer {n}.\n\n" + PARAGRAPH * 4)
    await app.open(chat)
    await expect(rows(app.page, "text").last).to_contain_text("Answer 40")
    log = "document.querySelector('[role=log]')"
    is_at_end = f"{log}.scrollHeight - {log}.scrollTop - {log}.clientHeight < 2"
    await until(app.page, is_at_end)
    width = await app.page.evaluate(f"{log}.clientWidth")
    for fits in ("<", "==="):
        await app.page.keyboard.press("Control+j")
        await until(app.page, f"{log}.clientWidth {fits} {width} && {is_at_end}")
        await expect(app.page.get_by_role("button", name="To the end")).to_have_count(0)


@pytest.mark.long
async def test_who_is_at_the_end_stays_there_when_a_chat_is_archived_and_taken_back(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 40)
    page = await app.open(chat)
    await expect(rows(page, "text").last).to_have_text("Answer 40")
    log = "document.querySelector('[role=log]')"
    is_at_end = f"{log}.scrollHeight - {log}.scrollTop - {log}.clientHeight < 2"
    await composer(page).fill("A line\n" * 6)  # the composer takes room, and gives it when it goes
    await until(page, is_at_end)
    height = await page.evaluate(f"{log}.clientHeight")
    for _ in range(3):
        await page.get_by_role("main").get_by_role("button", name="Actions").click()
        await page.get_by_role("menuitem", name="Archive").click()
        await until(page, f"{log}.clientHeight !== {height}")
        await page.get_by_role("button", name="Undo").last.click()
        await until(page, f"{log}.clientHeight === {height} && {is_at_end}")
        await expect(page.get_by_role("button", name="To the end")).to_have_count(0)


@pytest.mark.long
async def test_the_place_is_kept_when_older_messages_come(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 100, answered="Answer {n}.\n\n" + PARAGRAPH)
    fails, go = True, asyncio.Event()

    async def answer(route: Route) -> None:
        if fails:
            await route.fulfill(status=400, json={"message": "No."})
        else:
            await go.wait()
            await route.continue_()

    await app.page.route(re.compile("before_id="), answer)
    await app.open(chat)
    await expect(rows(app.page, "text").last).to_contain_text("Answer 100")
    await to_top(app.page)
    retry = app.page.get_by_role("log").get_by_role("button", name="Try again")
    await expect(retry).to_be_visible()
    fails = False
    await retry.focus()
    await app.page.keyboard.press("Enter")
    place = """() => {
        const rows = [...document.querySelectorAll("[data-row=text]")]
        const first = rows.find((row) => row.textContent.includes("Answer 78."))
        return first?.getBoundingClientRect().top ?? null
    }"""
    await until(app.page, f"({place})() !== null")
    before = await app.page.evaluate(place)
    go.set()
    await until(app.page, "document.querySelector('[role=log]').getAttribute('aria-busy') === 'false'")
    await until(app.page, "document.querySelector('[role=log]').scrollTop > 0")
    after = await app.page.evaluate(place)
    assert after is not None
    assert abs(after - before) <= 1
    app.forgive("400")


@pytest.mark.long
async def test_messages_and_code_are_copied_as_they_were_written(app: App):
    written = "Some **bold** words.\n\n```python\nprint(1)\n```\n"
    app.plays(Turn(Say(written)))
    chat = await app.chats.create("show me\ntwo lines")
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    clipboard = "navigator.clipboard.readText()"
    await rows(app.page, "user").hover()
    await rows(app.page, "user").get_by_role("button", name="Copy", exact=True).click()
    assert await app.page.evaluate(clipboard) == "show me\ntwo lines"
    await rows(app.page, "text").get_by_role("button", name="Copy", exact=True).click()
    assert (await app.page.evaluate(clipboard)).strip() == "print(1)"
    await rows(app.page, "end").hover()
    await rows(app.page, "end").get_by_role("button", name="Copy answer").click()
    assert (await app.page.evaluate(clipboard)).strip() == written.strip()


@pytest.mark.long
async def test_markdown_of_every_kind_is_shown_and_none_of_it_runs(app: App):
    torture = "\n\n".join(
        [
            "| a | b |\n|---|--:|\n| 1 | `x` |",
            "- one\n  - two\n    1. three",
            "Formula $e=mc^2$ and $$\\sum_i i$$",
            "<script>window.ran = 1</script><b onclick='window.ran = 1'>raw</b>",
            "[bad](javascript:window.ran=1) [good](https://example.com)",
            "مرحبا بالعالم",
            "x" * 4000,
            "```mermaid\ngraph TD; A-->B\n```",
            "```python\nprint('never closed')",
        ]
    )
    app.plays(Turn(Say(*(torture[at : at + 97] for at in range(0, len(torture), 97)))))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    row = rows(app.page, "text")
    await expect(row.get_by_role("table")).to_be_visible()
    await expect(row.locator("li li li")).to_have_text("three")
    await expect(row.get_by_role("link")).to_have_text("good")
    await expect(row).to_contain_text("never closed")
    await expect(row).to_contain_text("<script>")
    assert await app.page.evaluate("window.ran ?? null") is None
    assert await app.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.long
async def test_arguments_are_shown_before_they_are_whole(app: App):
    held = asyncio.Event()
    arguments = ('{"path": "src/serv', 'er.py", "content": "x"}')
    app.plays(Turn(Call("write_file", *arguments), faults=(Hold(held, before_event=5),)), Turn(Say("Done.")))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "steps")).to_contain_text("serv")
    await expect(rows(app.page, "steps")).not_to_contain_text("server.py")
    held.set()
    await expect(rows(app.page, "text")).to_have_text(["Done."])
    await expect(rows(app.page, "steps")).to_contain_text("server.py")


# React tells its developer tools of every commit. What a commit has drawn are the functions that it has run: those
# whose work was not taken over as it was.
COUNT_DRAWN = """() => {
    window.drawn = []
    const RAN = 1
    const functions = new Set([0, 1, 11, 14, 15])
    const count = (now, before) => {
        let sum = functions.has(now.tag) && now.flags & RAN && before !== now ? 1 : 0
        if (before && before.child === now.child) return sum
        for (let child = now.child; child; child = child.sibling) {
            sum += child.alternate && isAmong(before, child) ? 0 : count(child, child.alternate)
        }
        return sum
    }
    const isAmong = (parent, child) => {
        for (let one = parent?.child; one; one = one.sibling) if (one === child) return true
        return false
    }
    window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
        supportsFiber: true,
        inject: () => 1,
        onCommitFiberUnmount() {},
        onPostCommitFiberRoot() {},
        onCommitFiberRoot: (_, root) => window.drawn.push(count(root.current, root.current.alternate)),
    }
}"""


@pytest.mark.long
async def test_a_word_costs_the_same_however_long_the_answer_is(app: App):
    rest, stream = asyncio.Event(), Dammed()
    chunks = [f"word {n} " if n % 10 else f"\n\nparagraph **{n}** " for n in range(1, 601)]
    app.plays(Turn(Say(*chunks), faults=(Hold(rest, before_event=20),)))
    await stream.watch(app.page)
    await app.page.add_init_script(f"({COUNT_DRAWN})()")
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_contain_text("paragraph 10")
    stream.hold()
    rest.set()
    await asyncio.wait_for(stream.is_over.wait(), PATIENCE_MS / 1000)

    async def drawn_for(words: int) -> list[int]:
        """How much is drawn for each of the next words."""
        counts: list[int] = []
        for _ in range(words):
            await app.page.evaluate("void window.drawn.splice(0)")
            stream.give(1)
            await until(app.page, "window.drawn.length > 0")
            counts.append(sum(await app.page.evaluate(f"{NEXT_PICTURE}.then(() => window.drawn)")))
        return counts

    early = await drawn_for(30)
    stream.give(len(chunks) - 120)
    await expect(rows(app.page, "text")).to_contain_text("paragraph 480")
    late = await drawn_for(30)
    stream.let_go()
    await expect(rows(app.page, "end")).to_be_visible()
    # Medians: some words begin a paragraph or a line, and something else may have come meanwhile.
    assert median(late) <= median(early), (early, late)
    assert median(late) <= 30, "more is drawn than a row and what holds it"
