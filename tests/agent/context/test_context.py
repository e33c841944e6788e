"""What a workspace tells models: found in few places, within bounds, and never a secret."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from agent.running import SOURCE, WAIT_SECONDS, AgentProcess, running_agent


def _write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _skill(folder: Path, *, name: str | None = None, body: str = "Do this.\n") -> Path:
    return _write(folder / "SKILL.md", f"---\nname: {name or folder.name}\ndescription: About it.\n---\n{body}")


async def _context(agent: AgentProcess) -> Any:
    reply = await agent.ask("GET", "/context")
    assert reply.status == 200, reply.body
    return reply.json


async def _resources(agent: AgentProcess) -> dict[str, Any]:
    return {one["source"].removeprefix(f"{agent.home}/"): one for one in (await _context(agent))["resources"]}


async def _watch(agent: AgentProcess, since: str | None = None) -> Any:
    reply = await agent.ask("GET", "/context/watch", query={"since": since} if since else None)
    assert reply.status == 200, reply.body
    return reply.json


async def test_instructions_and_skills_are_found_at_the_top_of_the_roots_and_not_deeper(agent: AgentProcess):
    home = agent.home
    _write(home / "AGENTS.md", "Be kind.\n")
    _write(home / "CLAUDE.md", "x")
    _write(home / ".cursorrules", "x")
    _write(home / "agents.md", "not this")
    _write(home / "deeper" / "AGENTS.md", "nor this")
    _write(home / ".chatd" / "AGENTS.md", "Mine.\n")
    for place in ("skills", ".agents/skills", ".claude/skills", ".codex/skills", ".chatd/skills"):
        _skill(home / place / f"s-{place.strip('.').replace('/', '-').replace('.', '')}")
    _skill(home / "skills" / "group" / "too-deep")

    seen = await _context(agent)
    found = await _resources(agent)

    assert set(found) == {
        "AGENTS.md",
        "CLAUDE.md",
        ".cursorrules",
        "skills/s-skills/SKILL.md",
        ".agents/skills/s-agents-skills/SKILL.md",
        ".claude/skills/s-claude-skills/SKILL.md",
        ".codex/skills/s-codex-skills/SKILL.md",
        ".chatd/AGENTS.md",
        ".chatd/skills/s-chatd-skills/SKILL.md",
    }
    assert found["AGENTS.md"]["content"] == "Be kind.\n"
    assert found["AGENTS.md"]["id"] == f"instruction_file:{home}/AGENTS.md"
    skill = found["skills/s-skills/SKILL.md"]
    assert (skill["name"], skill["description"], skill["content"]) == ("s-skills", "About it.", "Do this.\n")
    assert {one["status"] for one in found.values()} == {"ok"}
    assert seen["directory"] == str(home)
    assert seen["os"]


async def test_what_is_too_long_unreadable_or_wrong_says_so_and_has_no_content(agent: AgentProcess, tmp_path: Path):
    home = agent.home
    outside = _write(tmp_path / "secret", "secret")
    _write(home / "AGENTS.md", "x" * 65_537)
    _write(home / "CLAUDE.md", b"\xff\xfe")
    (home / ".cursorrules").symlink_to(outside)
    _skill(home / "skills" / "wrong-name", name="other")
    _write(home / "skills" / "no-head" / "SKILL.md", "text")
    (home / "skills" / "a-folder" / "SKILL.md").mkdir(parents=True)
    os.mkfifo(_write(home / "skills" / "a-pipe" / "x", "").with_name("SKILL.md"))
    (home / "skills" / "dangling").mkdir()
    (home / "skills" / "dangling" / "SKILL.md").symlink_to("nowhere")
    (home / "skills" / "outside").symlink_to(tmp_path)
    _skill(tmp_path, name="outside")
    _skill(home / "skills" / "fine")
    _skill(home / ".claude" / "skills" / "fine")

    found = await _resources(agent)

    assert {path: one["status"] for path, one in found.items()} == {
        "AGENTS.md": "oversize",
        "CLAUDE.md": "invalid",
        ".cursorrules": "invalid",
        "skills/wrong-name/SKILL.md": "invalid",
        "skills/no-head/SKILL.md": "invalid",
        "skills/a-folder/SKILL.md": "unreadable",
        "skills/a-pipe/SKILL.md": "unreadable",
        "skills/dangling/SKILL.md": "unreadable",
        "skills/outside/SKILL.md": "invalid",
        "skills/fine/SKILL.md": "ok",
        ".claude/skills/fine/SKILL.md": "invalid",
    }
    wrong = [one for one in found.values() if one["status"] != "ok"]
    assert not any(one.get("content") for one in wrong)
    assert all(one["error"] for one in wrong)
    assert (found["AGENTS.md"]["size"], bool(found["AGENTS.md"]["hash"])) == (65_537, True)


async def test_links_inside_of_the_root_are_followed(agent: AgentProcess):
    _write(agent.home / "docs" / "rules", "These.\n")
    (agent.home / "CLAUDE.md").symlink_to("docs/rules")

    assert (await _resources(agent))["CLAUDE.md"]["content"] == "These.\n"


async def test_there_are_bounds_for_all_together(agent: AgentProcess):
    for number in range(520):
        _skill(agent.home / "skills" / f"s{number}", body="x" * 6000)

    seen = await _context(agent)
    assert len(seen["resources"]) == 500
    assert seen["left_out"] == 20
    assert sum(len(one.get("content", "")) for one in seen["resources"]) <= 2 * 1024 * 1024
    assert "oversize" in {one["status"] for one in seen["resources"]}


async def test_of_an_mcp_configuration_only_names_and_transports_are_told(agent: AgentProcess):
    text = """{"mcpServers": {
        "files": {"command": "hunter2", "args": ["hunter2"], "env": {"KEY": "hunter2"}},
        "web": {"url": "https://hunter2", "headers": {"Authorization": "hunter2"}},
        "old": {"type": "sse", "url": "https://hunter2"}}, "other": "hunter2"}"""
    _write(agent.home / "AGENTS.md", "x")
    before = await _context(agent)
    _write(agent.home / ".mcp.json", text)

    reply = await agent.ask("GET", "/context")
    config = (await _resources(agent))[".mcp.json"]
    assert b"hunter2" not in reply.body
    assert {one["name"]: one["transport"] for one in config["servers"]} == {
        "files": "stdio",
        "old": "sse",
        "web": "http",
    }
    assert config["hash"]
    assert reply.json["hash"] == before["hash"]
    assert reply.json["version"] != before["version"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"mcpServers": []}',
        '{"mcpServers": {"a__b": {"command": "x"}}}',
        '{"mcpServers": {"_a": {"command": "x"}}}',
        '{"mcpServers": {"a": {}}}',
        '{"mcpServers": {"a": {"type": "hunter2", "command": "x"}}}',
        '{"mcpServers": {"fine": {"command": "x"}, "a": {"command": 5}}}',
        '{"mcpServers": ' + '{"a":' * 5000,
    ],
)
async def test_a_wrong_mcp_configuration_is_invalid_as_a_whole(agent: AgentProcess, text: str):
    _write(agent.home / ".mcp.json", text)
    config = (await _resources(agent))[".mcp.json"]

    assert (config["status"], config.get("servers", [])) == ("invalid", [])
    assert "hunter2" not in config["error"]


async def test_the_hash_changes_with_content_and_status_and_not_with_times(agent: AgentProcess):
    file = _write(agent.home / "AGENTS.md", "one")
    first = (await _context(agent))["hash"]
    os.utime(file, (1, 1))
    assert (await _context(agent))["hash"] == first
    _write(file, "two")
    second = (await _context(agent))["hash"]
    file.unlink()
    third = (await _context(agent))["hash"]

    assert len({first, second, third}) == 3


async def test_a_watch_answers_when_something_changes(agent: AgentProcess):
    home = agent.home
    seen = await _watch(agent)
    assert seen["is_watched"]
    changes = {
        "a new file": lambda: _write(home / "AGENTS.md", "one"),
        "another content": lambda: _write(home / "AGENTS.md", "two"),
        "a first skill": lambda: _skill(home / ".claude" / "skills" / "a"),
        "a change of it": lambda: _skill(home / ".claude" / "skills" / "a", body="Other.\n"),
        "the own folder": lambda: _write(home / ".chatd" / "AGENTS.md", "one"),
        "gone": (home / "AGENTS.md").unlink,
    }
    for name, change in changes.items():
        async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as group:
            waiting = group.create_task(_watch(agent, seen["version"]))
            change()
        assert waiting.result()["version"] != seen["version"], name
        seen = waiting.result()
    quiet = await agent.ask("GET", "/context/watch", query={"since": seen["version"], "wait_seconds": "0"})
    assert quiet.json["version"] == seen["version"]


async def test_without_watches_it_is_read_from_time_to_time(tmp_path: Path):
    change = "context.watching:POLL_SECONDS=0.2,context.watching:MOST_ROUNDS=0"
    program = (str(SOURCE.parent / "tests/agent/hurried_agent.py"), change)
    async with running_agent(tmp_path / "agent", program=program) as agent:
        seen = await _watch(agent)
        async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as group:
            waiting = group.create_task(_watch(agent, seen["version"]))
            _write(agent.home / "AGENTS.md", "one")
        assert waiting.result()["version"] != seen["version"]


async def test_files_of_a_skill_are_listed_and_read(agent: AgentProcess):
    folder = agent.home / "skills" / "s"
    _skill(folder)
    _write(folder / "scripts" / "run.sh", "echo é\n")
    _write(folder / "big", "é" * 300_000)
    _write(folder / "binary", b"\xff\0")
    _write(folder / ".hidden", "secret")
    (folder / "out").symlink_to("/etc")

    listed = (await agent.ask("GET", "/context/skills/files", query={"skill": "s"})).json
    assert listed["files"] == ["big", "binary", "scripts/", "scripts/run.sh"]

    async def read(path: str) -> Any:
        reply = await agent.ask("GET", "/context/skills/file", query={"skill": "s", "path": path})
        assert reply.status == 200, reply.body
        return reply.json

    script = await read("scripts/run.sh")
    assert (script["content"], script["is_complete"], script["lossy"]) == ("echo é\n", True, False)
    big = await read("big")
    assert (len(big["content"].encode()), big["is_complete"], big["size"], big["lossy"]) == (
        524_288,
        False,
        600_000,
        False,
    )
    assert (await read("binary"))["lossy"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/etc/passwd", 400),
        ("../../AGENTS.md", 400),
        ("a/../../x", 400),
        (".hidden", 400),
        ("a/.git/config", 400),
        ("a//b", 400),
        ("", 400),
        ("a\0b", 400),
        ("x" * 5000, 400),
        ("link", 403),
        ("folder/passwd", 403),
        ("pipe", 400),
        ("missing", 404),
        ("folder", 403),
    ],
)
async def test_no_path_leads_out_of_a_skill(agent: AgentProcess, path: str, status: int):
    folder = agent.home / "skills" / "s"
    _skill(folder)
    _write(agent.home / "AGENTS.md", "x")
    (folder / "link").symlink_to("../../AGENTS.md")
    (folder / "folder").symlink_to("/etc")
    os.mkfifo(folder / "pipe")

    reply = await agent.ask("GET", "/context/skills/file", query={"skill": "s", "path": path})
    assert reply.status == status, reply.body


async def test_a_skill_that_is_not_there_is_not_found(agent: AgentProcess):
    for name in ("nothing", "../s", ""):
        assert (await agent.ask("GET", "/context/skills/files", query={"skill": name})).status == 404
