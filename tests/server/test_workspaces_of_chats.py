"""A whole server with a real workspace: a model's command runs in it, also after its agent was ended."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chatd.clock import SystemClock
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.workspaces.kinds import BuildStatus
from chatd.minting import uuid7
from chatd.store.actor import acting_as
from chatd.store.transitions import NewChat
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Say, Turn
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.lifecycle import NewWorkspace
from server.running import Running
from server.scripted import applied, scripted_server, send

PATIENCE = 60

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def executing(command: str) -> Any:
    """A model that runs this whenever it is asked something, and then says what came of it."""

    def script(asked: Asked) -> Turn:
        if asked.answers_a_call:
            return Turn(Say("Done."))
        if "execute" not in asked.tool_names:
            return Turn(Say("A title"))
        return Turn(Call("execute", json.dumps({"command": command, "timeout": "30s"})))

    return script


async def chat_with_workspace(running: Running) -> tuple[UUID, UUID]:
    """Both of the first user's; the workspace runs."""
    replica = running.replica
    person = await replica.identity.authenticate(running.owner.token)
    model = await replica.models.default_model()
    assert person is not None
    assert model is not None
    with acting_as(person):
        store = replica.opened.store
        organization = await store.get_default_organization()
        (template,) = await store.list_templates(organization_id=organization.id)
        build = await replica.workspaces.lifecycle.create(
            NewWorkspace(owner_id=person.user_id, organization_id=organization.id, template_id=template.id)
        )
        built = await replica.workspaces.lifecycle.wait(build.id)
        assert built.status is BuildStatus.SUCCEEDED, built.error
        chat = NewChat(
            id=uuid7(SystemClock().now()),
            organization_id=organization.id,
            owner_id=person.user_id,
            model_config_id=model.config_id,
            title="go",
            workspace_id=built.workspace_id,
        )
        message = NewMessage(role=Role.USER, parts=(TextPart(text="go"),), created_by=person.user_id)
        made = applied(
            await replica.engine.transitions.create_chat(chat, [message], take=replica.engine.worker.new_take())
        )
    replica.engine.worker.adopt(made)
    return chat.id, built.workspace_id


async def results(dsn: str, chat: UUID, count: int) -> list[dict[str, Any]]:
    """Of its commands, once there are so many and the chat rests."""
    connection = await asyncpg.connect(dsn)
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                status = await connection.fetchval("SELECT status FROM chat_state WHERE chat_id = $1", chat)
                rows = await connection.fetch(
                    "SELECT content -> 0 ->> 'result' AS result FROM messages WHERE chat_id = $1 AND role = 'tool'"
                    " ORDER BY id",
                    chat,
                )
                if status != "running" and len(rows) >= count:
                    return [json.loads(row["result"]) for row in rows]
                await SystemClock().sleep(0.05, timer="test")
    finally:
        await connection.close()


@pytest.mark.parametrize("local", [pytest.param("confined", marks=needs_bubblewrap), "unconfined"])
async def test_a_command_runs_in_the_chats_workspace_and_again_after_its_agent_has_ended(
    database: Any, tmp_path: Path, local: str
):
    script = executing("echo ran >> ran; cat ran; pwd")
    async with scripted_server(database.dsn, tmp_path, script, local_workspaces=local) as running:
        chat, workspace_id = await chat_with_workspace(running)
        (first,) = await results(database.dsn, chat, 1)
        assert first["success"], first
        assert first["output"].startswith("ran\n")

        there = await running.replica.workspaces.resolver.resolve(chat)
        assert there.workspace_id == workspace_id
        client = agent_client(there.address, there.token, SystemClock())
        await client.shutdown()
        await client.close()
        await send(running, chat, "go on")
        second = (await results(database.dsn, chat, 2))[1]
    assert second["success"], second
    assert second["output"].startswith("ran\nran\n")  # the same files
