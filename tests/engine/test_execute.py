"""execute: a command in a real agent, waited for or left running, cut once, and what is told when the way breaks."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from agent.running import CHAT, AgentProcess, running_agent
from chatd.core.cut import json_bytes
from chatd.engine.tools.workspace.execute import execute_tool
from chatd.engine.tools.workspace.processes import process_list_tool, process_output_tool, process_signal_tool
from chatd.testing.fake_clock import FakeClock
from chatd.workspaces.resolving import Resolved
from engine.with_agents import FixedResolver, Trial, relay_to, resolved_of, trial
from workspaces.agents.clients import client_of

EXECUTE = execute_tool()
OUTPUT = process_output_tool()
SIGNAL = process_signal_tool()
UNTIL_GO = "while [ ! -e go ]; do sleep 0.02; done"


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncGenerator[AgentProcess]:
    async with running_agent(tmp_path / "agent") as running:
        yield running


@pytest.fixture
async def chat(agent: AgentProcess) -> AsyncGenerator[Trial]:
    async with trial(FixedResolver(resolved_of(agent))) as made:
        yield made


@pytest.mark.behaviour("PROC-1")
async def test_a_command_is_run_and_its_output_comes_back(chat: Trial):
    result = await chat.call(EXECUTE, {"command": "echo out; echo err >&2; exit 3"})
    assert result.pop("wall_duration_ms") >= 0
    assert result == {"success": False, "exit_code": 3, "output": "out\nerr\n"}
    assert (await chat.call(EXECUTE, {"command": "true"}))["success"]


async def test_nothing_asks_pages_or_waits_for_someone_to_type(chat: Trial):
    result = await chat.call(EXECUTE, {"command": "env; read line || echo no input"})
    lines = result["output"].splitlines()
    for line in ("AGENT_CHAT=true", f"AGENT_BROWSER_SESSION={CHAT}", "GIT_EDITOR=true", "TERM=dumb", "PAGER=cat"):
        assert line in lines
    assert lines[-1] == "no input"


async def test_a_command_runs_where_it_is_told(chat: Trial, agent: AgentProcess):
    (agent.home / "below").mkdir()
    result = await chat.call(EXECUTE, {"command": "pwd", "workdir": str(agent.home / "below")})
    assert result["output"] == f"{agent.home}/below\n"
    missing = await chat.call(EXECUTE, {"command": "pwd", "workdir": "/nowhere/at/all"})
    assert (missing["success"], missing["exit_code"]) == (False, -1)
    assert "does not exist" in missing["error"]


@pytest.mark.behaviour("PROC-1")
async def test_a_command_that_takes_too_long_goes_on_and_its_id_and_output_come_back(chat: Trial, agent: AgentProcess):
    result = await chat.call(EXECUTE, {"command": f"echo begun; {UNTIL_GO}; echo over", "timeout": "300ms"})
    assert (result["success"], result["exit_code"], result["output"]) == (False, -1, "begun\n")
    assert "did not end within 300ms" in result["error"]
    assert "process_output" in result["error"]
    (agent.home / "go").touch()
    later = await chat.call(OUTPUT, {"process_id": result["background_process_id"]})
    assert (later["success"], later["output"]) == (True, "begun\nover\n")


@pytest.mark.parametrize(
    ("timeout", "told"), [("soon", "no length of time"), ("-1s", "no length of time"), ("48h", "at most 24h")]
)
async def test_a_timeout_that_is_none_is_refused(chat: Trial, timeout: str, told: str):
    assert told in await chat.fail(EXECUTE, {"command": "true", "timeout": timeout})


async def test_a_command_without_words_is_refused(chat: Trial):
    assert "empty" in await chat.fail(EXECUTE, {"command": "  \n"})


@pytest.mark.behaviour("PROC-6")
@pytest.mark.parametrize("args", [{"command": "sleep 600", "run_in_background": True}, {"command": "sleep 600 &"}])
async def test_a_command_in_the_background_is_left_running(chat: Trial, args: dict[str, Any]):
    result = await chat.call(EXECUTE, args)
    id = result.pop("background_process_id")
    assert result == {"success": True, "exit_code": 0, "wall_duration_ms": 0, "backgrounded": True}
    listed = (await chat.call(process_list_tool(), {}))["processes"]
    assert [(each["id"], each["command"], each["running"]) for each in listed] == [(id, "sleep 600", True)]
    assert (await chat.call(SIGNAL, {"process_id": id, "signal": "kill"}))["success"]
    ended = await chat.call(OUTPUT, {"process_id": id})
    assert (ended["success"], ended["exit_code"], ended["signal"]) == (False, 137, "SIGKILL")
    refused = await chat.call(SIGNAL, {"process_id": id, "signal": "kill"})
    assert refused == {"success": False, "error": "This process has ended; nothing was sent to it."}


@pytest.mark.behaviour("PROC-8")
def test_models_are_told_in_words_what_running_in_the_background_means():
    fields = json.loads(EXECUTE.spec.input_schema)["properties"]
    words = fields["run_in_background"]["description"]
    assert "returns at once" in words
    assert "process_output" in words
    assert "&" in words
    assert "run_in_background" in EXECUTE.spec.description
    assert "10s" in fields["timeout"]["description"]


async def test_output_shows_while_the_command_runs(chat: Trial, agent: AgentProcess):
    async def go_on() -> None:
        while not any("first" in text for text in chat.shown):
            await chat.told.wait()
            chat.told.clear()
        assert not any("second" in text for text in chat.shown)
        (agent.home / "go").touch()

    async with asyncio.TaskGroup() as tasks, asyncio.timeout(30):
        tasks.create_task(go_on())
        result = await chat.call(EXECUTE, {"command": f"echo first; {UNTIL_GO}; echo second", "timeout": "1m"})
    assert result["output"] == "first\nsecond\n"


@pytest.mark.behaviour("PROC-1")
async def test_a_silent_command_is_waited_for_with_one_request_that_blocks(agent: AgentProcess, tmp_path: Path):
    """Besides the start and the short first wait."""
    async with (
        relay_to(agent, tmp_path) as relay,
        trial(FixedResolver(resolved_of(agent, address=relay.address))) as chat,
        asyncio.TaskGroup() as tasks,
    ):
        running = tasks.create_task(chat.call(EXECUTE, {"command": UNTIL_GO, "timeout": "5m"}))
        await relay.until_heard(b"since=0")
        heard = bytes(relay.heard)
        (agent.home / "go").touch()
        result = await running
    assert result["success"]
    assert bytes(relay.heard) == heard  # nothing was asked any more
    assert heard.count(b"HTTP/1.1\r\n") == 3
    assert b"wait_seconds=29" in heard  # of five minutes, less what the first wait took


@pytest.mark.behaviour("PROC-1")
async def test_a_wait_longer_than_the_agents_longest_asks_again(agent: AgentProcess):
    """By a fake clock: what the agent waited for did not use up the time."""
    clock = FakeClock()
    async with trial(FixedResolver(resolved_of(agent)), clock=clock) as chat:
        result = await chat.call(EXECUTE, {"command": "sleep 0.5; echo done", "timeout": "250ms"})
    assert result["output"] == "done\n"


async def test_a_chatty_command_is_not_asked_about_all_the_time(agent: AgentProcess, tmp_path: Path):
    async with (
        relay_to(agent, tmp_path) as relay,
        trial(FixedResolver(resolved_of(agent, address=relay.address))) as chat,
    ):
        command = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; sleep 0.0005; done"
        result = await chat.call(EXECUTE, {"command": command, "timeout": "1m"})
    assert result["output"].endswith("line 2000\n")
    asked = relay.heard.count(b"HTTP/1.1\r\n")
    assert asked <= 5 + result["wall_duration_ms"] / 1000 / 0.2 * 2


@pytest.mark.parametrize("budget", [16 * 1024, 200_000])
@pytest.mark.parametrize("text", ["0123456789 a line of text", "\\001\\002\\003\\004\\005\\006\\007"])
async def test_long_output_is_cut_once_in_the_middle(agent: AgentProcess, budget: int, text: str):
    command = f"i=0; while [ $i -lt 4000 ]; do i=$((i+1)); printf '{text} %s\\n' $i; done"
    async with trial(FixedResolver(resolved_of(agent)), budget=budget) as chat:
        output = await chat.output(EXECUTE, {"command": command, "timeout": "1m"})
    result = json.loads(output.result)
    assert len(output.result.encode()) <= budget
    assert result["output"].count("bytes are left out here") == 1
    assert result["output"].startswith(text.encode().decode("unicode_escape") + " 1\n")
    assert result["output"].endswith(" 4000\n")
    told = result["truncated"]
    assert told["original_bytes"] == told["retained_bytes"] + told["omitted_bytes"]
    assert json_bytes(result["output"]) >= min(budget, 32 * 1024) // 4  # and not more than it has to be


@pytest.mark.behaviour("PROC-4")
async def test_a_command_that_ended_while_the_connection_was_lost_is_told_as_if_nothing_had_been(
    agent: AgentProcess, tmp_path: Path
):
    async with (
        relay_to(agent, tmp_path) as relay,
        trial(FixedResolver(resolved_of(agent, address=relay.address))) as chat,
        asyncio.TaskGroup() as tasks,
        asyncio.timeout(30),
    ):
        running = tasks.create_task(chat.call(EXECUTE, {"command": f"{UNTIL_GO}; echo done", "timeout": "5m"}))
        await relay.until_heard(b"since=0")
        relay.is_open.clear()
        relay.cut()
        (agent.home / "go").touch()
        async with client_of(agent) as direct:
            (process,) = (await direct.processes()).processes
            await direct.output(process.id, wait_seconds=30)
        relay.is_open.set()
        result = await running
    assert (result["success"], result["output"]) == (True, "done\n")


@pytest.mark.behaviour("PROC-4")
async def test_a_command_that_runs_on_after_the_connection_was_lost_is_told_with_its_id(
    agent: AgentProcess, tmp_path: Path
):
    async with (
        relay_to(agent, tmp_path) as relay,
        trial(FixedResolver(resolved_of(agent, address=relay.address))) as chat,
        asyncio.TaskGroup() as tasks,
        asyncio.timeout(30),
    ):
        command = f"echo begun; {UNTIL_GO}"
        running = tasks.create_task(chat.call(EXECUTE, {"command": command, "timeout": "5m"}))
        await relay.until_heard(b"since=1")
        relay.is_open.clear()
        relay.cut()
        relay.is_open.set()
        result = await running
        (agent.home / "go").touch()
        assert result["output"] == "begun\n"
        assert "process_output" in result["error"]
        later = await chat.call(OUTPUT, {"process_id": result["background_process_id"]})
        assert later["success"]


@pytest.mark.behaviour("PROC-1")
async def test_when_the_output_can_not_be_had_either_both_errors_and_the_id_are_told(agent: AgentProcess):
    async with trial(FixedResolver(resolved_of(agent))) as chat, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(chat.call(EXECUTE, {"command": f"echo begun; {UNTIL_GO}", "timeout": "5m"}))
        async with asyncio.timeout(30):
            await chat.told.wait()
        await agent.kill()
        result = await running
        (agent.home / "go").touch()  # nobody else ends it
    assert (result["success"], result["exit_code"]) == (False, -1)
    assert "waiting for it failed: The" in result["error"]
    assert "failed too: The workspace of this chat does not answer" in result["error"]
    assert result["background_process_id"]


@pytest.mark.behaviour("STATE-10")
async def test_a_command_whose_agent_dies_is_not_run_again(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as first:
        second = running_agent(tmp_path / "agent")

        async def start_again(failed: Resolved) -> Resolved:
            return resolved_of(await second.__aenter__())

        resolver = FixedResolver(resolved_of(first), start_again)
        async with trial(resolver) as chat, asyncio.TaskGroup() as tasks:
            args = {"command": "echo ran >> ran; echo begun; exec sleep 600", "timeout": "5m"}
            running = tasks.create_task(chat.call(EXECUTE, args, key="k"))
            async with asyncio.timeout(30):
                await chat.told.wait()
            await first.kill()
            result = await running
            assert "was not started again" in result["error"]
            again = await chat.call(EXECUTE, args, key="k")
            assert "was not started again" in again["error"]
            await chat.call(SIGNAL, {"process_id": result["background_process_id"], "signal": "kill"})
        await second.__aexit__(None, None, None)
        assert resolver.recovers == 1
        assert (first.home / "ran").read_text() == "ran\n"


async def test_without_a_workspace_the_model_is_told_how_to_get_one():
    async with trial(None) as chat:
        assert "create_workspace" in await chat.fail(EXECUTE, {"command": "true"})
