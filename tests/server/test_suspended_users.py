"""Who is suspended is out at once: turns, streams, lists and terminals end, whatever was open."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.testing.vendors.script import Say, Silence, Turn
from server.chat_api import PATIENCE, chat_api
from server.streaming import TRANSPORTS, Transport, reading
from server.test_watch import watching
from server.test_workspace_terminals import terminal
from server.workspace_api import workspace_api

SUSPEND = "/api/v2/users/mia/status/suspend"
TALKING = Turn(Say("One, ", *["more, "] * 50), faults=[Silence(after_events=30)])


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_turns_streams_and_lists_end(
    database: Any, tmp_path: Path, transport: Transport, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chatd.engine.worker.RECONCILE_SECONDS", 3600.0)  # nobody waits for the next look
    async with chat_api(database.dsn, tmp_path, [TALKING]) as chats, asyncio.timeout(PATIENCE):
        await chats.running.replica.hints.wait_connected()
        chat = await chats.create()
        admin = chats.running.owner
        async with reading(chats.mia, UUID(chat["id"]), transport) as reader, watching(chats.mia, transport) as feed:
            await reader.until("message_part")
            assert (await admin.put(SUSPEND)).status == 200
            await reader.ended()
            with pytest.raises(StopAsyncIteration):
                await feed.until("none", chat)
        rested = await chats.resting(chat, api=admin)

    assert rested["status"] == "waiting"
    assert len(chats.script.asked) == 1


async def test_terminals_end(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        workspace = await world.run()
        async with terminal(world.mia, workspace, "?command=sh") as screen:
            await screen.socket.send_bytes(b"echo $((20 + 3))\n")
            await screen.until(b"23")
            assert (await world.admin.put(SUSPEND)).status == 200
            code = await screen.end()

    assert code == 1013
