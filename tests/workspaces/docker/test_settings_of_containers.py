"""A whole server whose settings name a container engine: it has templates and workspaces of containers."""

import json
from pathlib import Path
from typing import Any

import asyncpg

from server.workspace_api import TEMPLATES, WORKSPACES, workspace_api
from workspaces.docker.test_containers import config


async def test_containers_are_for_servers_that_have_an_engine(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        refused = await world.admin.post(TEMPLATES, {"name": "box", "provisioner": "docker", "config": {"image": "a"}})

    assert (refused.status, refused.body["validations"][0]["field"]) == (400, "provisioner")


async def test_an_engine_in_the_settings_makes_workspaces_of_containers(engine: str, database: Any, tmp_path: Path):
    named = {"docker_url": engine, "docker_connect": "socket"}
    async with workspace_api(database.dsn, tmp_path, **named) as world:
        given = {"name": "box", "provisioner": "docker", "config": json.loads(config())}
        template = await world.admin.post(TEMPLATES, given)
        assert template.status == 201, template
        built = await world.run(template_id=template.body["id"], name="mine")
        path = f"{WORKSPACES}/{built['id']}"
        home = (await world.mia.get(f"{path}/files")).body
        kinds = await _kinds(database.dsn)
        await world.mia.delete(path)
        gone = await world.built(built)

    assert built["state"] == "running"
    assert home["path"] == "/home/chatd"
    assert kinds == ["local", "docker"]
    assert gone["latest_build"]["status"] == "succeeded"


async def _kinds(dsn: str) -> list[str]:
    """What the replica says of itself."""
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval("SELECT provisioners FROM replicas")
    finally:
        await connection.close()
