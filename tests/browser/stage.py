"""A deployment in the midst of its work: people, models, prices, chats of every kind, a workspace with a repository.

Everything is made by the server itself, with real tools in a real workspace; only the words of the model are written
here. What a place needs is made when it is first asked for. Times of chats and messages are then moved into the past.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
from playwright.async_api import Browser, Page

from browser.app import App
from browser.stage_words import (
    ANSWER,
    ASKED,
    FAILING_TEST,
    LABELS,
    LOOKED_UP,
    NEW_TEST,
    OTHERS,
    PARTS,
    PLAN,
    REPOSITORY,
    SUMMARY,
    TICKETS,
    TITLES,
)
from chatd.core import chat_summary, labels, titles
from chatd.core.failure import FailureKind
from chatd.core.failure.texts import Wording, sentence
from chatd.core.tokens import hash_token
from chatd.core.usage import Usage
from chatd.testing.postgres import migrated_database
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Hold, Refuse, Say, Search, Source, Think, Turn
from chatd.testing.vendors.server import vendor_server
from server.chat_api import CHATS, ChatApi, _Script, text
from server.configured_models import KEY, model, provider
from server.running import PASSWORD, Api, running_server
from server.test_watch import begin_child
from server.workspace_api import TEMPLATES, WorkspaceApi

Chat = dict[str, Any]
# What gives up only after many attempts is not waited for: its error is written into a chat that has failed already.
_INSISTENT = {
    FailureKind.RATE_LIMIT: Wording.RATE_LIMITED,
    FailureKind.TIMEOUT: Wording.UNAVAILABLE,
    FailureKind.STARTUP_TIMEOUT: Wording.NOT_STARTED,
    FailureKind.STREAM_SILENCE_TIMEOUT: Wording.SILENT,
    FailureKind.OVERLOADED: Wording.OVERLOADED,
    FailureKind.UNKNOWN: Wording.UNEXPECTED,
}
_FINAL = {
    FailureKind.AUTH: Refuse(401, "invalid x-api-key"),
    FailureKind.CONFIG: Refuse(404, "model: claude-opus-5-5"),
    FailureKind.USAGE_LIMIT: Refuse(402, "Your credit balance is too low to access the API."),
    FailureKind.CONTENT_FILTER: Refuse(400, "Output blocked by content filtering policy"),
}
USED = Usage(input_tokens=18_400, output_tokens=1_240, cache_read_tokens=12_000, reasoning_tokens=310)


class Played(_Script):
    """Answers by what was asked: titles and labels from a table, turns in the order in which they were given."""

    def __init__(self) -> None:
        super().__init__([Turn(Say(ANSWER))], None)
        self._of: dict[str, list[Turn | Refuse]] = {}

    def answers(self, question: str, *turns: Turn | Refuse) -> None:
        self._of[question] = list(turns)

    def __call__(self, asked: Asked) -> Turn | Refuse:
        system, said = str(asked.body.get("system")), asked.last_text
        if titles.PROMPT[:20] in system:
            return Turn(Say(_found(TITLES, said, "A new chat")))
        if labels.PROMPT[:20] in system:
            return Turn(Say(_found(LABELS, json.dumps(asked.messages), "Answered")))
        if chat_summary.PROMPT[:20] in system:
            return Turn(Say(SUMMARY))
        turns = next((turns for question, turns in self._of.items() if question in said), None)
        if turns is None:
            return super().__call__(asked)
        return turns.pop(0) if len(turns) > 1 else turns[0]


def _found(table: Mapping[str, str], within: str, otherwise: str) -> str:
    return next((value for key, value in table.items() if key in within), otherwise)


class Stage:
    """`olga`, an admin, owns everything; `mia` is a member with nothing of hers."""

    def __init__(
        self,
        app: App,
        dsn: str,
        data_dir: Path,
        script: Played,
        workspaces: WorkspaceApi,
        others: AsyncExitStack,
    ) -> None:
        self.app = app
        self._dsn = dsn
        self._data_dir = data_dir
        self._others = others
        self._script = script
        self._workspaces = workspaces
        self.olga: Api = app.chats.running.owner
        self.mia: Api = app.chats.mia
        self._made: dict[str, Any] = {}
        self._held = asyncio.Event()

    async def sign_in(self, api: Api | None = None, **look: Any) -> Page:
        return await self.app.sign_in(api or self.olga, **look)

    def release(self) -> None:
        """Answers that are held go on: a server can't stop before."""
        self._held.set()

    async def once(self, name: str, make: Callable[[], Awaitable[Any]]) -> Any:
        if name not in self._made:
            self._made[name] = await make()
        return self._made[name]

    async def unused(self) -> "Unused":
        """Another server, on which nobody has an account yet. It runs as long as the stage."""
        dsn = await self._others.enter_async_context(migrated_database())
        folder = self._data_dir / f"unused-{secrets.token_hex(4)}"
        folder.mkdir()
        server = await self._others.enter_async_context(
            running_server(dsn, folder, first_user=False, demo_model="auto")
        )
        code = await server.replica.accounts.issue_setup_code()
        return Unused(server.api.url, code.reveal())

    async def sql(self, statement: str, *given: Any) -> None:
        """Behind the back of the server and of the triggers that guard its tables."""
        connection = await asyncpg.connect(self._dsn, server_settings={"session_replication_role": "replica"})
        try:
            await connection.execute(statement, *given)
        finally:
            await connection.close()

    async def ask(self, question: str, *turns: Turn | Refuse, until: Sequence[str] = (), **fields: Any) -> Chat:
        """A chat that has come to rest, or to one of these states."""
        self._script.answers(question, *(turns or (Turn(Say(ANSWER), usage=USED),)))
        chat = await self.app.chats.create(question, api=self.olga, **fields)
        if "streaming" not in until:
            await self.app.chats.until(chat, *(until or ("waiting", "error")), api=self.olga)
        return chat

    @property
    def home(self) -> str | None:
        """The folder of the workspace, if there is one."""
        made = self._made.get("workspace")
        return str(Path(made["path"]).parent) if made else None

    async def workspace(self) -> dict[str, Any]:
        """A running one with a repository in it; `path` is where that is."""
        return await self.once("workspace", self._new_workspace)

    async def _new_workspace(self) -> dict[str, Any]:
        made = await self._workspaces.run(self.olga, name="shop")
        command = f"{REPOSITORY}\npwd"
        chat = await self.ask(
            "Prepare the repository of the shop.",
            Turn(Call("execute", json.dumps({"command": command}))),
            Turn(Say("It is there, on the branch `mend-export`."), usage=USED),
            workspace_id=made["id"],
        )
        page = (await self.olga.get(f"{CHATS}/{chat['id']}/messages?limit=50")).body["messages"]
        (result,) = [part for row in page for part in row["content"] if part["type"] == "tool-result"]
        output = result["result"]["output"]
        await self.app.chats.running.owner.call("PATCH", f"{CHATS}/{chat['id']}", {"archived": True})
        return {**made, "path": output.strip().splitlines()[-1]}

    async def work(self) -> Chat:
        """The chat that most pictures show: it reads, edits, runs tests, and says what it did."""
        return await self.once("work", self._work)

    async def _work(self) -> Chat:
        workspace = await self.workspace()
        path = workspace["path"]
        export, test = f"{path}/src/export.py", f"{path}/tests/test_without_vat.py"
        edit = {
            "old_text": 'customer["vat"].strip().upper()',
            "new_text": '(customer.get("vat") or "").strip().upper()',
        }
        tests = {
            "command": "python3 -m unittest -v tests/test_export.py tests/test_without_vat.py 2>&1",
            "workdir": path,
            "timeout": "60s",
        }
        return await self.ask(
            ASKED,
            Turn(
                Think("The name of the field is `vat`. ", "Private customers have none, so the key is missing."),
                Say(*PLAN),
                Call("read_file", json.dumps({"path": export})),
                Call("execute", json.dumps({"command": "grep -rn 'vat' src", "workdir": path})),
                usage=USED,
            ),
            Turn(Call("edit_files", json.dumps({"files": [{"path": export, "edits": [edit]}]})), usage=USED),
            Turn(
                Call("write_file", json.dumps({"path": test, "content": NEW_TEST})),
                Call("execute", json.dumps(tests)),
                usage=USED,
            ),
            Turn(Say(ANSWER), usage=USED),
            workspace_id=workspace["id"],
        )

    async def cards(self) -> Chat:
        """Every tool that there is, also in trouble."""
        return await self.once("cards", self._cards)

    async def _cards(self) -> Chat:
        workspace = await self.workspace()
        path = workspace["path"]
        (template,) = (await self.olga.get(TEMPLATES)).body
        hits = (Source("https://example.com/format", "The format"), Source("https://example.com/reader", "A reader"))
        return await self.ask(
            "Show every tool that you have.",
            Turn(
                Think("One after the other."),
                Call("list_templates", "{}"),
                Call("read_template", json.dumps({"template_id": template["id"]})),
                Call("execute", json.dumps({"command": "sleep 600", "run_in_background": True})),
                usage=USED,
            ),
            Turn(
                Call("execute", json.dumps({"command": FAILING_TEST, "workdir": path})),
                Call("process_list", "{}"),
                Call("read_file", json.dumps({"path": f"{path}/missing.py"})),
                Call("attach_file", json.dumps({"path": f"{path}/README.md"})),
                Call("frobnicate", json.dumps({"depth": 3, "where": {"path": path}})),
                usage=USED,
            ),
            Turn(Search("empty VAT column in exports", *hits), Say(LOOKED_UP, sources=hits), usage=USED),
            workspace_id=workspace["id"],
        )

    async def summarized(self) -> Chat:
        return await self.once("summarized", self._summarized)

    async def _summarized(self) -> Chat:
        chat = await self.ask("Summarise the support tickets of this week.", Turn(Say(TICKETS), usage=USED))
        self._script._turns[:] = [Turn(Say(SUMMARY), usage=USED)]
        asked = await self.olga.post(f"{CHATS}/{chat['id']}/compact")
        assert asked.status < 300, asked
        await self.app.chats.resting(chat, api=self.olga)
        return chat

    async def streaming(self) -> Chat:
        """Half an answer, and two messages that wait."""
        return await self.once("streaming", self._streaming)

    async def _streaming(self) -> Chat:
        held = Hold(self._held, before_event=8)
        steps = (Think("Dates first."), Say("The nightly job began at 02:00 ", "and failed at ", "02:14."))
        chat = await self.ask("Draft a postmortem of the 12th.", Turn(*steps, faults=(held,)), until=("streaming",))
        for said in ("Mention the 14 invoices that were skipped.", "Keep it under a page."):
            sent = await self.olga.post(f"{CHATS}/{chat['id']}/messages", {"content": [text(said)]})
            assert sent.status == 200, sent
        return chat

    async def failed(self, kind: FailureKind = FailureKind.AUTH) -> Chat:
        return await self.once(f"failed {kind}", lambda: self._failed(kind))

    async def _failed(self, kind: FailureKind) -> Chat:
        if kind in _FINAL:
            return await self.ask("Check the certificates of all hosts.", _FINAL[kind])
        chat = await self.ask("Check the certificates of all hosts.", _FINAL[FailureKind.AUTH])
        error = {"kind": kind, "message": sentence(_INSISTENT[kind], "anthropic"), "retryable": True}
        written = "UPDATE chat_state SET last_error = $1::jsonb WHERE chat_id = $2"
        await self.sql(written, json.dumps(error), chat["id"])
        return chat

    async def retrying(self) -> Chat:
        refused = Refuse(529, "Overloaded", headers={"retry-after": "50"})
        return await self.once(
            "retrying",
            lambda: self.ask("Compare the prices of the three hosters.", refused, until=("running",)),
        )

    async def divided(self) -> tuple[Chat, list[str]]:
        """A chat with sub-agents, and their ids."""
        return await self.once("divided", self._divided)

    async def _divided(self) -> tuple[Chat, list[str]]:
        chat = await self.ask("Review the three services of the shop.", Turn(Say("All three are fine."), usage=USED))
        parts: list[str] = []
        for title, said, answer in PARTS:
            self._script.answers(said, Turn(Say(answer), usage=USED))
            part = str(await begin_child(self.app.chats, chat, title=title, said=said))
            await self.app.chats.resting({"id": part}, api=self.olga)
            parts.append(part)
        return chat, parts

    async def shelf(self) -> list[Chat]:
        """What lies in the list beside a chat: old and new, pinned and unread."""
        return await self.once("shelf", self._shelf)

    async def _shelf(self) -> list[Chat]:
        chats = [await self.ask(question, Turn(Say(answer), usage=USED)) for question, answer in OTHERS]
        pinned = await self.olga.call("PATCH", f"{CHATS}/{chats[5]['id']}", {"pin_order": 1})
        assert pinned.status < 300, pinned
        for chat, hours in zip(chats, (1, 5, 26, 50, 75, 200, 400), strict=True):
            await self._move_back(chat, hours)
        for chat in chats[1:]:
            await self.olga.call("PUT", f"{CHATS}/{chat['id']}/read", {})
        return chats

    async def _move_back(self, chat: Chat, hours: int) -> None:
        for table, column, id in (
            ("chats", "created_at", "id"),
            ("chat_state", "updated_at", "chat_id"),
            ("messages", "created_at", "chat_id"),
        ):
            moved = f"UPDATE {table} SET {column} = {column} - $1 * interval '1 hour' WHERE {id} = $2"  # noqa: S608
            await self.sql(moved, hours, chat["id"])

    async def spending(self) -> None:
        """Costs over a month, of two models."""
        await self.once("spending", self._spending)

    async def _spending(self) -> None:
        chats = [chat["id"] for chat in await self.shelf()]
        await self.sql(
            """
            INSERT INTO messages (chat_id, created_at, revision, role, visibility, compressed, deleted, content_version,
                content, model_config_id, input_tokens, output_tokens, cost_microdollars, runtime_ms)
            SELECT ($1::uuid[])[1 + (d + n) % 7], now() - d * interval '1 day' - n * interval '1 hour', 1,
                'assistant', 'both', false, true, 1, '[]', m.id, 90000, 4000,
                180000 + 90000 * ((d * 7 + n * 3) % 11) + 40000 * (d % 5), 41000
            FROM generate_series(0, 29) d, generate_series(1, 3) n,
                LATERAL (SELECT id FROM model_configs ORDER BY id OFFSET (d + n) % 2 LIMIT 1) m
            WHERE d % 7 <> 2
            """,
            chats,
        )

    async def people(self) -> None:
        """Users, a group with a member, limits, a token and a git host: what the pages of settings list."""
        await self.once("people", self._people)

    async def _people(self) -> None:
        for name, role in (("ben", "member"), ("chen", "auditor"), ("dora", "member")):
            await self.app.chats.running.add_user(name, role)
        users = {one["username"]: one["id"] for one in (await self.olga.get("/api/v2/users")).body["users"]}
        group = (await self.olga.post("/api/v2/groups", {"name": "bookkeeping"})).body
        members = {"user_ids": [users["mia"], users["ben"]]}
        limits = (
            {"period": "month", "limit_micros": 50_000_000},
            {"period": "day", "limit_micros": 5_000_000, "user_id": users["ben"]},
            {"period": "week", "limit_micros": 20_000_000, "group_id": group["id"]},
        )
        made = [
            await self.olga.post(f"/api/v2/groups/{group['id']}/members", members),
            *[await self.olga.put(f"{CHATS}/usage-limits", limit) for limit in limits],
            await self.olga.post(
                "/api/v2/users/me/tokens", {"name": "nightly-import", "scopes": ["*:read"], "lifetime_hours": 720}
            ),
            await self.olga.post(
                "/api/experimental/git-providers",
                {"kind": "github", "host": "github.com", "api_url": self.app.chats.vendor.url},
            ),
            await self.olga.put(f"{CHATS}/config/user-prompt", {"custom_prompt": "Be brief. Show code before prose."}),
        ]
        assert all(answer.status < 300 for answer in made), made
        await self._sessions()

    async def _sessions(self) -> None:
        """Olga's, at her desk and on her way."""
        phone = await self.app.chats.running.api.sign_in("olga")
        for api, agent in ((self.olga, "(X11; Linux x86_64) Chrome/142"), (phone, "(iPhone) Version/26 Safari/605")):
            told = "UPDATE tokens SET user_agent = $1 WHERE hash = $2"
            await self.sql(told, f"Mozilla/5.0 {agent}", hash_token(api.token))


