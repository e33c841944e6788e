"""Workspaces as a client of the API has them: real ones, of folders without a sandbox."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from chatd.workspaces.build_hints import build_topic
from server.chat_api import ChatApi, chat_api
from server.running import Answer, Api, Running

TEMPLATES = "/api/experimental/templates"
WORKSPACES = "/api/experimental/workspaces"
PATIENCE = 60


class WorkspaceApi(msgspec.Struct, frozen=True):
    """`mia` is a member who owns the workspaces; `admin` is the first user."""

    chats: ChatApi
    running: Running
    mia: Api
    admin: Api
    template_id: str

    async def create(self, api: Api | None = None, **fields: Any) -> dict[str, Any]:
        """Made, and perhaps not built yet."""
        made = await (api or self.mia).post(WORKSPACES, {"template_id": self.template_id, **fields})
        assert made.status == 201, made
        return made.body

    async def run(self, api: Api | None = None, **fields: Any) -> dict[str, Any]:
        """Made, and running."""
        made = await self.create(api, **fields)
        return await self.built(made, api=api)

    async def build(self, workspace: dict[str, Any], transition: str, **fields: Any) -> Answer:
        path = f"{WORKSPACES}/{workspace['id']}/builds"
        return await self.mia.post(path, {"transition": transition, **fields})

    async def built(self, workspace: dict[str, Any], *, api: Api | None = None) -> dict[str, Any]:
        """The workspace, once nothing is built any more."""
        api = api or self.mia
        path = f"{WORKSPACES}/{workspace['id']}"
        hints = self.running.replica.hints
        await hints.wait_connected()
        async with asyncio.timeout(PATIENCE):
            while True:
                seen = (await api.get(path)).body
                if seen["latest_build"]["status"] not in ("pending", "running"):
                    return seen
                moved = asyncio.Event()
                topic = build_topic(UUID(seen["latest_build"]["id"]))
                subscription = hints.subscribe(topic, lambda _, moved=moved: moved.set())
                try:
                    again = (await api.get(path)).body
                    if again["latest_build"]["status"] in ("pending", "running"):
                        await moved.wait()
                finally:
                    subscription.close()


@asynccontextmanager
async def workspace_api(dsn: str, data_dir: Path, **settings: Any) -> AsyncIterator[WorkspaceApi]:
    options: dict[str, Any] = {"local_workspaces": "unconfined", **settings}
    async with chat_api(dsn, data_dir, **options) as chats:
        (template,) = (await chats.running.owner.get(TEMPLATES)).body
        yield WorkspaceApi(chats, chats.running, chats.mia, chats.running.owner, template["id"])
