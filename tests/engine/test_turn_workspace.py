"""The workspace of a turn: looked up once, found again once, forgotten when it was built anew."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent.running import CHAT, AgentProcess, running_agent
from chatd.clock import SystemClock
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.wire.agent.health import Health
from chatd.wire.agent.processes import StartProcess
from chatd.workspaces.agents.client import AgentClient
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.resolving import Resolved, WorkspaceUnavailable
from engine.with_agents import FixedResolver, resolved_of, trial


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncGenerator[AgentProcess]:
    async with running_agent(tmp_path / "agent") as running:
        yield running


async def health(client: AgentClient) -> Health:
    return await client.health()


async def test_it_is_looked_up_when_it_is_needed_and_once_for_all(agent: AgentProcess):
    resolver = FixedResolver(resolved_of(agent))
    async with trial(resolver) as chat:
        assert resolver.resolves == 0
        async with asyncio.TaskGroup() as tasks:
            for _ in range(5):
                tasks.create_task(chat.workspace.ask(health, is_repeatable=True))
        await chat.workspace.client()
        assert (await chat.workspace.resolved()).name == "ws"
    assert resolver.resolves == 1
    assert resolver.now is not None
    assert set(resolver.uses) == {resolver.now.workspace_id}


async def test_an_agent_that_is_gone_is_looked_for_once_by_all_who_miss_it(agent: AgentProcess, tmp_path: Path):
    alive = resolved_of(agent)

    async def find(failed: Resolved) -> Resolved:
        await asyncio.sleep(0)  # noqa: TID251 - let the others miss it too
        return alive

    resolver = FixedResolver(resolved_of(agent, address=f"unix:{tmp_path}/gone.sock"), find)
    async with trial(resolver) as chat:
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(chat.workspace.ask(health, is_repeatable=False)) for _ in range(5)]
        assert {task.result().pid for task in asked} == {agent.pid}
    assert (resolver.resolves, resolver.recovers) == (1, 1)


async def test_one_that_stays_away_is_looked_for_once(agent: AgentProcess, tmp_path: Path):
    gone = resolved_of(agent, address=f"unix:{tmp_path}/gone.sock")

    async def find(failed: Resolved) -> Resolved:
        return gone

    resolver = FixedResolver(gone, find)
    async with trial(resolver) as chat:
        with pytest.raises(AgentUnreachable):
            await chat.workspace.ask(health, is_repeatable=True)
    assert resolver.recovers == 1


async def test_what_was_not_found_is_looked_for_again_the_next_time(agent: AgentProcess):
    resolver = FixedResolver(None)
    async with trial(resolver) as chat:
        with pytest.raises(WorkspaceUnavailable):
            await chat.workspace.client()
        resolver.now = resolved_of(agent)
        assert await chat.workspace.ask(health, is_repeatable=True)


async def test_another_workspace_is_looked_up_after_the_first_was_forgotten(agent: AgentProcess, tmp_path: Path):
    resolver = FixedResolver(resolved_of(agent))
    async with running_agent(tmp_path / "other") as other, trial(resolver) as chat:
        old = await chat.workspace.client()
        resolver.now = resolved_of(other)
        assert (await chat.workspace.ask(health, is_repeatable=True)).pid == agent.pid
        chat.workspace.forget()
        assert (await chat.workspace.ask(health, is_repeatable=True)).pid == other.pid
        assert (await old.health()).pid == agent.pid  # who still uses the old one is not cut off


async def test_who_is_stopped_while_it_is_looked_for_is_stopped_at_once(agent: AgentProcess, tmp_path: Path):
    """An interrupt is no timeout and no error of the workspace."""
    looking = asyncio.Event()

    async def never(failed: Resolved) -> Resolved:
        looking.set()
        await asyncio.Event().wait()
        raise AssertionError

    resolver = FixedResolver(resolved_of(agent, address=f"unix:{tmp_path}/gone.sock"), never)
    async with trial(resolver) as chat, asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(chat.workspace.ask(health, is_repeatable=True))
        await looking.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked


async def test_what_an_older_owner_sends_is_refused(agent: AgentProcess):
    asked = StartProcess(key="k", command="true")
    async with trial(FixedResolver(resolved_of(agent)), epoch=4) as old:
        await old.workspace.ask(lambda client: client.start(asked), is_repeatable=True)
        async with trial(FixedResolver(resolved_of(agent)), epoch=5) as new:
            await new.workspace.ask(lambda client: client.start(asked), is_repeatable=True)
        with pytest.raises(AgentRefused, match="newer owner"):
            await old.workspace.ask(lambda client: client.start(asked), is_repeatable=True)


async def test_keys_are_acknowledged_once_something_was_started_and_settled(agent: AgentProcess):
    resolver = FixedResolver(resolved_of(agent))
    workspace = TurnWorkspace(resolver, SystemClock(), chat_id=CHAT, ancestors=(), epoch=1)

    async def start(key: str) -> str:
        asked = StartProcess(key=key, command="true")
        workspace.started()
        return (await workspace.ask(lambda client: client.start(asked), is_repeatable=True)).id

    def acknowledged() -> set[str]:
        return {path.stem for path in (agent.folder / "processes").glob("*.ack")}

    missed = await start("c:1:0")
    await workspace.acknowledge()
    assert acknowledged() == set()  # nothing is settled yet
    first = await start("c:2:0")
    workspace.settled("c:3:")
    await workspace.acknowledge()
    assert acknowledged() == {missed, first}
    second = await start("c:3:0")
    workspace.settled("c:4:")
    await agent.kill()
    await workspace.acknowledge()  # and does no harm
    assert second not in acknowledged()
    await workspace.close()
