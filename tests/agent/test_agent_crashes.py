"""An agent is killed at every point of a command's life: the command runs at most once, and what is told is true."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from agent.commands import finished, output, start, until_said
from agent.running import AgentProcess, running_agent

CRASHING = str(Path(__file__).with_name("crashing_agent.py"))
ASKED = {"key": "once", "command": "echo ran >> marks; echo said"}


def _marks(home: Path) -> list[str]:
    marks = home / "marks"
    return marks.read_text().split() if marks.exists() else []


async def _run(agent: AgentProcess) -> None:
    await finished(agent, (await agent.ask("POST", "/processes", body=ASKED)).json["id"])


async def _crash(folder: Path, point: str) -> None:
    """Ask an agent that dies at that point to run the command."""
    async with running_agent(folder, program=(CRASHING, point)) as agent:
        with pytest.raises(aiohttp.ClientError):
            await _run(agent)
        async with asyncio.timeout(30):
            assert await agent.process.wait() == -9


async def _after(agent: AgentProcess) -> tuple[int, list[str]]:
    """What the next agent says to the same start, and what the command did in the end."""
    reply = await agent.ask("POST", "/processes", body=ASKED)
    shown = await output(agent, reply.json["id"])
    assert shown["state"] == reply.json["state"]
    await agent.ask("POST", "/shutdown")  # nobody runs any more
    return reply.status, [reply.json["state"], *([shown["note"]] if "note" in shown else [])]


async def test_a_start_that_did_not_come_to_its_key_runs_when_it_is_asked_for_again(tmp_path: Path):
    await _crash(tmp_path / "agent", "before the key")
    async with running_agent(tmp_path / "agent") as agent:
        reply = await agent.ask("POST", "/processes", body=ASKED)
        shown = await finished(agent, reply.json["id"])

    assert reply.status == 201
    assert shown["output"] == "said\n"
    assert _marks(tmp_path / "home") == ["ran"]


async def test_a_key_without_a_process_is_never_started_again(tmp_path: Path):
    await _crash(tmp_path / "agent", "after the key")
    async with running_agent(tmp_path / "agent") as agent:
        status, told = await _after(agent)

    assert status == 200
    assert told[0] == "unknown"
    assert "It was not started again" in told[1]
    assert _marks(tmp_path / "home") == []


@pytest.mark.parametrize("point", ["after the spawn", "after the pid", "before the end"])
async def test_a_command_whose_agent_died_is_unknown_and_ran_at_most_once(tmp_path: Path, point: str):
    await _crash(tmp_path / "agent", point)
    async with running_agent(tmp_path / "agent") as agent:
        status, told = await _after(agent)

    assert status == 200
    assert told[0] == "unknown"
    assert len(_marks(tmp_path / "home")) <= 1


async def test_the_end_of_a_command_outlives_its_agent_until_it_is_acknowledged(tmp_path: Path):
    await _crash(tmp_path / "agent", "after the end")
    async with running_agent(tmp_path / "agent") as agent:
        reply = await agent.ask("POST", "/processes", body=ASKED)
        shown = await finished(agent, reply.json["id"])
        listed = (await agent.ask("GET", "/processes")).json["processes"]
        acknowledged = await agent.ask("DELETE", f"/processes/{shown['id']}/key")

    assert reply.json == {"id": shown["id"], "fresh": False, "state": "exited"}
    assert (shown["output"], shown["exit_code"]) == ("said\n", 0)
    assert [one["id"] for one in listed] == [shown["id"]]
    assert acknowledged.status == 200
    assert _marks(tmp_path / "home") == ["ran"]


async def test_a_command_that_outlives_its_agent_is_seen_and_can_be_signalled(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as first:
        id = await start(first, "echo up; sleep 600")
        await until_said(first, id, "up")
        await first.kill()
    async with running_agent(tmp_path / "agent") as second:
        before = await output(second, id)
        waited = await output(second, id, wait="true")
        signalled = await second.ask("POST", f"/processes/{id}/signal", body={"signal": "kill"})
        written = await second.ask("POST", f"/processes/{id}/stdin", body={"text": "x"})

    assert (before["state"], before["running"]) == ("unknown", True)
    assert waited["state"] == "unknown"
    assert signalled.status == 200
    assert written.status == 409
