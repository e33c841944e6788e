"""A whole replica on a real socket, for tests of the API."""

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from argon2 import PasswordHasher

from chatd.clock import Clock, SystemClock
from chatd.server.compose import Replica, running_replica
from chatd.server.replica_app import replica_app
from chatd.server.serving import Draining, ServingOptions, open_socket, serve, socket_url
from chatd.server.settings import Settings, load_settings

PASSWORD = "correct horse battery staple"
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: Any
    headers: Mapping[str, str]


class Api:
    """A client with one identity, or none."""

    def __init__(self, http: aiohttp.ClientSession, url: str, token: str = "") -> None:
        self._http = http
        self.url = url
        self.token = token

    def with_token(self, token: str) -> "Api":
        return Api(self._http, self.url, token)

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        async with self._http.request(method, f"{self.url}{path}", json=body, headers=headers) as response:
            text = await response.text()
            body = msgspec.json.decode(text) if text and "json" in response.content_type else text or None
            return Answer(response.status, body, dict(response.headers))

    async def raw(self, method: str, path: str, data: bytes | None = None, headers: Mapping[str, str] = {}) -> Answer:
        """With bytes instead of JSON; an answer that is no JSON has its bytes as body."""
        sent = {**headers, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        body = None if data is None else io.BytesIO(data)  # aiohttp warns of long bytes
        async with self._http.request(method, f"{self.url}{path}", data=body, headers=sent) as response:
            content = await response.read()
            is_json = response.content_type == "application/json"
            answer = msgspec.json.decode(content) if is_json and content else content
            return Answer(response.status, answer, {name.lower(): value for name, value in response.headers.items()})

    async def get(self, path: str) -> Answer:
        return await self.call("GET", path)

    async def post(self, path: str, body: Any = None) -> Answer:
        return await self.call("POST", path, body)

    async def put(self, path: str, body: Any = None) -> Answer:
        return await self.call("PUT", path, body)

    async def delete(self, path: str) -> Answer:
        return await self.call("DELETE", path)

    async def sign_in(self, login: str, password: str = PASSWORD) -> "Api":
        answer = await self.post("/api/v2/users/login", {"login": login, "password": password})
        assert answer.status == 201, answer
        return self.with_token(answer.body["session_token"])


class Running(msgspec.Struct, frozen=True):
    """`api` is anonymous, `owner` is signed in as the first user, olga."""

    replica: Replica
    api: Api
    owner: Api

    async def add_user(self, name: str, role: str = "member") -> Api:
        made = await self.owner.post(
            "/api/v2/users",
            {"email": f"{name}@example.com", "username": name, "password": PASSWORD, "role": role},
        )
        assert made.status == 201, made
        return await self.api.sign_in(name)


def settings_for(dsn: str, data_dir: Path, **more: str) -> Settings:
    environ = {
        "CHATD_DATABASE_URL": dsn,
        "CHATD_DATA_DIR": str(data_dir),
        "CHATD_PORT": "0",
        "CHATD_DEMO_MODEL": "off",  # what is not asked for is not there
        **{f"CHATD_{name.upper()}": value for name, value in more.items()},
    }
    return load_settings(environ=environ, flags={}, cwd=data_dir).settings


@asynccontextmanager
async def running_server(
    dsn: str, data_dir: Path, *, clock: Clock | None = None, first_user: bool = True, **more: str
) -> AsyncIterator[Running]:
    settings = settings_for(dsn, data_dir, **more)
    clock = clock or SystemClock()
    draining = Draining()
    sock = open_socket("127.0.0.1", 0)
    url = socket_url(sock)
    ready = asyncio.Event()
    options = ServingOptions(drain_seconds=1, on_ready=lambda _: ready.set())
    async with (
        running_replica(settings, clock=clock, hasher=QUICK) as replica,
        asyncio.TaskGroup() as tasks,
        aiohttp.ClientSession() as http,
    ):
        app = await replica_app(replica, settings, draining=draining, public_url=more.get("public_url", url))
        served = tasks.create_task(serve(app, sock, draining=draining, clock=SystemClock(), options=options))
        await ready.wait()
        api = Api(http, url)
        try:
            yield Running(replica, api, await _first_user(replica, api) if first_user else api)
        finally:
            # Waited for here, also when a test fails: a server that is cancelled leaves its socket with the loop, and
            # the next one, which gets the same descriptor, would never be asked.
            draining.begin()
            await asyncio.wait([served])


async def _first_user(replica: Replica, api: Api) -> Api:
    code = await replica.accounts.issue_setup_code()
    made = await api.post(
        "/api/v2/users/first",
        {"code": code.reveal(), "email": "olga@example.com", "username": "olga", "password": PASSWORD},
    )
    assert made.status == 201, made
    return await api.sign_in("olga")