class Unused(msgspec.Struct, frozen=True):
    """A server before its first visitor. The code makes one an admin, once."""

    url: str
    code: str

    async def make_account(self, page: Page) -> None:
        await page.goto(f"{self.url}/setup#{self.code}")
        await page.get_by_label("Name").fill("olga")
        await page.get_by_label("Email").fill("olga@example.com")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Make the account").click()


@asynccontextmanager
async def staged(browser: Browser, dsn: str, data_dir: Path) -> AsyncIterator[Stage]:
    script = Played()
    async with (
        vendor_server(script, key=KEY) as vendor,
        running_server(dsn, data_dir, local_workspaces="unconfined") as running,
        AsyncExitStack() as others,
    ):
        first = await provider(running.owner, "anthropic", base_url=vendor.url, display_name="Anthropic")
        opus = await model(running.owner, first, "claude-opus-5-5")
        await model(running.owner, first, "claude-sonnet-5-5")
        chats = ChatApi(running, vendor, script, await running.add_user("mia"), opus["id"])
        (template,) = (await running.owner.get(TEMPLATES)).body
        workspaces = WorkspaceApi(chats, running, chats.mia, running.owner, template["id"])
        app = App(browser, chats)
        stage = Stage(app, dsn, data_dir, script, workspaces, others)
        try:
            yield stage
        finally:
            complaints = list(app.complaints)
            stage.release()
            await app.close()
    assert complaints == [], "the browser complains"
