"""An old tab on a new server."""

import re

import pytest
from playwright.async_api import Route, expect

from browser.app import OFFLINE, App, composer

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

_PROMPT = "A new version is ready."


async def _newer_page(route: Route) -> None:
    """The page as another build has it."""
    answer = await route.fetch()
    await route.fulfill(
        response=answer, body=re.sub(r"/assets/index-[\w-]+\.js", "/assets/index-newer.js", await answer.text())
    )


async def test_an_old_tab_is_told_when_it_is_back_and_keeps_what_was_written(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await composer(app.page).fill("half a thought")
    prompt = app.page.get_by_text(_PROMPT)
    # The same build after a break is nothing to speak of.
    async with app.page.expect_response(lambda answer: answer.url == f"{app.url}/") as told:
        await app.context.set_offline(True)
        await app.context.set_offline(False)
    await (await told.value).finished()
    await app.page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    await expect(prompt).to_have_count(0)
    await app.page.route(f"{app.url}/", _newer_page)
    await app.context.set_offline(True)
    await app.context.set_offline(False)
    await expect(prompt).to_be_visible()
    await expect(composer(app.page)).to_have_value("half a thought")
    await app.page.unroute(f"{app.url}/")
    await app.page.get_by_role("button", name="Reload").click()
    await expect(prompt).to_have_count(0)
    await expect(composer(app.page)).to_have_value("half a thought")
    app.forgive(*OFFLINE)


async def test_a_part_of_the_app_that_is_gone_leads_to_the_new_version(app: App):
    page = await app.sign_in(app.chats.mia, service_workers="block")
    await page.goto("/")
    await expect(composer(page)).to_be_visible()
    await page.route(f"{app.url}/", _newer_page)
    await page.route("**/assets/SettingsPage-*", lambda route: route.fulfill(status=404))
    await page.get_by_role("button", name="Settings").click()
    await expect(page.get_by_text("This part of the page has failed")).to_be_visible()
    await expect(page.get_by_text(_PROMPT)).to_be_visible()
    app.forgive("404", "dynamically imported module", "preload")
