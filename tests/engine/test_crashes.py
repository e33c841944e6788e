"""A process is killed in the middle of a turn: another one finishes it, and nothing is lost or done twice.

The kill is a real SIGKILL at each named point of a turn with three steps and one tool of each kind.
"""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.clock import SystemClock
from chatd.core.access import WORKER
from chatd.core.parts import TextPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.states import Status
from chatd.engine.tool_step import UNKNOWN_OUTCOME
from chatd.store.actor import acting_as
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Refuse, Say, Silence, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import PATIENCE, new_id
from engine.turn_process import Ledger, Plan, ledger_tools, turn_process

POINTS = [
    "before save_draft 1",
    "after save_draft 1",
    "in look",
    "in start",
    "in edit",
    "before commit_step 1",
    "after commit_step 1",
    "before save_draft 2",
    "after save_draft 2",
    "before commit_step 2",
    "after commit_step 2",
    "before commit_step 3",
    "after commit_step 3",
]


def script(asked: Asked) -> Turn:
    """By what it is asked: whoever asks gets the same."""
    said = str(asked.messages)
    if "'work'" not in said:
        return Turn(Say("Hello."))
    if "edit is done" in said or "not known" in said:
        return Turn(Say("All done.")) if said.count("look is done") == 2 else Turn(Call("look", "{}"))
    return Turn(Say("I begin."), Call("look", "{}"), Call("start", "{}"), Call("edit", "{}"))


UNINTERRUPTED = [
    "user: hello",
    "assistant: Hello.",
    "user: work",
    "assistant: I begin.",
    "assistant calls look {}",
    "assistant calls start {}",
    "assistant calls edit {}",
    'look says {"output":"look is done"}',
    'start says {"output":"start is done"}',
    'edit says {"output":"edit is done"}',
    "assistant calls look {}",
    'look says {"output":"look is done"}',
    "assistant: All done.",
]


async def idle_chat(chats: Chatting) -> UUID:
    chat = await chats.begin("hello")
    await chats.resting(chat)
    return chat


@pytest.mark.behaviour("LOOP-1")
@pytest.mark.parametrize("point", POINTS)
async def test_a_turn_whose_process_is_killed_is_finished_by_another(database: Any, tmp_path: Path, point: str):
    path = tmp_path / "ledger"
    ledger = Ledger(path)
    async with chatting(
        database.dsn, script, kind=ProviderKind.OPENAI, tools=ledger_tools(ledger), context_limit=100_000
    ) as chats:
        chat = await idle_chat(chats)
        dead = new_id()
        plan = Plan(database.dsn, dead, chat, chats.deployment.user_id, str(path), point, checkpoints=False)
        async with turn_process(plan) as process:
            assert await process.line() == "at"
            await process.kill()
        await chats.deployment.silence(dead)
        await chats.look_for_chats()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state
    done = [line.split(" ")[0] for line in ledger.lines()]
    # The outcome of an edit is not known once it may have begun, and is not made up. Else it is as if nothing had been.
    unknown = [line for line in shown if "not known" in line]
    settled_by_another = point in ("after save_draft 1", "in look", "in start", "in edit", "before commit_step 1")
    assert len(unknown) == settled_by_another
    expected = [
        line.replace('says {"output":"edit is done"}', f'fails {{"error":"{UNKNOWN_OUTCOME}"}}')
        if settled_by_another and line.startswith("edit")
        else line
        for line in UNINTERRUPTED
    ]
    assert shown == expected
    assert done.count("start") == 1
    assert done.count("edit") <= 1


BEGUN = Turn(Say("I begin", *[" and go on"] * 20), faults=[Silence(after_events=8)])


def slowly(asked: Asked) -> Turn:
    """The first process never hears the end of it."""
    if "'work'" not in str(asked.messages):
        return Turn(Say("Hello."))
    return BEGUN


async def until_checkpointed(chats: Chatting, chat: UUID, text: str = "") -> None:
    """Until the other process has stored that it has shown this."""
    async with asyncio.timeout(PATIENCE):
        while not await chats.deployment.pool.fetchval(
            "SELECT count(*) FROM chat_checkpoints WHERE chat_id = $1 AND strpos(parts::text, $2) > 0", chat, text
        ):
            await SystemClock().sleep(0.05, timer="test")


