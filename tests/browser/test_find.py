"""Finding something in a chat, and links to a message: also where nothing was loaded yet."""

import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from browser.app import App, composer, rows, say, until
from browser.long_chats import long_chat
from chatd.testing.vendors.script import Say, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOUND = "CSS.highlights.get('found')?.size ?? 0"
NOW = "[...(CSS.highlights.get('found-now') ?? [])].map(String).join()"
# How far the hit is from the middle of the conversation, as a share of its height.
OFF_CENTRE = """() => {
    const [range] = CSS.highlights.get('found-now') ?? []
    if (!range) return 1
    const log = document.querySelector('[role=log]').getBoundingClientRect()
    const hit = range.getBoundingClientRect()
    return Math.abs(hit.top + hit.height / 2 - log.top - log.height / 2) / log.height
}"""


def bar(page: Page) -> Any:
    return page.get_by_role("search", name="Find in this chat")


async def test_words_are_found_in_a_long_chat_also_where_nothing_was_loaded(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 300, answered="Answer {n}. Nothing of **note** here.")
    await app.open(chat)
    await expect(rows(app.page, "text").last).to_contain_text("Answer 300")
    await composer(app.page).fill("half a thought")
    await composer(app.page).press("Control+f")
    await expect(bar(app.page).get_by_role("textbox")).to_be_focused()
    await app.page.keyboard.type("the very FIRST")
    await expect(bar(app.page).get_by_role("status")).to_have_text("1 of 1")
    await expect(rows(app.page, "user").first).to_contain_text("the very first")
    await until(app.page, f"{NOW} === 'the very first'")

    await bar(app.page).get_by_role("textbox").fill("Answer 12")
    await expect(bar(app.page).get_by_role("status")).to_have_text("1 of 11")  # 129 to 120, and 12
    await until(app.page, f"{NOW} === 'Answer 12'")
    await expect(rows(app.page, "text").get_by_text("Answer 129")).to_be_visible()
    await until(app.page, f"({OFF_CENTRE})() < 0.1")
    await app.page.keyboard.press("Enter")
    await expect(bar(app.page).get_by_role("status")).to_have_text("2 of 11")
    await expect(rows(app.page, "text").get_by_text("Answer 128")).to_be_visible()
    await app.page.keyboard.press("Shift+Enter")
    await app.page.keyboard.press("Shift+F3")
    await expect(bar(app.page).get_by_role("status")).to_have_text("11 of 11")
    await expect(rows(app.page, "text").get_by_text("Answer 12.")).to_be_visible()
    await until(app.page, f"({OFF_CENTRE})() < 0.1")

    await app.page.keyboard.press("Escape")
    await expect(bar(app.page)).to_have_count(0)
    await expect(composer(app.page)).to_be_focused()
    await expect(composer(app.page)).to_have_value("half a thought")
    assert await app.page.evaluate(FOUND) == 0


