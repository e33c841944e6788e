"""Signals reach the whole group, and a stop leaves nothing running."""

import os
import signal
from pathlib import Path

import pytest

from agent.commands import finished, start, until_said
from agent.running import AgentProcess, running_agent, until_gone
from chatd.agent import cgroups
from chatd.agent.system_processes import carries, living, look_up

PIPELINE = "echo $$; (echo stage 1 >&2; sleep 601) | (echo stage 2 >&2; sleep 602) | (echo stage 3; sleep 603; true)"


GROUPLESS = str(Path(__file__).with_name("groupless_agent.py"))


def _group(leader: int) -> list[int]:
    return [process.pid for process in living() if process.group == leader]


async def _leader(agent: AgentProcess, id: str) -> int:
    return int((await until_said(agent, id, "\n"))["output"].split()[0])


@pytest.mark.behaviour("PROC-7")
@pytest.mark.parametrize(("name", "number"), [("terminate", 15), ("kill", 9), ("interrupt", 2)])
async def test_a_signal_ends_a_pipeline_with_all_its_children(agent: AgentProcess, name: str, number: int):
    id = await start(agent, PIPELINE)
    leader = await _leader(agent, id)
    for stage in "123":
        await until_said(agent, id, f"stage {stage}")
    group = _group(leader)
    assert len(group) >= 4
    reply = await agent.ask("POST", f"/processes/{id}/signal", body={"signal": name})

    assert reply.status == 200
    for pid in group:
        await until_gone(pid)
    shown = await finished(agent, id)
    assert shown["exit_code"] == 128 + number
    assert shown["signal"] == signal.Signals(number).name
    assert _group(leader) == []


@pytest.mark.behaviour("PROC-7")
async def test_a_process_has_a_group_of_its_own(agent: AgentProcess):
    id = await start(agent, "echo $$; sleep 600")
    leader = await _leader(agent, id)
    found = look_up(leader)

    assert found is not None
    assert found.group == leader


async def test_a_signal_to_what_has_ended_is_a_conflict(agent: AgentProcess):
    id = await start(agent, "true")
    await finished(agent, id)

    assert (await agent.ask("POST", f"/processes/{id}/signal", body={"signal": "kill"})).status == 409
    assert (await agent.ask("POST", f"/processes/{id}/signal", body={"signal": "hup"})).status == 400


# A daemon in a session of its own, whose parents are gone; the second one has left its environment behind as well.
DAEMONS = """
setsid sh -c 'sleep 611 & echo $! >> pids; exit 0' >/dev/null 2>&1 </dev/null
setsid env -i /bin/sh -c '/bin/sleep 612 & echo $! >> pids; exit 0' >/dev/null 2>&1 </dev/null
(trap '' TERM; sleep 613 & echo $! >> pids; echo ready; wait; sleep 614)
"""


@pytest.mark.behaviour("PROC-7")
@pytest.mark.parametrize("program", [("-m", "chatd.agent"), (GROUPLESS,)], ids=["groups", "no groups"])
async def test_a_shutdown_leaves_nothing_of_the_workspace_running(tmp_path: Path, program: tuple[str, ...]):
    async with running_agent(tmp_path / "agent", program=program) as agent:
        await _shut_down_with_daemons(agent)


async def _shut_down_with_daemons(agent: AgentProcess) -> None:
    id = await start(agent, DAEMONS)
    await until_said(agent, id, "ready")
    pids = [int(pid) for pid in (agent.home / "pids").read_text().split()]
    mark = f"CHATD_WORKSPACE_ID={(await agent.ask('GET', '/health')).json['workspace_id']}".encode()
    assert len(pids) == 3
    reply = await agent.ask("POST", "/shutdown")

    assert reply.status == 200
    assert reply.json["left"] == []
    assert reply.json["ended"] >= 4
    assert [pid for pid in pids if (found := look_up(pid)) is not None and not found.is_dead] == []
    assert [process.pid for process in living() if carries(process.pid, mark)] == []
    assert await agent.process.wait() == 0
    assert not (agent.folder / "agent.sock").exists()


@pytest.mark.behaviour("PROC-7")
async def test_a_shutdown_ends_what_a_killed_agent_left_behind(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as first:
        id = await start(first, "echo $$; trap '' PIPE; while true; do sleep 600; done")
        leader = await _leader(first, id)
        await first.kill()
    async with running_agent(tmp_path / "agent") as second:
        assert look_up(leader) is not None
        await second.ask("POST", "/shutdown")

        await until_gone(leader)
        assert _group(leader) == []


def _can_make_cgroups() -> bool:
    """Whether this machine has control groups, and lets us make some."""
    parent = cgroups._own_group()
    return parent is not None and os.access(parent, os.W_OK)


@pytest.mark.skipif(not _can_make_cgroups(), reason="no control groups can be made here")
async def test_a_daemon_without_parents_and_environment_is_found_after_a_crash(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as first:
        id = await start(
            first, "setsid env -i /bin/sh -c 'echo $$ >&3; exec /bin/sleep 621' 3>&1 >/dev/null 2>&1 & wait"
        )
        daemon = await _leader(first, id)
        group = Path((first.folder / "cgroup").read_text())
        await first.kill()
    assert (group / id / "cgroup.procs").read_text().split()
    async with running_agent(tmp_path / "agent") as second:
        reply = await second.ask("POST", "/shutdown")

    assert reply.json["left"] == []
    await until_gone(daemon)
    assert not group.exists()  # noqa: ASYNC240


async def test_a_signal_to_the_agent_stops_everything_too(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent:
        leader = await _leader(agent, await start(agent, "echo $$; sleep 600"))
        agent.process.send_signal(signal.SIGTERM)
        await agent.process.wait()

    await until_gone(leader)


def _children(parent: int) -> list[int]:
    """Zombies too."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if (found := look_up(pid)) is not None and found.parent == parent]


async def test_orphans_become_the_agents_children(agent: AgentProcess):
    await finished(agent, await start(agent, "setsid sleep 631 >/dev/null 2>&1 & echo $! > pid"))
    orphan = look_up(int((agent.home / "pid").read_text()))

    assert orphan is not None
    assert orphan.parent == agent.pid


async def test_orphans_are_reaped_by_the_agent(agent: AgentProcess):
    id = await start(agent, "(sh -c 'exec sleep 0.01' &) ; sleep 0.05; echo over")
    await finished(agent, id)

    assert _children(agent.pid) == []
