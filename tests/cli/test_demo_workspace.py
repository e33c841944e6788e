"""As a newcomer: `chatd serve`, the demo model is asked to run a command, and it runs in a workspace."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from chatd.clock import SystemClock
from cli.running import WAIT_SECONDS, Server, serving

CHATS = "/api/experimental/chats"
WORKSPACES = "/api/experimental/workspaces"


needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


async def ask(server: Server, token: str, text: str) -> Any:
    status, chat = await server.call("POST", CHATS, {"content": [{"type": "text", "text": text}]}, token=token)
    assert status == 201, chat
    return chat


async def rested(server: Server, token: str, id: str) -> dict[str, Any]:
    """All its messages, once it rests."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            _, chat = await server.call("GET", f"{CHATS}/{id}", token=token)
            if chat["status"] != "running":
                break
            await SystemClock().sleep(0.2, timer="test")
    _, page = await server.call("GET", f"{CHATS}/{id}/messages?limit=50", token=token)
    return page


@needs_bubblewrap
@pytest.mark.behaviour("WORKSPACE-4")
async def test_the_demo_model_runs_a_command_in_a_sandbox(data_dir: Path):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        said = "run `id -u; hostname; echo $((6 * 7)); ls " + str(data_dir) + "`"
        chat = await ask(server, token, said)
        page = await rested(server, token, chat["id"])
    shown = results(page)

    assert [name for name, _ in shown] == ["execute", "list_templates", "create_workspace", "execute"]
    assert shown[2][1]["created"] is True, shown
    output = shown[3][1]["output"]
    assert output.startswith("1000\nlocal-"), output
    assert "\n42\n" in output
    assert "No such file or directory" in output  # the server's own files are not there


@needs_bubblewrap
@pytest.mark.behaviour("STATE-10")
async def test_a_server_that_dies_while_a_workspace_is_made_makes_one_all_the_same(data_dir: Path):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        chat = await ask(server, token, "run `echo $((6 * 7))`")
        async with asyncio.timeout(WAIT_SECONDS):
            while not (await server.call("GET", WORKSPACES, token=token))[1]["workspaces"]:
                pass
        server.kill()
        await server.ended()
    async with serving(data_dir) as again:
        shown = results(await rested(again, token, chat["id"]))
        _, there = await again.call("GET", WORKSPACES, token=token)

    assert [name for name, _ in shown] == ["execute", "list_templates", "create_workspace", "execute"]
    assert shown[2][1]["created"] is True, shown
    assert shown[3][1]["output"] == "42\n"
    assert len(there["workspaces"]) == 1


def results(page: dict[str, Any]) -> list[tuple[str, Any]]:
    parts = [part for message in reversed(page["messages"]) for part in message["content"]]
    return [(part["tool_name"], part["result"]) for part in parts if part["type"] == "tool-result"]