@pytest.mark.long
async def test_what_is_typed_right_after_its_keys_is_in_the_bar(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    # One task of the page: nothing can be loaded or drawn in between.
    typed = await app.page.evaluate(
        """() => {
            const keys = { key: "f", code: "KeyF", ctrlKey: true, bubbles: true, cancelable: true }
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", keys))
            return Promise.resolve().then(() => document.activeElement.getAttribute("aria-label"))
        }"""
    )
    assert typed == "Find in this chat"
    await app.page.keyboard.press("Escape")
    await composer(app.page).press("Control+f")
    await app.page.keyboard.type("hello")
    await expect(bar(app.page).get_by_role("textbox")).to_have_value("hello")
    await expect(composer(app.page)).to_have_value("")


@pytest.mark.long
async def test_what_is_shown_is_marked_over_bold_and_not_over_paragraphs(app: App):
    app.plays(Turn(Say("An **ow**l, an OWL.\n\nThe ow\n\nl is *gone* `owl`.")))
    chat = await app.chats.create("owls?")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    await app.page.get_by_role("button", name="Actions", exact=True).click()
    await app.page.get_by_role("menuitem", name="Find in this chat").click()
    await bar(app.page).get_by_role("textbox").fill("owl")
    await until(app.page, f"{FOUND} === 4")
    # The server reads what was written: the mark within the first one is not there for it.
    await expect(bar(app.page).get_by_role("status")).to_have_text("1 of 3")


@pytest.mark.long
async def test_what_is_said_while_one_looks_is_found_too(app: App):
    app.plays(Turn(Say("An owl.")), Turn(Say("Two owls.")))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    await app.page.keyboard.press("Control+f")
    await bar(app.page).get_by_role("textbox").fill("owl")
    await expect(bar(app.page).get_by_role("status")).to_have_text("1 of 1")
    await say(app.page, "more")
    await expect(bar(app.page).get_by_role("status")).to_have_text("2 of 2")  # one stays where one was
    await bar(app.page).get_by_role("textbox").fill("nothing of the kind")
    await expect(bar(app.page).get_by_role("status")).to_have_text("Not found")


@pytest.mark.long
async def test_the_palette_finds_in_the_chat_too(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await app.page.keyboard.press("Control+k")
    await app.page.get_by_role("combobox").fill("find in")
    await app.page.get_by_role("option", name="Find in this chat").click()
    await expect(bar(app.page).get_by_role("textbox")).to_be_focused()


@pytest.mark.long
async def test_finding_brings_the_chat_back_from_behind_the_panel(app: App):
    page = app.page
    chat = await app.chats.create("hello")
    await app.open(chat)
    await page.get_by_role("button", name="Show the panel").click()
    over = page.get_by_role("button", name="Panel over the chat")
    await over.click()
    await expect(page.locator("main[inert]")).to_have_count(1)
    await page.keyboard.press("Control+f")
    await expect(bar(page).get_by_role("textbox")).to_be_focused()
    await expect(page.locator("main[inert]")).to_have_count(0)
    await over.click()
    await expect(bar(page)).to_have_count(0)
    await expect(page.locator("main[inert]")).to_have_count(1)


@pytest.mark.long
async def test_a_link_leads_to_its_message(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 300)
    first = (await app.chats.mia.get(f"/api/experimental/chats/{chat['id']}/prompts")).body["prompts"][-20]
    await app.page.goto(f"/chats/{chat['id']}#m{first['id']}")
    marked = app.page.locator("[data-row=user][aria-current]")
    await expect(marked).to_contain_text(first["text"])
    await expect(marked).to_be_in_viewport()
    row = rows(app.page, "user").filter(has_text=re.compile(f"{first['text']}$"))
    await row.hover()
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await expect(marked).to_have_count(1)
    await row.get_by_role("button", name="Copy link").click()
    assert await app.page.evaluate("navigator.clipboard.readText()") == app.page.url
    await expect(marked).to_have_count(0)  # who does something has seen it

    await app.page.goto(f"/chats/{chat['id']}#m1")
    await app.page.reload()
    await expect(app.page.get_by_text("That message is not in this chat any more.")).to_be_visible()


@pytest.mark.long
async def test_one_goes_from_prompt_to_prompt_by_keys(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 30, answered="\n\n".join(["A paragraph of answer {n}."] * 30))
    await app.open(chat)
    await expect(rows(app.page, "text").last).to_contain_text("answer 30")
    for number in (30, 29, 28):
        await app.page.keyboard.press("Alt+ArrowUp")
        await expect(rows(app.page, "user").get_by_text(f"Question {number}", exact=True)).to_be_in_viewport()
    await app.page.keyboard.press("Alt+ArrowDown")
    await expect(rows(app.page, "user").get_by_text("Question 29", exact=True)).to_be_in_viewport()


@pytest.mark.long
async def test_nothing_moves_behind_a_dialog(app: App, database: Any):
    chat = await long_chat(app, database.dsn, 30, answered="\n\n".join(["A paragraph of answer {n}."] * 30))
    await app.open(chat)
    await expect(rows(app.page, "text").last).to_contain_text("answer 30")
    await app.page.keyboard.press("Control+k")
    await expect(app.page.get_by_role("combobox")).to_be_focused()
    await app.page.keyboard.press("Alt+ArrowUp")
    await app.page.keyboard.press("Escape")
    await expect(app.page.get_by_role("combobox")).to_have_count(0)
    await expect(rows(app.page, "end").last).to_be_in_viewport()
    await expect(app.page.get_by_role("button", name="To the end")).to_have_count(0)


@pytest.mark.long
async def test_an_edit_is_found_too(app: App):
    app.plays(Turn(Say("An owl.")), Turn(Say("Two owls.")))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    await app.page.keyboard.press("Control+f")
    await bar(app.page).get_by_role("textbox").fill("owl")
    await expect(bar(app.page).get_by_role("status")).to_have_text("1 of 1")
    await rows(app.page, "user").hover()
    await rows(app.page, "user").get_by_role("button", name="Edit", exact=True).click()
    await say(app.page, "owls, please")
    await expect(bar(app.page).get_by_role("status")).to_have_text("1 of 2")


@pytest.mark.long
async def test_the_palette_has_what_can_be_done_here_by_its_name(app: App):
    page = app.page
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(page, "end")).to_be_visible()
    field = page.get_by_role("combobox", name="Search")

    async def run(typed: str, name: str) -> None:
        await page.keyboard.press("Control+k")
        await field.fill(typed)
        await expect(page.get_by_role("option", name=name, exact=True)).to_have_count(1)
        await page.get_by_role("option", name=name, exact=True).click()

    await run("terminal", "Show the panel: Terminal")
    await expect(page.get_by_role("tab", name="Terminal")).to_have_attribute("aria-selected", "true")
    await run("dark", "Theme: Dark")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await run("rename", "Rename")
    await expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    await page.keyboard.press("Escape")
    await run("tokens", "Settings: API tokens")
    await expect(page).to_have_url(f"{app.url}/settings/tokens")
    await page.keyboard.press("Control+k")
    await field.fill("rename")
    await expect(page.get_by_role("option", name="Rename", exact=True)).to_have_count(0)
    await field.fill("providers")
    await expect(page.get_by_role("option", name="Settings: Providers")).to_have_count(0)
