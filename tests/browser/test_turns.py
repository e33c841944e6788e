"""A turn as one sees it: it grows in place, nothing comes twice, and what ends up on the page is what is stored."""

import asyncio

import pytest
from playwright.async_api import expect

from browser.app import App, composer, rows, say
from chatd.testing.vendors.script import Hold, Refuse, Say, Think, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.behaviour("WEB-1")
async def test_a_message_is_sent_and_its_answer_grows_in_place(app: App):
    held = asyncio.Event()
    app.plays(Turn(Think("Hm."), Say("One, ", "two, ", "three."), faults=(Hold(held, before_event=8),)))
    await app.page.goto("/")
    await say(app.page, "Count, please")
    await expect(rows(app.page, "user")).to_contain_text(["Count, please"])
    await expect(rows(app.page, "text")).to_have_count(1)
    # Every node that is ever added is noted: whatever the page shows while the stored message takes over.
    await app.page.evaluate(
        """() => {
            window.removed = 0
            const row = document.querySelector("[data-row=text]")
            new MutationObserver(() => { if (!row.isConnected) window.removed += 1 })
                .observe(document.body, { childList: true, subtree: true })
        }"""
    )
    held.set()
    await expect(rows(app.page, "end")).to_be_visible()
    await expect(rows(app.page, "text")).to_have_text(["One, two, three."])
    assert await app.page.evaluate("window.removed") == 0


@pytest.mark.behaviour("WEB-2")
async def test_a_page_that_is_reloaded_in_a_turn_shows_what_was_written_and_goes_on(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    await app.page.reload()
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    held.set()
    await expect(rows(app.page, "text")).to_have_text(["Half an answer."])


@pytest.mark.long
@pytest.mark.behaviour("WEB-2")
async def test_two_tabs_show_the_same(app: App):
    app.plays(Turn(Say("Hi.")), Turn(Say("Again.")))
    chat = await app.chats.create("hello")
    first, second = app.page, await app.tab(app.context)
    await app.open(chat, first)
    await app.open(chat, second)
    await say(first, "once more")
    for page in (first, second):
        await expect(rows(page, "text")).to_have_text(["Hi.", "Again."])
        await expect(rows(page, "user")).to_have_count(2)


@pytest.mark.behaviour("WEB-6")
async def test_what_was_written_stays_when_a_turn_is_stopped(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("This much ", "and no more."), faults=(Hold(held, before_event=4),)))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["This much"])
    await app.page.get_by_role("button", name="Stop").click()
    await expect(app.page.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(rows(app.page, "text")).to_have_text(["This much"])
    held.set()
    await app.page.reload()
    await expect(rows(app.page, "text")).to_have_text(["This much"])


@pytest.mark.behaviour("WEB-5")
async def test_a_failed_turn_says_what_happened_and_what_to_do(app: App):
    app.plays(Refuse(401, "invalid x-api-key"))
    chat = await app.chats.create("hello")
    await app.open(chat)
    banner = app.page.get_by_role("alert")
    await expect(banner).to_contain_text("The provider does not accept the key")
    await expect(banner).to_contain_text("Settings, Providers")
    app.plays(Turn(Say("Better.")))
    await say(app.page, "once more")
    await expect(rows(app.page, "text")).to_have_text(["Better."])
    await expect(banner).to_have_count(0)


@pytest.mark.long
@pytest.mark.behaviour("WEB-5")
async def test_a_retry_is_counted_down(app: App):
    app.plays(Refuse(529, "Overloaded", headers={"retry-after": "30"}))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(app.page.get_by_text("is temporarily overloaded.")).to_be_visible()
    await expect(app.page.get_by_text("Trying again in")).to_be_visible()
    seconds = await app.page.get_by_text("Trying again in").inner_text()
    await expect(app.page.get_by_text("Trying again in")).not_to_have_text(seconds)


@pytest.mark.long
async def test_a_chat_that_is_not_there_says_so(app: App):
    await app.page.goto("/chats/01a1e0ee-0cfd-7fc9-9f5f-78ac08c728ad")
    await expect(app.page.get_by_role("alert")).to_contain_text("There is no such chat")
    app.forgive("404", "WebSocket")


@pytest.mark.behaviour("WEB-8")
async def test_messages_to_a_busy_chat_wait_and_can_be_changed(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("First ", "answer."), faults=(Hold(held, before_event=4),)), Turn(Say("Ok.")))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["First"])
    for text in ("one", "two", "three"):
        await say(app.page, text)
    queue = app.page.get_by_role("region", name="Waiting")
    waiting = queue.get_by_role("listitem")
    await expect(waiting).to_have_text(["one", "two", "three"])
    await waiting.nth(2).get_by_role("button", name="Move up").click()
    await expect(waiting).to_have_text(["one", "three", "two"])
    await waiting.nth(0).get_by_role("button", name="Remove").click()
    await expect(waiting).to_have_text(["three", "two"])
    await waiting.nth(0).get_by_role("button", name="Edit").click()
    await queue.get_by_role("textbox").fill("three, better")
    await queue.get_by_role("button", name="Save").click()
    await expect(waiting).to_have_text(["three, better", "two"])
    held.set()
    await expect(rows(app.page, "user")).to_have_count(3)
    said = [
        part["text"] for message in await app.stored(chat) if message["role"] == "user" for part in message["content"]
    ]
    assert said == ["hello", "three, better", "two"]


@pytest.mark.behaviour("WEB-9")
async def test_an_edit_replaces_what_followed(app: App):
    app.plays(Turn(Say("One.")), Turn(Say("Two.")), Turn(Say("Other.")))
    chat = await app.chats.create("first")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["One."])
    await say(app.page, "second")
    await expect(rows(app.page, "text")).to_have_text(["One.", "Two."])
    first = rows(app.page, "user").first
    await first.hover()
    await first.get_by_role("button", name="Edit").click()
    await expect(composer(app.page)).to_have_value("first")
    await composer(app.page).fill("first, better")
    await app.page.get_by_role("button", name="Save and run again").click()
    await expect(rows(app.page, "text")).to_have_text(["Other."])
    await expect(rows(app.page, "user")).to_have_count(1)
    await app.page.reload()
    await expect(rows(app.page, "text")).to_have_text(["Other."])
