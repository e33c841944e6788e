"""Saying something again in other words: what followed goes, whatever was under way."""

import asyncio

import pytest
from playwright.async_api import expect

from browser.app import App, composer, rows, say
from chatd.testing.vendors.script import Hold, Say, Turn
from server.configured_models import PROVIDERS, model

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.behaviour("WEB-9")
async def test_an_edit_stops_the_turn_and_empties_the_queue(app: App):
    held = asyncio.Event()
    app.plays(
        Turn(Say("One.")),
        Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)),
        Turn(Say("Quite another.")),
    )
    chat = await app.chats.create("first")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["One."])
    await say(app.page, "second")
    await expect(rows(app.page, "text")).to_have_text(["One.", "Half an"])
    await say(app.page, "this waits")
    waiting = app.page.get_by_role("region", name="Waiting")
    await expect(waiting.get_by_role("listitem")).to_have_text(["this waits"])
    other = await app.tab(app.context)
    await app.open(chat, other)
    first = rows(app.page, "user").first
    await first.hover()
    await first.get_by_role("button", name="Edit").click()
    await composer(app.page).fill("first, better")
    await app.page.get_by_role("button", name="Save and run again").click()
    for page in (app.page, other):
        await expect(rows(page, "text")).to_have_text(["Quite another."])
        await expect(rows(page, "user").locator("[data-said]")).to_have_text(["first, better"])
        await expect(page.get_by_role("region", name="Waiting")).to_have_count(0)
    held.set()
    await app.chats.resting(chat)
    await app.page.reload()
    await expect(rows(app.page, "text")).to_have_text(["Quite another."])
    await expect(rows(app.page, "user")).to_have_count(1)


@pytest.mark.long
@pytest.mark.behaviour("WEB-9")
async def test_escape_leaves_an_edit_and_not_the_turn(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)))
    chat = await app.chats.create("first")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    await composer(app.page).fill("what I was writing")
    await rows(app.page, "user").hover()
    await rows(app.page, "user").get_by_role("button", name="Edit").click()
    await expect(composer(app.page)).to_have_value("first")
    await composer(app.page).press("Escape")
    await expect(composer(app.page)).to_have_value("what I was writing")
    await expect(app.page.get_by_role("button", name="Stop")).to_be_enabled()
    await composer(app.page).press("Escape")
    await expect(app.page.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(composer(app.page)).to_have_value("what I was writing")
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    held.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-9")
async def test_files_stay_with_a_message_that_is_edited(app: App):
    await app.page.goto("/")
    await app.page.locator("input[type=file]").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"some notes"}
    )
    await expect(app.page.get_by_text("notes.txt")).to_be_visible()
    await say(app.page, "read this")
    await expect(rows(app.page, "end")).to_be_visible()
    await rows(app.page, "user").hover()
    await rows(app.page, "user").get_by_role("button", name="Edit").click()
    await expect(app.page.get_by_role("button", name="Remove notes.txt")).to_be_visible()
    await composer(app.page).fill("read this well")
    await app.page.get_by_role("button", name="Save and run again").click()
    await expect(rows(app.page, "user").locator("[data-said]")).to_have_text(["read this well"])
    await expect(rows(app.page, "user")).to_contain_text("notes.txt")


@pytest.mark.long
@pytest.mark.behaviour("WEB-9")
async def test_an_edit_keeps_the_model_unless_another_is_chosen(app: App):
    owner = app.chats.running.owner
    [provider] = (await owner.get(PROVIDERS)).body
    await model(owner, provider["id"], "another", display_name="another", context_limit=100_000)
    chat = await app.chats.create("first")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()

    async def edit(text: str) -> None:
        await rows(app.page, "user").first.hover()
        await rows(app.page, "user").first.get_by_role("button", name="Edit").click()
        await composer(app.page).fill(text)

    async def save(text: str) -> None:
        await app.page.get_by_role("button", name="Save and run again").click()
        await expect(rows(app.page, "user").locator("[data-said]")).to_have_text([text])
        await expect(rows(app.page, "end")).to_be_visible()

    await edit("second")
    await save("second")
    assert app.chats.script.asked[-1].body["model"] == "scripted-model"
    await edit("third")
    await app.page.get_by_role("button", name="Model: scripted-model").click()
    await app.page.get_by_role("menuitemradio", name="another").click()
    await expect(composer(app.page)).to_have_value("third")
    await save("third")
    assert app.chats.script.asked[-1].body["model"] == "another"
