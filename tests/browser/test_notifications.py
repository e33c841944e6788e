"""How a browser says that a turn has ended: messages, a sound, and nothing about what is being looked at."""

import asyncio

import pytest
from playwright.async_api import Page, WebSocket, Worker, expect

from browser.app import App, composer, rows, until
from chatd.testing.vendors.script import Hold, Say, Turn
from server.running import PASSWORD

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

# A headless browser has no push service: this is one that says yes.
PUSH = """
    const made = () => ({
        endpoint: "https://push.test/1",
        unsubscribe: async () => { delete window.pushed; return true },
        toJSON: () => ({ keys: { auth: "AAAAAAAAAAAAAAAAAAAAAA", p256dh: "%s" } }),
    })
    Object.defineProperty(PushManager.prototype, "subscribe", { value: async () => (window.pushed = made()) })
    Object.defineProperty(PushManager.prototype, "getSubscription", { value: async () => window.pushed ?? null })
    Notification.requestPermission = async () => "granted"
    Object.defineProperty(Notification, "permission", { get: () => "granted" })
"""
# A point of the curve P-256, as browsers send it.
POINT = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
DENIED = "Object.defineProperty(Notification, 'permission', { get: () => 'denied' })"
UNSUPPORTED = "delete window.PushManager"
COUNTED = """
    window.chimes = 0
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (...when) { window.chimes += 1; return start.apply(this, when) }
    window.claims = 0
    const request = LockManager.prototype.request
    LockManager.prototype.request = async function (...asked) {
        await request.apply(this, asked)
        window.claims += 1
    }
"""


async def page_with(app: App, script: str) -> Page:
    await app.page.add_init_script(script)
    await app.page.goto("/settings/notifications")
    return app.page


async def test_a_browser_that_can_not_be_told_says_why(app: App):
    page = await page_with(app, UNSUPPORTED)
    await expect(page.get_by_text("This browser can't show notifications")).to_be_visible()
    await expect(page.get_by_role("switch", name="Tell me when a turn ends")).to_have_count(0)


async def test_a_browser_that_was_forbidden_says_how_to_allow_it(app: App):
    page = await page_with(app, DENIED)
    await expect(page.get_by_text("Notifications are blocked")).to_be_visible()


async def test_messages_are_switched_on_tried_out_and_switched_off(app: App):
    page = await page_with(app, PUSH % POINT)
    switch = page.get_by_role("switch", name="Tell me when a turn ends")
    await expect(switch).not_to_be_checked()
    await switch.click()
    await expect(switch).to_be_checked()
    await page.get_by_role("button", name="Send one now").click()
    # Nobody is at that address, and only the server can know it.
    await expect(page.get_by_role("alert")).to_contain_text("It did not get through")
    await switch.click()
    await expect(switch).not_to_be_checked()
    await expect(page.get_by_role("button", name="Send one now")).to_have_count(0)
    app.forgive("502", "404")


async def test_a_subscription_that_the_server_refuses_is_off_and_says_why(app: App):
    page = await page_with(app, PUSH % "not-a-key")
    switch = page.get_by_role("switch", name="Tell me when a turn ends")
    await switch.click()
    await expect(page.get_by_text("This did not work")).to_be_visible()
    await expect(switch).not_to_be_checked()
    app.forgive("400")


REFUSED = """
    ServiceWorkerContainer.prototype.register = async () => { throw new TypeError("Failed to register") }
"""
NOT_INSTALLED = """
    ServiceWorkerContainer.prototype.register = async () => {
        const installing = new EventTarget()
        installing.state = "installing"
        setTimeout(() => {
            installing.state = "redundant"
            installing.dispatchEvent(new Event("statechange"))
        })
        return { active: null, waiting: null, installing }
    }
"""


@pytest.mark.parametrize("broken", [REFUSED, NOT_INSTALLED])
async def test_a_browser_that_does_not_take_the_worker_says_so_and_does_not_wait_for_it(app: App, broken: str):
    page = await page_with(app, PUSH % POINT + broken)
    switch = page.get_by_role("switch", name="Tell me when a turn ends")
    await switch.click()
    await expect(page.get_by_text("does not run the service worker")).to_be_visible()
    await expect(switch).not_to_be_checked()
    await expect(switch).to_be_enabled()


CLICKED = """
async () => {
    WindowClient.prototype.focus = async function () { return this } // browsers allow it only after a real click
    const [notification] = await self.registration.getNotifications()
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }))
}
"""


