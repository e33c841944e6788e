"""The list of chats: narrowed, put in order, changed by many at once, and the same in every tab."""

import asyncio
import re
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from playwright.async_api import Locator, Page, Route, WebSocketRoute, expect

from browser.app import App, composer, rows, say, until
from browser.worked import REPOSITORY, app_with_workspaces, working_chat
from chatd.store.owner_hints import OwnerEvent, OwnerEventKind, owner_topic
from chatd.testing.vendors.script import Call, Hold, Refuse, Say, Turn
from server.chat_api import CHATS
from server.test_watch import begin_child

pytestmark = pytest.mark.asyncio(loop_scope="session")


def items(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Chats").get_by_role("listitem")


def item(page: Page, title: str) -> Locator:
    return items(page).filter(has_text=title)


def titles(page: Page) -> Locator:
    return items(page).get_by_role("link").locator("span:first-child:not(span span)")


async def choose(page: Page, title: str, action: str) -> None:
    """From the menu of a chat."""
    await item(page, title).hover()
    await item(page, title).get_by_role("button", name="Actions for").click()
    await page.get_by_role("menuitem", name=action).click()


async def narrow(page: Page, *names: str) -> None:
    await page.get_by_role("button", name="Filter").click()
    for name in names:
        await page.get_by_role("menuitemcheckbox", name=name).click()
    await page.keyboard.press("Escape")


async def titled(app: App, *names: str) -> list[dict[str, Any]]:
    """Chats that rest, with these titles, the last one first in the list."""
    made: list[dict[str, Any]] = []
    for name in names:
        chat = await app.chats.resting(await app.chats.create(f"Let us talk about {name}"))
        await rename(app, chat, name)
        made.append(chat)
    return made


async def rename(app: App, chat: dict[str, Any], title: str) -> None:
    renamed = await app.chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"title": title})
    assert renamed.status == 204, renamed


async def read(app: App, *chats: dict[str, Any]) -> None:
    for chat in chats:
        assert (await app.chats.mia.call("PUT", f"{CHATS}/{chat['id']}/read", {})).status == 204


async def test_archiving_shows_in_all_tabs_and_can_be_taken_back(app: App):
    await titled(app, "keep", "let go")
    first, second = app.page, await app.tab(app.context)
    for page in (first, second):
        await page.goto("/")
        await expect(items(page)).to_have_count(2)
    await choose(first, "let go", "Archive")
    for page in (first, second):
        await expect(items(page)).to_have_count(1)
        await expect(item(page, "keep")).to_be_visible()
    await first.get_by_role("button", name="Undo").click()
    for page in (first, second):
        await expect(item(page, "let go")).to_be_visible()
        await expect(items(page)).to_have_count(2)
    # It comes back to where it was, pinned or not.
    await choose(first, "let go", "Pin")
    order = await titles(first).all_text_contents()
    for title in order:
        await choose(first, title, "Archive")
        await expect(items(first)).to_have_count(1)
        await first.get_by_role("button", name="Undo").first.click()
        for page in (first, second):
            await expect(titles(page)).to_have_text(order)
    await expect(first.get_by_role("region", name="Pinned").get_by_role("listitem")).to_have_text(re.compile("let go"))


async def test_filters_are_combined_kept_in_the_address_and_cleared(app: App):
    page = app.page
    seen, unseen = await titled(app, "seen and well", "unseen and well")
    await read(app, seen)
    app.plays(Refuse(401, "no"))
    failed = await app.chats.resting(await app.chats.create("fails"))
    await rename(app, failed, "seen and failed")
    await read(app, failed)
    await page.goto("/")
    await expect(items(page)).to_have_count(3)
    await narrow(page, "Unread")
    await expect(titles(page)).to_have_text(["unseen and well"])
    await expect(page).to_have_url(f"{app.url}/?list=unread")
    await narrow(page, "Failed")
    await expect(page.get_by_text("Nothing matches")).to_be_visible()
    await expect(page).to_have_url(f"{app.url}/?list=unread,error")
    await narrow(page, "Unread")
    await expect(titles(page)).to_have_text(["seen and failed"])
    await page.reload()
    await expect(titles(page)).to_have_text(["seen and failed"])
    await items(page).get_by_role("link").click()
    await expect(page).to_have_url(f"{app.url}/chats/{failed['id']}?list=error")
    await page.get_by_role("button", name="Show all").click()
    await expect(items(page)).to_have_count(3)
    await expect(page).to_have_url(f"{app.url}/chats/{failed['id']}")
    await page.goto(f"/chats/{unseen['id']}?list=archived,nonsense")
    await expect(page.get_by_text("Nothing is archived")).to_be_visible()


