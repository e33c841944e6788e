"""What tools do, as one sees it: while they run, when they are done, and when they fail. With a real workspace."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from browser.app import App, rows, say
from chatd.testing.vendors.script import Call, Say, Turn
from server.workspace_api import TEMPLATES, WorkspaceApi

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def working(apps: Any) -> AsyncIterator[App]:
    """The app with workspaces that are folders of this machine."""
    async with apps(local_workspaces="unconfined") as app:
        yield app


async def workspace(app: App) -> dict[str, Any]:
    (template,) = (await app.chats.running.owner.get(TEMPLATES)).body
    owner = app.chats.running.owner
    return await WorkspaceApi(app.chats, app.chats.running, app.chats.mia, owner, template["id"]).run(name="mine")


def call(tool: str, /, **arguments: Any) -> Call:
    return Call(tool, json.dumps(arguments))


async def after(app: App, *turns: Turn, workspace_id: str | None = None) -> dict[str, Any]:
    """A chat in which these were played, open on the page."""
    app.plays(*turns, Turn(Say("Done.")))
    chat = await app.chats.create("do it", workspace_id=workspace_id)
    await app.open(chat)
    return chat


def steps(page: Page) -> Locator:
    return rows(page, "steps")


async def opened(page: Page, name: str) -> Locator:
    """The steps, with the card of this name open."""
    await steps(page).get_by_role("button", name=re.compile(name)).first.click()
    return steps(page)


@pytest.mark.behaviour("WEB-10")
async def test_a_command_shows_what_it_says_and_how_it_ended(working: App, tmp_path: Path):
    place = await workspace(working)
    go = tmp_path / "go"
    script = f"printf '\\033[31mred\\033[0m plain\\n'; until [ -e {go} ]; do sleep 0.05; done; echo o''ver; exit 3"
    await after(working, Turn(call("execute", command=script)), workspace_id=place["id"])
    await expect(steps(working.page)).to_contain_text("Running")
    await expect(steps(working.page)).to_contain_text("red plain")
    await expect(steps(working.page)).not_to_contain_text("over")
    await asyncio.to_thread(go.touch)
    await expect(rows(working.page, "end")).to_be_visible()
    await expect(steps(working.page)).to_contain_text("exit 3")
    card = await opened(working.page, "Ran|Could not run")
    await expect(card).to_contain_text("red plain")
    await expect(card).to_contain_text("over")
    await expect(card).not_to_contain_text("\x1b")


@pytest.mark.long
async def test_a_million_characters_of_output_do_not_hold_up_the_page(working: App):
    place = await workspace(working)
    await after(
        working,
        Turn(call("execute", command="yes 0123456789 | head -c 1000000")),
        workspace_id=place["id"],
    )
    await expect(rows(working.page, "end")).to_be_visible()
    card = await opened(working.page, "Ran")
    await expect(card).to_contain_text("left out")
    await say(working.page, "still here")
    await expect(rows(working.page, "user")).to_have_count(2)


@pytest.mark.long
async def test_a_command_in_the_background_is_seen_and_killed(working: App):
    page = working.page
    place = await workspace(working)
    chat = await after(
        working,
        Turn(call("execute", command="sleep 600", run_in_background=True)),
        Turn(call("process_list")),
        workspace_id=place["id"],
    )
    await expect(rows(page, "end")).to_be_visible()
    await expect(steps(page)).to_contain_text("Started")
    await expect(steps(page)).to_contain_text("1 command")
    parts = [part for message in await working.stored(chat) for part in message["content"]]
    started = next(part["result"] for part in parts if part["type"] == "tool-result")
    process_id = started["background_process_id"]
    working.plays(
        Turn(call("process_signal", process_id=process_id, signal="kill")),
        Turn(call("process_output", process_id=process_id)),
        Turn(Say("Gone.")),
    )
    await say(page, "kill it")
    await expect(rows(page, "text")).to_have_text(["Done.", "Gone."])
    await expect(steps(page).last).to_contain_text("Killed")
    await expect(steps(page).last).to_contain_text("ended by SIGKILL")


@pytest.mark.long
@pytest.mark.behaviour("WEB-10")
async def test_stopping_in_a_tool_leaves_nothing_that_turns(working: App):
    place = await workspace(working)
    await after(working, Turn(call("execute", command="echo begun; sleep 600")), workspace_id=place["id"])
    await expect(steps(working.page)).to_contain_text("Running")
    stop = working.page.get_by_role("button", name="Stop", exact=True)
    await stop.click()
    await expect(stop).to_have_count(0)
    # The command goes on; nobody waits for it any more, and nothing counts its seconds.
    ended = re.compile("sleep 600Stopped waiting$")
    await expect(steps(working.page)).to_have_text(ended)
    await working.page.reload()
    await expect(steps(working.page)).to_have_text(ended)


@pytest.mark.behaviour("WEB-10")
async def test_files_are_written_edited_and_read_and_a_failed_edit_shows_no_changes(working: App, tmp_path: Path):
    place = await workspace(working)
    path = str(tmp_path / "greeting.py")
    replaced = {"path": path, "edits": [{"search": "hello", "replace": "good morning"}]}
    missing = {"path": path, "edits": [{"search": "not in it", "replace": "x"}]}
    await after(
        working,
        Turn(call("write_file", path=path, content="print('hello')\n")),
        Turn(call("edit_files", files=[replaced])),
        Turn(call("edit_files", files=[missing])),
        Turn(call("read_file", path=path)),
        workspace_id=place["id"],
    )
    await expect(rows(working.page, "end")).to_be_visible()
    assert await asyncio.to_thread(Path(path).read_text) == "print('good morning')\n"
    for said in ("Wrote", "Edited", "Could not edit", "Read"):
        await expect(steps(working.page)).to_contain_text(said)
    changes = steps(working.page).get_by_role("group", name=re.compile("^Changes to"))
    await opened(working.page, "^Edited")
    await expect(changes).to_have_count(1)
    await expect(changes).to_contain_text("print('good morning')")
    await opened(working.page, "^Edited")
    await expect(changes).to_have_count(0)
    await steps(working.page).get_by_role("button", name=re.compile("Could not edit")).click()
    await expect(steps(working.page)).to_contain_text("The text was not found in the file.")
    await expect(changes).to_have_count(0)


@pytest.mark.long
async def test_a_workspace_is_made_with_its_log(working: App):
    (template,) = (await working.chats.running.owner.get(TEMPLATES)).body
    await after(working, Turn(call("create_workspace", template_id=template["id"], name="made-here")))
    await expect(rows(working.page, "end")).to_be_visible(timeout=60_000)
    await expect(steps(working.page)).to_contain_text("Created the workspace")
    await expect(working.page.get_by_role("button", name="Workspace made-here")).to_be_visible()


@pytest.mark.long
async def test_a_tool_that_nobody_knows_is_shown_with_all_it_was_given(app: App):
    await after(app, Turn(call("consult_the_oracle", question="Why?", options={"depth": 3})))
    await expect(rows(app.page, "end")).to_be_visible()
    card = await opened(app.page, "oracle")
    await expect(card).to_contain_text("Why?")
    await expect(card).to_contain_text("depth")


@pytest.mark.long
async def test_a_chat_is_given_a_workspace_and_taken_out_of_it(working: App):
    page = working.page
    place = await workspace(working)
    chat = await after(working)
    await expect(rows(page, "end")).to_be_visible()
    await page.get_by_role("button", name="No workspace yet").click()
    await page.get_by_role("menuitemradio", name="mine").click()
    pill = page.get_by_role("button", name=re.compile("Workspace mine"))
    await expect(pill).to_contain_text("Running")
    seen = (await working.chats.mia.get(f"/api/experimental/chats/{chat['id']}")).body
    assert seen["workspace_id"] == place["id"]
    await pill.click()
    await page.get_by_role("menuitem", name="Work without it").click()
    await expect(page.get_by_role("button", name="No workspace yet")).to_be_visible()
