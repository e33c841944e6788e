"""Where messages are written: keys, commands, models, and what is remembered."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from browser.app import App, composer, rows, say, until
from browser.worked import app_with_workspaces, working_chat
from chatd.testing.vendors.script import Hold, Say, Turn
from server.chat_api import CHATS
from server.configured_models import PROVIDERS, model

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.long
async def test_enter_sends_and_shift_enter_does_not(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    await composer(app.page).fill("one")
    await composer(app.page).press("Shift+Enter")
    await app.page.keyboard.type("two")
    await expect(composer(app.page)).to_have_value("one\ntwo")
    await composer(app.page).press("Enter")
    await expect(rows(app.page, "user").locator("[data-said]")).to_have_text(["hello", "one two"])

    await app.page.evaluate("localStorage.setItem('chatd.send-with', 'modifier')")
    await app.page.reload()
    await composer(app.page).fill("three")
    await composer(app.page).press("Enter")
    await expect(composer(app.page)).to_have_value("three\n")
    await composer(app.page).press("Control+Enter")
    await expect(rows(app.page, "user")).to_have_count(3)


@pytest.mark.long
async def test_enter_makes_a_new_line_on_a_phone(app: App):
    phone = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 740}}
    page = await app.sign_in(app.chats.mia, **phone)
    await page.goto("/")
    await composer(page).fill("one")
    await composer(page).press("Enter")
    await expect(composer(page)).to_have_value("one\n")
    await page.get_by_role("button", name="Send").tap()
    await expect(rows(page, "user")).to_have_count(1)


@pytest.mark.long
async def test_earlier_prompts_come_and_go_and_leave_the_draft(app: App):
    chat = await app.chats.create("first words")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    await say(app.page, "second words")
    await expect(rows(app.page, "end")).to_have_count(2)
    await composer(app.page).fill("a draft")
    await composer(app.page).press("Home")
    await composer(app.page).press("ArrowUp")
    await expect(composer(app.page)).to_have_value("second words")
    await composer(app.page).press("ArrowUp")
    await expect(composer(app.page)).to_have_value("first words")
    for value in ("second words", "a draft"):
        await composer(app.page).press("End")
        await composer(app.page).press("ArrowDown")
        await expect(composer(app.page)).to_have_value(value)
    await composer(app.page).fill("")
    await composer(app.page).press("ArrowUp")
    await expect(composer(app.page)).to_have_value("second words")
    await app.page.keyboard.type("More of the ")  # typing stays with what came
    await composer(app.page).press("End")
    await composer(app.page).press("ArrowDown")
    await expect(composer(app.page)).to_have_value("More of the second words")


@pytest.mark.long
async def test_a_draft_outlasts_a_reload_while_an_earlier_prompt_hides_it(app: App):
    chat = await app.chats.create("first words")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_have_count(1)
    await composer(app.page).fill("a draft")
    await composer(app.page).press("Home")
    await composer(app.page).press("ArrowUp")
    await expect(composer(app.page)).to_have_value("first words")
    await app.page.reload()
    await expect(composer(app.page)).to_have_value("a draft")
    await composer(app.page).press("Home")
    await composer(app.page).press("ArrowUp")
    await expect(composer(app.page)).to_have_value("first words")
    await composer(app.page).press("Enter")  # sent again as it is: the draft was not
    await expect(rows(app.page, "user").locator("[data-said]")).to_have_text(["first words", "first words"])
    await expect(composer(app.page)).to_have_value("a draft")


def refused(status: int) -> Callable[[Route], Coroutine[Any, Any, None]]:
    async def answer(route: Route) -> None:
        await route.fulfill(status=status, json={"message": "Not this one."})

    return answer


MESSAGES = "**/api/experimental/chats/*/messages"


@pytest.mark.long
async def test_what_was_refused_goes_from_every_tab_when_it_is_dismissed(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    await app.page.route(MESSAGES, refused(409))
    await say(app.page, "not wanted")
    await expect(rows(app.page, "send")).to_contain_text("Not this one.")
    other = await app.tab(app.context)
    await app.open(chat, other)
    await expect(rows(other, "send")).to_contain_text("not wanted")
    await rows(app.page, "send").get_by_role("button", name="Dismiss").click()
    for page in (app.page, other):
        await expect(rows(page, "send")).to_have_count(0)
    app.forgive("409")


@pytest.mark.long
async def test_words_to_a_chat_that_is_gone_can_begin_another(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    await app.page.route(MESSAGES, refused(404))
    await say(app.page, "not to be lost")
    await expect(rows(app.page, "send")).to_contain_text("Not this one.")
    await app.page.keyboard.press("Alt+n")
    left = app.page.get_by_role("article").filter(has_text="not to be lost")
    await expect(left).to_contain_text("Its chat is not there any more.")
    await app.page.reload()
    await left.get_by_role("button", name="Try again").click()
    await expect(rows(app.page, "text")).to_have_text(["Hi."])
    await expect(rows(app.page, "user").locator("[data-said]")).to_have_text(["not to be lost"])
    await app.page.goto("/")
    await expect(composer(app.page)).to_be_visible()
    await expect(left).to_have_count(0)
    app.forgive("404")


@pytest.mark.long
async def test_words_that_were_refused_are_on_the_page_of_a_chat_that_is_gone_since(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    await app.page.route(MESSAGES, refused(409))
    await say(app.page, "not to be lost")
    await expect(rows(app.page, "send")).to_contain_text("Not this one.")
    await app.page.unroute(MESSAGES)
    await app.page.route(f"**/api/experimental/chats/{chat['id']}**", refused(404))
    await app.page.reload()
    await expect(app.page.get_by_role("alert")).to_contain_text("There is no such chat")
    left = app.page.get_by_role("article").filter(has_text="not to be lost")
    await left.get_by_role("button", name="Send in a new chat").click()
    await expect(composer(app.page)).to_have_value("not to be lost")
    await expect(left).to_have_count(0)
    app.forgive("404", "409")


@pytest.mark.long
async def test_commands_are_chosen_by_keys(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    menu = app.page.get_by_role("listbox", name="Commands")
    await composer(app.page).press_sequentially("/")
    await expect(menu.get_by_role("option")).to_contain_text(["/compact"])
    await composer(app.page).press("Escape")
    await expect(menu).to_have_count(0)
    await composer(app.page).press_sequentially("comp")
    app.plays(Turn(Say("They said hello.")))
    await composer(app.page).press("Tab")
    await expect(composer(app.page)).to_have_value("")
    await expect(rows(app.page, "summary")).to_contain_text("Summarized on request")
    await composer(app.page).press_sequentially("/nothing")
    await expect(menu).to_have_count(0)
    await composer(app.page).press("Enter")
    await expect(rows(app.page, "user").last).to_contain_text("/nothing")


SKILLS = r"""
for name in compact review; do
    mkdir -p .agents/skills/$name && cd .agents/skills/$name
    printf -- '---\nname: %s\ndescription: A skill called %s.\n---\nDo it.\n' $name $name > SKILL.md
    cd -
