"""What admins set: it is checked, kept, holds at once for everyone, and is not offered to members."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from browser.app import App, composer, rows, say
from chatd.testing.vendors.script import Say, Turn
from server.configured_models import KEY, MODELS, PROVIDERS, model

pytestmark = pytest.mark.asyncio(loop_scope="session")

ADMIN_PAGES = (
    "providers",
    "models",
    "overrides",
    "advisor",
    "instructions",
    "templates",
    "lifetime",
    "git",
    "users",
    "groups",
    "limits",
    "audit",
)


async def admin_page(app: App, page: str) -> Page:
    admin = await app.sign_in(app.chats.running.owner)
    await admin.goto(f"/settings/{page}")
    return admin


async def pick(page: Page, label: str, option: str) -> None:
    await page.get_by_label(label, exact=True).click()
    await page.get_by_role("option", name=option, exact=True).click()


async def test_what_an_admin_adds_is_in_the_open_picker_of_a_member_without_a_reload(app: App):
    await app.page.goto("/")
    await expect(app.page.get_by_role("button", name="Model: scripted-model")).to_be_visible()
    admin = await admin_page(app, "providers")
    await admin.get_by_role("button", name="Add provider").click()
    await pick(admin, "Type", "OpenAI-compatible")
    await admin.get_by_label("Name", exact=True).fill("not allowed!")
    await admin.get_by_label("Address").fill(app.chats.vendor.url)
    await admin.get_by_role("button", name="Add provider").click()
    await expect(admin.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    await admin.get_by_label("Name", exact=True).fill("second")
    await expect(admin.get_by_label("Name", exact=True)).not_to_have_attribute("aria-invalid", "true")
    await admin.get_by_role("button", name="Add provider").click()
    await expect(admin.get_by_role("heading", name="Add a model", exact=True)).to_be_visible()
    await pick(admin, "Model", "Another, by its name")
    await admin.get_by_label("Name", exact=True).fill("another-model")
    await admin.get_by_label("Context").fill("50000")
    await admin.get_by_role("button", name="Add model").click()
    await expect(admin.get_by_role("link", name="another-model")).to_be_visible()

    member = app.page
    await member.get_by_role("button", name="Model: scripted-model").click()
    await expect(member.get_by_text("another-model")).to_be_visible(timeout=30_000)
    await admin.get_by_role("switch", name="Use another-model").click()
    await expect(member.get_by_text("another-model")).to_have_count(0, timeout=30_000)
    app.forgive("400")


@pytest.mark.long
async def test_pages_of_admins_are_neither_offered_to_members_nor_opened(app: App):
    page = app.page
    await page.goto("/settings")
    nav = page.get_by_role("navigation", name="Settings")
    await expect(nav.get_by_role("link", name="Appearance")).to_be_visible()
    await expect(nav.get_by_role("link", name="Providers")).to_have_count(0)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/api/" in one.url else None)
    for path in ADMIN_PAGES:
        await page.goto(f"/settings/{path}")
        await expect(page.get_by_text("Only admins can open this page")).to_be_visible()
    assert not [url for url in asked if "/providers" in url or "/usage-limits" in url or "/audit" in url]
    auditor = await app.sign_in(await app.chats.running.add_user("aud", role="auditor"))
    await auditor.goto("/settings/audit")
    await expect(auditor.get_by_role("heading", name="Audit log")).to_be_visible()
    await expect(auditor.get_by_role("row").nth(1)).to_be_visible()
    await auditor.goto("/settings/providers")
    await expect(auditor.get_by_text("Only admins can open this page")).to_be_visible()


@pytest.mark.long
async def test_every_page_of_admins_opens_and_has_a_title(app: App):
    admin = await admin_page(app, "providers")
    nav = admin.get_by_role("navigation", name="Settings")
    for path in ADMIN_PAGES:
        await nav.locator(f"a[href='/settings/{path}']").click()
        await expect(nav.locator("[aria-current=page]")).to_have_attribute("href", f"/settings/{path}")
        await expect(admin.get_by_role("heading", level=1)).to_be_visible()
        await expect(admin.get_by_role("alert")).to_have_count(0)


@pytest.mark.long
async def test_a_provider_is_changed_tested_switched_off_and_deleted(app: App):
    admin = await admin_page(app, "providers")
    await admin.get_by_role("link", name="main").click()
    await admin.get_by_label("Shown as").fill("The main one")
    await admin.get_by_role("button", name="Save").click()
    await expect(admin.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    await admin.reload()
    await expect(admin.get_by_label("Shown as")).to_have_value("The main one")
    assert KEY not in await admin.content()
    await admin.get_by_role("button", name="Test").click()
    await expect(admin.get_by_text("answered")).to_be_visible()
    await admin.get_by_role("link", name="Providers").last.click()
    await admin.get_by_role("switch", name="Use The main one").click()
    await app.page.goto("/")
    await expect(app.page.get_by_text("scripted-model")).to_have_count(0)
    await admin.get_by_role("link", name="The main one").click()
    await admin.get_by_role("button", name="Delete").click()
    dialog = admin.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
    await dialog.get_by_role("textbox").fill("main")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(admin.get_by_text("No providers yet")).to_be_visible()
    assert (await app.chats.running.owner.get(PROVIDERS)).body == []


@pytest.mark.long
async def test_a_model_becomes_the_default_gets_prices_and_keeps_what_was_typed_when_it_is_wrong(app: App):
    owner = app.chats.running.owner
    (provider,) = (await owner.get(PROVIDERS)).body
    await model(owner, provider["id"], "other-model", context_limit=10_000)
    admin = await admin_page(app, "models")
    await admin.get_by_role("button", name="Make default").click()
    await expect(admin.get_by_role("row", name="other-model")).to_contain_text("Default")
    await admin.get_by_role("link", name="other-model").click()
    await admin.get_by_label("Input").fill("cheap")
    await admin.get_by_role("button", name="Save").click()
    await expect(admin.get_by_label("Input")).to_have_attribute("aria-invalid", "true")
    await expect(admin.get_by_label("Input")).to_have_value("cheap")
    await admin.get_by_label("Input").fill("1.5")
    await admin.get_by_label("Output").fill("3")
    await admin.get_by_role("button", name="Save").click()
    await expect(admin.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    await admin.reload()
    await expect(admin.get_by_label("Input")).to_have_value("1.5")
    await admin.get_by_label("Input").fill("9")
    await admin.get_by_role("link", name="Models").first.click()
    dialog = admin.get_by_role("dialog", name="Leave without saving?")
    await dialog.get_by_role("button", name="Stay").click()
    await expect(admin.get_by_label("Input")).to_have_value("9")
    await admin.get_by_role("link", name="Models").first.click()
    await dialog.get_by_role("button", name="Leave").click()
    await expect(admin.get_by_role("row", name="other-model")).to_contain_text("$1.5 in, $3 out")
    await app.page.goto("/")
    await expect(app.page.get_by_role("button", name="Model: other-model")).to_be_visible()
    app.forgive("400")


@pytest.mark.long
async def test_instructions_are_given_with_the_next_chat(app: App):
    admin = await admin_page(app, "instructions")
    await admin.get_by_role("textbox", name="System prompt").fill("Always speak of owls.")
    await admin.get_by_role("button", name="Save").first.click()
    await expect(admin.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    await app.page.goto("/")
    await say(app.page, "hello")
    await expect(rows(app.page, "text")).to_have_text(["Hi."])
    assert "Always speak of owls." in str(app.chats.script.asked[-1].body["system"])
    await admin.reload()
    await expect(admin.get_by_role("textbox", name="System prompt")).to_have_value("Always speak of owls.")


@pytest.mark.long
async def test_a_lifetime_that_makes_no_sense_is_refused_and_a_good_one_kept(app: App):
    admin = await admin_page(app, "lifetime")
    field = admin.get_by_label("Stop after")
    await field.fill("90")
    await admin.get_by_role("button", name="Save").click()
    await expect(admin.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    await admin.reload()
    await expect(field).to_have_value("90")
    await field.fill("50000")
    await admin.get_by_role("button", name="Save").click()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(field).to_have_value("50,000")
    await expect(field).to_be_focused()
    await expect(admin.get_by_role("alert")).to_have_count(0)
    await expect(admin.get_by_text("workspace_ttl_ms")).to_have_count(0)
    await admin.get_by_role("button", name="Discard changes").click()
    await expect(field).to_have_value("90")
    app.forgive("400")


@pytest.mark.long
async def test_users_and_groups_are_made_and_changed(app: App):
    admin = await admin_page(app, "users")
    await admin.get_by_role("button", name="Add user").click()
    dialog = admin.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("mia")
    await dialog.get_by_label("Email").fill("max@example.com")
    await dialog.get_by_label("Password").fill("a long enough password")
    await dialog.get_by_role("button", name="Add user").click()
    await expect(dialog.get_by_role("alert").or_(dialog.locator("[aria-invalid=true]")).first).to_be_visible()
    await dialog.get_by_label("Name", exact=True).fill("max")
    await dialog.get_by_role("button", name="Add user").click()
    await expect(dialog).to_have_count(0)
    await expect(admin.get_by_role("row", name="max")).to_be_visible()
    await admin.goto("/settings/groups")
    await admin.get_by_role("button", name="Add group").first.click()
    await dialog.get_by_label("Name", exact=True).fill("birders")
    await dialog.get_by_role("button", name="Add group").click()
    await expect(admin.get_by_role("link", name="birders")).to_be_visible()
    await admin.goto("/settings/audit")
    await expect(admin.get_by_role("row").filter(has_text="Created").first).to_be_visible()
    app.forgive("400", "409")


@pytest.mark.long
async def test_a_page_whose_answer_fails_says_so_and_a_slow_one_shows_that_it_loads(app: App):
    held = asyncio.Event()
    calls: list[Any] = []

    async def first_fails(route: Route) -> None:
        calls.append(route)
        if len(calls) == 1:
            await route.fulfill(status=400, json={"message": "Not now."})
            return
        await held.wait()
        await route.continue_()

    admin = await app.sign_in(app.chats.running.owner)
    await admin.route("**/usage-limits", first_fails)
    await admin.goto("/settings/limits")
    await expect(admin.get_by_role("alert")).to_contain_text("Not now.")
    await admin.get_by_role("button", name="Try again").click()
    await expect(admin.get_by_role("alert")).to_have_count(0)
    await expect(admin.get_by_role("status").filter(has_text="Loading").first).to_be_attached()
    held.set()
    await expect(admin.get_by_text("No limits")).to_be_visible()
    app.forgive("400")


@pytest.mark.long
async def test_a_member_without_a_model_is_told_whom_to_ask(app: App):
    owner = app.chats.running.owner
    deleted = await owner.call("DELETE", f"{MODELS}/{app.chats.model_id}")
    assert deleted.status == 204, deleted
    await app.page.goto("/")
    await expect(composer(app.page)).to_be_visible()
    await expect(app.page.get_by_text("No model")).to_be_visible()
    await expect(app.page.get_by_text("An admin can add one under Settings, Providers.")).to_be_visible()
    await expect(app.page.get_by_role("link", name="Providers")).to_have_count(0)
    app.plays(Turn(Say("Hi.")))


@pytest.mark.long
async def test_a_server_of_ones_own_is_tested_added_and_its_first_model_is_the_default(app: App):
    owner = app.chats.running.owner
    deleted = await owner.call("DELETE", f"{MODELS}/{app.chats.model_id}")
    assert deleted.status == 204, deleted
    admin = await admin_page(app, "providers/new")
    await admin.set_viewport_size({"width": 1000, "height": 400})
    await admin.get_by_label("API key").fill("of-another-vendor")
    await pick(admin, "Type", "OpenAI-compatible")
    await expect(admin.get_by_label("API key")).to_have_value("")
    await admin.get_by_label("Address").fill("http://no-such-host.invalid/v1")
    await admin.get_by_label("Model to test with").fill("owl-1")
    await admin.get_by_role("button", name="Test").click()
    await expect(admin.get_by_text("No server is called no-such-host.invalid. Check the address.")).to_be_visible()
    await admin.get_by_label("Address").fill(app.chats.vendor.url)
    await admin.get_by_role("button", name="Test").click()
    await expect(admin.get_by_text("is not the API of")).to_be_visible()  # it was asked: it speaks as another vendor
    await admin.get_by_role("button", name="Add provider").click()

    await expect(admin.get_by_role("heading", name="Add a model", exact=True)).to_be_in_viewport()
    await expect(admin.get_by_label("Name", exact=True)).to_have_value("owl-1")
    box = admin.get_by_role("checkbox", name="Default")
    await expect(box).to_be_checked()
    await expect(box).to_be_disabled()
    await admin.get_by_role("button", name="Add model").click()
    await expect(admin.get_by_text("Needed: the catalogue does not know this model.")).to_have_count(1)
    await expect(admin.get_by_label("Context")).to_be_focused()
    await expect(admin.get_by_text("context_limit")).to_have_count(0)
    await admin.get_by_label("Context").fill("50000")
    await expect(admin.get_by_text("Needed: the catalogue")).to_have_count(0)
    await admin.get_by_role("button", name="Add model").click()
    await expect(admin.get_by_text("owl-1 was added. It is the default.")).to_be_visible()
    app.forgive("400")


@pytest.mark.long
async def test_a_password_that_was_generated_for_someone_lets_them_in(app: App):
    admin = await admin_page(app, "users")
    await admin.get_by_role("button", name="Add user").click()
    dialog = admin.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("Max.M")
    await dialog.get_by_label("Email").fill("max@example.com")
    await dialog.get_by_role("button", name="Generate").click()
    password = await dialog.get_by_label("Password").input_value()
    await dialog.get_by_role("button", name="Add user").click()
    await expect(dialog).to_have_count(0)
    page = await app.anonymous()
    await page.goto("/")
    await page.get_by_label("Name or email").fill("max.m")
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()
    await expect(composer(page)).to_be_visible()
    app.forgive("401")
