"""A terminal in a workspace: it types, follows its size, and is the same one after a reload."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, WebSocketRoute, expect

from browser.app import App, until
from browser.test_panel import panel, show
from browser.worked import app_with_workspaces, working_chat

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


def screen(page: Page) -> Locator:
    return panel(page).locator(".xterm-rows")


async def opened(app: App) -> Page:
    page = await app.open(await working_chat(app, "true"))
    await show(page, "Terminal")
    await ready(page)
    return page


async def ready(page: Page) -> None:
    """Once the shell has said something."""
    await until(page, "(document.querySelector('.xterm-rows')?.textContent ?? '').trim() !== ''")
    await panel(page).locator(".xterm-helper-textarea").focus()


async def test_what_is_typed_runs_and_is_there_after_a_reload(apps: Any):
    async with app_with_workspaces(apps) as app:
        page = await opened(app)
        await page.keyboard.type("echo $((20 + 22)) owls\n")
        await expect(screen(page)).to_contain_text("42 owls")
        await page.keyboard.type("kept=yes\n")
        await page.reload()
        await ready(page)
        await expect(screen(page)).to_contain_text("42 owls")
        await page.keyboard.type("echo it is $kept\n")
        await expect(screen(page)).to_contain_text("it is yes")


async def test_it_follows_the_size_of_the_panel_and_goes_on_while_it_is_hidden(apps: Any):
    async with app_with_workspaces(apps) as app:
        page = await opened(app)
        line = page.get_by_role("separator", name="Resize the panel")
        await line.focus()
        for _ in range(6):
            await page.keyboard.press("Shift+ArrowRight")
        await panel(page).locator(".xterm-helper-textarea").focus()
        await page.keyboard.type("clear; [ $(tput cols) -lt 50 ] && echo it is narrow'!'\n")
        await expect(screen(page)).to_contain_text("it is narrow!")
        await page.keyboard.type("for i in 1 2 3 4 5 6; do echo turn-$i; sleep 0.2; done\n")
        await panel(page).get_by_role("tab", name="Context").click()
        await expect(screen(page)).to_have_count(0)
        await panel(page).get_by_role("tab", name="Terminal").click()
        await expect(screen(page)).to_contain_text("turn-6")
        await expect(screen(page)).to_contain_text("turn-1")


async def test_two_terminals_are_two_shells_and_one_that_ended_makes_room(apps: Any):
    async with app_with_workspaces(apps) as app:
        page = await opened(app)
        await page.keyboard.type("echo first-one; name=first\n")
        await expect(screen(page)).to_contain_text("first-one")
        await panel(page).get_by_role("button", name="New terminal").click()
        await ready(page)
        await page.keyboard.type("echo in ${name:-another}\n")
        await expect(screen(page)).to_contain_text("in another")
        await panel(page).get_by_role("radio", name="Terminal", exact=True).click()
        await ready(page)
        await expect(screen(page)).to_contain_text("first-one")
        await page.keyboard.type("exit\n")
        await expect(panel(page)).to_contain_text("The program has ended.")
        await panel(page).get_by_role("button", name="Start another").click()
        await ready(page)
        await expect(screen(page)).not_to_contain_text("first-one")


async def test_a_connection_that_is_dead_without_being_closed_is_noticed_and_replaced(apps: Any):
    async with app_with_workspaces(apps) as app:
        await app.page.clock.install()
        count, lost_until = 0, 0

        def connected(socket: WebSocketRoute) -> None:
            nonlocal count
            count += 1
            number, server = count, socket.connect_to_server()
            server.on_message(lambda said: None if number <= lost_until else socket.send(said))

        await app.page.route_web_socket("**/terminal?*", connected)
        page = await opened(app)
        lost_until = count
        await page.keyboard.type("echo $((20 + 22)) owls\n")
        await page.clock.fast_forward(45_000)  # the silence is noticed
        await expect(panel(page)).to_contain_text("The connection is lost")
        await page.clock.fast_forward(5_000)  # the pause before the next try
        await expect(screen(page)).to_contain_text("42 owls")
        assert count == 2


async def test_it_is_left_by_keyboard_and_read_as_text_where_one_asks_for_it(apps: Any):
    async with app_with_workspaces(apps) as app:
        page = await opened(app)
        for keys in ("Control+Shift+Escape", "Control+Backquote"):
            await panel(page).locator(".xterm-helper-textarea").focus()
            await page.keyboard.press(keys)
            await until(page, "document.activeElement.getAttribute('role') === 'tabpanel'")
        toggle = panel(page).get_by_role("button", name="Also as text for screen readers")
        await toggle.click()
        await expect(toggle).to_have_attribute("aria-pressed", "true")
        await panel(page).locator(".xterm-helper-textarea").focus()
        await page.keyboard.type("echo heard'!'\n")
        await expect(panel(page).locator(".xterm-accessibility")).to_contain_text("heard!")
        await page.reload()
        await ready(page)
        await expect(panel(page).locator(".xterm-accessibility")).to_be_attached()
