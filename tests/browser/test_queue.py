"""Messages that wait for a turn to end: in their order, held while they are changed, and never lost."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from browser.app import App, composer, rows, say
from chatd.testing.vendors.script import Hold, Say, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")


def waiting(page: Page) -> Locator:
    return page.get_by_role("region", name="Waiting").get_by_role("listitem")


async def busy(app: App, held: asyncio.Event, *more: Turn) -> dict[str, Any]:
    """A chat whose first answer stops in its middle."""
    app.plays(Turn(Say("First ", "answer."), faults=(Hold(held, before_event=4),)), *(more or (Turn(Say("Ok.")),)))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["First"])
    return chat


async def queue(app: App, *texts: str) -> None:
    for text in texts:
        await say(app.page, text)
    await expect(waiting(app.page)).to_have_text(list(texts))


async def prompts(app: App, chat: dict[str, Any]) -> list[str]:
    found = (await app.chats.mia.get(f"/api/experimental/chats/{chat['id']}/prompts")).body["prompts"]
    return [one["text"] for one in reversed(found)]


@pytest.mark.behaviour("WEB-8")
async def test_what_is_sent_now_goes_first_and_the_others_keep_their_order(app: App):
    held = asyncio.Event()
    chat = await busy(app, held)
    await queue(app, "one", "two", "three")
    second = await app.tab(app.context)
    await app.open(chat, second)
    await expect(waiting(second)).to_have_text(["one", "two", "three"])
    await waiting(app.page).nth(1).get_by_role("button", name="Send now").click()
    await expect(rows(app.page, "user")).to_have_count(4)
    await expect(waiting(app.page)).to_have_count(0)
    held.set()
    await app.chats.resting(chat)
    assert await prompts(app, chat) == ["hello", "two", "one", "three"]
    for page in (app.page, second):
        await expect(rows(page, "user").locator("[data-said]")).to_have_text(["hello", "two", "one", "three"])
        await expect(rows(page, "text").first).to_have_text("First")


@pytest.mark.long
@pytest.mark.behaviour("WEB-8")
async def test_enter_in_an_empty_composer_sends_the_first_that_waits(app: App):
    held = asyncio.Event()
    await app.page.clock.install()
    chat = await busy(app, held)
    await queue(app, "one", "two")
    await app.page.clock.fast_forward(1000)  # right after a send it would not be meant
    await composer(app.page).press("Enter")
    await expect(rows(app.page, "user")).to_have_count(3)
    held.set()
    await app.chats.resting(chat)
    assert await prompts(app, chat) == ["hello", "one", "two"]


@pytest.mark.long
@pytest.mark.behaviour("WEB-8")
async def test_a_delete_that_fails_gives_the_row_back(app: App):
    held = asyncio.Event()
    await busy(app, held)
    await queue(app, "one")
    await app.page.route(
        re.compile(r"/queue/\d+$"), lambda route: route.fulfill(status=403, json={"message": "Not today."})
    )
    await waiting(app.page).get_by_role("button", name="Remove").click()
    await expect(app.page.get_by_text("Not today.").first).to_be_visible()
    await expect(waiting(app.page)).to_have_text(["one"])
    await app.page.unroute_all()
    await waiting(app.page).get_by_role("button", name="Remove").click()
    await expect(waiting(app.page)).to_have_count(0)
    app.forgive("403")
    held.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-8")
async def test_rows_are_dragged_to_their_place(app: App):
    held = asyncio.Event()
    await busy(app, held)
    await queue(app, "one", "two", "three")
    await waiting(app.page).nth(2).drag_to(waiting(app.page).nth(0))
    await expect(waiting(app.page)).to_have_text(["three", "one", "two"])
    await app.page.reload()
    await expect(waiting(app.page)).to_have_text(["three", "one", "two"])
    held.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-8")
async def test_rows_are_moved_by_keys(app: App):
    held = asyncio.Event()
    await busy(app, held)
    await queue(app, "one", "two", "three")
    await waiting(app.page).nth(0).get_by_role("button", name="Move down").focus()
    await app.page.keyboard.press("Enter")
    await expect(waiting(app.page)).to_have_text(["two", "one", "three"])
    await app.page.keyboard.press("Enter")  # the focus has gone along
    await expect(waiting(app.page)).to_have_text(["two", "three", "one"])
    last = waiting(app.page).nth(2)
    await expect(last.get_by_role("button", name="Move up")).to_be_focused()  # it can't go further down
    await app.page.keyboard.press("Enter")
    await expect(waiting(app.page)).to_have_text(["two", "one", "three"])
    await expect(waiting(app.page).nth(1).get_by_role("button", name="Move up")).to_be_focused()
    held.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-8")
async def test_a_message_that_is_edited_is_held_and_its_words_outlast_another_chat(app: App):
    held = asyncio.Event()
    other = await app.chats.create("another chat")
    await app.chats.resting(other)
    chat = await busy(app, held)
    await queue(app, "one", "two")
    await waiting(app.page).nth(0).get_by_role("button", name="Edit").click()
    box = app.page.get_by_role("region", name="Waiting").get_by_role("textbox")
    await box.fill("one, much better")
    held.set()
    await expect(rows(app.page, "text").first).to_have_text("First answer.")
    await expect(box).to_have_value("one, much better")  # it waits, and what is behind it does not
    await app.page.locator(f"a[href='/chats/{other['id']}']").click()
    await expect(app.page.get_by_role("region", name="Waiting")).to_have_count(0)
    await app.page.locator(f"a[href='/chats/{chat['id']}']").click()
    await expect(box).to_have_value("one, much better")
    await app.page.reload()
    await expect(box).to_have_value("one, much better")
    await box.press("Enter")
    await expect(waiting(app.page)).to_have_count(0)
    await app.chats.resting(chat)
    assert await prompts(app, chat) == ["hello", "two", "one, much better"]


@pytest.mark.long
@pytest.mark.behaviour("WEB-8")
async def test_words_for_a_message_that_is_gone_come_to_the_composer(app: App):
    held = asyncio.Event()
    chat = await busy(app, held)
    await queue(app, "one")
    await waiting(app.page).nth(0).get_by_role("button", name="Edit").click()
    await app.page.get_by_role("region", name="Waiting").get_by_role("textbox").fill("much better")
    path = f"/api/experimental/chats/{chat['id']}"
    [queued] = (await app.chats.mia.get(f"{path}/messages")).body["queued_messages"]
    await app.chats.mia.delete(f"{path}/queue/{queued['id']}")
    await expect(composer(app.page)).to_have_value("much better")
    await expect(app.page.get_by_text("What you wrote is in the composer.").first).to_be_visible()
    held.set()
