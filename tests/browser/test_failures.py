"""Where something is missing, refused or broken: the page says so in its place, and the rest goes on."""

import pytest
from playwright.async_api import Route, expect

from browser.app import App, composer, rows
from chatd.testing.vendors.script import Call, Say, Turn

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

_BROKEN_CARDS = """
export function ToolCard() { throw new Error("a broken card") }
export const ReadFilesCard = ToolCard
"""


async def test_a_card_that_crashes_fails_alone(app: App):
    app.plays(Turn(Call("no_such_tool", "{}")), Turn(Say("All the same.")))
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    page = await app.sign_in(app.chats.mia, service_workers="block")
    broken = {"content_type": "text/javascript", "body": _BROKEN_CARDS}
    await page.route("**/assets/all_cards-*.js", lambda route: route.fulfill(**broken))  # pyright: ignore
    await app.open(chat, page)
    steps = rows(page, "steps")
    await expect(steps.get_by_role("alert")).to_contain_text("This part of the page has failed")
    await expect(rows(page, "user")).to_contain_text("hello")
    await expect(rows(page, "text")).to_have_text(["All the same."])
    await expect(composer(page)).to_be_editable()
    app.forgive("a broken card")


async def test_a_chat_that_could_not_be_read_is_there_when_it_is_tried_again(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    messages = "**/api/experimental/chats/*/messages?*"
    await app.page.route(messages, lambda route: route.fulfill(status=500, json={"message": "A disk is full."}))
    await app.page.goto(f"/chats/{chat['id']}")
    alert = app.page.get_by_role("alert")
    await expect(alert).to_contain_text("The chat could not be read")
    await expect(alert).to_contain_text("A disk is full.")
    await app.page.unroute(messages)
    await alert.get_by_role("button", name="Try again").click()
    await expect(rows(app.page, "text")).to_have_text(["Hi."])
    app.forgive("500")


async def test_an_address_that_there_is_no_page_for_has_a_way_home(app: App):
    await app.page.goto("/nonsense")
    await expect(app.page.get_by_role("heading", name="There is no such page")).to_be_visible()
    await app.page.get_by_role("link", name="Go to your chats").click()
    await expect(composer(app.page)).to_be_visible()
    app.forgive("404")


async def test_an_export_that_is_refused_leaves_the_page_as_it_is(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await composer(app.page).fill("half a thought")

    async def export() -> None:
        await app.page.get_by_role("button", name="Actions", exact=True).click()
        await app.page.get_by_role("menuitem", name="Export").click()
        await app.page.get_by_role("menuitem", name="Markdown").click()

    async def refuse(route: Route) -> None:
        await route.fulfill(status=404, json={"message": "It is gone."})

    await app.page.route("**/export?*", refuse)
    await export()
    await expect(app.page.get_by_role("alert")).to_contain_text("It is gone.")
    await expect(composer(app.page)).to_have_value("half a thought")
    await app.page.unroute("**/export?*")
    async with app.page.expect_download() as saved:
        await export()
    assert (await saved.value).suggested_filename.endswith(".md")
    await expect(composer(app.page)).to_have_value("half a thought")
    app.forgive("404")


async def test_a_draft_with_a_file_is_kept_until_it_is_sent(app: App):
    chat, other = [await app.chats.create(name) for name in ("first", "second")]
    await app.chats.resting(chat)
    await app.open(chat)
    await composer(app.page).fill("look at this")
    note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"a note"}
    await app.page.locator("input[type=file]").set_input_files([note])  # pyright: ignore
    tile = app.page.get_by_role("listitem").filter(has_text="note.txt")
    await expect(tile).to_be_visible()
    await expect(tile).not_to_contain_text("%")
    await app.page.locator(f"a[href='/chats/{other['id']}']").click()
    await expect(tile).to_have_count(0)
    await app.open(chat)
    await app.page.reload()
    await expect(composer(app.page)).to_have_value("look at this")
    await expect(tile).to_be_visible()
    messages = "**/api/experimental/chats/*/messages"
    await app.page.route(messages, lambda route: route.fulfill(status=400, json={"message": "Not now."}))
    await composer(app.page).press("Enter")
    await rows(app.page, "send").get_by_role("button", name="Edit and send again").click()
    await expect(composer(app.page)).to_have_value("look at this")
    await app.page.unroute(messages)
    await composer(app.page).press("Enter")
    await expect(rows(app.page, "end")).to_have_count(2)
    await app.page.reload()
    await expect(composer(app.page)).to_have_value("")
    sent = (await app.stored(chat))[-2]["content"]
    assert {part["type"] for part in sent} == {"text", "file"}
    app.forgive("400")


async def test_a_notification_leads_an_open_tab_to_its_chat_without_loading_it_anew(app: App):
    chat = await app.chats.create("hello")
    await app.page.goto("/")
    await composer(app.page).fill("half a thought")
    await app.page.evaluate("globalThis.isTheSamePage = true")
    await app.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    (worker,) = app.context.service_workers
    told = "(go) => clients.matchAll({ includeUncontrolled: true }).then(([page]) => page.postMessage({ go }))"
    await worker.evaluate(told, f"/chats/{chat['id']}")
    await expect(rows(app.page, "text")).to_have_text(["Hi."])
    assert await app.page.evaluate("globalThis.isTheSamePage")
