"""Servers and agents are killed, and replicas change, around a command: it runs once, and what is told of it is true.

Every kill is a real SIGKILL of a real process; the command writes down that it ran.
"""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.running import AgentProcess, running_agent
from chatd.clock import SystemClock
from chatd.core.parts import FilePart, ToolResultPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.states import Status
from chatd.engine.tool_step import UNKNOWN_OUTCOME
from chatd.engine.tools.tool import AfterCrash
from chatd.engine.tools.workspace.entries import workspace_entries
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import chatting
from engine.deployment import PATIENCE, new_id
from engine.test_crashes import idle_chat
from engine.turn_process import Plan, turn_process
from engine.with_agents import FolderResolver

COMMAND = "echo ran >> ran; touch begun; while [ ! -e go ]; do sleep 0.02; done; echo over"
# Where the first owner is when something happens.
MOMENTS = {"before the spawn": "after save_draft 1", "during the command": "", "after its end": "before commit_step 1"}


def calling(*calls: tuple[str, dict[str, Any]]) -> Any:
    """By what it is asked: whoever asks gets the same."""

    def script(asked: Asked) -> Turn:
        said = str(asked.messages)
        if "'work'" not in said:
            return Turn(Say("Hello."))
        if "function_call_output" in said:
            return Turn(Say("All done."))
        return Turn(*(Call(name, json.dumps(args)) for name, args in calls))

    return script


