"""Every place of the app, and how to get there on the stage: what axe looks at, what a keyboard walks through, what the
pictures of the documentation show."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

import msgspec
from playwright.async_api import Locator, Page, expect

from browser.app import OFFLINE, PATIENCE_MS, composer, rows
from browser.stage import Chat, Stage
from chatd.core.failure import FailureKind

Group = Literal[
    "chat",
    "chat states",
    "chat floating",
    "list",
    "panel",
    "personal",
    "mine",
    "admin",
    "admin dialogs",
    "doors",
    "errors",
    "setup",
]
Look = Literal["light", "dark", "phone"]
Going = Callable[[Stage, Page], Awaitable[None]]

_WIDE: Final = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
_NARROW: Final = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LOOKS: Final[dict[Look, dict[str, Any]]] = {
    "light": {**_WIDE, "color_scheme": "light"},
    "dark": {**_WIDE, "color_scheme": "dark"},
    "phone": {**_NARROW, "reduced_motion": "reduce", "color_scheme": "light"},
}


class Place(msgspec.Struct, frozen=True):
    """`name` is also that of its picture; a place without one differs too little from another."""

    name: str
    group: Group
    go: Going
    is_pictured: bool = True
    visitor: Literal["olga", "mia", "nobody"] = "olga"
    # What the browser is made to complain about by going there.
    forgiven: tuple[str, ...] = ()

    async def visit(self, stage: Stage, look: Look, **more: Any) -> Page:
        """A new browser that stands there, with nothing under way any more."""
        options = {**LOOKS[look], **more}
        if self.visitor == "nobody":
            page = await stage.app.anonymous(**options)
        else:
            page = await stage.sign_in(stage.mia if self.visitor == "mia" else stage.olga, **options)
        await self.go(stage, page)
        await settled(page)
        return page

    async def leave(self, stage: Stage, page: Page) -> None:
        await page.context.close()
        stage.app.forgive(*self.forgiven)


PLACES: Final[list[Place]] = []


def place(group: Group, **more: Any) -> Callable[[Going], Going]:
    """The name is that of the function."""

    def add(go: Going) -> Going:
        PLACES.append(Place(go.__name__.replace("_", "-"), group, go, **more))
        return go

    return add


async def settled(page: Page) -> None:
    """Fonts are there, what is lazy has come, nothing moves: nothing has changed for three looks in a row."""
    await page.evaluate(
        """async (patience) => {
            await document.fonts.ready
            const moves = (one) => one.playState === "running" && one.effect.getComputedTiming().iterations !== Infinity
            const end = performance.now() + patience
            for (let quiet = 0, before = ""; quiet < 3;) {
                if (performance.now() > end) throw new Error("the page does not come to rest")
                await new Promise((done) => setTimeout(done, 40))
                const now = `${document.body.innerHTML.length} ${document.getAnimations().filter(moves).length}`
                quiet = now === before ? quiet + 1 : 0
                before = now
            }
        }""",
        PATIENCE_MS,
    )


def is_phone(page: Page) -> bool:
    return page.viewport_size is not None and page.viewport_size["width"] < 600


async def _list(page: Page) -> Locator:
    """The list of chats: beside the page, or in a sheet over it."""
    if is_phone(page):
        await page.get_by_role("button", name="Show chats").click()
    found = page.get_by_role("navigation", name="Chats")
    await expect(found).to_be_visible()
    return found


async def _open(page: Page, chat: Chat, kind: str = "text") -> None:
    await page.goto(f"/chats/{chat['id']}")
    await expect(composer(page)).to_be_visible()
    await expect(rows(page, kind).last).to_be_visible()


async def _beside(stage: Stage) -> None:
    """What the list shows in every picture."""
    await stage.shelf()
    await stage.work()


# A chat.


@place("chat")
async def new_chat(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/")
    await expect(page.get_by_role("heading", name="What shall we do?")).to_be_visible()


@place("chat")
async def chat(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.work(), "end")


@place("chat")
async def chat_cards(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.cards(), "end")
    await page.get_by_role("button", name=re.compile("earlier steps")).click()
    log = page.get_by_role("log")
    folded = log.get_by_role("button", expanded=False)
    while await folded.count() > 0:
        await folded.first.click()


@place("chat states")
async def chat_work(stage: Stage, page: Page) -> None:
    """Its diff and its output, unfolded."""
    await _beside(stage)
    await _open(page, await stage.work(), "end")
    await page.get_by_role("log").press("Home")
    folded = page.get_by_role("button", name=re.compile("earlier step"))
    await expect(folded).to_be_visible()
    await folded.click()
    for words in ("Edited", "unittest"):
        await page.get_by_role("log").get_by_role("button", name=words, expanded=False).last.click()


@place("chat")
async def chat_streaming(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.streaming())
    await expect(page.get_by_role("region", name="Waiting").get_by_role("listitem")).to_have_count(2)
    await page.get_by_role("button", name="Thought").first.click()


@place("chat states")
async def chat_failed(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.failed(), "user")
    await expect(page.get_by_role("alert")).to_be_visible()


@place("chat states")
async def chat_retrying(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.retrying(), "user")
    await expect(page.get_by_text("Trying again in")).to_be_visible()


@place("chat states")
async def chat_summarized(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.summarized(), "summary")
    await rows(page, "summary").get_by_role("button").first.click()


@place("chat states")
async def chat_editing(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.failed(), "user")
    await rows(page, "user").hover()
    await rows(page, "user").get_by_role("button", name="Edit").click()
    await expect(page.get_by_role("button", name="Save and run again")).to_be_visible()


@place("chat states", is_pictured=False)
async def chat_queue_edited(stage: Stage, page: Page) -> None:
    await _open(page, await stage.streaming())
    await page.get_by_role("region", name="Waiting").get_by_role("button", name="Edit").first.click()
    await expect(page.get_by_role("region", name="Waiting").get_by_role("textbox")).to_be_visible()


@place("chat states", is_pictured=False)
async def chat_attached(stage: Stage, page: Page) -> None:
    await page.goto("/")
    notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"some notes"}
    await page.locator("input[type=file]").set_input_files(notes)  # type: ignore[arg-type]
    await expect(page.get_by_text("notes.txt")).to_be_visible()
    await composer(page).fill("Read this.")


@place("chat states", visitor="mia", forgiven=("404", "WebSocket"))
async def no_such_chat(stage: Stage, page: Page) -> None:
    await page.goto("/chats/01a1e0ee-0cfd-7fc9-9f5f-78ac08c728ad")
    await expect(page.get_by_text("There is no such chat")).to_be_visible()


@place("chat states", forgiven=OFFLINE)
async def offline(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.work(), "end")
    await page.context.set_offline(True)
    await expect(page.get_by_text("You are offline.")).to_be_visible()


@place("chat states")
async def chat_find(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.work(), "end")
    await page.keyboard.press("Control+f")
    await page.get_by_role("search").get_by_role("textbox").or_(page.get_by_role("searchbox")).first.fill("VAT")
    await expect(page.get_by_text(re.compile(r"1 of \d"))).to_be_visible()


# What floats over a chat.


@place("chat floating")
async def palette(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.work(), "end")
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("option").first).to_be_visible()


@place("chat floating")
async def palette_found(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/")
    await expect(composer(page)).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Search all chats").fill("rate limit")
    await expect(page.get_by_role("option").filter(has_text="rate limit").first).to_be_visible()


@place("chat floating")
async def shortcuts(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.work(), "end")
    await page.get_by_role("log").focus()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()


@place("chat floating")
async def models_menu(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await _open(page, await stage.work(), "end")
    await page.get_by_role("button", name="Model:").click()
    await expect(page.get_by_role("menuitemradio").first).to_be_visible()


@place("chat floating", is_pictured=False)
async def efforts_menu(stage: Stage, page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Effort:").click()
    await expect(page.get_by_role("menuitemradio").first).to_be_visible()


@place("chat floating", is_pictured=False)
async def slash_menu(stage: Stage, page: Page) -> None:
    await _open(page, await stage.work(), "end")
    await composer(page).fill("/")
    await expect(page.get_by_role("option").first).to_be_visible()


@place("chat floating", is_pictured=False)
async def chat_menu(stage: Stage, page: Page) -> None:
    await _open(page, await stage.work(), "end")
    await page.get_by_role("button", name="Actions", exact=True).click()
    await expect(page.get_by_role("menuitem").first).to_be_visible()


@place("chat floating", is_pictured=False)
async def workspace_menu(stage: Stage, page: Page) -> None:
    await _open(page, await stage.work(), "end")
    if is_phone(page):
        return  # the panel has it there
    await page.get_by_role("button", name=re.compile("^Workspace shop")).click()
    await expect(page.locator("[role=menu],[role=dialog]").last).to_be_visible()


@place("chat floating", is_pictured=False)
async def user_menu(stage: Stage, page: Page) -> None:
    await page.goto("/")
    found = await _list(page)
    await found.get_by_role("button", name="olga").click()
    await expect(page.get_by_role("menuitem", name="Theme")).to_be_visible()


@place("chat floating", is_pictured=False)
async def chat_title_edited(stage: Stage, page: Page) -> None:
    await _open(page, await stage.work(), "end")
    await page.get_by_role("button", name="Actions", exact=True).click()
    await page.get_by_role("menuitem", name="Rename").click()
    await expect(page.get_by_role("textbox", name="Title")).to_be_visible()


# The list of chats.


@place("list")
async def chats(stage: Stage, page: Page) -> None:
    await _beside(stage)
    for make in (stage.streaming, stage.failed):
        await make()
    await page.goto("/")
    await expect((await _list(page)).get_by_role("listitem").first).to_be_visible()


@place("list", visitor="mia", is_pictured=False)
async def no_chats(stage: Stage, page: Page) -> None:
    await page.goto("/")
    await expect((await _list(page)).get_by_text("No chats yet")).to_be_visible()


@place("list", is_pictured=False)
async def chats_filter(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/")
    await (await _list(page)).get_by_role("button", name="Filter").click()
    await expect(page.get_by_role("menuitemcheckbox").first).to_be_visible()


@place("list", is_pictured=False)
async def chats_archived(stage: Stage, page: Page) -> None:
    await stage.workspace()
    await page.goto("/")
    found = await _list(page)
    await found.get_by_role("button", name="Filter").click()
    await page.get_by_role("menuitemcheckbox", name="Archived").click()
    await page.keyboard.press("Escape")
    await expect(found.get_by_role("listitem").first).to_be_visible()


@place("list", is_pictured=False)
async def chats_selected(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/")
    found = await _list(page)
    await found.get_by_role("button", name="Filter").click()
    await page.get_by_role("menuitem", name="Select several").click()
    await found.get_by_role("checkbox").nth(1).check()


@place("list", is_pictured=False)
async def chats_menu(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/")
    item = (await _list(page)).get_by_role("listitem").first
    await item.hover()
    await item.get_by_role("button", name="Actions for").click()
    await expect(page.get_by_role("menuitem", name="Archive")).to_be_visible()


@place("list", is_pictured=False)
async def chats_rename(stage: Stage, page: Page) -> None:
    await chats_menu(stage, page)
    await page.get_by_role("menuitem", name="Rename").click()
    await expect(page.get_by_role("textbox", name="Title")).to_be_visible()


@place("list", is_pictured=False)
async def chats_toast(stage: Stage, page: Page) -> None:
    """Another chat is archived each time: it stays so."""
    await stage.ask("Check the backups of last night.")
    await page.goto("/")
    item = (await _list(page)).get_by_role("listitem").filter(has_text="Backups of last night")
    await item.hover()
    await item.get_by_role("button", name="Actions for").click()
    await page.get_by_role("menuitem", name="Archive").click()
    await expect(page.get_by_role("button", name="Undo")).to_be_visible()


@place("list", is_pictured=False)
async def chats_sub_agents(stage: Stage, page: Page) -> None:
    chat, parts = await stage.divided()
    await page.goto("/")
    found = await _list(page)
    await found.get_by_role("button", name="Show sub-agents").click()
    for one in (chat["id"], *parts):
        await expect(found.locator(f"a[href='/chats/{one}']")).to_be_visible()


@place("list", is_pictured=False)
async def sub_agent(stage: Stage, page: Page) -> None:
    _, parts = await stage.divided()
    await page.goto(f"/chats/{parts[0]}")
    await expect(rows(page, "end")).to_be_visible()
    await expect(page.get_by_role("link", name="Back to the chat that began it")).to_be_visible()


# The panel beside a chat.


async def _panel(stage: Stage, page: Page, tab: str) -> Locator:
    await _beside(stage)
    await _open(page, await stage.work(), "end")
    if not await page.get_by_role("tab", name=tab).is_visible():
        await page.get_by_role("button", name="Show the panel").click()
    await page.get_by_role("tab", name=tab).click()
    return page.get_by_role("tabpanel", name=tab)


@place("panel")
async def panel_changes(stage: Stage, page: Page) -> None:
    panel = await _panel(stage, page, "Changes")
    await expect(panel.get_by_text("src/export.py").first).to_be_visible()


@place("panel", is_pictured=False)
async def panel_comment(stage: Stage, page: Page) -> None:
    panel = await _panel(stage, page, "Changes")
    await panel.get_by_role("button", name=re.compile(r"^Comment on line \d+$")).first.click()
    await panel.get_by_role("textbox", name="Comment on line").fill("Why not in `rows`?")


@place("panel")
async def panel_files(stage: Stage, page: Page) -> None:
    panel = await _panel(stage, page, "Files")
    for folder in ("shop", "src"):
        await panel.get_by_role("treeitem", name=folder, exact=True).click()
    await expect(panel.get_by_role("treeitem", name="export.py")).to_be_visible()


@place("panel")
async def panel_file(stage: Stage, page: Page) -> None:
    await panel_files(stage, page)
    await page.get_by_role("treeitem", name="export.py").click()
    await expect(page.get_by_text("Invoices as rows").first).to_be_visible()


@place("panel")
async def panel_terminal(stage: Stage, page: Page) -> None:
    panel = await _panel(stage, page, "Terminal")
    shown = panel.locator(".xterm-rows")
    await expect(shown).to_contain_text("$")
    await page.keyboard.type("cd shop && git status --short --branch\n")
    await expect(shown).to_contain_text("?? tests/test_without_vat.py")


@place("panel")
async def panel_context(stage: Stage, page: Page) -> None:
    panel = await _panel(stage, page, "Context")
    await expect(panel.get_by_text("The last prompt")).to_be_visible()


@place("panel", is_pictured=False)
async def panel_without_workspace(stage: Stage, page: Page) -> None:
    await _open(page, await stage.summarized(), "summary")
    await page.get_by_role("button", name="Show the panel").click()
    await page.get_by_role("tab", name="Files").click()
    await expect(page.get_by_role("tabpanel").get_by_text("No workspace yet")).to_be_visible()


# Settings.


def _settings(path: str, group: Group, heading: str, **more: Any) -> None:
    async def go(stage: Stage, page: Page) -> None:
        await _beside(stage)
        await stage.people()
        await page.goto(f"/settings/{path}")
        await expect(page.get_by_role("heading", name=heading).last).to_be_visible()

    PLACES.append(Place(f"settings-{path}", group, go, **more))


for _path, _heading in (
    ("appearance", "Appearance"),
    ("prompt", "Personal prompt"),
    ("compaction", "Compaction"),
    ("notifications", "Notifications"),
    ("tokens", "API tokens"),
    ("sessions", "Sessions"),
    ("password", "Password"),
):
    _settings(_path, "personal", _heading)

for _path, _heading in (
    ("providers", "Providers"),
    ("models", "Models"),
    ("overrides", "Models for tasks"),
    ("advisor", "Advisor and desktop"),
    ("instructions", "Instructions"),
    ("templates", "Templates"),
    ("lifetime", "Workspace lifetime"),
    ("git", "Git hosts"),
    ("users", "Users"),
    ("groups", "Groups"),
    ("limits", "Usage limits"),
    ("audit", "Audit log"),
):
    _settings(_path, "admin", _heading)


@place("mine")
async def usage(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await stage.spending()
    await page.goto("/usage")
    await expect(page.get_by_text("Cost by day", exact=True)).to_be_visible()


@place("mine")
async def workspaces(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/workspaces")
    await expect(page.get_by_text("shop").last).to_be_visible()


@place("mine", is_pictured=False)
async def settings_token_new(stage: Stage, page: Page) -> None:
    await stage.people()
    await page.goto("/settings/tokens")
    await page.get_by_role("button", name="Make token").click()
    await expect(page.get_by_role("dialog")).to_be_visible()


@place("mine", is_pictured=False)
async def settings_leave(stage: Stage, page: Page) -> None:
    await page.goto("/settings/prompt")
    await page.get_by_role("textbox", name="Prompt").fill("Be kind.")
    await page.get_by_role("link", name="Appearance" if not is_phone(page) else "All settings").click()
    await expect(page.get_by_role("alertdialog").or_(page.get_by_role("dialog"))).to_be_visible()


@place("mine", visitor="mia")
async def settings_forbidden(stage: Stage, page: Page) -> None:
    await page.goto("/settings/providers")
    await expect(page.get_by_text("Only admins can open this page")).to_be_visible()


def _dialog(name: str, path: str, button: str, **more: Any) -> None:
    async def go(stage: Stage, page: Page) -> None:
        await stage.people()
        await page.goto(f"/settings/{path}")
        await page.get_by_role("button", name=button).or_(page.get_by_role("link", name=button)).first.click()
        await expect(page.get_by_role("dialog")).to_be_visible()

    PLACES.append(Place(name, "admin dialogs", go, is_pictured=False, **more))


_dialog("settings-user-new", "users", "Add user")
_dialog("settings-group-new", "groups", "Add group")
_dialog("settings-limit-new", "limits", "Set limit")
_dialog("settings-git-new", "git", "Add git host")
_dialog("settings-git-delete", "git", "Delete")


@place("admin dialogs")
async def settings_provider(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/settings/providers")
    await page.get_by_role("main").get_by_role("link", name="Anthropic", exact=True).click()
    await expect(page.get_by_label("API key")).to_be_visible()


@place("admin dialogs", is_pictured=False)
async def settings_provider_new(stage: Stage, page: Page) -> None:
    await page.goto("/settings/providers/new")
    await expect(page.get_by_label("API key")).to_be_visible()


@place("admin dialogs")
async def settings_model(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/settings/models")
    await page.get_by_role("link", name="Claude Opus 5.5").click()
    await expect(page.get_by_text("Prices", exact=True)).to_be_visible()


@place("admin dialogs", is_pictured=False)
async def settings_model_new(stage: Stage, page: Page) -> None:
    await page.goto("/settings/models/new")
    await expect(page.get_by_role("heading", name="Add a model")).to_be_visible()


@place("admin dialogs", is_pictured=False)
async def settings_template(stage: Stage, page: Page) -> None:
    await page.goto("/settings/templates")
    await page.get_by_role("link", name="local").click()
    await expect(page.get_by_role("textbox", name="Configuration")).to_be_visible()


@place("admin dialogs", is_pictured=False)
async def settings_group(stage: Stage, page: Page) -> None:
    await stage.people()
    await page.goto("/settings/groups")
    await page.get_by_role("link", name="bookkeeping").click()
    await expect(page.get_by_text("Members", exact=True).first).to_be_visible()


@place("admin dialogs", is_pictured=False)
async def settings_role_choices(stage: Stage, page: Page) -> None:
    await stage.people()
    await page.goto("/settings/users")
    await page.get_by_role("combobox", name="Role of ben").click()
    await expect(page.get_by_role("option").first).to_be_visible()


@place("admin dialogs", is_pictured=False)
async def settings_user_menu(stage: Stage, page: Page) -> None:
    await stage.people()
    await page.goto("/settings/users")
    await page.get_by_role("button", name="More for ben").click()
    await expect(page.get_by_role("menuitem").first).to_be_visible()


# Doors.


@place("doors")
async def no_such_page(stage: Stage, page: Page) -> None:
    await _beside(stage)
    await page.goto("/usage/nowhere")
    await expect(page.get_by_text("There is no such page")).to_be_visible()


@place("doors", visitor="nobody", forgiven=("401",))
async def sign_in(stage: Stage, page: Page) -> None:
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@place("doors", visitor="nobody", is_pictured=False, forgiven=("401",))
async def sign_in_refused(stage: Stage, page: Page) -> None:
    await page.goto("/")
    await page.get_by_label("Name or email").fill("olga")
    await page.get_by_label("Password").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_text("do not go together")).to_be_visible()


# Before anyone has an account.


@place("setup", visitor="nobody", forgiven=("401",))
async def setup_account(stage: Stage, page: Page) -> None:
    await page.goto(f"{(await stage.unused()).url}/setup#7QKD-H2MW-XR4T-9ZPB")
    await expect(page.get_by_role("heading", name="Make the first account")).to_be_visible()


@place("setup", visitor="nobody", is_pictured=False, forgiven=("40",))
async def setup_account_refused(stage: Stage, page: Page) -> None:
    """Without a code one is asked for; a wrong one is refused."""
    await page.goto(f"{(await stage.unused()).url}/setup")
    for label, typed in (
        ("One-time code", "ABCD-EFGH"),
        ("Name", "olga"),
        ("Email", "olga@example.com"),
        ("Password", "correct horse"),
    ):
        await page.get_by_label(label).fill(typed)
    await page.get_by_role("button", name="Make the account").click()
    await expect(page.get_by_text("That is not the one-time code.")).to_be_visible()


@place("setup", visitor="nobody", forgiven=("401",))
async def setup_model(stage: Stage, page: Page) -> None:
    await (await stage.unused()).make_account(page)
    await expect(page.get_by_role("radio", name="Try the demo model")).to_be_checked()


@place("setup", visitor="nobody", is_pictured=False, forgiven=("401",))
async def setup_provider_refused(stage: Stage, page: Page) -> None:
    await setup_model(stage, page)
    await page.get_by_role("radio", name="Add a provider").check()
    await page.get_by_role("combobox", name="Provider").click()
    await page.get_by_role("option", name="OpenAI-compatible").click()
    await page.get_by_label("Address").fill(stage.app.chats.vendor.url)
    await page.get_by_label("API key").fill("of-nobody")
    await page.get_by_role("button", name="Add and go on").click()
    await expect(page.get_by_role("alert")).to_contain_text("is not the API of")


@place("setup", visitor="nobody", forgiven=("401",))
async def setup_first(stage: Stage, page: Page) -> None:
    await setup_model(stage, page)
    await page.get_by_role("button", name="Go on").click()
    await expect(page.get_by_role("button", name="What can you do here?")).to_be_visible()


# Turns that have failed, for each reason that there is.

_TITLES: Final[dict[FailureKind, str]] = {
    FailureKind.RATE_LIMIT: "The provider's rate limit is reached",
    FailureKind.TIMEOUT: "The provider is not available",
    FailureKind.STARTUP_TIMEOUT: "The provider did not begin to answer",
    FailureKind.STREAM_SILENCE_TIMEOUT: "The provider went silent",
    FailureKind.AUTH: "The provider does not accept the key",
    FailureKind.CONFIG: "The model is not set up right",
    FailureKind.OVERLOADED: "The provider is overloaded",
    FailureKind.USAGE_LIMIT: "The budget at the provider is spent",
    FailureKind.CONTENT_FILTER: "The provider refused the content",
    FailureKind.UNKNOWN: "The turn has failed",
}


def _error(kind: FailureKind) -> None:
    async def go(stage: Stage, page: Page) -> None:
        await _open(page, await stage.failed(kind), "user")
        await expect(page.get_by_role("alert")).to_contain_text(_TITLES[kind])

    PLACES.append(Place(f"chat-error-{kind.replace('_', '-')}", "errors", go, is_pictured=False))


for _kind in FailureKind:
    _error(_kind)
