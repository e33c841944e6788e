"""As a newcomer: `chatd serve`, the demo model is asked to run a command, and it runs in a workspace."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from chatd.clock import SystemClock
from cli.running import WAIT_SECONDS, serving

CHATS = "/api/experimental/chats"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed: there is no sandbox")
@pytest.mark.behaviour("WORKSPACE-4")
async def test_the_demo_model_runs_a_command_in_a_sandbox(data_dir: Path):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        said = "run `id -u; hostname; echo $((6 * 7)); ls " + str(data_dir) + "`"
        body = {"content": [{"type": "text", "text": said}]}
        status, chat = await server.call("POST", CHATS, body, token=token)
        assert status == 201, chat
        async with asyncio.timeout(WAIT_SECONDS):
            while chat["status"] == "running":
                await SystemClock().sleep(0.2, timer="test")
                _, chat = await server.call("GET", f"{CHATS}/{chat['id']}", token=token)
        _, page = await server.call("GET", f"{CHATS}/{chat['id']}/messages?limit=50", token=token)
    shown = results(page)

    assert [name for name, _ in shown] == ["execute", "list_templates", "create_workspace", "execute"]
    assert shown[2][1]["created"] is True, shown
    output = shown[3][1]["output"]
    assert output.startswith("1000\nlocal-"), output
    assert "\n42\n" in output
    assert "No such file or directory" in output  # the server's own files are not there


def results(page: dict[str, Any]) -> list[tuple[str, Any]]:
    parts = [part for message in reversed(page["messages"]) for part in message["content"]]
    return [(part["tool_name"], part["result"]) for part in parts if part["type"] == "tool-result"]