done
"""


@pytest.mark.long
async def test_a_skill_that_has_the_name_of_a_command_is_what_is_meant(apps: Any):
    async with app_with_workspaces(apps) as app:
        chat = await working_chat(app, SKILLS)
        assert (await app.chats.mia.call("PUT", f"{CHATS}/{chat['id']}/context", {})).status == 200
        page = await app.open(chat)
        menu = page.get_by_role("listbox", name="Commands")
        await composer(page).press_sequentially("/")
        await expect(menu.get_by_role("option")).to_have_count(2)
        await expect(menu.get_by_role("option", name="/compact")).to_contain_text("A skill called compact.")
        await composer(page).press_sequentially("comp")
        await expect(menu.get_by_role("option")).to_have_count(1)
        await composer(page).press("Tab")
        await expect(composer(page)).to_have_value("/compact ")
        await composer(page).press_sequentially("the boxes")
        await composer(page).press("Enter")
        await expect(rows(page, "user").last).to_contain_text("/compact the boxes")
        await expect(rows(page, "end")).to_have_count(2)
        await expect(rows(page, "summary")).to_have_count(0)


@pytest.mark.long
async def test_characters_that_nobody_sees_are_counted_and_removed(app: App):
    await app.page.goto("/")
    await composer(app.page).fill("de\u200blete\u202e all")
    await expect(app.page.get_by_text("2 invisible characters are in this message.")).to_be_visible()
    await app.page.get_by_role("button", name="Remove them").click()
    await expect(composer(app.page)).to_have_value("delete all")
    await expect(app.page.get_by_text("invisible characters")).to_have_count(0)


@pytest.mark.long
async def test_a_prompt_of_the_address_is_taken_once_and_leaves_the_draft(app: App):
    await app.page.goto("/")
    await composer(app.page).fill("half a thought")
    await app.page.goto("/?prompt=Count+the+owls&list=unread")
    await expect(composer(app.page)).to_have_value("Count the owls\n\nhalf a thought")
    await expect(app.page).to_have_url(f"{app.url}/?list=unread")
    await composer(app.page).fill("Count the foxes")
    await app.page.reload()
    await expect(composer(app.page)).to_have_value("Count the foxes")


async def many_models(app: App) -> None:
    owner = app.chats.running.owner
    [provider] = (await owner.get(PROVIDERS)).body
    for number in range(9):
        await model(owner, provider["id"], f"another-{number}", context_limit=200_000 if number == 7 else 50_000)


def picker(page: Page) -> Any:
    return page.get_by_role("button", name="Model:")


@pytest.mark.long
async def test_models_are_searched_and_remembered_for_each_chat(app: App):
    await many_models(app)
    first, second = [await app.chats.create(name) for name in ("first", "second")]
    await app.open(first)
    await expect(picker(app.page)).to_have_accessible_name("Model: scripted-model")
    await picker(app.page).click()
    box = app.page.get_by_role("combobox", name="Find a model")
    await expect(box).to_be_focused()
    await expect(app.page.get_by_role("option")).to_have_count(10)
    await app.page.keyboard.type("200K")
    await expect(app.page.get_by_role("option")).to_have_text(["another-7200K"])
    await box.fill("another")
    await app.page.keyboard.press("ArrowDown")
    await app.page.keyboard.press("Enter")
    await expect(picker(app.page)).to_have_accessible_name("Model: another-1")
    await app.open(second)
    await expect(picker(app.page)).to_have_accessible_name("Model: scripted-model")
    await app.open(first)  # chosen, and not sent with anything yet
    await expect(picker(app.page)).to_have_accessible_name("Model: another-1")
    await say(app.page, "with this one")
    await expect(rows(app.page, "end")).to_have_count(2)
    assert app.chats.script.asked[-1].body["model"] == "another-1"
    await app.page.reload()
    await expect(picker(app.page)).to_have_accessible_name("Model: another-1")


@pytest.mark.long
async def test_effort_is_remembered_for_each_model(app: App):
    owner = app.chats.running.owner
    [provider] = (await owner.get(PROVIDERS)).body
    for name in ("claude-opus-5-5", "claude-sonnet-5-5"):
        effort_of = {"reasoning_effort": {"default": "low", "max": "high"}}
        await model(owner, provider["id"], name, display_name=name, model_config=effort_of)
    await app.page.goto("/")
    effort = app.page.get_by_role("button", name="Effort:")

    async def choose(name: str) -> None:
        await picker(app.page).click()
        await app.page.get_by_role("menuitemradio", name=name).click()
        await expect(picker(app.page)).to_have_accessible_name(f"Model: {name}")

    await choose("claude-opus-5-5")
    await effort.click()
    await app.page.get_by_role("menuitemradio", name="High").click()
    await choose("claude-sonnet-5-5")
    await expect(effort).to_have_accessible_name("Effort: Default effort")
    await choose("claude-opus-5-5")
    await expect(effort).to_have_accessible_name("Effort: High")
    await app.page.reload()
    await expect(effort).to_have_accessible_name("Effort: High")


@pytest.mark.long
async def test_planning_is_of_the_chat_and_the_same_everywhere(app: App):
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "end")).to_be_visible()
    plan = app.page.get_by_role("button", name="Plan first")
    await expect(plan).to_have_attribute("aria-pressed", "false")
    await plan.click()
    await expect(plan).to_have_attribute("aria-pressed", "true")
    await say(app.page, "make a plan")
    await expect(rows(app.page, "end")).to_have_count(2)
    await app.page.reload()
    await expect(plan).to_have_attribute("aria-pressed", "true")
    await plan.click()
    await expect(plan).to_have_attribute("aria-pressed", "false")
    await say(app.page, "do it")
    await expect(rows(app.page, "end")).to_have_count(3)
    seen = (await app.chats.mia.get(f"/api/experimental/chats/{chat['id']}")).body
    assert seen.get("plan_mode") is None


@pytest.mark.long
async def test_what_is_written_while_a_turn_runs_waits_for_its_end(app: App):
    held = asyncio.Event()
    app.plays(Turn(Say("Half an ", "answer."), faults=(Hold(held, before_event=4),)), Turn(Say("Next.")))
    chat = await app.chats.create("hello")
    await app.open(chat)
    await expect(rows(app.page, "text")).to_have_text(["Half an"])
    for text in ("one", "two"):
        await say(app.page, text)
    await expect(app.page.get_by_role("region", name="Waiting").get_by_role("listitem")).to_have_text(["one", "two"])
    held.set()
    await expect(rows(app.page, "user").locator("[data-said]")).to_have_text(["hello", "one", "two"])
    await expect(rows(app.page, "text")).to_have_text(["Half an answer.", "Next.", "Next."])
    await until(app.page, "document.querySelector('[aria-label=Waiting]') === null")
