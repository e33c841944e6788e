"""The list of chats beside them: live, with marks for what was not read, and nothing in it that can't be taken back."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from browser.app import App, say
from chatd.testing.vendors.script import Hold, Say, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.behaviour("WEB-7")
async def test_status_title_and_unread_mark_change_without_a_reload(app: App):
    held = asyncio.Event()
    await app.page.goto("/")
    items = app.page.get_by_role("navigation", name="Chats").get_by_role("listitem")
    app.plays(Turn(Say("Hi."), faults=(Hold(held),)))
    chat = await app.chats.create("hello there")
    await expect(items).to_have_count(1)
    await expect(items.first).to_contain_text("Working")
    held.set()
    await expect(items.first).to_contain_text("Idle")
    await expect(items.first).to_contain_text("A made title")
    await expect(items.first.get_by_role("img", name="Unread")).to_be_visible()
    await items.first.get_by_role("link").click()
    await expect(app.page).to_have_url(f"{app.url}/chats/{chat['id']}")
    await expect(items.first.get_by_role("img", name="Unread")).to_have_count(0)
    await expect(app.page).to_have_title("A made title · chatd")


@pytest.mark.long
async def test_a_chat_is_archived_and_brought_back(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.page.goto("/")
    items = app.page.get_by_role("navigation", name="Chats").get_by_role("listitem")
    await items.first.hover()
    await items.first.get_by_role("button", name="Actions for").click()
    await app.page.get_by_role("menuitem", name="Archive").click()
    await expect(items).to_have_count(0)
    await app.page.get_by_role("button", name="Undo").click()
    await expect(items).to_have_count(1)


@pytest.mark.long
async def test_a_chat_is_renamed(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    items = app.page.get_by_role("navigation", name="Chats").get_by_role("listitem")
    await items.first.hover()
    await items.first.get_by_role("button", name="Actions for").click()
    await app.page.get_by_role("menuitem", name="Rename").click()
    await app.page.get_by_role("textbox", name="Title").fill("A better one")
    await app.page.get_by_role("button", name="Save").click()
    await expect(items.first).to_contain_text("A better one")
    await expect(app.page.get_by_role("heading", level=1)).to_have_text("A better one")


@pytest.mark.long
async def test_words_of_old_messages_are_found(app: App):
    app.plays(Turn(Say("The capital is Ouagadougou.")))
    chat = await app.chats.create("what is it")
    await app.chats.resting(chat)
    app.plays(Turn(Say("Hi.")))
    await app.page.goto("/")
    await say(app.page, "something else")
    await app.page.keyboard.press("Control+k")
    box = app.page.get_by_role("combobox", name="Search all chats")
    found = app.page.get_by_role("option").filter(has_text="Ouagadougou")
    for _ in range(20):  # what was said is found about a second later
        await box.fill("")
        await box.fill("Ouagadougou")
        try:
            await expect(found).to_be_visible(timeout=1000)
            break
        except AssertionError:
            continue
    await box.press("Enter")
    await expect(app.page).to_have_url(re.compile(f"/chats/{chat['id']}"))