async def until_there(path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        while not path.exists():  # noqa: ASYNC240
            await SystemClock().sleep(0.02, timer="test")


class Agents:
    """One after the other in a folder."""

    def __init__(self, folder: Path, first: AgentProcess) -> None:
        self.home = first.home
        self.now = first
        self._folder = folder

    @asynccontextmanager
    async def killed_and_started_again(self) -> AsyncGenerator[None]:
        await self.now.kill()
        async with running_agent(self._folder) as self.now:
            yield


@pytest.mark.behaviour("STATE-10")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("killed", ["server", "agent", "both", "nobody"])
async def test_a_command_runs_once_whoever_is_killed_when(database: Any, tmp_path: Path, moment: str, killed: str):
    """With nobody killed, another replica takes the chat while its owner is stopped, and then goes on too."""
    folder = tmp_path / "agent"
    script = calling(("execute", {"command": COMMAND, "timeout": "1h"}))
    async with (
        running_agent(folder) as first_agent,
        chatting(
            database.dsn,
            script,
            kind=ProviderKind.OPENAI,
            context_limit=100_000,
            workspaces=FolderResolver(folder),
        ) as chats,
    ):
        agents = Agents(folder, first_agent)
        chat, owner = await idle_chat(chats), new_id()
        plan = Plan(
            database.dsn,
            owner,
            chat,
            chats.deployment.user_id,
            "",
            MOMENTS[moment],
            checkpoints=False,
            agent=str(folder),
        )
        if moment != "during the command":
            (agents.home / "go").touch()
        async with turn_process(plan) as process:
            if moment == "during the command":
                await until_there(agents.home / "begun")
            else:
                assert await process.line() == "at"
            if killed == "agent":
                async with agents.killed_and_started_again():
                    process.go_on()
                    (agents.home / "go").touch()
                    await until_rested(chats, chat)
            else:
                if killed == "nobody":
                    os.kill(process.process.pid, signal.SIGSTOP)
                else:
                    await process.kill()
                await chats.deployment.silence(owner)
                if killed == "both":
                    async with agents.killed_and_started_again():
                        await chats.look_for_chats()
                        (agents.home / "go").touch()
                        await chats.resting(chat)
                else:
                    await chats.look_for_chats()
                    (agents.home / "go").touch()
                    await chats.resting(chat)
                if killed == "nobody":
                    os.kill(process.process.pid, signal.SIGCONT)
                    process.go_on()
                    assert await process.line() == "refused commit_step"
        state, messages = await chats.deployment.state(chat), await chats.messages(chat)
        (result,) = [part for message in messages for part in message.parts if isinstance(part, ToolResultPart)]
        told = json.loads(result.result)

    assert state["status"] == Status.WAITING
    assert (agents.home / "ran").read_text() == "ran\n"
    if moment == "during the command" and killed in ("agent", "both"):
        assert "It was not started again" in told["error"]
    else:
        assert (told["success"], told["output"]) == (True, "over\n")


async def until_rested(chats: Any, chat: Any) -> None:
    """It is another process that runs it, whose hints are not heard here."""
    async with asyncio.timeout(PATIENCE):
        while (await chats.deployment.state(chat))["status"] != Status.WAITING:
            await SystemClock().sleep(0.05, timer="test")


# What each tool declares, and what one call of it leaves to be told by whoever settles it.
DECLARED = {
    "execute": AfterCrash.KEYED,
    "process_output": AfterCrash.RERUN,
    "process_list": AfterCrash.RERUN,
    "process_signal": AfterCrash.UNKNOWN_OUTCOME,
    "read_file": AfterCrash.RERUN,
    "write_file": AfterCrash.UNKNOWN_OUTCOME,
    "edit_files": AfterCrash.UNKNOWN_OUTCOME,
    "attach_file": AfterCrash.KEYED,
    "read_skill": AfterCrash.RERUN,
    "read_skill_file": AfterCrash.RERUN,
}


def test_every_tool_of_workspaces_is_held_to_what_it_declares():
    store: Any = None
    tools = [entry.tool for entry in workspace_entries(store)]
    assert {tool.spec.name: tool.traits.after_crash for tool in tools} == DECLARED


@pytest.mark.behaviour("STATE-10")
async def test_calls_of_a_dead_server_are_settled_as_their_tools_declare(database: Any, tmp_path: Path):
    """All have done their work when the server dies, and someone changes the files before the next one comes."""
    folder = tmp_path / "agent"
    async with running_agent(folder) as agent:
        (agent.home / "edited").write_text("old")
        (agent.home / "read").write_text("first")
        (agent.home / "attached").write_text("as it was")
        edits = [{"old_text": "old", "new_text": "new"}]
        calls = {
            "execute": {"command": "echo ran >> ran; echo ok"},
            "process_output": {"process_id": "nothing"},
            "process_list": {},
            "process_signal": {"process_id": "nothing", "signal": "kill"},
            "read_file": {"path": str(agent.home / "read")},
            "write_file": {"path": str(agent.home / "written"), "content": "ours"},
            "edit_files": {"files": [{"path": str(agent.home / "edited"), "edits": edits}]},
            "attach_file": {"path": str(agent.home / "attached")},
            "read_skill": {"name": "none"},
            "read_skill_file": {"name": "none", "path": "a"},
        }
        assert set(calls) == set(DECLARED)
        async with chatting(
            database.dsn,
            calling(*calls.items()),
            kind=ProviderKind.OPENAI,
            context_limit=100_000,
            workspaces=FolderResolver(folder),
        ) as chats:
            chat, dead = await idle_chat(chats), new_id()
            user = chats.deployment.user_id
            plan = Plan(
                database.dsn, dead, chat, user, "", "before commit_step 1", checkpoints=False, agent=str(folder)
            )
            async with turn_process(plan) as process:
                assert await process.line() == "at"
                await process.kill()
            assert (agent.home / "written").read_text() == "ours"
            assert (agent.home / "edited").read_text() == "new"
            for name in ("written", "edited", "read", "attached"):
                (agent.home / name).write_text("someone else's")
            await chats.deployment.silence(dead)
            await chats.look_for_chats()
            await chats.resting(chat)
            messages = await chats.messages(chat)
            files = await chats.deployment.pool.fetch("SELECT id, data FROM files")
        results = {
            part.tool_name: part for message in messages for part in message.parts if isinstance(part, ToolResultPart)
        }
        for name, declared in DECLARED.items():
            is_unknown = UNKNOWN_OUTCOME in results[name].result
            assert is_unknown is (declared is AfterCrash.UNKNOWN_OUTCOME), name
        assert json.loads(results["execute"].result)["output"] == "ok\n"
        assert json.loads(results["read_file"].result)["content"] == "1\tsomeone else's"
        assert (agent.home / "ran").read_text() == "ran\n"
        assert (agent.home / "written").read_text() == "someone else's"
        assert (agent.home / "edited").read_text() == "someone else's"
        (shown,) = [part for message in messages for part in message.parts if isinstance(part, FilePart)]
        assert [(row["id"], row["data"]) for row in files] == [(shown.file_id, b"as it was")]
