"""How long until a chat is there to be read: after a first visit, and after later ones; short and long chats.

From the beginning of the navigation to the frame that shows the newest message, as the browser's own clock has it,
beside an answer of the same server that shows next to nothing.
"""

import asyncio
from typing import Final

from playwright.async_api import BrowserContext, Page

from bench.processes import median
from bench.web.browsing import chromium, site

RUNS: Final = 5
PATIENCE: Final = 60
LENGTHS: Final = (50, 5000)
BLANK: Final = "/healthz"

# The newest message is found by its words as soon as it is in the document; the frame after that shows it.
_WATCH: Final = """
window.painted = new Promise((done) => {
    const look = () => {
        const row = [...document.querySelectorAll("[data-row=text]")].at(-1)
        if (!row?.innerText.includes("%s")) requestAnimationFrame(look)
        else requestAnimationFrame(() => setTimeout(() => done(performance.now())))
    }
    requestAnimationFrame(look)
})
"""


async def main() -> None:
    async with site() as here, chromium() as browser:
        chats: dict[int, str] = {}
        for length in LENGTHS:
            chats[length] = await here.begin("hello")
            await _resting(await here.visitor(browser), chats[length])
            await here.fill(chats[length], length)
        blank: list[float] = []
        cold: dict[int, list[float]] = {length: [] for length in LENGTHS}
        warm: dict[int, list[float]] = {length: [] for length in LENGTHS}
        for _ in range(RUNS):
            for length, chat in chats.items():
                context = await here.visitor(browser)
                blank.append(await _blank(context))
                cold[length].append(await _painted(context, chat, length))
                warm[length].append(await _painted(context, chat, length))
                await context.close()
    for length in LENGTHS:
        for name, taken in (("cold", cold[length]), ("warm", warm[length])):
            print(
                f"a chat of {length:5} messages painted, {name}   {median(taken):5.0f} ms "
                f"({min(taken):.0f} to {max(taken):.0f}), {median(taken) / median(blank):.1f} x a blank page"
            )


async def _resting(context: BrowserContext, chat: str) -> None:
    page = await context.new_page()
    await page.goto(f"/chats/{chat}")
    await page.locator("[data-row=end]").wait_for()
    await context.close()


async def _blank(context: BrowserContext) -> float:
    page = await context.new_page()
    await page.goto(BLANK)
    taken: float = await page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
    )
    # What the request took; how long this script was under way comes after it.
    loaded: float = await page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    await page.close()
    return min(taken, loaded + 16)


async def _painted(context: BrowserContext, chat: str, length: int) -> float:
    page: Page = await context.new_page()
    await page.add_init_script(_WATCH % f"Message {length}.")
    await page.goto(f"/chats/{chat}")
    async with asyncio.timeout(PATIENCE):
        taken: float = await page.evaluate("window.painted")
    await page.close()
    return taken
