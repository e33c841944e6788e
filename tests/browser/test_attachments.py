"""Files that go with a message: none is left out without a word, and none is lost on the way."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from browser.app import App, composer, rows, say

pytestmark = pytest.mark.asyncio(loop_scope="session")

FILES = re.compile(r"/api/experimental/chats/files$")
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf500f0003860180"
    "5a347d6b0000000049454e44ae426082"
)
NOTES: Any = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"some notes"}


def chip(page: Page, name: str) -> Locator:
    return page.get_by_role("listitem").filter(has_text=name)


async def pick(page: Page, *files: Any) -> None:
    await page.locator("input[type=file]").set_input_files(list(files))


async def give(page: Page, kind: str, name: str, media_type: str, content: bytes) -> None:
    """Files that are dropped or pasted, as the browser tells of them."""
    await composer(page).evaluate(
        """(area, [kind, name, type, bytes]) => {
            const data = new DataTransfer()
            data.items.add(new File([new Uint8Array(bytes)], name, { type }))
            const event = kind === "paste"
                ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
                : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
            area.dispatchEvent(event)
        }""",
        [kind, name, media_type, list(content)],
    )


async def test_a_file_that_has_not_arrived_holds_the_message(app: App):
    page = app.page
    fails = True

    async def answer(route: Route) -> None:
        await (route.fulfill(status=500, json={"message": "The disk is full."}) if fails else route.continue_())

    await page.route(FILES, answer)
    await page.goto("/")
    await pick(page, NOTES)
    await expect(chip(page, "notes.txt").get_by_role("alert")).to_have_text("The disk is full.")
    await composer(page).fill("read this")
    send = page.get_by_role("button", name="Send")
    await expect(send).to_be_disabled()
    await expect(send).to_have_accessible_description("A file has not arrived. Try it again or remove it.")
    await composer(page).press("Enter")
    await expect(composer(page)).to_have_value("read this")
    fails = False
    await chip(page, "notes.txt").get_by_role("button", name="Try again").click()
    await expect(chip(page, "notes.txt").get_by_role("alert")).to_have_count(0)
    await expect(send).to_be_enabled()
    await send.click()
    await expect(rows(page, "user")).to_contain_text(["notes.txt"])
    app.forgive("500")


@pytest.mark.long
async def test_a_file_that_is_removed_holds_nothing(app: App):
    await app.page.goto("/")
    await pick(app.page, {"name": "huge.txt", "mimeType": "text/plain", "buffer": b"x" * (11 * 1024 * 1024)}, NOTES)
    huge = chip(app.page, "huge.txt")
    await expect(huge.get_by_role("alert")).to_contain_text("is too large")
    await expect(huge.get_by_role("button", name="Try again")).to_have_count(0)  # it would not help
    await composer(app.page).fill("read this")
    await expect(app.page.get_by_role("button", name="Send")).to_be_disabled()
    await huge.get_by_role("button", name="Remove huge.txt").click()
    await app.page.get_by_role("button", name="Send").click()
    await expect(rows(app.page, "user")).to_contain_text(["notes.txt"])


@pytest.mark.long
async def test_images_are_pasted_dropped_and_looked_at(app: App):
    page = app.page
    await page.goto("/")
    await give(page, "paste", "pasted.png", "image/png", DOT)
    await give(page, "drop", "dropped.png", "image/png", DOT)
    for name in ("pasted.png", "dropped.png"):
        await expect(chip(page, name).locator("img")).to_be_visible()
    await say(page, "look")
    images = rows(page, "user").get_by_role("img")
    await expect(images).to_have_count(2)
    await images.first.click()
    box = page.get_by_role("dialog", name="pasted.png")
    await expect(box.get_by_role("img", name="pasted.png")).to_be_visible()
    await expect(box.get_by_role("link", name="Download")).to_have_attribute("download", "pasted.png")
    await page.keyboard.press("Escape")
    await expect(box).to_have_count(0)


@pytest.mark.long
async def test_texts_open_in_place_and_what_is_gone_says_so(app: App):
    page = app.page
    await page.goto("/")
    await pick(page, NOTES)
    await say(page, "read")
    await expect(rows(page, "end")).to_be_visible()
    link = rows(page, "user").get_by_role("link", name="notes.txt")
    await link.click()
    box = page.get_by_role("dialog", name="notes.txt")
    await expect(box).to_contain_text("some notes")
    await page.keyboard.press("Escape")
    await page.route(re.compile("/chats/files/"), lambda route: route.fulfill(status=404, json={"message": "gone"}))
    await link.click()
    await expect(rows(page, "user")).to_contain_text("Not kept any more")
    app.forgive("404")


@pytest.mark.long
async def test_a_file_goes_on_its_way_while_one_is_in_another_chat(app: App):
    page = app.page
    first, second = [await app.chats.create(name) for name in ("first", "second")]
    go = asyncio.Event()

    async def answer(route: Route) -> None:
        await go.wait()
        await route.continue_()

    await page.route(FILES, answer)
    await app.open(first)
    await pick(page, NOTES)
    await expect(page.get_by_text("Files are on their way.")).to_be_visible()
    # By links of the page: a page that is left takes what it sends with it.
    await page.locator(f"a[href='/chats/{second['id']}']").click()
    await expect(chip(page, "notes.txt")).to_have_count(0)
    go.set()
    await page.locator(f"a[href='/chats/{first['id']}']").click()
    await expect(chip(page, "notes.txt")).to_be_visible()
    await say(page, "here")
    await expect(rows(page, "user").last).to_contain_text("notes.txt")


@pytest.mark.long
async def test_a_file_that_was_on_its_way_when_the_page_was_left_says_so(app: App):
    page = app.page
    chat = await app.chats.create("hello")
    await page.route(FILES, lambda _: None)  # never answered
    await app.open(chat)
    await pick(page, NOTES)
    await expect(page.get_by_text("Files are on their way.")).to_be_visible()
    await page.reload()
    await expect(chip(page, "notes.txt").get_by_role("alert")).to_contain_text(
        "The page was left before it had arrived."
    )
    await chip(page, "notes.txt").get_by_role("button", name="Remove").click()
    await expect(chip(page, "notes.txt")).to_have_count(0)


@pytest.mark.long
async def test_a_long_paste_is_a_file_and_can_be_text(app: App):
    page = app.page
    long = "\n".join(f"line {n}" for n in range(40))
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto("/")
    await page.evaluate("text => navigator.clipboard.writeText(text)", long)
    await composer(page).fill("see: ")
    await composer(page).press("End")
    await composer(page).press("Control+v")
    await expect(chip(page, "pasted.txt")).to_be_visible()
    await expect(composer(page)).to_have_value("see: ")
    await expect(page.get_by_role("button", name="Send")).to_be_enabled()  # it has arrived
    await page.reload()
    await chip(page, "pasted.txt").get_by_role("button", name="Paste inline").click()
    await expect(composer(page)).to_have_value(f"see: {long}")
    await expect(chip(page, "pasted.txt")).to_have_count(0)
    await composer(page).fill("")
    await composer(page).press("Control+Shift+v")  # as it is
    await expect(composer(page)).to_have_value(long)
