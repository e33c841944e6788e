"""The database goes away in the middle of a commit: what became of it is found out, and nothing is stored twice."""

import asyncio
from typing import Any

import asyncpg
import pytest

from chatd.core.states import Status
from chatd.engine.commits import AnswerLost, committed
from chatd.store.store import SqlStore
from chatd.store.transitions import Fence, Outcome, Transitions
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import chatting
from engine.scripted_tools import ScriptedTool

ALL = ["user: hello", "assistant calls look {}", 'look says {"output":"saw {}"}', "assistant: Done."]


class Losing:
    """A transition of which one answer is lost: after it was carried out, or before."""

    def __init__(self, patch: pytest.MonkeyPatch, name: str, *, is_carried_out: bool, call: int = 1) -> None:
        self._transition = getattr(Transitions, name)
        self._is_carried_out = is_carried_out
        self._call = call
        self.calls = 0
        losing = self

        async def lost(self: Transitions, fence: Fence, *args: Any, **options: Any) -> Outcome:
            losing.calls += 1
            if losing.calls != losing._call:
                return await losing._transition(self, fence, *args, **options)
            if losing._is_carried_out:
                await losing._transition(self, fence, *args, **options)
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")

        patch.setattr(Transitions, name, lost)


@pytest.mark.parametrize("is_carried_out", [True, False])
@pytest.mark.parametrize(("name", "call"), [("save_draft", 1), ("commit_step", 1), ("commit_step", 2)])
async def test_a_step_is_stored_once_whatever_became_of_the_answer(
    database: Any, monkeypatch: pytest.MonkeyPatch, name: str, call: int, is_carried_out: bool
):
    look = ScriptedTool("look")
    async with chatting(database.dsn, [Turn(Call("look", "{}")), Turn(Say("Done."))], tools=[look]) as chats:
        losing = Losing(monkeypatch, name, is_carried_out=is_carried_out, call=call)
        chat = await chats.begin()
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING, state
        assert losing.calls >= call
        shown = await chats.shown(chat)
        if name == "save_draft" and is_carried_out:
            # The step was known, and nobody could say whether the tool had begun.
            assert [line.split(" ")[0] for line in shown] == [line.split(" ")[0] for line in ALL]
        else:
            assert shown == ALL


async def test_a_database_that_stays_away_is_asked_again_until_it_is_back(
    database: Any, monkeypatch: pytest.MonkeyPatch
):
    reads = 0
    read = SqlStore.get_chat_state

    async def away(self: SqlStore, **args: Any) -> Any:
        nonlocal reads
        reads += 1
        if reads <= 2:
            raise ConnectionRefusedError("away")
        return await read(self, **args)

    async with chatting(database.dsn, [Turn(Say("Done."))]) as chats:
        Losing(monkeypatch, "commit_step", is_carried_out=False)
        monkeypatch.setattr(SqlStore, "get_chat_state", away)
        chat = await chats.begin()
        for _ in range(2):
            await chats.fake_clock.wait_for("database away")
            await chats.fake_clock.advance(0.5)
        await chats.resting(chat)

        assert await chats.shown(chat) == ["user: hello", "assistant: Done."]


async def test_a_cancelled_commit_is_waited_for():
    begun, go, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def commit() -> str:
        begun.set()
        await go.wait()
        done.set()
        return "applied"

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            await committed(tasks, commit())

    async with asyncio.TaskGroup() as group:
        task = group.create_task(work())
        await begun.wait()
        task.cancel()
        await asyncio.get_running_loop().run_in_executor(None, lambda: None)
        assert not task.done()
        go.set()
    assert done.is_set()
    assert task.cancelled()


async def test_what_a_commit_raises_comes_out_as_it_is():
    async def broken() -> None:
        raise ValueError("no such thing")

    async def away() -> None:
        raise ConnectionResetError

    async with asyncio.TaskGroup() as tasks:
        with pytest.raises(ValueError, match="no such thing"):
            await committed(tasks, broken())
        with pytest.raises(AnswerLost):
            await committed(tasks, away())
