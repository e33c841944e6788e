"""A model makes the workspace of its chat, works in it, stops it and starts it again: a whole server, real agents."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from chatd.clock import SystemClock
from chatd.core.system_texts import WORKSPACE_NOW
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Say, Turn
from server.chat_api import CHATS, text
from server.running import Running
from server.scripted import scripted_server

PATIENCE = 60


def call(tool: str, **args: Any) -> Call:
    return Call(tool, json.dumps(args))


class Model:
    """Makes these calls, step by step, in each turn from where it was; then it says that it is done."""

    def __init__(self) -> None:
        self.steps: list[list[Call]] = []
        self.asked: list[Asked] = []

    def __call__(self, asked: Asked) -> Turn:
        if not asked.tool_names:
            return Turn(Say("A title"))
        self.asked.append(asked)
        return Turn(*self.steps.pop(0)) if self.steps else Turn(Say("Done."))

    def prompt(self, place: int = -1) -> str:
        return str(self.asked[place].body)


class World(msgspec.Struct, frozen=True):
    running: Running
    model: Model
    pool: Any

    async def template(self) -> str:
        return str(await self.pool.fetchval("SELECT id FROM templates WHERE NOT deleted"))

    async def turn(self, *steps: list[Call], chat: UUID | None = None) -> tuple[UUID, list[dict[str, Any]]]:
        """A turn with these calls, and what each of them answered."""
        self.model.steps.extend(steps)
        content = {"content": [text("go")]}
        if chat is None:
            made = await self.running.owner.post(CHATS, content)
            assert made.status == 201, made
            chat = UUID(made.body["id"])
            known = 0
        else:
            known = len(await self.results(chat))
            assert (await self.running.owner.post(f"{CHATS}/{chat}/messages", content)).status == 200
        await self.until(chat, "waiting")
        return chat, (await self.results(chat))[known:]

    async def until(self, chat: UUID, status: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while await self.pool.fetchval("SELECT status FROM chat_state WHERE chat_id = $1", chat) != status:
                await SystemClock().sleep(0.05, timer="test")

    async def results(self, chat: UUID) -> list[dict[str, Any]]:
        rows = await self.pool.fetch(
            "SELECT content -> 0 ->> 'result' AS result FROM messages WHERE chat_id = $1 AND role = 'tool' ORDER BY id",
            chat,
        )
        return [json.loads(row["result"]) for row in rows]

    async def workspaces(self) -> int:
        return await self.pool.fetchval("SELECT count(*) FROM workspaces")


Worlds = Callable[..., Any]


@pytest.fixture
def world(database: Any, tmp_path: Path) -> Worlds:
    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[World]:
        model = Model()
        pooled = asyncpg.create_pool(database.dsn, min_size=1, max_size=1)
        settings = {"local_workspaces": "unconfined", **settings}
        async with scripted_server(database.dsn, tmp_path, model, **settings) as running, pooled as pool:
            yield World(running, model, pool)

    return opened


async def test_a_model_gets_a_workspace_and_works_in_it(world: Worlds):
    async with world() as here:
        template = await here.template()
        chat, (refused, listed, read, made, ran) = await here.turn(
            [call("execute", command="pwd")],
            [call("list_templates")],
            [call("read_template", template_id=template)],
            [call("create_workspace", template_id=template)],
            [call("execute", command="echo hello > a; cat a")],
        )
        assert "create_workspace" in refused["error"]
        assert listed["recommended_template_id"] == template
        assert "create_workspace" in listed["next_step"]
        assert read["template"]["name"] == "local"
        assert made["created"] is True, made
        assert made["workspace_name"].startswith("olga/local-")
        assert ran["output"] == "hello\n", ran
        assert WORKSPACE_NOW not in here.model.prompt(3)
        assert WORKSPACE_NOW in here.model.prompt(4)  # as soon as there is one

        _, (again,) = await here.turn([call("create_workspace", template_id=template)], chat=chat)
        assert (again["created"], again["status"]) == (False, "already_exists")
        assert await here.workspaces() == 1


async def test_a_workspace_is_stopped_and_started_with_its_files(world: Worlds):
    async with world() as here:
        template = await here.template()
        chat, (_, _, stopped, away, again) = await here.turn(
            [call("create_workspace", template_id=template, name="mine")],
            [call("execute", command="echo kept > a")],
            [call("stop_workspace")],
            [call("execute", command="cat a")],
            [call("create_workspace", template_id=template)],
        )
        assert stopped["stopped"] is True, stopped
        assert stopped["workspace_name"] == "olga/mine"
        assert "start_workspace" in away["error"]
        assert again["status"] == "stopped"
        _, (twice, started, ran, runs) = await here.turn(
            [call("stop_workspace")],
            [call("start_workspace")],
            [call("execute", command="cat a")],
            [call("start_workspace")],
            chat=chat,
        )
        assert twice["no_build"] is True
        assert started["started"] is True
        assert ran["output"] == "kept\n", ran
        assert runs["no_build"] is True
        assert await here.workspaces() == 1


async def test_what_cannot_be_made_is_told_with_all_that_is_wrong(world: Worlds):
    async with world() as here:
        template = await here.template()
        asked_for = [{"name": "size", "type": "number", "min": 1, "max": 9}, {"name": "team"}]
        await here.pool.execute("UPDATE templates SET parameters = $1", json.dumps(asked_for))
        _, (wrong, missing, nobody, nothing) = await here.turn(
            [call("create_workspace", template_id=template, parameters={"size": "99", "color": "red"})],
            [call("create_workspace", template_id=str(UUID(int=1)))],
            [call("start_workspace"), call("stop_workspace")],
        )
        fields = {each["field"] for each in wrong["validations"]}
        assert fields == {"parameters.size", "parameters.color", "parameters.team"}
        assert "read_template" in wrong["next_step"]
        assert "Template not found" in missing["error"]
        assert "list_templates" in missing["detail"]
        assert "create_workspace" in nobody["error"]
        assert "create_workspace" in nothing["error"]
        assert await here.workspaces() == 0


async def test_a_build_that_fails_says_why(world: Worlds):
    async with world() as here:
        template = await here.template()
        await here.pool.execute("UPDATE templates SET config = $1", json.dumps({"network": "nonsense"}))
        _, (failed,) = await here.turn([call("create_workspace", template_id=template)])
        assert failed["error"], failed
        assert "created" not in failed
        assert "start_workspace" in failed["next_step"]
        assert failed["build_id"]


@pytest.mark.behaviour("WORKSPACE-1")
@pytest.mark.parametrize(
    ("site_ms", "template_ms", "is_free", "expected"),
    [
        (0, 7_200_000, True, 7200),
        (3_600_000, 7_200_000, True, 3600),
        (3_600_000, 7_200_000, False, 7200),
        (0, 0, True, None),
    ],
)
async def test_the_deployments_ttl_counts_unless_the_template_forbids_it(
    world: Worlds, site_ms: int, template_ms: int, is_free: bool, expected: int | None
):
    async with world() as here:
        saved = await here.running.owner.put(f"{CHATS}/config/workspace-ttl", {"workspace_ttl_ms": site_ms})
        assert saved.status == 204, saved
        await here.pool.execute(
            "UPDATE templates SET default_ttl_ms = $1, allows_user_autostop = $2, activity_bump_ms = 0",
            template_ms,
            is_free,
        )
        template = await here.template()
        _, (made,) = await here.turn([call("create_workspace", template_id=template)])
        assert made["created"] is True, made
        left = await here.pool.fetchval("SELECT extract(epoch FROM deadline - now())::float8 FROM workspaces")
        if expected is None:
            assert left is None
        else:
            assert expected - PATIENCE < left <= expected


async def test_a_template_that_is_not_for_agents_is_neither_shown_nor_used(world: Worlds):
    async with world() as here:
        template = await here.template()
        chat, (listed,) = await here.turn([call("list_templates")])
        assert listed["templates"]
        await here.pool.execute("UPDATE templates SET agents_allowed = false")
        _, (none, refused) = await here.turn(
            [call("list_templates")], [call("create_workspace", template_id=template)], chat=chat
        )
        assert none["templates"] == []
        assert "Agents may not" in refused["error"]
        assert "list_templates" in refused["detail"]
        assert await here.workspaces() == 0


@pytest.mark.behaviour("LOOP-15")
async def test_what_a_chat_was_told_stays_in_its_prompt_while_its_workspace_is_stopped_and_started(world: Worlds):
    async with world() as here:
        template = await here.template()
        folder = ".agents/skills/brew-tea"
        skill = f"mkdir -p {folder} && printf -- '---\\nname: brew-tea\\n---\\nBoil water.' > {folder}/SKILL.md"
        chat, _ = await here.turn(
            [call("create_workspace", template_id=template)],
            [call("execute", command=f"{skill}; echo Use tabs. > AGENTS.md")],
            [call("stop_workspace")],
            [call("start_workspace")],
        )
        assert len({json.dumps(asked.body["system"]) for asked in here.model.asked[1:]}) == 1
        here.model.asked.clear()
        refreshed = await here.running.owner.put(f"{CHATS}/{chat}/context", {})
        assert refreshed.status == 200, refreshed
        _, (_, _, _, _, read) = await here.turn(
            [call("execute", command="echo Use spaces. > AGENTS.md")],
            [call("stop_workspace")],
            [call("start_workspace")],
            [call("execute", command="true")],
            [call("read_skill", name="brew-tea")],
            chat=chat,
        )
        said = [json.dumps(asked.body["system"]) for asked in here.model.asked]
        offered = {tuple(asked.tool_names) for asked in here.model.asked}
    assert "Use tabs." in said[0]
    assert len(said) == 6
    assert len(set(said)) == 1
    assert len(offered) == 1
    assert "Boil water." in read["body"]


async def test_no_second_workspace_is_made_beside_one_whose_stop_failed(world: Worlds):
    async with world() as here:
        template = await here.template()
        chat, _ = await here.turn([call("create_workspace", template_id=template)])
        await here.pool.execute(
            """WITH moved AS (UPDATE workspaces SET build_number = 2 RETURNING id)
               INSERT INTO workspace_builds (id, workspace_id, number, transition, status, reason, finished_at)
               SELECT gen_random_uuid(), id, 2, 'stop', 'failed', 'autostop', now() FROM moved"""
        )
        _, (again, started, ran) = await here.turn(
            [call("create_workspace", template_id=template)],
            [call("start_workspace")],
            [call("execute", command="echo here")],
            chat=chat,
        )
        assert (again["created"], again["status"]) == (False, "failed")
        assert "start_workspace" in again["message"]
        assert started["started"] is True
        assert ran["output"] == "here\n"
        assert await here.workspaces() == 1


async def test_a_chat_that_gets_another_workspace_is_told_of_that_one(world: Worlds):
    async with world() as here:
        template = await here.template()
        chat, _ = await here.turn([call("create_workspace", template_id=template)], [call("stop_workspace")])
        await here.pool.execute("UPDATE workspaces SET deleted = true")
        here.model.asked.clear()
        _, (made,) = await here.turn([call("create_workspace", template_id=template)], chat=chat)
        before, after = [json.dumps(asked.body["system"]) for asked in here.model.asked]
    assert made["created"] is True, made
    assert made["workspace_id"] not in before
    assert made["workspace_id"] in after  # its directory
