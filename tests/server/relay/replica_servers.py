"""Replicas as processes of their own on one Postgres, with a scripted vendor behind them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import msgspec

from chatd.testing.vendors.script import Script
from chatd.testing.vendors.server import vendor_server
from cli.running import Server, serving
from server.configured_models import model, provider
from server.running import Api

MODEL = "scripted-model"
CHATS = "/api/experimental/chats"
FIRST = "question one"


class Replicas(msgspec.Struct, frozen=True):
    """All with the same person signed in. The first one is asked to begin chats, and so runs them."""

    servers: list[Server]
    apis: list[Api]
    environ: dict[str, str]  # of another one

    async def begin(self) -> UUID:
        made = await self.apis[0].post(CHATS, {"content": [{"type": "text", "text": FIRST}]})
        assert made.status == 201, made
        return UUID(made.body["id"])

    async def send(self, place: int, chat: UUID, text: str) -> None:
        sent = await self.apis[place].post(f"{CHATS}/{chat}/messages", {"content": [{"type": "text", "text": text}]})
        assert sent.status == 200, sent

    async def messages(self, place: int, chat: UUID) -> list[Any]:
        answer = await self.apis[place].get(f"{CHATS}/{chat}/messages")
        assert answer.status == 200, answer
        return answer.body["messages"]


@asynccontextmanager
async def replicas(count: int, dsn: str, data_dir: Path, script: Script) -> AsyncIterator[Replicas]:
    async with vendor_server(script, models=[MODEL]) as vendor, AsyncExitStack() as stack:
        environ = {"CHATD_DATABASE_URL": dsn, "CHATD_DEMO_MODEL": "off", "CHATD_DRAIN_SECONDS": "1"}
        folder = data_dir / "data"
        servers = [await stack.enter_async_context(serving(folder, **environ))]
        token = await servers[0].create_first_user()
        servers += [await stack.enter_async_context(serving(folder, **environ)) for _ in range(1, count)]
        http = await stack.enter_async_context(aiohttp.ClientSession())
        apis = [Api(http, server.url, token) for server in servers]
        id = await provider(apis[0], "scripted", base_url=f"{vendor.url}/v1")
        await model(apis[0], id, MODEL, context_limit=100_000)
        yield Replicas(servers, apis, environ)