@pytest.mark.behaviour("STATE-11")
async def test_what_was_seen_of_an_answer_is_there_until_another_attempt_has_something(database: Any, tmp_path: Path):
    answers = [Turn(Say("Hello.")), BEGUN]

    def script(asked: Asked) -> Turn:
        return answers.pop(0) if answers else Turn(Say("All of it."))

    async with chatting(database.dsn, script, kind=ProviderKind.OPENAI_COMPAT) as chats:
        chat = await idle_chat(chats)
        dead = new_id()
        plan = Plan(database.dsn, dead, chat, chats.deployment.user_id, str(tmp_path / "ledger"))
        async with turn_process(plan) as process:
            await until_checkpointed(chats, chat)
            await process.kill()
        killed = await chats.deployment.state(chat)
        with acting_as(WORKER):
            seen = await chats.parts.checkpoints.checkpointed(chat, killed["history_version"])
        await chats.deployment.silence(dead)
        await chats.look_for_chats()
        await chats.resting(chat)

        (shown,) = [preview.part for preview in seen]
        assert isinstance(shown, TextPart)
        assert shown.text.startswith("I begin and go on")
        assert await chats.shown(chat) == ["user: hello", "assistant: Hello.", "user: work", "assistant: All of it."]
        assert killed["generation_attempt"] == 1
        assert chats.attempts[-1] == (killed["history_version"], 2)


@pytest.mark.behaviour("STATE-11")
async def test_what_was_seen_is_stored_when_the_turn_is_not_to_be_redone(database: Any, tmp_path: Path):
    async with chatting(database.dsn, slowly, kind=ProviderKind.OPENAI_COMPAT) as chats:
        chat = await idle_chat(chats)
        dead = new_id()
        plan = Plan(database.dsn, dead, chat, chats.deployment.user_id, str(tmp_path / "ledger"))
        async with turn_process(plan) as process:
            await until_checkpointed(chats, chat)
            await process.kill()
        await chats.interrupt(chat)  # the owner can't hear it any more
        await chats.deployment.silence(dead)
        await chats.look_for_chats()
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING
        *before, last = await chats.shown(chat)
        assert before == ["user: hello", "assistant: Hello.", "user: work"]
        assert last.startswith("assistant: I begin and go on")


DENIED = Refuse(401, "invalid x-api-key", type="authentication_error")


async def killed_in_mid_answer(chats: Chatting, database: Any, ledger: Path) -> UUID:
    """A chat whose replica has shown the beginning of an answer and is gone."""
    chat = await idle_chat(chats)
    dead = new_id()
    async with turn_process(Plan(database.dsn, dead, chat, chats.deployment.user_id, str(ledger))) as process:
        await until_checkpointed(chats, chat)
        await process.kill()
    await chats.deployment.silence(dead)
    return chat


@pytest.mark.behaviour("STATE-11")
@pytest.mark.parametrize("is_interrupted", [True, False])
async def test_what_a_dead_replica_showed_is_stored_when_the_next_one_gets_no_word(
    database: Any, tmp_path: Path, is_interrupted: bool
):
    answers: list[Any] = [Turn(Say("Hello.")), BEGUN]

    def script(asked: Asked) -> Any:
        if answers:
            return answers.pop(0)
        return Turn(Say("x"), faults=[Silence()]) if is_interrupted else DENIED

    async with chatting(database.dsn, script, kind=ProviderKind.OPENAI_COMPAT) as chats:
        chat = await killed_in_mid_answer(chats, database, tmp_path / "ledger")
        await chats.look_for_chats()
        if is_interrupted:
            await chats.vendor.wait_asked(3)
            await chats.interrupt(chat)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == (Status.WAITING if is_interrupted else Status.ERROR)
    assert shown[3].startswith("assistant: I begin and go on")


@pytest.mark.behaviour("STATE-11", "STATE-12")
async def test_what_was_seen_is_stored_when_a_turn_is_given_up(database: Any, tmp_path: Path):
    async with chatting(database.dsn, slowly, kind=ProviderKind.OPENAI_COMPAT) as chats:
        chat = await killed_in_mid_answer(chats, database, tmp_path / "ledger")
        asked = len(chats.vendor.asked)
        await chats.deployment.raw("UPDATE chat_state SET takeovers = 3 WHERE chat_id = $1", chat)
        await chats.look_for_chats()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert (state["status"], len(chats.vendor.asked)) == (Status.ERROR, asked)
    assert "stopped 4 times" in state["last_error"]
    assert shown[3].startswith("assistant: I begin and go on")


@pytest.mark.behaviour("STATE-11")
@pytest.mark.parametrize("is_interrupted", [True, False])
async def test_results_that_were_seen_are_what_happened(database: Any, tmp_path: Path, is_interrupted: bool):
    path = tmp_path / "ledger"
    ledger = Ledger(path)
    async with chatting(
        database.dsn, script, kind=ProviderKind.OPENAI, tools=ledger_tools(ledger), context_limit=100_000
    ) as chats:
        chat = await idle_chat(chats)
        dead = new_id()
        plan = Plan(database.dsn, dead, chat, chats.deployment.user_id, str(path), "before commit_step 1")
        async with turn_process(plan) as process:
            await until_checkpointed(chats, chat, "edit is done")
            await process.kill()
        if is_interrupted:
            await chats.interrupt(chat)
        await chats.deployment.silence(dead)
        await chats.look_for_chats()
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert shown == (UNINTERRUPTED[:10] if is_interrupted else UNINTERRUPTED)
    assert [line.split(" ")[0] for line in ledger.lines()].count("edit") == 1
