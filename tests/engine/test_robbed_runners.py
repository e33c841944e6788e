"""A chat that another replica has by now: its old runner ends, and writes nothing more."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from chatd.core.states import Status
from chatd.testing.vendors.script import Hold, Say, Silence, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import PATIENCE, new_id

ROB = "UPDATE chat_state SET replica_id = $2, runner_id = $2, snapshot_version = snapshot_version + 1 WHERE chat_id=$1"


async def ended(chats: Chatting, chat: UUID) -> None:
    async with asyncio.timeout(PATIENCE):
        while chat in chats.worker.running:
            await asyncio.get_running_loop().run_in_executor(None, lambda: None)


async def test_a_runner_that_hears_of_another_owner_stops_the_model_and_ends(database: Any):
    async with chatting(database.dsn, [Turn(Say("One, ", "two"), faults=[Silence(after_events=4)])]) as chats:
        chat, thief = await chats.begin(), new_id()
        await chats.streamed(chat, "One, ")
        await chats.deployment.raw(ROB, chat, thief)
        await chats.parts.watch.poll()
        await ended(chats, chat)
        await chats.vendor.wait_hung_up()
        state = await chats.deployment.state(chat)

        assert (state["status"], state["runner_id"]) == (Status.RUNNING, thief)
        assert await chats.shown(chat) == ["user: hello"]


async def test_a_runner_that_finds_another_owner_when_it_commits_ends_quietly(
    database: Any, capfd: pytest.CaptureFixture[str]
):
    go = asyncio.Event()
    async with chatting(database.dsn, [Turn(Say("One."), faults=[Hold(go)])]) as chats:
        chat, thief = await chats.begin(), new_id()
        await chats.vendor.wait_asked()
        await chats.deployment.raw(ROB, chat, thief)  # no hint: it finds out by its fence
        go.set()
        await ended(chats, chat)
        state = await chats.deployment.state(chat)

        assert (state["status"], state["runner_id"]) == (Status.RUNNING, thief)
        assert await chats.shown(chat) == ["user: hello"]
    written = capfd.readouterr()
    assert "failed" not in written.out + written.err
