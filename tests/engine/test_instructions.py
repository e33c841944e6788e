"""What a workspace tells the model of a chat: in its prompt, as it was when it was asked, and nothing else."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from agent.running import AgentProcess, running_agent
from chatd.core.access import WORKER
from chatd.core.states import Status
from chatd.engine.tools.registry import Need, Registry, Seat
from chatd.engine.tools.workspace.entries import workspace_entries
from chatd.engine.tools.workspace.execute import execute_tool
from chatd.engine.tools.workspace.skills import read_skill_file_tool, read_skill_tool
from chatd.store.actor import acting_as
from chatd.testing.vendors.script import Call, Say, Turn
from chatd.workspaces.contexts.cache import KEPT_SECONDS
from chatd.workspaces.resolving import Resolved
from engine.chatting import Chatting, chatting
from engine.deployment import PATIENCE, open_deployment
from engine.with_agents import FixedResolver, resolved_of, stored_workspace

ROOM = 200_000
TOOLS = [execute_tool(), read_skill_tool(), read_skill_file_tool()]


def skill(home: Path, name: str, body: str, *, about: str = "For tests.") -> Path:
    folder = home / ".agents" / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {about}\n---\n{body}\n")
    return folder


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncGenerator[AgentProcess]:
    async with running_agent(tmp_path / "agent") as running:
        yield running


class World:
    """Chats of which each is bound to the workspace."""

    def __init__(self, chats: Chatting, resolver: FixedResolver, drifted: list[UUID]) -> None:
        self.chats = chats
        self.resolver = resolver
        self.drifted = drifted

    @property
    def resolved(self) -> Resolved:
        assert self.resolver.now is not None
        return self.resolver.now

    async def turn(self, chat: UUID | None = None, text: str = "hello") -> UUID:
        """A whole turn, of a new chat if none is given."""
        if chat is None:
            chat = await self.chats.begin(text, system="You are a test.", workspace_id=self.resolved.workspace_id)
        else:
            await self.chats.send(chat, text)
        assert (await self.chats.resting(chat))["status"] == Status.WAITING
        return chat

    def prompt(self, place: int = -1) -> str:
        """All that stood before the conversation in a request."""
        return msgspec.json.encode(self.chats.vendor.asked[place].body["system"]).decode()

    async def is_dirty(self, chat: UUID) -> bool:
        query = "SELECT context_dirty_since IS NOT NULL FROM chats WHERE id = $1"
        return await self.chats.deployment.pool.fetchval(query, chat)


@asynccontextmanager
async def world(database: Any, agent: AgentProcess, *script: Turn) -> AsyncGenerator[World]:
    resolver, drifted = FixedResolver(resolved_of(agent)), list[UUID]()
    async with chatting(
        database.dsn,
        list(script) or (lambda _: Turn(Say("Done."))),
        tools=TOOLS,
        context_limit=ROOM,
        workspaces=resolver,
        drifted=lambda _, chat: drifted.append(chat),
    ) as chats:
        assert resolver.now is not None
        stored = await stored_workspace(chats.deployment)
        resolver.now = msgspec.structs.replace(resolver.now, workspace_id=stored)
        yield World(chats, resolver, drifted)


async def test_instruction_files_stand_in_the_prompt_with_where_the_work_is(database: Any, agent: AgentProcess):
    (agent.home / "AGENTS.md").write_text("Use tabs.<!-- hidden -->")
    async with world(database, agent) as here:
        await here.turn()
        said = here.prompt()
    assert "Use tabs." in said
    assert str(agent.home / "AGENTS.md") in said
    assert f"Working directory: {agent.home}" in said
    assert "hidden" not in said


async def test_a_chat_keeps_what_it_was_given_and_what_has_changed_is_noted(database: Any, agent: AgentProcess):
    rules = agent.home / "AGENTS.md"
    rules.write_text("Use tabs.")
    async with world(database, agent) as here:
        chat = await here.turn()
        rules.write_text("Use spaces.")
        await here.turn(chat)
        assert here.prompt(-1) == here.prompt(-2)
        assert not await here.is_dirty(chat)  # nobody has looked yet: what was read is five minutes good
        await here.chats.fake_clock.advance(KEPT_SECONDS)
        await here.turn(chat)
        await here.chats.contexts.idle()
        assert "Use tabs." in here.prompt()
        assert await here.is_dirty(chat)
        assert here.drifted == [chat]
        other = await here.turn()
        assert "Use spaces." in here.prompt()
        assert not await here.is_dirty(other)


async def test_it_is_given_anew_when_someone_asks(database: Any, agent: AgentProcess):
    rules = agent.home / "AGENTS.md"
    rules.write_text("Use tabs.")
    async with world(database, agent) as here:
        chat = await here.turn()
        rules.write_text("Use spaces.")
        with acting_as(WORKER):
            await here.chats.contexts.refresh(chat)
        assert not await here.is_dirty(chat)
        await here.turn(chat)
        assert "Use spaces." in here.prompt()


async def test_what_is_as_it_was_again_is_not_dirty(database: Any, agent: AgentProcess):
    rules = agent.home / "AGENTS.md"
    rules.write_text("Use tabs.")
    async with world(database, agent) as here:
        chat = await here.turn()
        for text, dirty in (("Use spaces.", True), ("Use tabs.", False)):
            rules.write_text(text)
            await here.chats.fake_clock.advance(KEPT_SECONDS)
            await here.turn(chat)
            await here.chats.contexts.idle()
            assert await here.is_dirty(chat) is dirty
        assert here.drifted == [chat, chat]


@pytest.mark.behaviour("LOOP-15")
async def test_what_was_given_needs_no_workspace_that_answers(database: Any, agent: AgentProcess):
    (agent.home / "AGENTS.md").write_text("Use tabs.")
    async with world(database, agent) as here:
        chat = await here.turn()
        resolves = here.resolver.resolves
        await here.turn(chat)
        assert here.resolver.resolves == resolves  # nothing in this turn needed the workspace
        await agent.kill()
        await here.turn(chat)
        assert "Use tabs." in here.prompt()


async def test_a_workspace_that_does_not_answer_does_not_keep_a_turn(database: Any, agent: AgentProcess):
    (agent.home / "AGENTS.md").write_text("Use tabs.")
    async with world(database, agent) as here:
        there = here.resolved
        here.resolver.now = msgspec.structs.replace(there, address="unix:/nowhere/agent.sock")
        chat = await here.turn()
        assert "Use tabs." not in here.prompt()
        assert here.resolver.recovers == 1
        here.resolver.now = there
        await here.turn(chat)
        assert "Use tabs." in here.prompt()


@pytest.mark.behaviour("LOOP-15")
async def test_an_agent_that_has_left_comes_back_for_the_rules_of_a_new_chat(database: Any, agent: AgentProcess):
    (agent.home / "AGENTS.md").write_text("Use tabs.")
    async with world(database, agent) as here:
        there = here.resolved

        async def revived(_: Resolved) -> Resolved:
            return there

        here.resolver.recovery = revived
        here.resolver.now = msgspec.structs.replace(there, address="unix:/nowhere/agent.sock")
        chat = await here.turn()
        assert "Use tabs." in here.prompt()
        here.resolver.now = msgspec.structs.replace(there, address="unix:/nowhere/agent.sock")
        (agent.home / "AGENTS.md").write_text("Use spaces.")
        with acting_as(WORKER):
            await here.chats.contexts.refresh(chat)
        await here.turn(chat)
        assert "Use spaces." in here.prompt()
        assert here.resolver.recovers == 2


async def test_one_that_comes_back_too_slowly_does_not_keep_a_turn(database: Any, agent: AgentProcess):
    asked = asyncio.Event()

    async def never(_: Resolved) -> Resolved:
        asked.set()
        return await asyncio.get_running_loop().create_future()

    async with world(database, agent) as here:
        here.resolver.recovery = never
        here.resolver.now = msgspec.structs.replace(here.resolved, address="unix:/nowhere/agent.sock")
        chat = await here.chats.begin("hello", system="You are a test.", workspace_id=here.resolved.workspace_id)
        async with asyncio.timeout(PATIENCE):
            await asked.wait()
        await here.chats.fake_clock.advance(30)
        assert (await here.chats.resting(chat))["status"] == Status.WAITING


@pytest.mark.behaviour("LOOP-15")
async def test_prompt_and_tools_of_a_turn_share_one_look_at_the_workspace(database: Any, agent: AgentProcess):
    command = Turn(Call("execute", '{"command": "true"}'))
    steps = (command, command, Turn(Say("Done.")))
    async with world(database, agent, *steps) as here:
        await here.turn()
        assert here.resolver.resolves == 1
        assert here.prompt(0) == here.prompt(1) == here.prompt(2)


async def test_texts_that_a_database_does_not_like_are_kept(database: Any, agent: AgentProcess):
    (agent.home / "AGENTS.md").write_bytes(b"Use tabs.\x00 \xed\xa0\x80 ok")
    async with world(database, agent) as here:
        await here.turn(await here.turn())


async def test_skills_are_listed_and_read_with_their_files(database: Any, agent: AgentProcess):
    folder = skill(agent.home, "brew-tea", "Boil water.", about="How to make tea.")
    (folder / "leaves.txt").write_text("Assam")
    steps = (
        Turn(Call("read_skill", '{"name": "brew-tea"}'), Call("read_skill", '{"name": "brew-te"}')),
        Turn(
            Call("read_skill_file", '{"name": "brew-tea", "path": "leaves.txt"}'),
            Call("read_skill_file", '{"name": "brew-tea", "path": "../../../AGENTS.md"}'),
        ),
        Turn(Say("Done.")),
    )
    async with world(database, agent, *steps) as here:
        chat = await here.turn()
        assert "How to make tea." in here.prompt(0)
        said = "\n".join(await here.chats.shown(chat))
    assert "Boil water." in said
    assert "leaves.txt" in said
    assert "Did you mean brew-tea?" in said
    assert "Assam" in said
    assert "read_skill_file fails" in said


async def test_without_skills_nobody_is_told_how_to_read_one(database: Any):
    async with open_deployment(database.dsn) as deployment:
        registry = Registry(workspace_entries(deployment.sql))
    readers = {"read_skill", "read_skill_file"}
    assert not readers & {spec.name for spec in registry.toolset(Seat.ROOT).specs}
    has = (Need.SKILLS, Need.WORKSPACE_SKILLS)
    assert readers < {spec.name for spec in registry.toolset(Seat.EXPLORE, has=has).specs}


async def test_a_skill_is_read_as_it_was_given_while_the_workspace_is_down(database: Any, agent: AgentProcess):
    skill(agent.home, "brew-tea", "Boil water.")
    steps = (Turn(Say("Hello.")), Turn(Call("read_skill", '{"name": "brew-tea"}')), Turn(Say("Done.")))
    async with world(database, agent, *steps) as here:
        chat = await here.turn()
        await agent.kill()
        await here.turn(chat)
        said = "\n".join(await here.chats.shown(chat))
    assert "Boil water." in said
    assert "could not be listed" in said
