"""What a turn takes and how it fares: context, compaction, retries, errors."""

import asyncio
import re
from typing import Any

import asyncpg
import pytest
from playwright.async_api import Locator, Page, expect

from browser.app import App, composer, rows, say
from chatd.core.usage import Usage
from chatd.testing.vendors.script import Hold, Refuse, Say, Turn

pytestmark = pytest.mark.asyncio(loop_scope="session")


def meter(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^Context:"))


def answer(text: str, tokens: int) -> Turn:
    """After which the context holds so many tokens."""
    return Turn(Say(text), usage=Usage(input_tokens=tokens - 10, output_tokens=10))


@pytest.mark.long
async def test_the_context_fills_and_is_not_known_after_a_compaction(app: App):
    app.plays(answer("One.", 30_000))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(meter(app.page)).to_have_accessible_name("Context: 30,000 of 100,000 tokens (30 %)")
    await meter(app.page).click()
    summary = app.page.get_by_role("dialog", name="Context")
    await expect(summary).to_contain_text("30,000 of 100,000 tokens (30 %)")
    await expect(summary).to_contain_text("Summarized by itself at")
    await app.page.keyboard.press("Escape")
    app.plays(Turn(Say("They said hello.")), answer("Two.", 5_000))
    await meter(app.page).click()
    await summary.get_by_role("button", name="Compact now").click()
    await expect(rows(app.page, "summary")).to_contain_text("Summarized on request")
    await expect(meter(app.page)).to_have_accessible_name(re.compile("known after the next answer"))
    await say(app.page, "go on")
    await expect(meter(app.page)).to_have_accessible_name("Context: 5,000 of 100,000 tokens (5 %)")


@pytest.mark.behaviour("WEB-4")
async def test_a_full_context_is_summarised_by_itself(app: App):
    begun = asyncio.Event()
    summary = Turn(Say("A summary", " of it."), faults=(Hold(begun, before_event=4),))
    app.plays(answer("One.", 95_000), summary, answer("Two.", 2_000))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(app.page.get_by_role("log")).to_contain_text("Summarizing…")
    begun.set()
    # The agent goes on from the summary, and what came before stays readable.
    await expect(rows(app.page, "text")).to_have_text(["One.", "Two."])
    await expect(rows(app.page, "summary")).to_contain_text("Summarized")
    await expect(app.page.get_by_role("log")).not_to_contain_text("Summarizing…")
    await expect(rows(app.page, "summary")).not_to_contain_text("A summary of it.")
    await rows(app.page, "summary").get_by_role("button").first.click()
    await expect(rows(app.page, "summary")).to_contain_text("A summary of it.")


@pytest.mark.long
async def test_a_compaction_that_fails_says_so_and_loses_nothing(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    app.plays(Refuse(400, "not now"))
    await say(app.page, "/compact")
    banner = app.page.get_by_role("log").get_by_role("alert")
    await expect(banner).to_contain_text("The model is not set up right")
    await expect(banner).to_contain_text("not now")
    await expect(rows(app.page, "text")).to_have_text(["Hi."])
    app.plays(Turn(Say("Still here.")))
    await say(app.page, "go on")
    await expect(rows(app.page, "text")).to_have_text(["Hi.", "Still here."])
    await expect(banner).to_have_count(0)


@pytest.mark.long
async def test_files_that_have_changed_since_are_told_of(app: App, database: Any):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    connection = await asyncpg.connect(database.dsn)
    try:
        await connection.execute("UPDATE chats SET context_dirty_since = now() WHERE id = $1", chat["id"])
    finally:
        await connection.close()
    await app.open(chat)
    await meter(app.page).click()
    await expect(app.page.get_by_role("dialog", name="Context").get_by_role("button", name="Refresh")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(
    ("refused", "title", "hint"),
    [
        (Refuse(401, "bad key"), "The provider does not accept the key", "Settings, Providers"),
        (Refuse(400, "max_tokens: too large"), "The model is not set up right", "Settings, Models"),
        (Refuse(413, "request too large"), None, None),
    ],
)
async def test_a_failure_is_told_by_its_kind_and_gone_with_the_next_turn(
    app: App, refused: Refuse, title: str | None, hint: str | None
):
    app.plays(refused)
    chat = await app.chats.create("hello")
    await app.open(chat)
    banner = app.page.get_by_role("log").get_by_role("alert")
    await expect(banner).to_be_visible()
    if title is not None and hint is not None:
        await expect(banner).to_contain_text(title)
        await expect(banner).to_contain_text(hint)
    await expect(banner).to_contain_text(refused.message)
    app.plays(Turn(Say("Better.")))
    await say(app.page, "again")
    await expect(rows(app.page, "text")).to_have_text(["Better."])
    await expect(banner).to_have_count(0)


@pytest.mark.long
async def test_a_retry_ends_with_the_first_words(app: App):
    app.plays(Refuse(529, "Overloaded", headers={"retry-after": "1"}), Turn(Say("There.")))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["There."])
    await expect(app.page.get_by_text("Trying again")).to_have_count(0)
    await expect(composer(app.page)).to_be_enabled()


@pytest.mark.long
async def test_a_chat_that_waits_for_room_says_so_and_begins_by_itself(apps: Any):
    held = asyncio.Event()
    async with apps(Turn(Say("First."), faults=(Hold(held),)), Turn(Say("Second.")), chat_root_capacity="1") as app:
        first = await app.chats.create("one")
        await app.chats.until(first, "running")
        second = await app.chats.create("two")
        await app.open(second)
        await expect(app.page.get_by_text("Waiting for room: other chats are at work.")).to_be_visible()
        held.set()
        await expect(rows(app.page, "text")).to_have_text(["Second."])
        await expect(app.page.get_by_text("Waiting for room")).to_have_count(0)


FAILURES = {
    "auth": (Refuse(401, "invalid x-api-key"), "The provider does not accept the key"),
    "config": (Refuse(404, "model: nothing-of-the-kind"), "The model is not set up right"),
    "generic": (Refuse(418, "I am a teapot"), "The turn has failed"),
}


@pytest.mark.long
@pytest.mark.behaviour("WEB-5")
@pytest.mark.parametrize("kind", FAILURES)
async def test_an_error_says_its_kind_and_what_the_provider_said_until_one_sends_again(app: App, kind: str):
    refusal, title = FAILURES[kind]
    app.plays(refusal)
    chat = await app.chats.create("hello")
    await app.open(chat)
    banner = app.page.get_by_role("alert")
    await expect(banner).to_contain_text(title)
    await expect(banner).to_contain_text(f"{refusal.status}: ")
    await expect(banner).to_contain_text(refusal.message)
    await app.page.reload()
    await expect(banner).to_contain_text(title)
    app.plays(Turn(Say("Better.")))
    await banner.get_by_role("button", name="Go on").click()
    await expect(rows(app.page, "text")).to_have_text(["Better."])
    await expect(banner).to_have_count(0)
