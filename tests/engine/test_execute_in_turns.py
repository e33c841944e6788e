"""Commands in whole turns: what a model gets, what an interrupt leaves, and that keys are not kept for ever."""

import asyncio
import json
from pathlib import Path
from typing import Any

from agent.running import AgentProcess, running_agent
from chatd.core.parts import ToolResultPart
from chatd.core.states import Status
from chatd.engine.tools.workspace.execute import execute_tool
from chatd.engine.tools.workspace.files import read_file_tool
from chatd.engine.tools.workspace.processes import process_list_tool
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Say, Turn
from chatd.workspaces.resolving import Resolved
from engine.chatting import Chatting, chatting
from engine.with_agents import FixedResolver, resolved_of
from workspaces.agents.clients import client_of

TOOLS = [execute_tool(), read_file_tool(), process_list_tool()]
ROOM = 100_000


def calling(*steps: list[tuple[str, dict[str, Any]]]) -> Any:
    """A vendor that makes these calls, step by step, and then says that it is done."""
    left = list(steps)

    def script(asked: Asked) -> Turn:
        if not left:
            return Turn(Say("Done."))
        return Turn(*(Call(name, json.dumps(args)) for name, args in left.pop(0)))

    return script


async def results(chats: Chatting, chat: Any) -> list[ToolResultPart]:
    messages = await chats.messages(chat)
    return [part for message in messages for part in message.parts if isinstance(part, ToolResultPart)]


def shown_now(chats: Chatting, chat: Any) -> str:
    """What running commands of the chat have said so far."""
    episode = chats.parts.episodes.current(chat)
    live = None if episode is None else episode.live
    return "" if live is None else "".join(said.text for said in live.after(0))


def acknowledged(agent: AgentProcess) -> int:
    return len(list((agent.folder / "processes").glob("*.ack")))


async def test_a_model_runs_commands_in_the_workspace_of_its_chat(database: Any, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent:
        resolver = FixedResolver(resolved_of(agent))
        script = calling(
            [("execute", {"command": "echo hello > a; pwd"}), ("execute", {"command": "echo two"})],
            [("read_file", {"path": str(agent.home / "a")})],
        )
        async with chatting(database.dsn, script, tools=TOOLS, context_limit=ROOM, workspaces=resolver) as chats:
            chat = await chats.begin("go")
            assert (await chats.resting(chat))["status"] == Status.WAITING
            first, second, third = [json.loads(part.result) for part in await results(chats, chat)]
        assert first["output"] == f"{agent.home}\n"
        assert second["output"] == "two\n"
        assert third["content"] == "1\thello"
        assert resolver.resolves == 1  # of three calls in two steps
        assert acknowledged(agent) == 2


async def test_an_interrupted_command_runs_on_and_the_model_is_told_its_id(database: Any, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent:
        command = "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo over"
        script = calling([("execute", {"command": command, "timeout": "1h"})], [("execute", {"command": "touch go"})])
        async with (
            chatting(
                database.dsn, script, tools=TOOLS, context_limit=ROOM, workspaces=FixedResolver(resolved_of(agent))
            ) as chats,
            client_of(agent) as anyone,
        ):
            chat = await chats.begin("go")
            async with asyncio.timeout(30):
                while "begun" not in shown_now(chats, chat):  # it is waited for
                    await anyone.health()
            await chats.interrupt(chat)
            assert (await chats.resting(chat))["status"] == Status.WAITING
            (cut,) = await results(chats, chat)
            told = json.loads(cut.result)
            assert cut.is_error
            assert "interrupted" in told["error"]
            await chats.send(chat, "and now?")
            await chats.resting(chat)
        async with client_of(agent, chat=chat) as its:
            ended = await its.output(told["background_process_id"], wait_seconds=30)
        assert (ended.exit_code, ended.output) == (0, "begun\nover\n")
        # The second command's turn has made up for the first, which was never committed as it was.
        assert acknowledged(agent) == 2


async def test_an_interrupt_while_the_workspace_is_looked_for_is_an_interrupt(database: Any, tmp_path: Path):
    looking = asyncio.Event()

    async def never(failed: Resolved) -> Resolved:
        looking.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with running_agent(tmp_path / "agent") as agent:
        resolver = FixedResolver(resolved_of(agent, address=f"unix:{tmp_path}/gone.sock"), never)
        script = calling([("execute", {"command": "echo ran > ran"})])
        async with chatting(database.dsn, script, tools=TOOLS, context_limit=ROOM, workspaces=resolver) as chats:
            chat = await chats.begin("go")
            async with asyncio.timeout(30):
                await looking.wait()
            await chats.interrupt(chat)
            assert (await chats.resting(chat))["status"] == Status.WAITING
            (cut,) = await results(chats, chat)
        assert "interrupted" in cut.result
        assert "workspace" not in cut.result
        assert not (agent.home / "ran").exists()


async def test_a_chat_that_is_owned_anew_has_a_higher_epoch(database: Any, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent:
        script = calling([("execute", {"command": "true"})], [], [("execute", {"command": "true"})])
        async with chatting(
            database.dsn, script, tools=TOOLS, context_limit=ROOM, workspaces=FixedResolver(resolved_of(agent))
        ) as chats:
            chat = await chats.begin("go")
            await chats.resting(chat)
            first = json.loads((agent.folder / "epochs.json").read_text())[str(chat)]
            await chats.send(chat, "again")
            await chats.resting(chat)
            second = json.loads((agent.folder / "epochs.json").read_text())[str(chat)]
        assert 0 < first < second
