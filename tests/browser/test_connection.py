"""Messages on networks that fail: nothing is lost, nothing is done twice, and nothing is said without need."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from playwright.async_api import Error, Page, Route, WebSocketRoute, expect

from browser.app import OFFLINE, App, composer, rows, say
from chatd.testing.vendors.script import Hold, Say, Turn
from server.chat_api import CHATS

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

MESSAGES = "**/api/experimental/chats/*/messages"
CREATION = "**/api/experimental/chats"


async def _said(app: App, chat: dict[str, Any]) -> list[str]:
    stored = await app.stored(chat)
    return ["".join(part["text"] for part in one["content"]) for one in stored if one["role"] == "user"]


async def _never_arrives(route: Route) -> None:
    await (route.abort() if route.request.method == "POST" else route.continue_())


class _LosesAnswers:
    """Lets requests through and loses what they are answered: nobody knows whether they were done."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def __call__(self, route: Route) -> None:
        if route.request.method != "POST":
            await route.continue_()
            return
        self.keys.append(route.request.headers["idempotency-key"])
        with suppress(Error):  # the page that asked may be gone
            await route.fetch()
            await route.abort()


@pytest.mark.behaviour("WEB-2")
async def test_a_message_written_offline_goes_out_when_the_network_is_back(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    await app.context.set_offline(True)
    await say(app.page, "from the tunnel")
    await expect(rows(app.page, "send")).to_contain_text("from the tunnel")
    await expect(rows(app.page, "send")).to_contain_text("it will not be sent twice")
    await app.context.set_offline(False)
    await expect(rows(app.page, "end")).to_have_count(2)
    await expect(rows(app.page, "send")).to_have_count(0)
    assert await _said(app, chat) == ["hello", "from the tunnel"]
    app.forgive(*OFFLINE)


_HEAR_LOADING = """
globalThis.heard = []
new MutationObserver(() => {
  const shown = document.body?.innerText ?? ""
  if (shown !== "" && shown !== globalThis.heard.at(-1)) globalThis.heard.push(shown)
}).observe(document, { subtree: true, childList: true, characterData: true })
"""


async def test_a_page_that_is_reloaded_offline_says_so_calmly_and_sends_what_waits_once_it_is_back(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await app.page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    await app.page.reload()  # what it is made of is kept from now on
    await expect(rows(app.page, "end")).to_have_count(1)
    await app.context.set_offline(True)
    await say(app.page, "from the tunnel")
    await expect(rows(app.page, "send")).to_contain_text("it will not be sent twice")
    await app.page.clock.install()
    await app.page.add_init_script(_HEAR_LOADING)
    await app.page.reload()
    await expect(app.page.get_by_role("heading", name="You are offline")).to_be_visible()
    await expect(app.page.get_by_text("One message waits in this browser")).to_be_visible()
    said: list[str] = await app.page.evaluate("globalThis.heard")
    for _ in range(4):
        async with app.page.expect_event("requestfailed"):
            await app.page.clock.fast_forward(8_000)  # it tries again
    assert await app.page.evaluate("globalThis.heard") == said
    await app.context.set_offline(False)
    await expect(rows(app.page, "end")).to_have_count(2)
    assert await _said(app, chat) == ["hello", "from the tunnel"]
    app.forgive(*OFFLINE)


async def test_a_message_without_an_answer_goes_out_again_after_a_reload(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await app.page.route(MESSAGES, _never_arrives)
    await say(app.page, "not to be lost")
    await expect(rows(app.page, "send")).to_contain_text("it will not be sent twice")
    await app.page.reload()
    await expect(rows(app.page, "send")).to_contain_text("not to be lost")
    assert await _said(app, chat) == ["hello"]
    await app.page.unroute(MESSAGES)
    await app.page.reload()
    await expect(rows(app.page, "end")).to_have_count(2)
    assert await _said(app, chat) == ["hello", "not to be lost"]
    app.forgive("ERR_FAILED")


async def test_a_message_goes_out_when_its_tab_was_closed_and_another_page_is_opened(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await app.page.route(MESSAGES, _never_arrives)
    await say(app.page, "closed too soon")
    await expect(rows(app.page, "send")).to_contain_text("it will not be sent twice")
    await app.page.close()
    other = await app.tab(app.context)
    async with other.expect_response(
        lambda answer: answer.request.method == "POST" and answer.url.endswith("/messages")
    ):
        await other.goto("/settings")
    assert await _said(app, chat) == ["hello", "closed too soon"]
    app.forgive("ERR_FAILED")


async def test_a_message_whose_answer_was_lost_is_there_once(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    losing = _LosesAnswers()
    await app.page.route(MESSAGES, losing)
    await say(app.page, "only once")
    await expect(rows(app.page, "end")).to_have_count(2)
    await app.page.reload()
    await expect(rows(app.page, "end")).to_have_count(2)
    await app.page.unroute(MESSAGES)
    await app.page.reload()
    await expect(rows(app.page, "end")).to_have_count(2)
    await expect(rows(app.page, "send")).to_have_count(0)
    assert await _said(app, chat) == ["hello", "only once"]
    assert len(losing.keys) > 1
    assert len(set(losing.keys)) == 1
    app.forgive("ERR_FAILED")


async def test_a_first_message_makes_one_chat_however_often_it_is_asked_for(app: App):
    held = asyncio.Event()

    async def late_models(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await app.page.route("**/model-configs", late_models)
    await app.page.goto("/")
    losing = _LosesAnswers()
    await app.page.route(CREATION, losing)
    await say(app.page, "begin once")  # before it is known which models there are
    await expect(app.page.get_by_text("it will not be sent twice")).to_be_visible()
    held.set()
    await app.page.reload()
    await expect(app.page.get_by_text("it will not be sent twice")).to_be_visible()
    await app.page.unroute(CREATION)
    await app.page.reload()
    await expect(rows(app.page, "end")).to_have_count(1)
    assert len((await app.chats.mia.get(CHATS)).body) == 1
    assert len(set(losing.keys)) == 1
    app.forgive("ERR_FAILED")


async def test_what_was_refused_stays_with_its_reason_until_something_is_done_about_it(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)

    async def refuse(route: Route) -> None:
        is_send = route.request.method == "POST"
        await (route.fulfill(status=400, json={"message": "Not today."}) if is_send else route.continue_())

    await app.page.route(MESSAGES, refuse)
    await say(app.page, "may I")
    refused = rows(app.page, "send")
    await expect(refused).to_contain_text("Not today.")
    await composer(app.page).fill("written since")
    await app.page.reload()
    await expect(refused).to_contain_text("Not today.")
    await app.page.unroute(MESSAGES)
    await refused.get_by_role("button", name="Edit and send again").click()
    await expect(composer(app.page)).to_have_value("may I\n\nwritten since")
    await expect(refused).to_have_count(0)
    await app.page.route(MESSAGES, refuse)
    await say(app.page, "now")
    await expect(refused).to_contain_text("Not today.")
    await app.page.unroute(MESSAGES)
    await refused.get_by_role("button", name="Try again").click()
    await expect(rows(app.page, "end")).to_have_count(2)
    assert await _said(app, chat) == ["hello", "now"]
    app.forgive("400")


async def test_an_edit_under_way_is_there_after_another_chat_and_a_reload(app: App):
    chat, other = [await app.chats.create(name) for name in ("first", "second")]
    await app.chats.resting(chat)
    await app.open(chat)
    await composer(app.page).fill("meanwhile")
    mine = rows(app.page, "user").first
    await mine.hover()
    await mine.get_by_role("button", name="Edit").click()
    await composer(app.page).fill("first, but better")
    await app.page.locator(f"a[href='/chats/{other['id']}']").click()
    await expect(composer(app.page)).to_have_value("")
    await app.page.reload()
    await app.open(chat)
    await expect(composer(app.page)).to_have_value("first, but better")
    await app.page.get_by_role("button", name="Cancel").click()
    await expect(composer(app.page)).to_have_value("meanwhile")


async def test_an_edit_that_was_refused_stays_beside_its_message(app: App):
    chat = await app.chats.create("first")
    await app.chats.resting(chat)
    await app.open(chat)
    await app.page.route(f"{MESSAGES}/*", lambda route: route.fulfill(status=409, json={"message": "Not now."}))
    mine = rows(app.page, "user").first
    await mine.hover()
    await mine.get_by_role("button", name="Edit").click()
    await composer(app.page).fill("first, but better")
    await composer(app.page).press("Enter")
    refused = rows(app.page, "send")
    await expect(refused).to_contain_text("Not now.")
    await expect(rows(app.page, "user")).to_contain_text(["first"])
    await app.page.unroute(f"{MESSAGES}/*")
    await refused.get_by_role("button", name="Try again").click()
    await expect(refused).to_have_count(0)
    await expect(rows(app.page, "user")).to_contain_text(["first, but better"])
    await app.chats.resting(chat)
    assert await _said(app, chat) == ["first, but better"]
    app.forgive("409")


class _Sockets:
    """The page's sockets, which can be cut as a server that dies cuts them."""

    def __init__(self) -> None:
        self.open: list[WebSocketRoute] = []
        self.count = 0

    def __call__(self, socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        self.open.append(socket)
        self.count += 1

    async def cut(self) -> None:
        cut, self.open = self.open, []
        for socket in cut:
            await socket.close(code=1012)


_HEAR_EVERYTHING = """
globalThis.heard = []
new MutationObserver(() => {
  if (document.body?.innerText.includes("The connection was lost")) globalThis.heard.push("lost")
}).observe(document, { subtree: true, childList: true, characterData: true })
"""


async def _listening(app: App) -> _Sockets:
    sockets = _Sockets()
    await app.page.route_web_socket("**/stream*", sockets)
    await app.page.add_init_script(_HEAR_EVERYTHING)
    return sockets


async def _heard(page: Page) -> list[str]:
    return await page.evaluate("globalThis.heard")


@pytest.mark.behaviour("WEB-2")
async def test_a_connection_that_breaks_while_nothing_happens_is_not_spoken_of(app: App):
    sockets = await _listening(app)
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    await sockets.cut()
    await app.chats.send(chat, "meanwhile")
    await expect(rows(app.page, "end")).to_have_count(2)
    assert sockets.count == 2
    assert await _heard(app.page) == []


async def test_a_connection_that_breaks_in_mid_answer_says_so_and_goes_on(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)))
    sockets = await _listening(app)
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    await sockets.cut()
    await expect(app.page.get_by_text("The connection was lost")).to_be_visible()
    held.set()
    await expect(rows(app.page, "text")).to_have_text(["Half an answer."])
    await expect(app.page.get_by_text("The connection was lost")).to_have_count(0)


async def test_a_message_of_the_stream_that_nobody_understands_is_asked_for_again(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)))
    sockets = await _listening(app)
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    (socket,) = sockets.open
    socket.send('[{"type": "message_part", "message_p')
    await expect(app.page.get_by_text("The connection was lost")).to_have_count(1)
    held.set()
    await expect(rows(app.page, "text")).to_have_text(["Half an answer."])
    await expect(rows(app.page, "end")).to_be_visible()
    await expect(app.page.get_by_text("The connection was lost")).to_have_count(0)
    assert sockets.count == 2


class _Swallowed:
    """The page's sockets, whose answers can be lost on the way while both ends take them for open."""

    def __init__(self) -> None:
        self.count = 0
        self.lost = 0
        self._lost_until = 0

    def __call__(self, socket: WebSocketRoute) -> None:
        self.count += 1
        number, server = self.count, socket.connect_to_server()

        def answered(message: str | bytes) -> None:
            if number <= self._lost_until:
                self.lost += 1
            else:
                socket.send(message)

        server.on_message(answered)

    def begin(self) -> None:
        """For those that are open now."""
        self._lost_until = self.count


@pytest.mark.behaviour("WEB-2")
async def test_a_connection_that_is_dead_without_being_closed_is_noticed_and_replaced(app: App):
    await app.page.clock.install()
    chats, lists = _Swallowed(), _Swallowed()
    await app.page.route_web_socket("**/stream*", chats)
    await app.page.route_web_socket("**/watch", lists)
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    await expect(app.page.locator(f"a[href='/chats/{chat['id']}']")).to_be_visible()
    chats.begin()
    lists.begin()
    await app.chats.send(chat, "meanwhile")
    await app.chats.resting(chat)
    await app.chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"title": "Called something else"})
    await expect(rows(app.page, "end")).to_have_count(1)
    assert chats.lost > 0
    await app.page.clock.fast_forward(45_000)  # the silence is noticed
    await app.page.clock.fast_forward(5_000)  # the pause before the next try
    await expect(rows(app.page, "end")).to_have_count(2)
    await expect(app.page.get_by_role("link", name="Called something else")).to_be_visible()
    assert (chats.count, lists.count) == (2, 2)


async def test_enter_pressed_again_and_again_on_a_slow_network_sends_once(app: App):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    network = await app.context.new_cdp_session(app.page)
    await network.send("Network.enable")
    slow = {"offline": False, "latency": 300, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
    await network.send("Network.emulateNetworkConditions", slow)
    await composer(app.page).fill("once")
    for _ in range(4):
        await composer(app.page).press("Enter")
    await expect(rows(app.page, "end")).to_have_count(2)
    await app.page.get_by_role("link", name="New chat").click()
    await composer(app.page).fill("one chat")
    for _ in range(4):
        await composer(app.page).press("Enter")
    await expect(rows(app.page, "end")).to_have_count(1)
    assert await _said(app, chat) == ["hello", "once"]
    assert len((await app.chats.mia.get(CHATS)).body) == 2
    await app.page.reload()
    await expect(rows(app.page, "end")).to_have_count(1)