@pytest.mark.long
async def test_a_filtered_list_is_live(app: App):
    held = asyncio.Event()
    await titled(app, "rests")
    await app.page.goto("/?list=running")
    await expect(app.page.get_by_text("Nothing matches")).to_be_visible()
    app.plays(Turn(Say("Hi."), faults=(Hold(held),)))
    chat = await app.chats.create("works")
    await expect(items(app.page)).to_have_count(1)
    held.set()
    await app.chats.resting(chat)
    await expect(items(app.page)).to_have_count(0)


@pytest.mark.long
@pytest.mark.behaviour("WEB-7")
async def test_a_new_chat_is_first_in_all_tabs_and_its_title_changes_everywhere(app: App):
    await titled(app, "older")
    first, second = app.page, await app.tab(app.context)
    for page in (first, second):
        await page.goto("/")
        await expect(items(page)).to_have_count(1)
    await say(first, "something new")
    await expect(rows(first, "text")).to_have_text(["Hi."])
    for page in (first, second):
        await expect(titles(page)).to_have_text(["A made title", "older"])
    (chat,) = [one for one in (await app.chats.mia.get(CHATS)).body if one["title"] != "older"]
    await rename(app, chat, "By another client")
    for page in (first, second):
        await expect(titles(page)).to_have_text(["By another client", "older"])
    await expect(first.get_by_role("heading", level=1)).to_have_text("By another client")
    await expect(first).to_have_title("By another client · chatd")


@pytest.mark.long
async def test_each_status_has_a_name(app: App):
    page = app.page
    await titled(app, "at rest")
    app.plays(Refuse(401, "no"))
    await app.chats.resting(await app.chats.create("fails"))
    held = asyncio.Event()
    app.plays(Turn(Say("Hi."), faults=(Hold(held),)))
    await app.chats.create("works")
    await page.goto("/")
    await expect(item(page, "at rest").get_by_text("Idle", exact=True)).to_be_attached()
    await expect(items(page).get_by_text("Failed", exact=True)).to_have_count(1)
    await expect(items(page).get_by_text("Working", exact=True)).to_have_count(1)
    tool = {"name": "ask_them", "description": "Ask.", "input_schema": {"type": "object", "properties": {}}}
    app.plays(Turn(Call("ask_them", "{}")))
    await app.chats.create("asks", unsafe_dynamic_tools=[tool])
    await expect(items(page).get_by_text("Needs you", exact=True)).to_have_count(1)
    held.set()


@pytest.mark.long
@pytest.mark.behaviour("WEB-7")
async def test_a_turn_that_ends_elsewhere_is_unread_and_one_that_is_looked_at_is_not(app: App):
    page = app.page
    looked_at, other = await titled(app, "looked at", "other")
    await read(app, looked_at, other)
    await app.open(looked_at)
    mark = items(page).get_by_role("img", name="Unread")
    await expect(items(page)).to_have_count(2)
    await expect(mark).to_have_count(0)
    await app.chats.send(looked_at, "go on")
    await app.chats.send(other, "go on")
    for chat in (looked_at, other):
        await app.chats.resting(chat)
    await expect(rows(page, "text")).to_have_count(2)
    await expect(mark).to_have_count(1)
    await expect(item(page, "other").get_by_role("img", name="Unread")).to_be_visible()
    elsewhere = await app.tab(app.context)
    await elsewhere.goto("/")
    await expect(items(elsewhere).get_by_role("img", name="Unread")).to_have_count(1)
    await item(page, "other").get_by_role("link").click()
    await expect(mark).to_have_count(0)
    await expect(items(elsewhere).get_by_role("img", name="Unread")).to_have_count(0)
    await page.reload()
    await expect(items(page)).to_have_count(2)
    await expect(mark).to_have_count(0)


