"""What lies beside a chat: its changes, which can be spoken about, its files, and what the model knows."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from browser.app import App, composer, rows, until
from browser.worked import IDENTITY, REPOSITORY, app_with_workspaces, running, working_chat
from chatd.testing.vendors.script import Say, Turn
from server.chat_api import CHATS

pytestmark = pytest.mark.asyncio(loop_scope="session")


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Panel")


async def show(page: Page, tab: str) -> Locator:
    opener = page.get_by_role("button", name="Show the panel")
    if await opener.count():
        await opener.click()
    await panel(page).get_by_role("tab", name=tab).click()
    return panel(page)


@pytest.mark.behaviour("WEB-11")
async def test_a_comment_on_lines_of_a_diff_is_a_chip_and_is_sent_as_a_reference(apps: Any):
    async with app_with_workspaces(apps) as app:
        chat = await working_chat(app, REPOSITORY)
        page = await app.open(chat)
        changes = await show(page, "Changes")
        await changes.get_by_role("button", name="Comment on line 2", exact=True).click()
        box = changes.get_by_role("textbox", name="Comment on line 2")
        await box.fill("Why this one?")
        await box.press("Enter")
        chip = page.get_by_role("main").get_by_text("numbers.txt line 2")
        await expect(chip).to_be_visible()
        remark = page.get_by_role("textbox", name="Comment on numbers.txt line 2", exact=True)
        await expect(remark).to_have_value("Why this one?")
        await remark.fill("Why this?")
        await changes.get_by_role("button", name="Comment on line 1", exact=True).click()
        await changes.get_by_role("textbox", name="Comment on line 1").fill("And this?")
        await page.keyboard.press("Enter")
        await page.reload()
        await expect(remark).to_have_value("Why this?")
        app.plays(Turn(Say("Because.")))
        await composer(page).fill("In short.")
        await composer(page).press("Enter")
        await expect(rows(page, "text").last).to_have_text("Because.")
        await expect(rows(page, "user").last).to_contain_text("numbers.txt")
        (sent,) = [one for one in (await app.stored(chat)) if one["role"] == "user"][1:]
        reference = next(part for part in sent["content"] if part["type"] == "file-reference")
        assert reference["file_name"].endswith("project/numbers.txt")
        assert (reference["start_line"], reference["end_line"]) == (2, 2)
        assert reference["content"] == "two, changed"
        said = [part.get("text") or part["start_line"] for part in sent["content"]]
        assert said == [2, "Why this?", 1, "And this?", "In short."], "each comment is beside its lines"
        await expect(rows(page, "user").last).to_have_text(re.compile("line 2.*Why this.*line 1.*And this.*In short"))


@pytest.mark.long
@pytest.mark.behaviour("WEB-11")
async def test_a_range_of_lines_is_chosen_by_keyboard_also_of_what_was_removed(apps: Any):
    async with app_with_workspaces(apps) as app:
        chat = await working_chat(app, REPOSITORY)
        page = await app.open(chat)
        changes = await show(page, "Changes")
        await changes.get_by_role("button", name="Comment on old line 2", exact=True).click()
        await changes.get_by_role("textbox", name="Comment on old line 2").fill("Put it back.")
        await page.keyboard.press("Enter")
        remark = page.get_by_role("main").get_by_role("textbox", name=re.compile("^Comment on numbers.txt"))
        await expect(remark).to_have_value("(About removed lines) Put it back.")
        third = changes.get_by_role("button", name="Comment on line 3", exact=True)
        await third.focus()
        await page.keyboard.press("Shift+ArrowDown")
        await page.keyboard.press("Enter")
        box = changes.get_by_role("textbox", name="Comment on lines 3 to 4")
        await box.fill("And these.")
        await box.press("Enter")
        await expect(page.get_by_role("main").get_by_text("numbers.txt lines 3")).to_be_visible()


@pytest.mark.long
async def test_changes_are_live_and_their_layout_is_kept(apps: Any):
    async with app_with_workspaces(apps) as app:
        chat = await working_chat(app, REPOSITORY)
        page = await app.open(chat)
        changes = await show(page, "Changes")
        await expect(changes).to_contain_text("two, changed")
        app.plays(running("cd project && echo five >> numbers.txt"), Turn(Say("Done.")))
        await app.chats.send(chat, "more")
        await expect(changes).to_contain_text("five")
        await changes.get_by_role("button", name="Side by side").click()
        await page.reload()
        await expect(panel(page).get_by_role("button", name="One column")).to_be_visible()
        await expect(panel(page)).to_contain_text("five")


@pytest.mark.long
async def test_the_changes_of_two_repositories_are_chosen_between_and_one_that_goes_is_left_out(apps: Any):
    async with app_with_workspaces(apps) as app:
        other = f"""
            git init -q -b main other && cd other && echo red > colours.txt
            git add . && git {IDENTITY} commit -qm first && echo green > colours.txt
        """
        chat = await working_chat(app, REPOSITORY, other)
        page = await app.open(chat)
        changes = await show(page, "Changes")
        source = changes.get_by_role("combobox", name="What is shown")
        await source.click()
        await expect(page.get_by_role("option")).to_have_count(3)  # the third is the whole branch
        await page.get_by_role("option", name="project · feature").click()
        await expect(changes).to_contain_text("two, changed")
        await expect(changes).not_to_contain_text("green")
        await source.click()
        await page.get_by_role("option", name="other · main").click()
        await expect(changes).to_contain_text("green")
        await expect(changes).not_to_contain_text("two, changed")
        app.plays(running("echo blue >> other/colours.txt"), Turn(Say("Done.")))
        await app.chats.send(chat, "more")
        await expect(changes).to_contain_text("blue")
        app.plays(running("rm -rf other"), Turn(Say("Done.")))
        await app.chats.send(chat, "less")
        await expect(changes).to_contain_text("two, changed")
        await source.click()
        await expect(page.get_by_role("option")).to_have_count(2)


@pytest.mark.long
async def test_a_chat_without_a_workspace_says_what_each_tab_would_show(app: App):
    chat = await app.chats.resting(await app.chats.create("hello"))
    page = await app.open(chat)
    for tab in ("Changes", "Files", "Terminal"):
        await expect(await show(page, tab)).to_contain_text("No workspace yet")
    await expect(await show(page, "Context")).to_contain_text("How full it is")


@pytest.mark.long
async def test_a_workspace_without_a_repository_says_so(apps: Any):
    async with app_with_workspaces(apps) as app:
        page = await app.open(await working_chat(app, "echo no repository here > note.txt"))
        await expect(await show(page, "Changes")).to_contain_text("No git repository")


@pytest.mark.long
async def test_files_are_read_mentioned_and_downloaded(apps: Any):
    async with app_with_workspaces(apps) as app:
        chat = await working_chat(
            app, "mkdir -p notes && printf 'first\\nsecond\\n' > notes/owls.md && : > notes/empty"
        )
        page = await app.open(chat)
        files = await show(page, "Files")
        await files.get_by_role("treeitem", name="notes").click()
        await files.get_by_role("treeitem", name="owls.md").click()
        await expect(files).to_contain_text("second")
        async with page.expect_download() as download:
            await files.get_by_role("link", name="Download").click()
        assert (await download.value).suggested_filename == "owls.md"
        await files.get_by_role("button", name="Mention in message").click()
        await until(page, "document.querySelector('textarea').value.includes('notes/owls.md')")


@pytest.mark.long
async def test_a_folder_that_can_not_be_read_says_so_and_is_read_again(apps: Any):
    async with app_with_workspaces(apps) as app:
        chat = await working_chat(app, "echo one > one.txt")

        async def broken(route: Route) -> None:
            await route.fulfill(status=404, json={"message": "It is not there."})

        await app.page.route("**/workspaces/*/files?*", broken)
        page = await app.open(chat)
        files = await show(page, "Files")
        await expect(files).to_contain_text("The folder could not be read")
        await page.unroute("**/workspaces/*/files?*")
        await files.get_by_role("button", name="Try again").click()
        await expect(files.get_by_role("treeitem", name="one.txt")).to_be_visible()
        app.forgive("404")


@pytest.mark.long
async def test_the_panel_is_resized_closed_and_filled_by_dragging_and_keeps_it(app: App):
    chat = await app.chats.resting(await app.chats.create("hello"))
    page = await app.open(chat)
    await show(page, "Context")
    line = page.get_by_role("separator", name="Resize the panel")

    async def drag(to: float) -> None:
        box = await line.bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 4, 300)
        await page.mouse.down()
        await page.mouse.move(to, 300, steps=5)
        await page.mouse.up()

    width = page.viewport_size["width"] if page.viewport_size else 1280
    await drag(width - 600)
    await expect(line).to_have_attribute("aria-valuenow", "600")
    await page.reload()
    await expect(line).to_have_attribute("aria-valuenow", "600")
    await expect(panel(page).get_by_role("tab", name="Context")).to_have_attribute("aria-selected", "true")
    await drag(20)
    await expect(line).to_have_count(0)
    await expect(panel(page).get_by_role("button", name="Panel over the chat")).to_have_attribute(
        "aria-pressed", "true"
    )
    await expect(page.locator("main[inert]")).to_have_count(1)
    await page.reload()
    await panel(page).get_by_role("button", name="Panel over the chat").click()
    await expect(composer(page)).to_be_visible()
    await drag(width - 20)
    await expect(panel(page)).to_have_count(0)
    await page.reload()
    await expect(composer(page)).to_be_visible()
    await expect(panel(page)).to_have_count(0)
    await page.get_by_role("button", name="Show the panel").click()
    await page.set_viewport_size({"width": 800, "height": 700})
    await expect(panel(page)).to_have_count(0)
    await expect(composer(page)).to_be_visible()
    await page.set_viewport_size({"width": 1280, "height": 700})
    await expect(panel(page)).to_be_visible()


@pytest.mark.long
async def test_the_cost_of_a_chat_is_that_of_its_family_and_says_what_is_not_known(app: App):
    held = asyncio.Event()
    chat = await app.chats.resting(await app.chats.create("hello"))

    async def slow(route: Route) -> None:
        await held.wait()
        await route.fulfill(
            json={
                "chat_id": chat["id"],
                "total_cost_micros": 1_500_000,
                "request_count": 3,
                "unpriced_request_count": 1,
            }
        )

    await app.page.route(f"**{CHATS}/{chat['id']}/cost", slow)
    page = await app.open(chat)
    context = await show(page, "Context")
    await expect(context).to_contain_text("How full it is")
    await expect(context).not_to_contain_text("Cost of this chat")
    held.set()
    await expect(context).to_contain_text("Cost of this chat")
    await expect(context).to_contain_text("$1.50")
    await expect(context).to_contain_text("1 without a price")
