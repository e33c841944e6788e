"""process_output, process_list and process_signal on a real agent."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent.running import AgentProcess, running_agent
from chatd.engine.tools.workspace.execute import execute_tool
from chatd.engine.tools.workspace.processes import (
    DEFAULT_WAIT,
    process_list_tool,
    process_output_tool,
    process_signal_tool,
)
from chatd.testing.fake_clock import FakeClock
from engine.with_agents import FixedResolver, Trial, relay_to, resolved_of, trial

EXECUTE, OUTPUT, LIST, SIGNAL = execute_tool(), process_output_tool(), process_list_tool(), process_signal_tool()
UNTIL_GO = "while [ ! -e go ]; do sleep 0.02; done"


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncGenerator[AgentProcess]:
    async with running_agent(tmp_path / "agent") as running:
        yield running


@pytest.fixture
async def chat(agent: AgentProcess) -> AsyncGenerator[Trial]:
    async with trial(FixedResolver(resolved_of(agent))) as made:
        yield made


async def left_running(chat: Trial, command: str) -> str:
    return (await chat.call(EXECUTE, {"command": command, "run_in_background": True}))["background_process_id"]


@pytest.mark.behaviour("PROC-3")
async def test_the_output_of_a_running_command_is_all_there_is_when_the_wait_ends(chat: Trial, agent: AgentProcess):
    id = await left_running(chat, f"echo one; {UNTIL_GO}; echo two")
    shown = await chat.call(OUTPUT, {"process_id": id, "wait_timeout": "200ms"})
    assert shown.pop("wall_duration_ms") >= 200
    command = f"echo one; {UNTIL_GO}; echo two"
    assert shown == {
        "success": True,
        "exit_code": 0,
        "output": "one\n",
        "running": True,
        "note": "It still runs. Call process_output again to wait for it, or process_signal to end it.",
        "command": command,
    }
    (agent.home / "go").touch()
    ended = await chat.call(OUTPUT, {"process_id": f" {id} "})
    assert (ended["success"], ended["output"], "running" in ended) == (True, "one\ntwo\n", False)


@pytest.mark.behaviour("PROC-3")
async def test_a_wait_of_nothing_is_a_look_and_ten_seconds_are_the_default(agent: AgentProcess, tmp_path: Path):
    async with (
        relay_to(agent, tmp_path) as relay,
        trial(FixedResolver(resolved_of(agent, address=relay.address)), clock=FakeClock()) as chat,
        asyncio.TaskGroup() as tasks,
    ):
        id = await left_running(chat, UNTIL_GO)
        assert (await chat.call(OUTPUT, {"process_id": id, "wait_timeout": "0s"}))["running"]
        assert b"wait_seconds" not in relay.heard
        tasks.create_task(chat.call(OUTPUT, {"process_id": id}))
        await relay.until_heard(f"wait_seconds={DEFAULT_WAIT}".encode())
        (agent.home / "go").touch()
    assert DEFAULT_WAIT == 10


@pytest.mark.behaviour("PROC-3")
async def test_a_wait_whose_connection_breaks_ends_with_a_look(agent: AgentProcess, tmp_path: Path):
    async with (
        relay_to(agent, tmp_path) as relay,
        trial(FixedResolver(resolved_of(agent, address=relay.address))) as chat,
        asyncio.TaskGroup() as tasks,
    ):
        id = await left_running(chat, f"echo one; {UNTIL_GO}")
        waiting = tasks.create_task(chat.call(OUTPUT, {"process_id": id, "wait_timeout": "5m"}))
        await relay.until_heard(b"since=1")
        relay.cut()
        assert (await waiting)["output"] == "one\n"
        await chat.call(SIGNAL, {"process_id": id, "signal": "terminate"})


async def test_a_process_that_is_not_there_is_told_so(chat: Trial):
    assert "process_list" in await chat.fail(OUTPUT, {"process_id": "nothing"})
    assert "no length of time" in await chat.fail(OUTPUT, {"process_id": "x", "wait_timeout": "a while"})
    refused = await chat.call(SIGNAL, {"process_id": "nothing", "signal": "kill"})
    assert not refused["success"]
    assert (await chat.call(LIST, {}))["processes"] == []


async def test_only_signals_that_end_a_process_can_be_sent(chat: Trial):
    assert "signal" in await chat.fail(SIGNAL, {"process_id": "x", "signal": "SIGSTOP"})


async def test_long_commands_are_listed_short(chat: Trial):
    await left_running(chat, f"sleep 600 # {'x' * 20000}")
    (listed,) = (await chat.call(LIST, {}))["processes"]
    assert len(listed["command"]) < 1000