@pytest.mark.long
async def test_pins_are_put_in_order_by_keyboard_and_by_dragging(app: App):
    page, second = app.page, await app.tab(app.context)
    await titled(app, "three", "two", "one")
    for tab in (page, second):
        await tab.goto("/")
        await expect(items(tab)).to_have_count(3)
    for name in ("one", "two", "three"):
        await choose(page, name, "Pin")
    group = page.get_by_role("region", name="Pinned").get_by_role("listitem")
    await expect(group).to_have_count(3)
    await expect(titles(page)).to_have_text(["one", "two", "three"])
    await item(page, "one").get_by_role("link").focus()
    await page.keyboard.press("Alt+ArrowDown")
    await expect(titles(page)).to_have_text(["two", "one", "three"])
    await expect(page.get_by_text("one: 2 of 3")).to_be_attached()
    await expect(item(page, "one").get_by_role("link")).to_be_focused()
    await item(page, "three").drag_to(item(page, "two"), target_position={"x": 40, "y": 4})
    for tab in (page, second):
        await expect(titles(tab)).to_have_text(["three", "two", "one"])
    await page.reload()
    await expect(titles(page)).to_have_text(["three", "two", "one"])
    await choose(page, "two", "Unpin")
    for tab in (page, second):
        await expect(tab.get_by_role("region", name="Pinned").get_by_role("listitem")).to_have_count(2)


@pytest.mark.long
async def test_a_family_at_work_is_not_archived_and_an_archived_chat_is_only_read(app: App):
    page, second = app.page, await app.tab(app.context)
    (chat,) = await titled(app, "parent")
    held = asyncio.Event()
    app.plays(Turn(Say("Looking."), faults=(Hold(held),)))
    await page.goto("/")
    await begin_child(app.chats, chat)
    await item(page, "parent").hover()
    await item(page, "parent").get_by_role("button", name="Actions for").click()
    entry = page.get_by_role("menuitem", name="Archive")
    await expect(entry).to_be_disabled()
    await expect(entry).to_contain_text("Stop it first")
    await page.keyboard.press("Escape")
    held.set()
    app.plays(Turn(Say("Hi.")))
    await app.open(chat, second)
    await expect(item(page, "parent").get_by_role("button", name="Show sub-agents")).to_be_visible()
    await item(page, "parent").get_by_role("button", name="Show sub-agents").click()
    await expect(item(page, "a part of it")).to_contain_text("Idle")
    await choose(page, "parent", "Archive")
    await expect(items(page)).to_have_count(0)
    await expect(second.get_by_text("This chat is archived")).to_be_visible()
    await expect(composer(second)).to_have_count(0)
    await narrow(page, "Archived")
    await choose(page, "parent", "Take out of the archive")
    await expect(items(page)).to_have_count(0)
    await page.get_by_role("button", name="Show all").click()
    await expect(item(page, "parent")).to_be_visible()
    await expect(composer(second)).to_be_visible()
    await expect(rows(second, "text")).to_have_text(["Hi."])


@pytest.mark.long
async def test_sub_agents_are_below_their_chat_and_shown_when_one_of_them_is_open(app: App):
    page = app.page
    (chat,) = await titled(app, "parent")
    child = await begin_child(app.chats, chat)
    await page.goto("/")
    await expect(items(page)).to_have_count(1)
    await item(page, "parent").get_by_role("button", name="Show sub-agents").click()
    await expect(items(page)).to_have_count(2)
    await item(page, "parent").get_by_role("button", name="Hide sub-agents").click()
    await expect(items(page)).to_have_count(1)
    await page.goto(f"/chats/{child}")
    await expect(items(page)).to_have_count(2)
    await expect(item(page, "a part of it").get_by_role("link")).to_have_attribute("aria-current", "page")
    await item(page, "parent").get_by_role("button", name="Hide sub-agents").click()
    await expect(items(page)).to_have_count(1)


@pytest.mark.long
async def test_pages_come_as_one_scrolls_without_doubles_while_new_chats_come(app: App):
    page = app.page
    made = [await app.chats.create(f"number {place}") for place in range(120)]
    for chat in made:
        await app.chats.resting(chat)
    await page.goto("/")
    await expect(items(page)).to_have_count(50)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "after_id" in one.url else None)
    new = [await app.chats.create(f"new {place}") for place in range(3)]
    for chat in new:
        await app.chats.resting(chat)
    await app.chats.send(made[-1], "moves to the front")
    await app.chats.resting(made[-1])
    await expect(items(page)).to_have_count(53)
    for count in (103, 123):
        await items(page).last.scroll_into_view_if_needed()
        await expect(items(page)).to_have_count(count)
    ids = await page.evaluate("[...document.querySelectorAll('[data-chat]')].map((one) => one.dataset.chat)")
    assert len(set(ids)) == 123
    assert set(ids) == {chat["id"] for chat in (*made, *new)}
    assert len(asked) == 2


