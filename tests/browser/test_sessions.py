"""Sessions that end and go on, and several people at one browser."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Dialog, Locator, Page, Route, expect

from browser.app import App, composer, rows, say
from chatd.testing.vendors.script import Say, Turn
from server.chat_api import CHATS
from server.running import PASSWORD, Api

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


async def _visit(app: App) -> tuple[Page, Api]:
    """A tab of mia's, with a session of its own that a test can end."""
    session = await app.chats.running.api.sign_in("mia")
    return await app.sign_in(session), session


async def _sign_in_again(page: Page) -> None:
    dialog = page.get_by_role("dialog", name="Your session has ended")
    await expect(dialog).to_be_visible(timeout=60_000)  # streams look at rights every few seconds
    await dialog.get_by_label("Password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await expect(dialog).to_have_count(0)


async def _sign_in_as(page: Page, name: str) -> None:
    await page.get_by_label("Name or email").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()


async def test_streams_go_on_after_signing_in_again(app: App):
    app.plays(Turn(Say("Hi.")), Turn(Say("Still here.")))
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    page, session = await _visit(app)
    await app.open(chat, page)
    await expect(rows(page, "text")).to_have_text(["Hi."])
    await session.post("/api/v2/users/logout")
    await _sign_in_again(page)
    await app.chats.send(chat, "from elsewhere")
    await expect(rows(page, "text")).to_have_text(["Hi.", "Still here."])  # the stream of the chat
    other = await app.chats.create("another chat")
    await expect(page.locator(f"a[href='/chats/{other['id']}']")).to_be_visible()  # the feed of the list
    app.forgive("401")


async def test_who_signs_in_in_one_tab_goes_on_in_all_of_them(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    page, session = await _visit(app)
    other = await app.tab(page.context)
    for tab in (page, other):
        await app.open(chat, tab)
        await expect(rows(tab, "text")).to_have_text(["Hi."])
    await composer(other).fill("half a thought")
    await session.post("/api/v2/users/logout")
    dialog = other.get_by_role("dialog", name="Your session has ended")
    await expect(dialog).to_be_visible(timeout=60_000)
    await _sign_in_again(page)
    await expect(dialog).to_have_count(0)
    await expect(composer(other)).to_have_value("half a thought")
    await app.chats.send(chat, "from elsewhere")
    for tab in (page, other):
        await expect(rows(tab, "text")).to_have_text(["Hi.", "Hi."])
    app.forgive("401")


async def test_a_message_to_an_ended_session_goes_out_after_signing_in(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    page, session = await _visit(app)
    await app.open(chat, page)
    await expect(rows(page, "text")).to_have_text(["Hi."])

    async def ended_meanwhile(route: Route) -> None:
        await session.post("/api/v2/users/logout")
        await route.continue_()

    await page.route("**/messages", ended_meanwhile, times=1)
    await say(page, "to nobody yet")
    await expect(rows(page, "send")).to_contain_text("it will not be sent twice")
    await _sign_in_again(page)
    await expect(rows(page, "text")).to_have_text(["Hi.", "Hi."])
    await expect(rows(page, "send")).to_have_count(0)
    assert [said async for said in _said(app, chat)] == ["hello", "to nobody yet"]
    app.forgive("401")


async def _said(app: App, chat: dict[str, Any]):
    for message in await app.stored(chat):
        if message["role"] == "user":
            yield "".join(part["text"] for part in message["content"])


async def _gone(route: Route) -> None:
    await route.abort()


async def test_the_next_person_at_a_browser_sees_nothing_of_the_first(app: App):
    noa = await app.chats.running.add_user("noa")
    chat = await app.chats.create("mine alone")
    await app.chats.resting(chat)
    page, session = await _visit(app)
    await app.open(chat, page)
    await composer(page).fill("a draft of mia's")
    await page.get_by_role("link", name="New chat").click()
    await page.route("**/api/experimental/chats", _gone)
    await say(page, "a first message of mia's")
    await expect(page.get_by_text("it will not be sent twice")).to_be_visible()
    await composer(page).fill("half a thought of mia's")
    await expect(page.get_by_text("of mia's").first).to_be_visible()
    await session.post("/api/v2/users/logout")
    await expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible(timeout=60_000)
    await page.unroute("**/api/experimental/chats")
    await page.get_by_role("button", name="Sign in as someone else").click()
    await _sign_in_as(page, "noa")
    await expect(page.get_by_text("No chats yet")).to_be_visible()
    await expect(composer(page)).to_have_value("")
    await page.reload()  # what waits to be sent is sent then
    await expect(page.get_by_text("No chats yet")).to_be_visible()
    await expect(composer(page)).to_have_value("")
    assert "of mia's" not in await page.inner_text("body")
    assert (await noa.get(CHATS)).body == []
    await page.goto(f"/chats/{chat['id']}")
    await expect(page.get_by_role("heading", name="There is no such chat")).to_be_visible()
    await page.get_by_role("button", name="noa").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    # What she left is there for mia, and what she sent goes out.
    await _sign_in_as(page, "mia")
    await page.goto(f"/chats/{chat['id']}")
    await expect(composer(page)).to_have_value("a draft of mia's")
    await page.goto("/")
    await expect(composer(page)).to_have_value("half a thought of mia's")
    await expect(page.get_by_role("navigation").locator("a[href^='/chats/']")).to_have_count(2)
    app.forgive("401", "404", "ERR_FAILED")


async def test_who_signs_out_leaves_nothing_behind(app: App):
    page, _ = await _visit(app)
    await page.goto("/")
    await composer(page).fill("not for others")
    await page.get_by_role("button", name="mia").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_label("Name or email")).to_be_visible()
    kept = await page.evaluate("JSON.stringify(localStorage)")
    assert "not for others" not in kept
    app.forgive("401")


async def test_signing_out_without_a_network_says_that_it_has_failed(app: App):
    page, session = await _visit(app)
    await page.goto("/")
    await composer(page).fill("still mine")
    await page.route("**/users/logout", _gone)
    await page.get_by_role("button", name="mia").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_role("alert")).to_contain_text("Sign out did not work.")
    await expect(composer(page)).to_have_value("still mine")
    assert (await session.get("/api/v2/users/me")).status == 200
    app.forgive("ERR_FAILED")


async def test_a_tab_begins_anew_when_someone_else_signs_in_in_another(app: App):
    await app.chats.running.add_user("noa")
    page, _ = await _visit(app)
    await page.goto("/")
    await composer(page).fill("mia's words")
    other = await app.tab(page.context)
    await other.goto("/")
    await expect(composer(other)).to_be_visible()
    await _change_session(page.context, await app.chats.running.api.sign_in("noa"))
    await other.reload()
    await expect(other.get_by_role("button", name="noa")).to_be_visible()
    await expect(page.get_by_role("button", name="noa")).to_be_visible()
    await expect(composer(page)).to_have_value("")


async def test_someone_else_is_not_asked_about_what_the_one_before_has_not_saved(app: App):
    await app.chats.running.add_user("noa")
    page, _ = await _visit(app)
    await page.goto("/settings/prompt")
    field = page.get_by_role("textbox", name="Prompt")
    await field.press_sequentially("Mia's unsaved thoughts")
    async with page.expect_event("dialog") as dialog:  # as it should be while she is there
        await page.evaluate("setTimeout(() => location.reload())")
    await (await dialog.value).dismiss()
    asked: list[str] = []

    async def noted(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.accept()

    page.on("dialog", noted)
    other = await app.tab(page.context)
    await other.goto("/")
    await expect(composer(other)).to_be_visible()
    await _change_session(page.context, await app.chats.running.api.sign_in("noa"))
    await other.reload()
    await expect(page.get_by_role("button", name="noa")).to_be_visible()
    assert asked == []


async def test_what_a_session_that_has_ended_refused_late_is_done_in_the_next_one(app: App):
    chat = await app.chats.resting(await app.chats.create("hello"))
    page, session = await _visit(app)
    await app.open(chat, page)
    answers, go_on = asyncio.Queue[int](), asyncio.Event()

    async def late(route: Route) -> None:
        if route.request.method != "PATCH":
            await route.continue_()
            return
        if answers.empty():
            await session.post("/api/v2/users/logout")
        answer = await route.fetch()
        answers.put_nowait(answer.status)
        if answer.status == 401:
            await go_on.wait()
        await route.fulfill(response=answer)

    await page.route(f"**/chats/{chat['id']}", late)
    await page.locator(f"a[href='/chats/{chat['id']}']").press("F2")
    dialog = page.get_by_role("dialog", name="Rename")
    await dialog.get_by_role("textbox").fill("Called late")
    await dialog.get_by_role("textbox").press("Enter")
    await _sign_in_again(page)
    go_on.set()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Called late")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert [answers.get_nowait() for _ in range(2)] == [401, 204]
    app.forgive("401")


async def test_nothing_is_asked_for_again_and_again_while_nobody_is_signed_in(app: App):
    page, session = await _visit(app)
    await page.clock.install()
    asked: list[int] = []
    page.on("response", lambda answer: asked.append(answer.status) if "model-configs" in answer.url else None)
    await page.goto("/")
    await expect(page.get_by_role("button", name="mia")).to_be_visible()
    async with page.expect_response("**/model-configs"):
        await page.clock.fast_forward(11_000)
    await session.post("/api/v2/users/logout")
    async with page.expect_response("**/model-configs"):
        await page.clock.fast_forward(11_000)
    for _ in range(6):
        await page.clock.fast_forward(11_000)
    async with page.expect_response("**/model-configs", timeout=60_000):
        await _sign_in_again(page)
    assert asked == [200, 200, 401, 200]
    app.forgive("401")


async def _change_session(context: BrowserContext, session: Api) -> None:
    (cookie,) = await context.cookies()
    await context.add_cookies([{**cookie, "value": session.token}])


_PUSH_WITHOUT_A_VENDOR = """
const made = () =>
  localStorage.getItem("test.push") && {
    endpoint: "https://push.example.com/1",
    toJSON: () => ({ keys: { auth: "a", p256dh: "p" } }),
    unsubscribe: async () => localStorage.removeItem("test.push"),
  }
PushManager.prototype.getSubscription = async () => made()
PushManager.prototype.subscribe = async () => (localStorage.setItem("test.push", "1"), made())
Notification.requestPermission = async () => "granted"
Object.defineProperty(Notification, "permission", { get: () => "granted" })
"""


async def test_only_who_has_asked_for_it_is_told_by_a_browser(app: App):
    await app.chats.running.add_user("noa")
    page, _ = await _visit(app)
    told: list[str] = []

    async def subscription(route: Route) -> None:
        told.append(route.request.method)
        await route.fulfill(status=204)

    await page.add_init_script(_PUSH_WITHOUT_A_VENDOR)
    await page.route("**/webpush/subscription", subscription)

    async def asked() -> Locator:
        await page.goto("/settings/notifications")
        await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        return page.get_by_role("switch", name="Tell me when a turn ends")

    async def sign_out(name: str) -> None:
        await page.get_by_role("button", name=name, exact=True).click()
        await page.get_by_role("menuitem", name="Sign out").click()

    wish = await asked()
    await expect(wish).not_to_be_checked()
    await wish.click()
    await expect(wish).to_be_checked()
    assert told == ["POST"]
    await sign_out("mia")
    await _sign_in_as(page, "noa")
    await expect(await asked()).not_to_be_checked()
    assert told == ["POST"]  # nobody was subscribed unasked
    await sign_out("noa")
    async with page.expect_response(
        "**/webpush/subscription"
    ):  # the server forgets with the session, so it is told again
        await _sign_in_as(page, "mia")
    await expect(await asked()).to_be_checked()
    assert set(told) == {"POST"}
    app.forgive("401")
