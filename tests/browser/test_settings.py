"""What people set for themselves: it holds at once, stays after a reload, and what was typed is not lost."""

import pytest
from playwright.async_api import Route, expect

from browser.app import App, composer, rows, say
from server.chat_api import CHATS
from server.running import PASSWORD

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

THRESHOLDS = f"{CHATS}/config/user-compaction-thresholds"


async def test_the_key_that_sends_is_chosen_and_kept(app: App):
    page = app.page
    await page.goto("/settings/appearance")
    await page.get_by_role("radio", name="Ctrl+Enter sends").click()
    await page.goto("/")
    await composer(page).fill("first line")
    await composer(page).press("Enter")
    await composer(page).press_sequentially("second line")
    await expect(composer(page)).to_have_value("first line\nsecond line")
    await composer(page).press("Control+Enter")
    await expect(rows(page, "text")).to_have_text(["Hi."])


async def test_the_theme_is_chosen_and_kept(app: App):
    page = app.page
    await page.goto("/settings/appearance")
    await page.get_by_role("radio", name="Dark").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await page.reload()
    await expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_a_threshold_of_ones_own_goes_before_the_models_until_it_is_taken_back(app: App):
    page = app.page
    await page.goto("/settings/compaction")
    field = page.get_by_label("scripted-model")
    await expect(field).to_have_value("")
    await field.fill("100")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    await page.reload()
    await expect(field).to_have_value("100")
    (own,) = (await app.chats.mia.get(THRESHOLDS)).body["thresholds"]
    assert (own["model_config_id"], own["threshold_percent"]) == (app.chats.model_id, 100)
    await field.fill("")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    assert (await app.chats.mia.get(THRESHOLDS)).body["thresholds"] == []


async def test_a_personal_prompt_is_given_to_the_model_and_kept_when_saving_fails(app: App):
    page = app.page
    await page.goto("/settings/prompt")
    field = page.get_by_role("textbox", name="Prompt")
    await field.fill("I like owls.")

    async def refused(route: Route) -> None:
        if route.request.method != "PUT":
            await route.continue_()
            return
        await route.fulfill(status=500, json={"message": "It broke."})

    await page.route("**/config/user-prompt", refused)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("It broke.")
    await expect(field).to_have_value("I like owls.")
    await page.unroute("**/config/user-prompt")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    await page.goto("/")
    await say(page, "hello")
    await expect(rows(page, "text")).to_have_text(["Hi."])
    assert "I like owls." in str(app.chats.script.asked[-1].body["system"])
    app.forgive("500")


async def test_a_token_is_shown_once_works_and_is_revoked(app: App):
    page = app.page
    await page.goto("/settings/tokens")
    await page.get_by_role("button", name="Make token").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("for a script")
    await dialog.get_by_role("button", name="Make token").click()
    await expect(dialog).to_contain_text("it is not shown again")
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await dialog.get_by_role("button", name="Copy").click()
    await expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    script = app.chats.running.api.with_token(await page.evaluate("navigator.clipboard.readText()"))
    assert (await script.get("/api/v2/users/me")).body["username"] == "mia"
    await page.keyboard.press("Escape")
    row = page.get_by_role("row", name="for a script")
    await expect(row).to_be_visible()
    await row.get_by_role("button", name="Revoke").click()
    await expect(row).to_have_count(0)
    assert (await script.get("/api/v2/users/me")).status == 401


async def test_another_session_is_ended(app: App):
    page = app.page
    signed_in = await app.chats.running.api.post("/api/v2/users/login", {"login": "mia", "password": PASSWORD})
    assert signed_in.status == 201, signed_in
    await page.goto("/settings/sessions")
    await expect(page.get_by_role("row", name="This one")).to_be_visible()
    await expect(page.get_by_role("row", name="This one").get_by_role("button", name="Sign out")).to_have_count(0)
    other = page.get_by_role("row").filter(has=page.get_by_role("button", name="Sign out"))
    await expect(other).to_have_count(1)
    await other.get_by_role("button", name="Sign out").click()
    await expect(other).to_have_count(0)


async def test_unsaved_changes_are_guarded_against_links_and_going_back(app: App):
    page = app.page
    await page.goto("/settings/appearance")
    await page.get_by_role("link", name="Personal prompt").click()
    field = page.get_by_role("textbox", name="Prompt")
    await field.fill("Half a thought")
    await page.get_by_role("link", name="New chat").click()
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    await dialog.get_by_role("button", name="Stay").click()
    await expect(field).to_have_value("Half a thought")
    await page.evaluate("history.back()")
    await dialog.get_by_role("button", name="Stay").click()
    await expect(field).to_have_value("Half a thought")
    await page.get_by_role("link", name="New chat").click()
    await dialog.get_by_role("button", name="Leave").click()
    await expect(composer(page)).to_be_visible()


async def test_a_page_of_settings_that_is_not_there_says_so(app: App):
    await app.page.goto("/settings/nonsense")
    await expect(app.page.get_by_text("There is no such page")).to_be_visible()


@pytest.mark.long
async def test_a_wrong_current_password_is_said_once_and_at_its_field(app: App):
    page = app.page
    await page.goto("/settings/password")
    await page.get_by_label("Current password").fill("not this one")
    await page.get_by_label("New password", exact=True).fill("a new password")
    await page.get_by_label("New password, again").fill("a new password")
    await page.get_by_role("button", name="Change password").click()
    await expect(page.get_by_text("This is not your current password.")).to_have_count(1)
    await expect(page.get_by_label("Current password")).to_be_focused()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await page.get_by_label("Current password").fill(PASSWORD)
    await expect(page.get_by_text("This is not your current password.")).to_have_count(0)
    await page.get_by_role("button", name="Change password").click()
    await expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    app.forgive("400")
