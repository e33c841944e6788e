"""What a runner tells those around a turn: that it begins, how it ended, with what it has in memory."""

import asyncio
from typing import Any

import msgspec
import pytest

from chatd.core.labels import Ending
from chatd.core.said_text import last_answer
from chatd.core.states import Status
from chatd.engine.titles import BegunChat
from chatd.engine.turn_ends import EndedTurn
from chatd.testing.vendors.script import Call, Hold, Refuse, Say, Silence, Turn
from engine.chatting import Chatting, chatting
from engine.test_client_tools import ASK


class Told:
    """Notes what it is told, and fails if it is to."""

    def __init__(self, chats: Chatting, *, fails: bool = False) -> None:
        self.begins: list[BegunChat] = []
        self.ends: list[EndedTurn] = []
        self._fails = fails
        msgspec.structs.force_setattr(chats.parts, "around", self)

    @property
    def endings(self) -> list[Ending]:
        return [turn.ending for turn in self.ends]

    def begun(self, chat: BegunChat) -> None:
        self.begins.append(chat)
        if self._fails:
            raise RuntimeError("no title today")

    def ended(self, turn: EndedTurn) -> None:
        self.ends.append(turn)
        if self._fails:
            raise RuntimeError("no label today")


async def test_a_turn_that_ends_is_told_with_its_last_answer_and_the_version_after_it(database: Any):
    async with chatting(database.dsn, [Turn(Say("Done."))]) as chats:
        told = Told(chats)
        chat = await chats.begin("do it")
        state = await chats.resting(chat)
        await chats.worker.drain(1)

    (begun,), (ended,) = told.begins, told.ends
    assert (begun.chat_id, begun.owner_id, begun.title) == (chat, chats.deployment.user_id, "A chat")
    assert begun.model_config_id == chats.model_id
    assert [str(row.role) for row in begun.history] == ["user"]
    assert (ended.chat_id, ended.owner_id, ended.is_child) == (chat, chats.deployment.user_id, False)
    assert (ended.ending, ended.history_version) == (Ending.FINISHED, state["history_version"])
    assert last_answer(ended.history) == "Done."
    assert (ended.title, ended.error) == ("A chat", None)


async def test_a_turn_that_fails_is_told(database: Any):
    async with chatting(database.dsn, [Refuse(401, "no")]) as chats:
        told = Told(chats)
        await chats.resting(await chats.begin())
        await chats.worker.drain(1)

    assert told.endings == [Ending.FAILED]
    assert told.ends[0].title == "A chat"
    assert '"message"' in (told.ends[0].error or "")


async def test_a_turn_that_is_stopped_is_told(database: Any):
    async with chatting(database.dsn, [Turn(Say("One, ", "two"), faults=[Silence(after_events=4)])]) as chats:
        told = Told(chats)
        chat = await chats.begin()
        await chats.streamed(chat, "One, ")
        await chats.interrupt(chat)
        await chats.resting(chat)
        await chats.worker.drain(1)

    assert told.endings == [Ending.INTERRUPTED]


async def test_a_turn_that_is_followed_by_a_message_that_waited_went_on(database: Any):
    go = asyncio.Event()
    async with chatting(database.dsn, [Turn(Say("One."), faults=[Hold(go)]), Turn(Say("Two."))]) as chats:
        told = Told(chats)
        chat = await chats.begin()
        await chats.vendor.wait_asked()
        await chats.send(chat, "two")
        go.set()
        await chats.resting(chat)
        await chats.worker.drain(1)

    assert told.endings == [Ending.WENT_ON, Ending.FINISHED]
    assert len(told.begins) == 2


async def test_a_turn_that_waits_for_its_client_in_vain_is_told_at_each_end(database: Any):
    async with chatting(database.dsn, [Turn(Call("ask", "{}")), Turn(Say("Then not."))], starts_now=True) as chats:
        told = Told(chats)
        chat = await chats.begin(dynamic_tools=ASK)
        waiting = await chats.until(chat, Status.REQUIRES_ACTION)
        await chats.fake_clock.wait_for("requires action")
        left = (waiting["requires_action_deadline_at"] - chats.clock.now()).total_seconds()
        await chats.fake_clock.advance(left)
        await chats.resting(chat)
        await chats.worker.drain(1)

    assert told.endings == [Ending.AWAITS_CLIENT, Ending.TIMED_OUT, Ending.FINISHED]


@pytest.mark.behaviour("SIDE-1")
async def test_whoever_fails_around_a_turn_does_not_fail_the_turn(database: Any):
    async with chatting(database.dsn, [Turn(Say("Done."))]) as chats:
        told = Told(chats, fails=True)
        chat = await chats.begin()
        state = await chats.resting(chat)
        await chats.worker.drain(1)

    assert state["status"] == Status.WAITING, state
    assert (len(told.begins), len(told.ends)) == (1, 1)
