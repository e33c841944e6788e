"""What was spent, as charts, tables and a file; for oneself, and for those who may see it of everyone."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from browser.app import App, say
from chatd.core.usage import Usage
from chatd.testing.vendors.script import Say, Turn
from server.chat_api import CHATS
from server.configured_models import MODELS

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAID = Turn(Say("Hello."), usage=Usage(input_tokens=1000, output_tokens=100))
PRICES = {"input": "1", "output": "10", "cache_read": "0", "cache_write": "0"}


async def spend(app: App, *titles: str) -> None:
    """A chat for each; an answer costs 0.002 dollars."""
    app.plays(PAID)
    priced = await app.chats.running.owner.call("PATCH", f"{MODELS}/{app.chats.model_id}", {"prices": PRICES})
    assert priced.status == 200, priced
    for title in titles:
        chat = await app.chats.resting(await app.chats.create(f"Something about {title}"))
        await app.chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"title": title})


async def saved_rows(page: Page) -> list[dict[str, str]]:
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download CSV").click()
    return _rows_of(await (await download.value).path())


def _rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def micros(rows: list[dict[str, str]], of: str) -> int:
    return sum(round(float(row["cost_usd"]) * 1_000_000) for row in rows if row["of"] == of)


@pytest.mark.behaviour("WEB-13")
async def test_the_page_and_its_file_show_what_was_paid(app: App):
    await spend(app, "owls", "foxes")
    page = app.page
    await page.goto("/usage")
    for title in ("owls", "foxes"):
        await expect(page.get_by_role("row", name=title)).to_contain_text("$0.002")
    rows = await saved_rows(page)
    summary = (await app.chats.mia.get(f"{CHATS}/cost/me/summary")).body
    # Titles and labels are paid for too, in the background: what the file says was true when the page was read.
    paid = micros(rows, "Model")
    assert 4000 <= paid <= summary["total_cost_micros"]
    assert micros(rows, "Day") == paid
    assert micros(rows, "Chat") == paid
    assert {row["name"] for row in rows if row["of"] == "Chat"} == {"owls", "foxes"}
    assert {row["name"] for row in rows if row["of"] in ("Day", "Model")} == {"scripted-model"}
    await expect(page.get_by_role("heading", name="By user")).to_have_count(0)
    await page.get_by_role("link", name="owls").last.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("owls")


@pytest.mark.long
@pytest.mark.behaviour("WEB-13")
async def test_an_admin_sees_what_everyone_has_spent_and_what_one_users_is_made_of(app: App):
    await spend(app, "owls")
    page = await app.sign_in(app.chats.running.owner)
    await page.goto("/usage")
    await expect(page.get_by_text("Nothing was used in this period")).to_be_visible()
    users = page.get_by_role("region", name="By user")
    await users.get_by_role("button", name="mia").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Usage of mia")
    rows = await saved_rows(page)
    assert {row["name"] for row in rows if row["of"] == "User"} == {"mia", "olga"}
    assert micros(rows, "User") >= 2000
    assert micros(rows, "Chat") >= 2000
    await page.get_by_role("button", name="Show yours").click()
    await expect(page.get_by_text("Nothing was used in this period")).to_be_visible()


@pytest.mark.long
async def test_the_file_has_all_users_also_those_that_the_page_has_not_read(app: App):
    await spend(app, "owls")
    owner = app.chats.running.owner
    for number in range(110):  # a page of the server has a hundred
        new = {"username": f"user{number:03}", "email": f"user{number}@example.com", "password": "a-long-password-1"}
        assert (await owner.post("/api/v2/users", new)).status == 201
    page = await app.sign_in(owner)
    await page.goto("/usage")
    users = page.get_by_role("region", name="By user")
    await expect(users.get_by_role("button", name="More")).to_be_visible()
    mia: dict[str, Any] = (await app.chats.mia.get("/api/v2/users/me")).body
    shown = users.get_by_role("button", name="mia")
    while not await shown.count():
        await users.get_by_role("button", name="More").click()
        await expect(users.get_by_role("button", name="More")).to_be_enabled()
    await shown.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Usage of mia")
    rows = await saved_rows(page)
    names = [row["name"] for row in rows if row["of"] == "User"]
    assert len(names) == len(set(names)) == 112
    assert mia["username"] in names
    failing = "**/cost/users*"
    await page.route(failing, lambda route: route.fulfill(status=404, json={"message": "Not today."}))
    await page.get_by_role("button", name="Download CSV").click()
    await expect(page.get_by_role("region", name="Notifications").get_by_text("Not today.")).to_be_visible()
    await expect(page.get_by_role("button", name="Download CSV")).to_be_enabled()
    app.forgive("404")


@pytest.mark.long
@pytest.mark.behaviour("WEB-13")
async def test_periods_ask_once_and_a_chart_is_read_by_keyboard(app: App):
    await spend(app, "owls")
    page = app.page
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/cost/" in one.url else None)
    await page.goto("/usage")
    await expect(page.get_by_role("row", name="owls")).to_be_visible()
    assert len(asked) == 1, "one question for all charts"
    await page.get_by_role("radio", name="90 days").click()
    await expect(page.get_by_role("row", name="owls")).to_be_visible()
    assert len(asked) == 2
    chart = page.get_by_role("group", name="Cost by day")
    await chart.get_by_role("img").last.focus()
    await expect(chart.get_by_role("img").last).to_have_accessible_name(re.compile(r"\$0\.00"))


@pytest.mark.long
async def test_a_page_without_an_answer_says_so_and_asks_again(app: App):
    page = app.page

    async def broken(route: Route) -> None:
        await route.fulfill(status=404, json={"message": "It is not there."})

    await page.route("**/cost/me/summary*", broken)
    await page.goto("/usage")
    await expect(page.get_by_role("alert")).to_contain_text("It is not there.")
    await page.unroute("**/cost/me/summary*")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_text("Nothing was used in this period")).to_be_visible()
    app.forgive("404")


@pytest.mark.long
async def test_a_limit_that_is_reached_stops_one_user_until_it_is_raised(app: App):
    await spend(app, "owls")
    owner = app.chats.running.owner
    limits = "/api/experimental/chats/usage-limits"
    mia: dict[str, Any] = (await app.chats.mia.get("/api/v2/users/me")).body
    admin = await app.sign_in(owner)
    await admin.goto("/settings/limits")
    await admin.get_by_role("button", name="Set limit").first.click()
    dialog = admin.get_by_role("dialog")
    await dialog.get_by_label("Who").click()
    await admin.get_by_role("option", name="mia").click()
    await dialog.get_by_label("Limit").fill("0.001")
    await dialog.get_by_role("button", name="Save").click()
    await expect(admin.get_by_role("row", name="mia")).to_contain_text("$0.001")
    set_limits = (await owner.get(limits)).body
    assert [one["user_id"] for one in set_limits["limits"]] == [mia["id"]], set_limits
    page = app.page
    await page.goto("/")
    await say(page, "one more")
    await expect(page.get_by_text("Your usage limit of $0.001 per month is reached").first).to_be_visible()
    await admin.get_by_role("row", name="mia").get_by_role("button", name="Remove").click()
    await expect(admin.get_by_text("No limits")).to_be_visible()
    await app.chats.resting(await app.chats.create("and now"))
    app.forgive("409")
