"""The database goes away in the middle of a commit: what became of it is found out, and nothing is stored twice."""

import asyncio
from typing import Any

import asyncpg
import pytest

from chatd.core.states import Status
from chatd.engine.commits import AnswerLost, committed
from chatd.engine.episodes import Episode
from chatd.store.store import SqlStore
from chatd.store.transitions import Fence, Outcome, Transitions
from chatd.testing.vendors.script import Call, Cut, Hold, Say, Turn
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
        assert await chats.shown(chat) == ALL


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


async def test_a_lost_answer_does_not_double_what_readers_see_of_a_draft(
    database: Any, monkeypatch: pytest.MonkeyPatch
):
    script = [Turn(Say("I look."), Call("look", "{}")), Turn(Say("Done."))]
    look = ScriptedTool("look")  # of which nobody would know whether it was run
    async with chatting(database.dsn, script, tools=[look]) as chats:
        Losing(monkeypatch, "save_draft", is_carried_out=True)
        seen: list[Episode] = []
        chats.parts.episodes.on_open(seen.append)
        chat = await chats.begin()
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert b"".join(seen[0].after(0)).count(b"I look.") == 1
    assert len(look.calls) == 1
    assert 'look says {"output":"saw {}"}' in shown


@pytest.mark.behaviour("ERR-6")
@pytest.mark.parametrize("is_carried_out", [True, False])
@pytest.mark.parametrize("name", ["record_retry", "record_attempt"])
async def test_a_retry_is_waited_for_and_seen_once_whatever_became_of_the_answer(
    database: Any, monkeypatch: pytest.MonkeyPatch, name: str, is_carried_out: bool
):
    go = asyncio.Event()
    script = [
        Turn(Say("Half", " of it"), faults=[Cut(after_events=4)]),
        Turn(Say("All of it."), faults=[Hold(go, before_event=4)]),
    ]
    async with chatting(database.dsn, script) as chats:
        Losing(monkeypatch, name, is_carried_out=is_carried_out)
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        asked_early = len(chats.vendor.asked)
        await chats.fake_clock.advance(1)
        await chats.streamed(chat, "All of it.")
        episode = chats.parts.episodes.current(chat)
        assert episode is not None
        live = b"".join(episode.after(0))
        state = await chats.deployment.state(chat)
        go.set()
        await chats.resting(chat)

    assert asked_early == 1
    assert b"Half" not in live
    assert (state["generation_attempt"], state["retry_state"]) == (2, None)


async def test_a_step_that_begins_anew_is_another_attempt(database: Any, monkeypatch: pytest.MonkeyPatch):
    """The answer to a commit is lost that was not carried out, and meanwhile someone has queued a message."""
    saved = Transitions.save_draft
    calls = 0

    async def lost(self: Transitions, fence: Fence, *args: Any, **options: Any) -> Outcome:
        nonlocal calls
        calls += 1
        if calls == 1:
            await chats.send(fence.chat_id, "and this")
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        return await saved(self, fence, *args, **options)

    step = Turn(Say("I look."), Call("look", "{}"))
    async with chatting(
        database.dsn, [step, step, Turn(Say("Done.")), Turn(Say("And that."))], tools=[ScriptedTool("look")]
    ) as chats:
        monkeypatch.setattr(Transitions, "save_draft", lost)
        seen: list[Episode] = []
        chats.parts.episodes.on_open(seen.append)
        chat = await chats.begin()
        await chats.resting(chat)

    assert [(episode.history_version, episode.attempt) for episode in seen[:2]] == [(1, 1), (1, 2)]
    assert all(b"".join(episode.after(0)).count(b"I look.") == 1 for episode in seen[:2])