_NOTE_LENGTHS = """
globalThis.lengths = new Set()
new MutationObserver(() => lengths.add(document.querySelectorAll("[data-chat]").length))
  .observe(document.body, { subtree: true, childList: true })
"""


@pytest.mark.long
async def test_a_list_that_was_scrolled_down_stays_as_it_is_when_its_connection_is_lost(app: App):
    page = app.page
    made = [await app.chats.create(f"number {place}") for place in range(120)]
    for chat in made:
        await app.chats.resting(chat)
    feeds: list[WebSocketRoute] = []

    def connected(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        feeds.append(socket)

    await page.route_web_socket("**/watch", connected)
    await page.goto("/")
    for count in (50, 100, 120):
        await expect(items(page)).to_have_count(count)
        await items(page).last.scroll_into_view_if_needed()
    await items(page).nth(90).scroll_into_view_if_needed()
    place = await items(page).nth(90).bounding_box()
    await page.evaluate(_NOTE_LENGTHS)
    await feeds[0].close(code=1012)
    async with page.expect_response(lambda answer: "limit=120" in answer.url):
        pass
    await app.chats.mia.call("PATCH", f"{CHATS}/{made[60]['id']}", {"title": "told since"})
    await expect(item(page, "told since")).to_have_count(1)
    assert await items(page).nth(90).bounding_box() == place
    assert set(await page.evaluate("[...lengths]")) <= {120}
    assert len(feeds) == 2


@pytest.mark.long
async def test_several_chats_are_chosen_by_keyboard_and_changed_at_once(app: App):
    page = app.page
    await titled(app, "four", "three", "two", "one")
    await page.goto("/")
    await expect(items(page)).to_have_count(4)
    await item(page, "one").get_by_role("link").focus()
    await page.keyboard.press("Space")
    bar = page.get_by_role("toolbar", name="Selected chats")
    await expect(bar).to_contain_text("1 selected")
    await page.keyboard.press("Shift+ArrowDown")
    await page.keyboard.press("Shift+ArrowDown")
    await expect(bar).to_contain_text("3 selected")
    await bar.get_by_role("button", name="Mark as read").click()
    await expect(items(page).get_by_role("img", name="Unread")).to_have_count(1)
    await expect(bar).to_have_count(0)
    await item(page, "one").get_by_role("link").focus()
    await page.keyboard.press("Space")
    await page.keyboard.press("Shift+ArrowDown")
    await bar.get_by_role("button", name="Pin").click()
    await expect(page.get_by_role("region", name="Pinned").get_by_role("listitem")).to_have_count(2)
    await expect(bar).to_have_count(0)
    await item(page, "three").get_by_role("link").focus()
    await page.keyboard.press("Space")
    await page.keyboard.press("Shift+ArrowDown")
    await bar.get_by_role("button", name="Archive").click()
    await expect(titles(page)).to_have_text(["one", "two"])
    await page.get_by_role("button", name="Undo").first.click()  # the newest
    await expect(items(page)).to_have_count(4)
    await item(page, "one").get_by_role("link").focus()
    await page.keyboard.press("Space")
    await expect(bar).to_be_visible()
    # A press on another row chooses it too, and its tick stands beside its title.
    await item(page, "two").get_by_role("link").click()
    await expect(bar).to_contain_text("2 selected")
    await expect(page).to_have_url(f"{app.url}/")
    tick, title = item(page, "two").get_by_role("checkbox"), item(page, "two").get_by_text("two", exact=True)
    bottom = "(of) => of.getBoundingClientRect().bottom"
    assert await tick.evaluate("(of) => of.getBoundingClientRect().top") < await title.evaluate(bottom)
    await page.keyboard.press("Escape")
    await expect(bar).to_have_count(0)


@pytest.mark.long
async def test_a_title_is_proposed_and_a_late_one_is_not_written_into_another_chats_field(app: App):
    page = app.page
    await titled(app, "second", "first")
    await page.goto("/")
    held = asyncio.Event()

    async def slow(route: Route) -> None:
        await held.wait()
        await route.continue_()

    async def refused(route: Route) -> None:
        await route.fulfill(status=502, json={"message": "The model did not answer."})

    await item(page, "first").get_by_role("link").focus()
    await page.keyboard.press("F2")
    field = page.get_by_role("textbox", name="Title")
    await page.get_by_role("button", name="Propose a title").click()
    await expect(field).to_have_value("A made title")
    await page.get_by_role("button", name="Save").click()
    await expect(item(page, "A made title")).to_be_visible()

    await page.route("**/title/propose", refused)
    await choose(page, "second", "Rename")
    await page.get_by_role("button", name="Propose a title").click()
    await expect(page.get_by_role("dialog")).to_contain_text("The model did not answer.")
    await expect(field).to_have_value("second")
    await page.unroute("**/title/propose")

    await page.route("**/title/propose", slow)
    await page.get_by_role("button", name="Propose a title").click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await choose(page, "A made title", "Rename")
    async with page.expect_response("**/title/propose"):
        held.set()
    await field.press("End")
    await expect(field).to_have_value("A made title")
    await page.keyboard.press("Escape")
    await expect(item(page, "second")).to_be_visible()
    app.forgive("502")


@pytest.mark.long
async def test_search_finds_recent_chats_by_keyboard_and_says_when_it_fails(app: App):
    page = app.page
    first, _ = await titled(app, "about owls", "about foxes")
    await page.goto("/")
    await expect(items(page)).to_have_count(2)
    await page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search all chats")
    await box.fill("owls")
    options = page.get_by_role("option")
    await expect(options.filter(has_text="about owls")).to_be_visible()
    await rename(app, first, "about barn owls")
    await box.fill("barn")
    await expect(options.filter(has_text="about barn owls")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(f"{app.url}/chats/{first['id']}")
    await expect(rows(page, "text")).to_have_text(["Hi."])

    async def broken(route: Route) -> None:
        await route.fulfill(status=500, json={"message": "It broke."})

    await page.route(re.compile(r"/chats\?.*q="), broken)
    await page.keyboard.press("Control+k")
    await box.fill("anything")
    await expect(page.get_by_role("alert")).to_contain_text("It broke.")
    app.forgive("500")


@pytest.mark.long
@pytest.mark.behaviour("WEB-7")
async def test_the_badge_of_a_diff_and_its_pull_request_changes_live(apps: Any, database: Any):
    async with app_with_workspaces(apps) as app:
        page = app.page
        await page.goto("/")
        chat = await working_chat(app, REPOSITORY)
        row = items(page).first
        await expect(row).to_contain_text("+2 \N{MINUS SIGN}1")
        connection = await asyncpg.connect(database.dsn)
        try:
            for state, name in (("open", "Pull request open"), ("merged", "Pull request merged")):
                await connection.execute("UPDATE chat_diff_statuses SET pull_request_state = $1", state)
                told = OwnerEvent(OwnerEventKind.DIFF, UUID(chat["id"]), None).encode()
                app.chats.running.replica.hints.publish(owner_topic(UUID(chat["owner_id"])), told)
                await expect(row.get_by_role("img", name=name)).to_be_visible()
        finally:
            await connection.close()
        await narrow(page, "With a pull request")
        await expect(items(page)).to_have_count(1)


@pytest.mark.long
async def test_the_list_keeps_its_width_and_whether_it_is_shown(app: App):
    page = app.page
    await page.goto("/")
    nav = page.get_by_role("navigation", name="Chats")
    line = page.get_by_role("separator", name="Resize the list of chats")
    box = await line.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 4, 300)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 104, 300, steps=4)
    await page.mouse.up()
    await expect(line).to_have_attribute("aria-valuenow", "360")
    await line.focus()
    await page.keyboard.press("ArrowLeft")
    await expect(line).to_have_attribute("aria-valuenow", "344")
    await page.reload()
    await expect(line).to_have_attribute("aria-valuenow", "344")
    await until(page, "document.querySelector('nav[aria-label=Chats]').getBoundingClientRect().width > 330")
    await page.keyboard.press("Control+b")
    await expect(nav).to_have_count(0)
    await page.reload()
    await expect(composer(page)).to_be_visible()
    await expect(nav).to_have_count(0)
    await page.get_by_role("button", name="Show chats").click()
    await expect(line).to_have_attribute("aria-valuenow", "344")


@pytest.mark.long
async def test_a_list_that_can_not_be_read_says_so_and_is_read_again(app: App):
    page = app.page
    await titled(app, "here")

    async def broken(route: Route) -> None:
        await route.fulfill(status=500, json={"message": "It broke."})

    listing = re.compile(r"/api/experimental/chats\?limit=50")
    await page.route(listing, broken)
    await page.goto("/")
    await expect(page.get_by_text("The list could not be read")).to_be_visible()
    await page.unroute(listing)
    await page.get_by_role("navigation", name="Chats").get_by_role("button", name="Try again").click()
    await expect(item(page, "here")).to_be_visible()
    app.forgive("500")
