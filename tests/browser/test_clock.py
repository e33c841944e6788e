"""A browser whose clock is wrong shows what any other shows."""

import re

import pytest
from playwright.async_api import expect

from browser.app import App, rows
from chatd.testing.vendors.script import Refuse

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

_MINUTES = 60_000
_WRONG_CLOCK = """
{
  const right = Date
  globalThis.Date = class extends right {
    constructor(...given) {
      if (given.length === 0) super(right.now() + AHEAD)
      else super(...given)
    }
    static now() {
      return right.now() + AHEAD
    }
  }
}
"""


@pytest.mark.parametrize("ahead", [10 * _MINUTES, -10 * _MINUTES, 3 * 24 * 60 * _MINUTES])
async def test_times_and_groups_are_those_of_the_server(app: App, ahead: int):
    chat = await app.chats.create("hello")
    await app.chats.resting(chat)
    await app.page.add_init_script(_WRONG_CLOCK.replace("AHEAD", str(ahead)))
    await app.open(chat)
    assert abs(await app.page.evaluate("Date.now() - performance.timeOrigin - performance.now()") - ahead) < _MINUTES
    await expect(rows(app.page, "user").get_by_role("time")).to_have_text("now")
    today = app.page.get_by_role("region", name="Today")
    await expect(today.locator(f"a[href='/chats/{chat['id']}']")).to_be_visible()
    await expect(today.locator("time")).to_have_text("now")


@pytest.mark.parametrize("ahead", [10 * _MINUTES, -10 * _MINUTES])
async def test_a_retry_is_counted_down_to_when_the_server_makes_it(app: App, ahead: int):
    app.plays(Refuse(529, "Overloaded", headers={"retry-after": "50"}))
    chat = await app.chats.create("hello")
    await app.page.add_init_script(_WRONG_CLOCK.replace("AHEAD", str(ahead)))
    await app.open(chat)
    line = app.page.get_by_text("Trying again in")
    await expect(line).to_be_visible()
    found = re.search(r"in (\d+) s", await line.inner_text())
    assert found is not None
    assert 0 < int(found[1]) <= 60


# As a browser says it: nothing is drawn meanwhile, and timers come late.
_SEEN = """(state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true })
    document.dispatchEvent(new Event("visibilitychange"))
}"""


async def test_a_retry_is_counted_down_while_nobody_looks(app: App):
    app.plays(Refuse(529, "Overloaded", headers={"retry-after": "50"}))
    chat = await app.chats.create("hello")
    await app.page.clock.install()
    await app.open(chat)
    line = app.page.get_by_text("Trying again in")

    async def left() -> int:
        found = re.search(r"in (\d+) s", await line.inner_text())
        assert found is not None
        return int(found[1])

    await expect(line).to_be_visible()
    await app.page.evaluate(_SEEN, "hidden")
    before = await left()
    await app.page.clock.fast_forward(20_000)
    await app.page.evaluate(_SEEN, "visible")
    await app.page.clock.run_for(500)
    assert await left() <= before - 20
