"""A process is killed in a compaction, while it waits to try again, or while it waits for the client."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.core.provider_kind import ProviderKind
from chatd.core.states import Status
from chatd.core.usage import Usage
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Refuse, Say, Silence, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import new_id
from engine.test_client_tools import answer
from engine.test_compaction import FULL, SMALL, is_summary
from engine.turn_process import Ledger, Plan, ledger_tools, turn_process

ASK = '[{"name":"ask","description":"Ask the user.","input_schema":{"type":"object"}}]'


async def killed(chats: Chatting, plan: Plan, asked: int) -> None:
    """At its point, or when the vendor was asked so many times."""
    async with turn_process(plan) as process:
        if plan.stop:
            while await process.line() != "at":  # it may log something first
                pass
        else:
            await chats.vendor.wait_asked(asked)
        await process.kill()
    await chats.deployment.silence(plan.replica_id)
    await chats.look_for_chats()


def plan_for(chats: Chatting, chat: UUID, ledger: Path, stop: str = "") -> Plan:
    return Plan(chats.deployment.dsn, new_id(), chat, chats.deployment.user_id, str(ledger), stop, checkpoints=False)


@pytest.mark.behaviour("COMPACT-8")
@pytest.mark.parametrize("stop", ["", "before commit_step 2", "after commit_step 2"])
async def test_a_compaction_whose_process_is_killed_is_made_once(database: Any, tmp_path: Path, stop: str):
    summaries = 0

    def script(asked: Asked) -> Turn:
        nonlocal summaries
        if is_summary(asked):
            summaries += 1
            is_silent = summaries == 1 and not stop
            return Turn(Say("We looked."), usage=SMALL, faults=[Silence(after_events=3)] if is_silent else [])
        said = str(asked.messages)
        if "We looked." in said:
            return Turn(Say("All done."), usage=SMALL)
        return Turn(Call("look", "{}"), usage=FULL) if "'work'" in said else Turn(Say("Hello."), usage=SMALL)

    path = tmp_path / "ledger"
    async with chatting(
        database.dsn, script, kind=ProviderKind.OPENAI_COMPAT, tools=ledger_tools(Ledger(path))
    ) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        await killed(chats, plan_for(chats, chat, path, stop), asked=3)
        state = await chats.resting(chat)
        stored = await chats.messages(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state
    assert len([message for message in stored if message.compressed]) == 3, "one summary, and what people see of it"
    assert summaries == (1 if stop == "after commit_step 2" else 2)
    assert shown[-1] == "assistant: All done."
    assert [line.split(" ")[0] for line in Ledger(path).lines()] == ["look"]


@pytest.mark.behaviour("ERR-6")
async def test_a_wait_whose_process_is_killed_is_waited_out_by_another(database: Any, tmp_path: Path):
    script: list[Any] = [
        Turn(Say("Hello.")),
        Refuse(429, "Slow down.", headers={"retry-after": "60"}),
        Turn(Say("All done.")),
    ]
    async with chatting(database.dsn, script, kind=ProviderKind.OPENAI_COMPAT) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        # The other process lives in real time, which is after ours: nobody waits longer than was decided.
        await killed(chats, plan_for(chats, chat, tmp_path / "ledger", "after record_retry 1"), asked=2)
        await chats.fake_clock.wait_for("retry")
        waiting = await chats.deployment.state(chat)
        asked_early = len(chats.vendor.asked)
        await chats.fake_clock.advance(60)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert (waiting["status"], waiting["takeovers"], asked_early) == (Status.RUNNING, 1, 2)
    assert waiting["retry_state"] is not None
    assert state["status"] == Status.WAITING
    assert shown[-1] == "assistant: All done."


async def test_a_client_is_waited_for_by_another_when_the_process_that_waited_is_killed(database: Any, tmp_path: Path):
    script = [Turn(Say("Hello."), usage=Usage(input_tokens=1)), Turn(Call("ask", "{}")), Turn(Say("Blue it is."))]
    async with chatting(database.dsn, script, kind=ProviderKind.OPENAI_COMPAT) as chats:
        chat = await chats.begin(dynamic_tools=ASK)
        await chats.resting(chat)
        await killed(chats, plan_for(chats, chat, tmp_path / "ledger", "after enter_requires_action 1"), asked=2)
        await chats.fake_clock.wait_for("requires action")
        await answer(chats, chat)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING
    assert shown[-1] == "assistant: Blue it is."
