"""Chats and their workspaces over the API: bound at the beginning and later, shown, and found by workspace."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest_asyncio

from chatd.testing.vendors.script import Say, Silence, Turn
from server.chat_api import CHATS
from server.configured_models import patch
from server.workspace_api import WORKSPACES, WorkspaceApi, workspace_api

NONE = "00000000-0000-0000-0000-000000000000"


@pytest_asyncio.fixture
async def world(database: Any, tmp_path: Path) -> AsyncIterator[WorkspaceApi]:
    async with workspace_api(database.dsn, tmp_path) as made:
        yield made


async def test_a_chat_begins_in_a_workspace_of_ones_own(world: WorkspaceApi):
    workspace = await world.run(name="mine")
    chat = await world.chats.create(workspace_id=workspace["id"])
    rested = await world.chats.resting(chat)
    listed = (await world.mia.get(CHATS)).body
    fork = await world.mia.post(f"{CHATS}/{chat['id']}/fork", {})
    shown = (await world.mia.get(f"{WORKSPACES}/{workspace['id']}")).body["chats"]
    others = await world.run(world.admin)
    not_mine = await world.mia.post(CHATS, {"content": [{"type": "text", "text": "x"}], "workspace_id": others["id"]})

    assert chat["workspace_id"] == workspace["id"]
    assert rested["workspace"] == {
        "id": workspace["id"], "name": "mine", "state": "running", "template_name": "local",
    }  # fmt: skip
    assert [each["workspace_id"] for each in listed] == [workspace["id"]]
    assert fork.body["workspace_id"] == workspace["id"]
    assert {each["id"] for each in shown} == {chat["id"], fork.body["id"]}
    assert (not_mine.status, not_mine.body["validations"][0]["field"]) == (400, "workspace_id")


async def test_a_chat_is_given_a_workspace_and_loses_it_again(world: WorkspaceApi):
    workspace, chat = await world.run(), await world.chats.create()
    path = f"{CHATS}/{chat['id']}"
    await world.chats.resting(chat)
    bound = await patch(world.mia, path, workspace_id=workspace["id"])
    seen = (await world.mia.get(path)).body
    by_admin = await patch(world.admin, path, workspace_id=NONE)
    unknown = await patch(world.mia, path, workspace_id="00000000-0000-0000-0000-000000000001")
    released = await patch(world.mia, path, workspace_id=NONE)
    free = (await world.mia.get(path)).body
    await patch(world.mia, path, workspace_id=workspace["id"])
    await patch(world.mia, path, workspace_id=None)
    again = (await world.mia.get(path)).body

    assert (bound.status, seen["workspace_id"], seen["workspace"]["state"]) == (204, workspace["id"], "running")
    assert by_admin.status == 403
    assert (unknown.status, unknown.body["validations"][0]["field"]) == (400, "workspace_id")
    assert released.status == 204
    assert not {"workspace", "workspace_id"} & {*free, *again}


async def test_chats_are_found_by_their_workspace(world: WorkspaceApi):
    first, second = await world.run(), await world.run()
    await world.chats.resting(await world.chats.create(workspace_id=first["id"]))
    chat = await world.chats.create(workspace_id=first["id"])
    await world.chats.resting(chat)
    stranger = await world.running.add_user("sam")
    path = f"{CHATS}/by-workspace?workspace_ids={first['id']},{second['id']}"
    mine, theirs = await world.mia.get(path), await stranger.get(path)
    wrong = [
        await world.mia.get(f"{CHATS}/by-workspace{query}")
        for query in ("", "?workspace_ids=x", "?workspace_ids=" + ",".join([first["id"]] * 26))
    ]

    assert (mine.status, mine.body) == (200, {first["id"]: chat["id"]})
    assert (theirs.status, theirs.body) == (200, {})
    assert [answer.status for answer in wrong] == [400] * 3


async def test_a_chat_that_runs_here_is_given_no_workspace_of_another_machine(database: Any, tmp_path: Path):
    talking = Turn(Say("One, ", *["more, "] * 50), faults=[Silence(after_events=30)])
    async with workspace_api(database.dsn, tmp_path, turns=[talking]) as world:
        workspace = await world.run()
        await world.build(workspace, "stop")  # nobody would end its agent
        await world.built(workspace)
        connection = await asyncpg.connect(database.dsn)
        try:
            await connection.execute("UPDATE workspaces SET host_id = 'elsewhere'")
            await connection.execute("INSERT INTO hosts (id, seen_at) VALUES ('elsewhere', now())")
        finally:
            await connection.close()
        chat = await world.chats.create()
        path = f"{CHATS}/{chat['id']}"
        await world.chats.until(chat, "running")
        while_running = await patch(world.mia, path, workspace_id=workspace["id"])
        unbound = (await world.mia.get(path)).body
        await world.mia.post(f"{path}/interrupt")
        await world.chats.resting(chat)
        at_rest = await patch(world.mia, path, workspace_id=workspace["id"])

    assert while_running.status == 409, while_running
    assert "machine" in while_running.body["message"]
    assert "workspace_id" not in unbound
    assert at_rest.status == 204
