"""Pictures of every place of the web app, in light, dark and on a phone: `python -m bench.web.pictures [place …]`.

They are taken on the stage of the browser tests, a real server with a real workspace, and written to `docs/images`.
What belongs to the machine that takes them is not in them: its folders have other names, and it is always afternoon.
"""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.async_api import Page

from bench.web.browsing import ROOT, chromium
from bench.web.palette import with_palette
from chatd.clock import SystemClock
from chatd.testing.postgres import postgres_kit

sys.path.insert(0, str(ROOT / "tests"))  # the stage and its places are the tests'

from browser.places import LOOKS, PLACES
from browser.stage import Stage, staged

FOLDER: Final = ROOT / "docs" / "images"
_HOUR: Final = 15  # what happened a few hours ago happened today

_RENAME: Final = """(names) => {
    const renamed = (text) => names.reduce((said, [was, is]) => said.replaceAll(was, is), text)
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) texts.currentNode.data = renamed(texts.currentNode.data)
    for (const input of document.querySelectorAll("input")) input.value = renamed(input.value)
}"""


async def main(wanted: set[str]) -> None:
    places = [place for place in PLACES if place.is_pictured and (not wanted or place.name in wanted)]
    if unknown := wanted - {place.name for place in places}:
        raise SystemExit(f"no such pictures: {', '.join(sorted(unknown))}")
    await asyncio.to_thread(subprocess.run, [ROOT / "scripts" / "build-web"], check=True, capture_output=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with postgres_kit() as kit, chromium() as browser:
        blank = await browser.new_page()
        # A look at a time, each on a stage of its own: what is seen in one has not been touched in another.
        for look in LOOKS:
            database = await kit.create()
            with tempfile.TemporaryDirectory(prefix="chatd-pictures-") as folder:
                async with staged(browser, database.dsn, Path(folder)) as stage:
                    for place in places:
                        page = await place.visit(stage, look, timezone_id=_afternoon())
                        await _tidy(page, stage)
                        taken = await page.screenshot(animations="disabled", caret="hide")
                        await place.leave(stage, page)
                        picture = FOLDER / f"{place.name}-{look}.png"
                        picture.write_bytes(await with_palette(blank, taken))
                        print(picture.relative_to(ROOT), flush=True)
            await kit.drop(database)


def _afternoon() -> str:
    """Where it is that hour now. These zones count westwards."""
    east = (_HOUR - SystemClock().now().hour + 12) % 24 - 12
    return f"Etc/GMT{-east:+}"


async def _tidy(page: Page, stage: Stage) -> None:
    """Nothing is pointed at; the workspace and the vendor are where they would be on another machine."""
    await page.mouse.move(0, 0)
    names = [[stage.app.chats.vendor.url, "https://models.example.com"]]
    if stage.home is not None:
        names.append([stage.home, "/home/olga"])
    await page.evaluate(_RENAME, names)


if __name__ == "__main__":
    asyncio.run(main(set(sys.argv[1:])))