async def _pushed(app: App, place: str) -> Worker:
    """The worker, which has shown that a turn has ended."""
    await app.context.grant_permissions(["notifications"])
    worker = app.context.service_workers[0]
    said = {"title": "Done", "body": "All owls are counted.", "data": {"url": place}}
    await worker.evaluate("(said) => self.dispatchEvent(new PushEvent('push', { data: JSON.stringify(said) }))", said)
    return worker


async def test_a_click_on_a_notification_leads_an_open_page_to_its_chat(app: App):
    chat = await app.chats.resting(await app.chats.create("hello"))
    page = app.page
    await page.goto("/")
    await composer(page).fill("half a thought")
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    worker = await _pushed(app, f"/agents/{chat['id']}")
    await until(page, "navigator.serviceWorker.ready.then(async (one) => (await one.getNotifications()).length === 1)")
    await worker.evaluate(CLICKED)
    await expect(rows(page, "text")).to_have_text(["Hi."])
    assert page.url.endswith(f"/chats/{chat['id']}")
    await page.go_back()
    await expect(composer(page)).to_have_value("half a thought")
    assert await worker.evaluate("async () => (await self.registration.getNotifications()).length") == 0


async def test_a_click_on_a_notification_while_nobody_is_signed_in_leads_there_afterwards(app: App):
    chat = await app.chats.resting(await app.chats.create("hello"))
    page = app.page
    await page.goto("/")
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    worker = await _pushed(app, f"/agents/{chat['id']}")
    await until(page, "navigator.serviceWorker.ready.then(async (one) => (await one.getNotifications()).length === 1)")
    await app.context.clear_cookies()
    await page.reload()
    await expect(page.get_by_label("Name or email")).to_be_visible()
    await worker.evaluate(CLICKED)
    await page.wait_for_url(f"**/chats/{chat['id']}")
    await page.get_by_label("Name or email").fill("mia")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(rows(page, "text")).to_have_text(["Hi."])
    app.forgive("401")


async def test_the_chime_is_off_until_it_is_wanted_and_plays_once_for_all_tabs(app: App):
    await app.context.add_init_script(COUNTED)
    tabs = [app.page, await app.tab(app.context), await app.tab(app.context)]
    await tabs[0].goto("/settings/notifications")
    switch = tabs[0].get_by_role("switch", name="A chime when a turn ends")
    await expect(switch).not_to_be_checked()
    await switch.click()
    for tab in tabs[1:]:
        await tab.goto("/")
        await tab.get_by_role("button", name="Filter").click()  # browsers play nothing before that
        await tab.keyboard.press("Escape")
    held = asyncio.Event()
    app.plays(Turn(Say("Hi."), faults=(Hold(held),)))
    chat = await app.chats.create("hello")
    for tab in tabs:
        await expect(tab.get_by_role("navigation", name="Chats").get_by_text("Working", exact=True)).to_be_attached()
    held.set()
    await app.chats.resting(chat)
    for tab in tabs:
        await expect(tab.get_by_role("navigation", name="Chats").get_by_text("Idle", exact=True)).to_be_attached()
    for tab in tabs:
        await until(tab, "window.claims === 1")
    assert sum([await tab.evaluate("window.chimes") for tab in tabs]) == 1


async def test_there_is_no_chime_for_the_chat_that_is_looked_at(app: App):
    await app.context.add_init_script(COUNTED)
    page = app.page
    chat = await app.chats.resting(await app.chats.create("hello"))
    await page.goto("/settings/notifications")
    await page.get_by_role("switch", name="A chime when a turn ends").click()
    await app.open(chat)
    await app.chats.send(chat, "again")
    await expect(rows(page, "text")).to_have_count(2)
    await until(page, "window.claims === 1")
    assert await page.evaluate("window.chimes") == 0


async def test_a_turn_that_ends_while_the_archive_is_shown_is_heard(app: App):
    await app.context.add_init_script(COUNTED)
    page, told = app.page, asyncio.Event()

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda said: told.set() if '"status":"running"' in str(said) else None)

    page.on("websocket", listen)
    await page.goto("/settings/notifications")
    await page.get_by_role("switch", name="A chime when a turn ends").click()
    await page.get_by_role("button", name="Filter").click()
    await page.get_by_role("menuitemcheckbox", name="Archived").click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("Nothing is archived")).to_be_visible()
    held = asyncio.Event()
    app.plays(Turn(Say("Hi."), faults=(Hold(held),)))
    await app.chats.create("hello")
    await told.wait()
    await until(page, "window.chimes === 0")
    held.set()
    await until(page, "window.chimes === 1")
