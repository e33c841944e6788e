"""The experiment `agents`: switched off, nothing of chats answers and nothing runs them."""

import re
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from server.chat_api import CHATS, chat_api
from server.running import running_server

SOME_ID = "01b8dac5-b400-7fff-9025-14a40e4c331b"


@pytest.mark.behaviour("API-6")
async def test_switched_off_every_route_of_chats_refuses_and_names_it(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path, experiments="") as running:
        document = (await running.api.get("/api/openapi.json")).body
        refused = {
            (method, path): await running.owner.call(method.upper(), re.sub(r"\{\w+\}", SOME_ID, path), {})
            for path, item in document["paths"].items()
            for method in item
            if path.startswith("/api/experimental/")
        }
        stream = await running.owner.get(f"{CHATS}/{SOME_ID}/stream")
        doubled = await running.owner.get(CHATS.replace("/experimental", "//experimental"))
        info = await running.api.get("/api/v2/buildinfo")

    assert len(refused) > 20
    for route, answer in [*refused.items(), (("get", "stream"), stream), (("get", "doubled"), doubled)]:
        assert (answer.status, "agents" in answer.body["message"]) == (403, True), (route, answer)
    assert info.body["experiments"] == []


@pytest.mark.behaviour("API-6")
async def test_switched_off_no_worker_takes_chats(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path) as chats:
        chat = await chats.create()
        await chats.resting(chat)
        connection = await asyncpg.connect(database.dsn)
        await connection.execute(
            "SELECT set_config('chatd.transition', 'test', false);"
            "UPDATE chat_state SET status = 'running', snapshot_version = snapshot_version + 1"
        )
    async with running_server(database.dsn, tmp_path, first_user=False, experiments="") as running:
        take = running.replica.engine.worker.new_take()
        running_there = running.replica.engine.worker.running
        owner = await connection.fetchval("SELECT replica_id FROM chat_state")
    await connection.close()

    assert take is None
    assert not running_there
    assert owner is None
