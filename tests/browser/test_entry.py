"""Coming in: the first visit, signing in, and a session that ends."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect

from browser.app import PATIENCE_MS, App, composer, rows
from server.running import PASSWORD, running_server

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.behaviour("WEB-16")
async def test_a_first_visit_needs_three_steps_to_a_first_answer(chromium: Browser, database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path, first_user=False, demo_model="auto") as running:
        code = await running.replica.accounts.issue_setup_code()
        context = await chromium.new_context(base_url=running.api.url)
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        await page.goto(f"/setup#{code.reveal()}")
        await page.get_by_label("Name").fill("ada")
        await page.get_by_label("Email").fill("ada@example.com")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Make the account").click()
        await expect(page.get_by_role("radio", name="Try the demo model")).to_be_checked()
        await page.get_by_role("button", name="Go on").click()
        await expect(page.get_by_role("button", name="What can you do here?")).to_be_visible()
        await page.get_by_role("button", name="Run `uname -a`").click()
        await expect(rows(page, "end")).to_be_visible(timeout=60_000)  # it makes a workspace first
        await expect(rows(page, "text").last).to_contain_text("The tool was real")
        await expect(page.get_by_text("exit 0")).to_be_visible()
        await context.close()


@pytest.mark.long
async def test_setting_up_can_be_left_and_gone_on_with(chromium: Browser, database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path, first_user=False, demo_model="auto") as running:
        code = await running.replica.accounts.issue_setup_code()
        context = await chromium.new_context(base_url=running.api.url)
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        first_step, second_step = page.get_by_text("Step 1 of 3"), page.get_by_text("Step 2 of 3")
        await page.goto("/api/openapi.json")  # somewhere to go back to
        await page.goto("/setup#WRONG-CODE")
        await page.get_by_label("Name").fill("Ada.L")
        await page.get_by_label("Email").fill("ada@example.com")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Make the account").click()
        await expect(page.get_by_label("One-time code")).to_be_focused()
        await expect(page.get_by_text("That is not the one-time code.")).to_have_count(1)
        await expect(first_step).to_be_visible()
        await page.get_by_label("One-time code").fill(code.reveal())
        await page.get_by_role("button", name="Make the account").click()

        await expect(second_step).to_be_visible()
        await page.reload()
        await expect(second_step).to_be_visible()
        await page.go_back()
        await expect(page.get_by_text("openapi")).to_be_visible()
        await page.go_forward()
        await expect(second_step).to_be_visible()
        await page.get_by_role("button", name="Go on").click()
        await expect(page.get_by_text("Step 3 of 3")).to_be_visible()
        await page.reload()
        await expect(page.get_by_text("Step 3 of 3")).to_be_visible()
        await page.go_back()
        await expect(second_step).to_be_visible()
        await page.get_by_role("button", name="Later").click()
        await expect(composer(page)).to_be_visible()
        await page.goto("/setup")
        await expect(second_step).to_be_visible()
        await page.get_by_role("button", name="Go on").click()
        await page.get_by_role("button", name="Skip").click()
        await expect(composer(page)).to_be_visible()
        await context.close()


@pytest.mark.long
async def test_members_have_nothing_to_set_up(app: App):
    await app.page.goto("/setup/model")
    await expect(composer(app.page)).to_be_visible()
    await expect(app.page).to_have_url(f"{app.chats.running.api.url}/")


@pytest.mark.long
async def test_a_link_to_a_chat_leads_there_after_signing_in(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    page = await app.anonymous()
    await page.goto(f"/chats/{chat['id']}")
    await page.get_by_label("Name or email").fill("mia")
    await page.get_by_label("Password").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_text("do not go together")).to_be_visible()
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(rows(page, "text")).to_have_text(["Hi."])
    app.forgive("401")


@pytest.mark.long
async def test_what_was_typed_stays_when_the_session_ends(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Hi."])
    await composer(app.page).fill("not to be lost")
    await app.chats.mia.post("/api/v2/users/logout")
    dialog = app.page.get_by_role("dialog", name="Your session has ended")
    await expect(dialog).to_be_visible(timeout=60_000)  # streams look at rights every few seconds
    await dialog.get_by_label("Password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await expect(dialog).to_have_count(0)
    await expect(composer(app.page)).to_have_value("not to be lost")
    app.forgive("401", "WebSocket")


@pytest.mark.long
async def test_a_chat_is_asked_for_while_it_is_found_out_who_asks(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    is_asked = asyncio.Event()

    async def messages(route: Route) -> None:
        is_asked.set()
        await route.continue_()

    async def me(route: Route) -> None:
        await is_asked.wait()
        await route.continue_()

    await app.page.route("**/messages?*", messages)
    await app.page.route("**/users/me", me)
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Hi."])
