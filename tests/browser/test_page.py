"""The page itself: offline and back, phone and keyboard, what it remembers."""

import asyncio

import pytest
from playwright.async_api import expect

from browser.app import OFFLINE, App, composer, rows, say
from chatd.testing.vendors.script import Hold, Say, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.long
@pytest.mark.behaviour("WEB-2")
async def test_a_page_that_was_offline_catches_up(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    await app.context.set_offline(True)
    await expect(app.page.get_by_text("You are offline.")).to_be_visible()
    held.set()
    await app.chats.resting(chat)
    await app.context.set_offline(False)
    await expect(rows(app.page, "text")).to_have_text(["Half an answer."])
    await expect(app.page.get_by_text("You are offline.")).to_have_count(0)
    app.forgive(*OFFLINE)


@pytest.mark.long
async def test_a_draft_survives_a_reload_and_another_chat(app: App):
    first, second = [await app.chats.create(name) for name in ("first", "second")]
    await app.open(first)
    await composer(app.page).fill("unfinished")
    await app.open(second)
    await expect(composer(app.page)).to_have_value("")
    await app.open(first)
    await expect(composer(app.page)).to_have_value("unfinished")
    await app.page.reload()
    await expect(composer(app.page)).to_have_value("unfinished")
    await composer(app.page).press("Enter")
    await expect(rows(app.page, "user")).to_have_count(2)
    await app.page.reload()
    await expect(composer(app.page)).to_have_value("")


@pytest.mark.long
async def test_earlier_messages_come_back_with_the_arrow(app: App):
    chat = await app.chats.create("first words")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    await say(app.page, "second words")
    await expect(rows(app.page, "end")).to_have_count(2)
    await composer(app.page).press("ArrowUp")
    await expect(composer(app.page)).to_have_value("second words")
    await composer(app.page).press("ArrowUp")
    await expect(composer(app.page)).to_have_value("first words")
    await composer(app.page).press("End")
    await composer(app.page).press("ArrowDown")
    await composer(app.page).press("ArrowDown")
    await expect(composer(app.page)).to_have_value("")


@pytest.mark.behaviour("WEB-14")
async def test_a_phone_shows_one_thing_at_a_time(app: App):
    chat = await app.chats.create("hello")
    page = await app.sign_in(app.chats.mia, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    await app.open(chat, page)
    await expect(rows(page, "text")).to_have_text(["Hi."])
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Show chats").click()
    await page.get_by_role("dialog").get_by_role("link", name="New chat").click()
    await expect(page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_theme_is_that_of_the_system_until_another_is_chosen(app: App, scheme: str):
    page = await app.sign_in(app.chats.mia, color_scheme=scheme)
    await page.goto("/")
    await expect(composer(page)).to_be_visible()
    ground = "getComputedStyle(document.body).backgroundColor"
    before = await page.evaluate(ground)
    await page.get_by_role("button", name="mia").click()
    await page.get_by_role("menuitem", name="Theme").click()
    other = "Dark" if scheme == "light" else "Light"
    await page.get_by_role("menuitemradio", name=other).click()
    assert await page.evaluate(ground) != before
    chosen = await page.evaluate(ground)
    await page.reload(wait_until="commit")
    await expect(composer(page)).to_be_visible()
    assert await page.evaluate(ground) == chosen


@pytest.mark.long
@pytest.mark.behaviour("WEB-14")
async def test_a_whole_journey_needs_only_the_keyboard(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("First ", "part."), faults=(Hold(held, before_event=4),)), Turn(Say("Ok.")))
    page = app.page
    await page.goto("/")
    await expect(composer(page)).to_be_focused()
    await page.keyboard.type("begin")
    await page.keyboard.press("Enter")
    await expect(rows(page, "text")).to_have_text(["First"])
    await page.keyboard.type("this waits")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Waiting")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(rows(page, "text")).to_have_text(["First", "Ok."])
    held.set()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("combobox", name="Search all chats")).to_be_focused()
    await page.keyboard.type("settings")
    await expect(page.get_by_role("option").first).to_contain_text("Settings")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Alt+n")
    await expect(page.get_by_role("heading", name="What shall we do?")).to_be_visible()


@pytest.mark.long
async def test_files_are_attached_and_shown(app: App):
    page = app.page
    await page.goto("/")
    await page.locator("input[type=file]").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"some notes"}
    )
    await expect(page.get_by_text("notes.txt")).to_be_visible()
    await say(page, "read this")
    await expect(rows(page, "user")).to_contain_text(["notes.txt"])
    await expect(rows(page, "text")).to_have_text(["Hi."])


@pytest.mark.long
async def test_a_file_that_is_too_large_is_refused_with_both_sizes(app: App):
    await app.page.goto("/")
    await app.page.locator("input[type=file]").set_input_files(
        {"name": "huge.txt", "mimeType": "text/plain", "buffer": b"x" * (11 * 1024 * 1024)}
    )
    await expect(app.page.get_by_role("alert")).to_contain_text("12 MB is too large; 10 MB is the most.")


@pytest.mark.long
async def test_a_fork_goes_on_by_itself(app: App):
    app.plays(Turn(Say("One.")), Turn(Say("Two.")))
    chat = await app.chats.create("first")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    await rows(app.page, "end").hover()
    await rows(app.page, "end").get_by_role("button", name="Fork from here").click()
    await expect(app.page).not_to_have_url(f"{app.url}/chats/{chat['id']}")
    await expect(rows(app.page, "text")).to_have_text(["One."])
    await say(app.page, "another way")
    await expect(rows(app.page, "text")).to_have_text(["One.", "Two."])
    assert len(await app.stored(chat)) == 2


@pytest.mark.long
async def test_a_fork_from_what_one_said_has_it_in_the_composer(app: App):
    app.plays(Turn(Say("One.")), Turn(Say("Two.")), Turn(Say("Another two.")))
    chat = await app.chats.create("first")
    await app.chats.resting(chat)
    await app.chats.send(chat, "second")
    await app.chats.resting(chat)
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(2)
    second = rows(app.page, "user").nth(1)
    await second.hover()
    await second.get_by_role("button", name="Fork from here").click()
    await expect(composer(app.page)).to_have_value("second")
    await expect(rows(app.page, "text")).to_have_text(["One."])
    await expect(app.page.get_by_text("Your words are in the composer.")).to_be_visible()
    await app.page.get_by_role("button", name="Send", exact=True).click()
    await expect(rows(app.page, "text")).to_have_text(["One.", "Another two."])
    assert len(await app.stored(chat)) == 4
    await app.open(chat)
    first = rows(app.page, "user").nth(0)
    await first.hover()
    await first.get_by_role("button", name="Fork from here").click()
    await expect(composer(app.page)).to_have_value("first")
    await expect(app.page).to_have_url(f"{app.url}/")


@pytest.mark.long
async def test_what_a_model_writes_is_never_markup(app: App):
    app.plays(Turn(Say("<img src=x onerror=alert(1)> and [a link](javascript:alert(1)) and **bold**")))
    chat = await app.chats.create("hello")
    await app.open(chat)
    row = rows(app.page, "text")
    await expect(row).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(row.get_by_role("link")).to_have_count(0)
    await expect(row.locator("strong")).to_have_text("bold")
