"""What it is like to type while an answer streams in at 100 chunks a second: how long a key waits to be handled,
how long until its letter is painted, and how often the page is busy for over 50 ms; beside the same in a chat at rest.
"""

import asyncio
from typing import Final

import msgspec
from playwright.async_api import Page

from bench.processes import median
from bench.web.browsing import Site, chromium, site
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Delay, Say, Turn
from chatd.testing.vendors.server import vendor_server

KEYS: Final = 60
CHUNKS: Final = 1000
PACE_SECONDS: Final = 0.01
LONG: Final = "a long one"

# Not by the browser's event timing: it rounds to eight milliseconds, and leaves out what is quicker than 16.
_WATCH: Final = """() => {
    window.typed = { waits: [], paints: [], long: 0 }
    new PerformanceObserver((list) => { window.typed.long += list.getEntries().length }).observe({ type: "longtask" })
    addEventListener("keydown", (event) => {
        const pressed = event.timeStamp
        window.typed.waits.push(performance.now() - pressed)
        requestAnimationFrame(() => setTimeout(() => window.typed.paints.push(performance.now() - pressed)))
    }, { capture: true })
}"""


class Typed(msgspec.Struct, frozen=True):
    waits: list[float]
    paints: list[float]
    long: int


async def main() -> None:
    async with vendor_server(_answer) as vendor, site() as here, chromium() as browser:
        await here.add_model(vendor.url)
        context = await here.visitor(browser)
        page = await context.new_page()
        chat = await here.begin("hello")
        await page.goto(f"/chats/{chat}")
        await page.locator("[data-row=end]").wait_for()
        await page.evaluate(_WATCH)
        rest = await _typed(page)
        streaming = await _streaming(here, page, chat)
        await context.close()
    for name, typed in (("at rest", rest), ("100 chunks a second", streaming)):
        print(
            f"a key, {name:20} handled after {median(typed.waits):5.1f} ms (worst {max(typed.waits):.0f}), "
            f"painted after {median(typed.paints):5.1f} ms (worst {max(typed.paints):.0f}), "
            f"{typed.long} tasks over 50 ms with {len(typed.waits)} keys"
        )


def _answer(asked: Asked) -> Turn:
    if asked.last_text != LONG:
        return Turn(Say("Hello."))
    words = [f"word {number} " if number % 40 else f"\n\nparagraph **{number}** " for number in range(1, CHUNKS)]
    return Turn(Say(*words), faults=(Delay(PACE_SECONDS, before_event=None),))


async def _streaming(here: Site, page: Page, chat: str) -> Typed:
    await here.say(chat, LONG)
    await page.get_by_text("paragraph 40").wait_for()
    typed = await _typed(page)
    assert await page.get_by_role("button", name="Stop").is_visible(), "the answer was over before the last key"
    return typed


async def _typed(page: Page) -> Typed:
    box = page.get_by_role("textbox", name="Message")
    await box.focus()
    await page.evaluate("Object.assign(window.typed, { waits: [], paints: [], long: 0 })")
    for place in range(KEYS):
        await page.keyboard.press("abcdefghij"[place % 10])
        await asyncio.sleep(0.03)  # noqa: TID251 - people take their time
    await box.fill("")
    return msgspec.convert(await page.evaluate("window.typed"), Typed)
