"""Nothing runs for an owner who may not use chatd any more, whoever wrote that down and wherever the chat runs."""

from typing import Any
from uuid import UUID

import pytest

from chatd.core.states import Status
from chatd.testing.vendors.script import Call, Say, Silence, Turn
from engine.chatting import Chatting, chatting
from engine.test_client_tools import ASK

TALKING = Turn(Say("One, ", *["more, "] * 50), faults=[Silence(after_events=30)])
OUT = ["UPDATE users SET status = 'suspended'", "UPDATE users SET deleted = true"]


async def look_after(chats: Chatting) -> None:
    """As a replica does every two seconds."""
    await chats.fake_clock.wait_for("stale-recovery")
    await chats.fake_clock.advance(2)


async def error_of(chats: Chatting, chat: UUID) -> str:
    return (await chats.deployment.state(chat))["last_error"]


@pytest.mark.parametrize("out", OUT, ids=["suspended", "deleted"])
async def test_a_turn_that_runs_is_interrupted_and_what_was_seen_of_it_is_kept(database: Any, out: str):
    async with chatting(database.dsn, [TALKING]) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        await chats.deployment.pool.execute(out)
        await look_after(chats)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)
        await chats.vendor.wait_hung_up()

    assert state["status"] == Status.WAITING
    assert shown[1].startswith("assistant: One, ")


async def test_a_change_of_users_is_acted_upon_without_waiting_for_the_next_look(database: Any):
    async with chatting(database.dsn, [TALKING]) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        await chats.fake_clock.wait_for("stale-recovery")
        await chats.deployment.pool.execute(OUT[0])
        chats.worker.look_again()
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING
        assert chats.fake_clock.monotonic() == 0


async def test_what_waits_in_the_queue_is_not_run(database: Any):
    async with chatting(database.dsn, [TALKING, Turn(Say("Never said."))]) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        await chats.send(chat, "and then?")
        await chats.send(chat, "and after that?")
        await chats.deployment.pool.execute(OUT[0])
        await look_after(chats)
        state = await chats.resting(chat)

        assert (state["status"], state["queue_length"]) == (Status.ERROR, 1)
        assert "may not use chatd" in await error_of(chats, chat)
        assert len(chats.vendor.asked) == 1


async def test_a_chat_that_waits_for_its_client_ends(database: Any):
    async with chatting(database.dsn, [Turn(Call("ask", "{}")), Turn(Say("Never said."))]) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        await chats.until(chat, Status.REQUIRES_ACTION)
        await chats.deployment.pool.execute(OUT[0])
        await look_after(chats)
        state = await chats.resting(chat)

        assert state["status"] in (Status.ERROR, Status.WAITING)
        assert len(chats.vendor.asked) == 1


async def test_a_turn_that_nobody_had_begun_is_refused_and_goes_on_when_the_owner_is_back(database: Any):
    """As when the server that had the chat died right after the change."""
    async with chatting(database.dsn, [Turn(Say("Welcome back."))]) as chats:
        await chats.deployment.pool.execute(OUT[0])
        chat = await chats.begin()
        refused = await chats.resting(chat)
        asked = len(chats.vendor.asked)
        why = await error_of(chats, chat)
        await chats.deployment.pool.execute("UPDATE users SET status = 'active'")
        await chats.send(chat, "here I am")
        state = await chats.resting(chat)

        assert (refused["status"], asked) == (Status.ERROR, 0)
        assert "may not use chatd" in why
        assert state["status"] == Status.WAITING
        assert (await chats.shown(chat))[-1] == "assistant: Welcome back."
