"""The log of a build as it comes: line by line, until the build is over or the client's rights are."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from chatd.server.workspaces import log_loop
from chatd.workspaces.local.provisioner import LocalProvisioner
from server.running import Api
from server.workspace_api import WORKSPACES, WorkspaceApi, workspace_api

PATIENCE = 30


class Held:
    """Builds say a word and wait until they are let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_go_on = asyncio.Event()
        start = LocalProvisioner.start

        async def held(made: LocalProvisioner, spec: Any, log: Any) -> str:
            log("start", "it has begun")
            await self.may_go_on.wait()
            return await start(made, spec, log)

        monkeypatch.setattr(LocalProvisioner, "start", held)
        # What is said is told, and not found by looking again.
        monkeypatch.setattr(log_loop, "LOOK_SECONDS", 3600)
        monkeypatch.setattr(log_loop.LogLoop, "beat", lambda _: None)


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


@pytest_asyncio.fixture
async def world(database: Any, tmp_path: Path) -> AsyncIterator[WorkspaceApi]:
    async with workspace_api(database.dsn, tmp_path) as made:
        yield made


def path_of(workspace: dict[str, Any]) -> str:
    return f"{WORKSPACES}/{workspace['id']}/builds/{workspace['latest_build']['id']}/logs"


@asynccontextmanager
async def following(api: Api, path: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    headers = {"Accept": "text/event-stream"} | ({"Authorization": f"Bearer {api.token}"} if api.token else {})
    async with (
        asyncio.timeout(PATIENCE),
        aiohttp.ClientSession(headers=headers) as http,
        http.get(f"{api.url}{path}") as response,
    ):
        if response.status != 200:
            raise aiohttp.ClientResponseError(response.request_info, (), status=response.status)

        async def events() -> AsyncIterator[dict[str, Any]]:
            async for line in response.content:
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))

        yield events()


async def test_lines_come_while_the_build_runs_and_the_stream_ends_with_it(builds: Held, world: WorkspaceApi):
    made = await world.create()
    async with following(world.mia, path_of(made)) as events:
        first = await anext(events)
        builds.may_go_on.set()
        rest = [event async for event in events]

    assert (first["type"], first["log"]["line"]) == ("log", "it has begun")
    assert [event["type"] for event in rest[-1:]] == ["end"]
    assert rest[-1]["build"]["status"] == "succeeded"


async def test_a_build_that_is_given_up_ends_its_log(builds: Held, world: WorkspaceApi):
    made = await world.create()
    async with following(world.mia, path_of(made)) as events:
        await anext(events)
        await world.mia.post(f"{path_of(made).removesuffix('/logs')}/cancel")
        rest = [event async for event in events]

    assert rest[-1]["build"]["status"] == "cancelled"


async def test_who_signs_out_sees_no_more_of_a_log(builds: Held, world: WorkspaceApi):
    made = await world.create()
    session = await world.running.api.sign_in("mia")
    async with following(session, path_of(made)) as events:
        await anext(events)
        await session.post("/api/v2/users/logout")
        rest = [event async for event in events]

    assert rest == []
    builds.may_go_on.set()


async def test_the_log_of_a_build_is_streamed_to_who_may_see_the_workspace(builds: Held, world: WorkspaceApi):
    made = await world.create()
    other = await world.create()
    builds.may_go_on.set()
    await world.built(made)
    await world.built(other)
    stranger, auditor = await world.running.add_user("sam"), await world.running.add_user("aud", "auditor")
    crossed = path_of(made).replace(made["id"], other["id"])
    refused: list[int] = []
    for api, path in (
        (stranger, path_of(made)),
        (world.running.api, path_of(made)),
        (world.mia, crossed),
        (world.mia, path_of(made).replace(made["id"], "x")),
        (world.mia, f"{path_of(made)}?after=x"),
    ):
        with pytest.raises(aiohttp.ClientResponseError) as caught:
            async with following(api, path):
                pass
        refused.append(caught.value.status)
    async with following(auditor, path_of(made)) as events:
        seen = [event async for event in events]

    assert refused == [404, 401, 404, 404, 400]
    assert seen[-1]["type"] == "end"
