"""Every route of the server is in the table of who may do what, and every kind of person is answered as it says."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute

from chatd.server.app import ReplicaRoutes
from chatd.server.git_stream.route import TEMPLATE as GIT
from chatd.server.git_stream.route import GitStreamRoutes
from chatd.server.middleware.asgi_types import UNMETERED
from chatd.server.middleware.experiments import ExperimentGate
from chatd.server.replica_app import replica_app
from chatd.server.routes.health import HealthRoutes
from chatd.server.serving import Draining
from chatd.server.stream.route import TEMPLATE as STREAM
from chatd.server.stream.route import StreamRoutes
from chatd.server.watch.route import PATH as WATCH
from chatd.server.watch.route import WatchRoutes
from chatd.server.web.routes import PAGES, WebRoutes
from chatd.server.workspaces.log_route import LogRoutes
from chatd.server.workspaces.terminal_route import TEMPLATE as TERMINAL
from chatd.server.workspaces.terminal_route import TerminalRoutes
from chatd.testing.vendors.script import Hold, Say, Turn
from server.access_table import BODIES, PEOPLE, QUERIES, Row, sections
from server.chat_api import CHATS, ChatApi
from server.configured_models import model, provider
from server.pushing import Told, telling
from server.running import Answer, Api, settings_for
from server.workspace_api import TEMPLATES, WorkspaceApi

SECTIONS = sections()
REFUSED = (401, 403, 404)
# What stands in front of the routes of the application, and the routes that it has itself.
IN_FRONT: dict[type, set[str]] = {
    HealthRoutes: {f"GET {path}" for path in UNMETERED},
    WebRoutes: {"GET /", *(f"GET {page}" for page in PAGES)},
    ExperimentGate: set(),
    WatchRoutes: {f"GET {WATCH}", f"WS {WATCH}"},
    StreamRoutes: {f"GET {STREAM}", f"WS {STREAM}"},
    GitStreamRoutes: {f"GET {GIT}", f"WS {GIT}"},
    LogRoutes: set(),  # the application has it too
    ReplicaRoutes: set(),
    TerminalRoutes: {f"GET {TERMINAL}", f"WS {TERMINAL}"},
}


async def test_every_route_is_in_the_table(chats: ChatApi, tmp_path: Path):
    app: Any = await replica_app(
        chats.running.replica, settings_for("postgresql://", tmp_path), draining=Draining(), public_url="http://x"
    )
    app, layers = app._app, []
    while not isinstance(app, Litestar):
        layers.append(type(app))
        app = app._app
    own = {
        f"{method} {route.path_format}"
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for method in route.methods - {"HEAD", "OPTIONS"}
    }

    assert set(layers) == set(IN_FRONT), "a new layer says here which routes it has"
    rows = [row.route for section in SECTIONS.values() for row in section]
    assert len(rows) == len(set(rows))
    assert set(rows) == own.union(*IN_FRONT.values())
    assert set(BODIES) <= set(rows)


class Things:
    """What an address or a body names: made when it is, of an owner who is made for it."""

    def __init__(self, told: Told, number: int) -> None:
        self._chats = chats = told.chats
        self._admin = chats.running.owner
        self._made: dict[str, str] = {"organization": "default", "context": "title_generation"}
        self._made |= {"path": "nonsense", "name": f"mia{number}", "new": f"new{number}", "vendor": chats.vendor.url}
        self._made |= told.service.browser().subscription()
        self.owner: Api | None = None

    async def person(self) -> Api:
        if self.owner is None:
            self.owner = await self._chats.running.add_user(self._made["name"])
        return self.owner

    async def find(self, name: str, path: str = "") -> str:
        if name not in self._made:
            makers: dict[str, Callable[[str], Awaitable[str]]] = {
                "username": self._username,
                "user": self._user,
                "token": self._token,
                "group": self._group,
                "provider": self._provider,
                "model": self._model,
                "period": self._period,
                "file": self._file,
                "chat": self._chat,
                "message": self._message,
                "queued": self._queued,
                "git_provider": self._git_provider,
                "template": self._template,
                "workspace": self._workspace,
                "build": self._build,
            }
            self._made[name] = await makers[name](path)
        return self._made[name]

    async def fill(self, text: str, path: str) -> str:
        for name in [piece.partition("}")[0] for piece in text.split("{")[1:]]:
            text = text.replace(f"{{{name}}}", await self.find(name, path))
        return text

    async def filled(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {key: await self.filled(one, path) for key, one in value.items()}
        if isinstance(value, list):
            return [await self.filled(one, path) for one in value]
        if value == "{queued:int}":
            return int(await self.find("queued"))
        return await self.fill(value, path) if isinstance(value, str) else value

    async def _username(self, _: str) -> str:
        await self.person()
        return self._made["name"]

    async def _user(self, _: str) -> str:
        return (await (await self.person()).get("/api/v2/users/me")).body["id"]

    async def _token(self, path: str) -> str:
        api = await self.person()
        if "/sessions/" in path:
            await self._chats.running.api.sign_in(self._made["name"])
            return (await api.get("/api/v2/users/me/sessions")).body["tokens"][0]["id"]
        made = await api.post("/api/v2/users/me/tokens", {"name": "t", "scopes": ["*:*"], "lifetime_hours": 1})
        return made.body["token"]["id"]

    async def _group(self, _: str) -> str:
        group = (await self._admin.post("/api/v2/groups", {"name": f"g-{self._made['new']}"})).body["id"]
        await self._admin.post(f"/api/v2/groups/{group}/members", {"user_ids": [await self.find("user")]})
        return group

    async def _provider(self, _: str) -> str:
        return await provider(self._admin, f"p-{self._made['new']}", base_url=self._chats.vendor.url)

    async def _model(self, _: str) -> str:
        return (await model(self._admin, await self.find("provider"), "scripted-model", context_limit=100_000))["id"]

    async def _period(self, _: str) -> str:
        await self._admin.put(f"{CHATS}/usage-limits", {"period": "week", "limit_micros": 10**12})
        return "week"

    async def _file(self, _: str) -> str:
        return (await upload(await self.person())).body["id"]

    async def _chat(self, _: str) -> str:
        """One at work, with a message that waits."""
        return (await self._chats.create(api=await self.person()))["id"]

    async def _message(self, _: str) -> str:
        page = await (await self.person()).get(f"{CHATS}/{await self.find('chat')}/messages")
        return str(page.body["messages"][-1]["id"])

    async def _queued(self, _: str) -> str:
        path = f"{CHATS}/{await self.find('chat')}/messages"
        sent = await (await self.person()).post(path, {"content": [{"type": "text", "text": "waits"}]})
        return str(sent.body["queued_message"]["id"])

    async def _git_provider(self, _: str) -> str:
        asked = {"kind": "github", "host": f"{self._made['new']}.host.test", "api_url": self._chats.vendor.url}
        return (await self._admin.post("/api/experimental/git-providers", asked)).body["id"]

    async def _template(self, _: str) -> str:
        body = {"name": f"t-{self._made['new']}", "provisioner": "local"}
        return (await self._admin.post(TEMPLATES, body)).body["id"]

    async def _workspace(self, _: str) -> str:
        """One that runs."""
        chats = self._chats
        workspaces = WorkspaceApi(chats, chats.running, await self.person(), self._admin, await self.find("template"))
        made = await workspaces.run()
        self._made["build"] = made["latest_build"]["id"]
        return made["id"]

    async def _build(self, _: str) -> str:
        await self.find("workspace")
        return self._made["build"]


async def upload(api: Api) -> Answer:
    headers = {"Content-Type": "text/plain", "Content-Disposition": 'attachment; filename="a.txt"'}
    return await api.raw("POST", f"{CHATS}/files", b"words", headers)


async def status_of(api: Api, row: Row, path: str, body: Any) -> int:
    if row.method == "WS":
        return await _shake_hands(api, path)
    if row.path in (STREAM, WATCH):
        headers = {"Authorization": f"Bearer {api.token}"} if api.token else {}
        async with aiohttp.ClientSession(headers=headers) as http, http.get(api.url + path) as response:
            return response.status  # and leaves
    if row.route == f"POST {CHATS}/files":
        return (await upload(api)).status
    if row.method == "GET":
        return (await api.raw("GET", path)).status
    return (await api.call(row.method, path, body)).status


async def _shake_hands(api: Api, path: str) -> int:
    headers = {"Authorization": f"Bearer {api.token}"} if api.token else {}
    async with aiohttp.ClientSession(headers=headers) as http:
        try:
            async with http.ws_connect(api.url + path):
                return 101
        except aiohttp.WSServerHandshakeError as refused:
            return refused.status


async def prepare(row: Row, things: Things, people: dict[str, Api], name: str) -> tuple[Api, str]:
    """Who asks, and for what."""
    path = await things.fill(row.path, row.path) + QUERIES.get(row.route, "")
    asking = await things.person() if name == "owner" else people[name]
    if "/webpush/" in row.path and row.route != SUBSCRIBE:
        browser = await things.filled(BODIES[SUBSCRIBE], row.path)
        subscribed = await (await things.person()).post("/api/v2/users/me/webpush/subscription", browser)
        assert subscribed.status == 204, subscribed
    if row.path.endswith("/download"):
        made = await (await things.person()).post(path.replace("/download", "/download-url"))
        path = made.body["url"].removeprefix(asking.url) if made.body["url"].startswith("http") else made.body["url"]
    if row.path.endswith("/logout") and asking.token:
        asking = await things._chats.running.api.sign_in({"owner": things._made["name"]}.get(name, LOGINS[name]))
    return asking, path


SUBSCRIBE = "POST /api/v2/users/{user}/webpush/subscription"
LOGINS = {"owner": "", "admin": "olga", "auditor": "aud", "stranger": "sam"}


@pytest.mark.parametrize("section", SECTIONS)
async def test_everyone_may_do_what_the_table_says(database: Any, tmp_path: Path, section: str):
    go = asyncio.Event()
    busy = section in ("chats", "messages")
    turns = [Turn(Say("one"), faults=(Hold(go),) if busy else ())]
    options = {"requests_per_minute": "0", "local_workspaces": "unconfined", "agents_at_stop": "end"}
    async with telling(database, tmp_path, *turns, **options) as told:
        chats = told.chats
        people: dict[str, Api] = {
            "admin": chats.running.owner,
            "auditor": await chats.running.add_user("aud", "auditor"),
            "stranger": await chats.running.add_user("sam"),
            "nobody": chats.running.api,
        }
        wrong: dict[str, str] = {}
        number = 0
        for row in SECTIONS[section]:
            found: dict[str, int] = {}
            things = Things(told, number)
            for name in reversed(PEOPLE):
                if row.method not in ("GET", "WS"):  # what one has changed is another's no more
                    number += 1
                    things = Things(told, number)
                api, path = await prepare(row, things, people, name)
                found[name] = await status_of(api, row, path, await things.filled(BODIES.get(row.route), row.path))
                if "{chat}" in row.path and found[name] in REFUSED:
                    chat = await (await things.person()).get(f"{CHATS}/{await things.find('chat')}")
                    assert chat.body["status"] == "running", (row.route, name)
            number += 1
            if tuple(found[name] for name in PEOPLE) != row.expected:
                wrong[row.route] = f"is {found}, and should be {row.expected}"
        changed = [await changes_of(people["admin"], name) for name in ("aud", "sam")]
        go.set()

    assert wrong == {}
    assert changed == [[], []], "who was refused has changed nothing"


OWN = ("workspace",)  # what everyone may have of their own, and is in the log all the same


async def changes_of(admin: Api, username: str) -> list[Any]:
    answer: Answer = await admin.get(f"/api/v2/audit?actor={username}&outcome=done")
    assert answer.status == 200, answer
    return [entry for entry in answer.body["entries"] if entry["target"]["kind"] not in OWN]
