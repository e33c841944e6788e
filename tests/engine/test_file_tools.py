"""read_file, write_file and edit_files on a real agent."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent.running import AgentProcess, running_agent
from chatd.engine.tools.workspace.files import edit_files_tool, read_file_tool, write_file_tool
from chatd.engine.tools.workspace.telling import UNKNOWN
from engine.with_agents import FixedResolver, Trial, relay_to, resolved_of, trial

READ, WRITE, EDIT = read_file_tool(), write_file_tool(), edit_files_tool()


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncGenerator[AgentProcess]:
    async with running_agent(tmp_path / "agent") as running:
        yield running


@pytest.fixture
async def chat(agent: AgentProcess) -> AsyncGenerator[Trial]:
    async with trial(FixedResolver(resolved_of(agent))) as made:
        yield made


async def test_a_file_is_read_in_numbered_lines(chat: Trial, agent: AgentProcess):
    (agent.home / "a").write_text("one\ntwo\nthree\n")
    read = await chat.call(READ, {"path": f" {agent.home}/a ", "offset": "2", "limit": 1})
    assert read == {"content": "2\ttwo", "lines_read": 1, "file_size": 14, "total_lines": 3, "next_offset": 3}


@pytest.mark.parametrize("budget", [16 * 1024, 200_000])
async def test_every_line_of_a_long_file_is_read_page_by_page_whatever_fits(agent: AgentProcess, budget: int):
    lines = [f'{place} "quoted\t" \x01\x02\x03' for place in range(3000)]
    (agent.home / "a").write_text("\n".join(lines))
    read: list[str] = []
    async with trial(FixedResolver(resolved_of(agent)), budget=budget) as chat:
        offset: int | None = 1
        while offset is not None:
            page = await chat.call(READ, {"path": str(agent.home / "a"), "offset": offset})
            read += [line.split("\t", 1)[1] for line in page["content"].split("\n")]
            offset = page.get("next_offset")
    assert read == lines


async def test_what_can_not_be_read_is_told_in_words(chat: Trial, agent: AgentProcess):
    assert (await chat.fail(READ, {"path": f"{agent.home}/none"})).endswith("/none does not exist.")
    assert "absolute" in await chat.fail(READ, {"path": "a"})
    assert "empty" in await chat.fail(READ, {"path": ""})
    assert "directory" in await chat.fail(READ, {"path": str(agent.home)})


async def test_a_file_is_written_whole(chat: Trial, agent: AgentProcess):
    path = agent.home / "below" / "a"
    written = await chat.call(WRITE, {"path": str(path), "content": "tëxt\n"})
    assert written == {"ok": True, "path": str(path), "size": 6, "created": True}
    assert path.read_text() == "tëxt\n"
    assert not (await chat.call(WRITE, {"path": str(path), "content": ""}))["created"]
    assert "directory" in await chat.fail(WRITE, {"path": str(agent.home), "content": ""})
    assert "path" in await chat.fail(WRITE, {"path": " ", "content": ""})


@pytest.mark.parametrize("names", [("old_text", "new_text"), ("search", "replace")])
async def test_a_file_is_edited_and_its_diff_comes_back(chat: Trial, agent: AgentProcess, names: tuple[str, str]):
    old, new = names
    path = agent.home / "a"
    path.write_text("one\ntwo\nthree\n")
    edits = [{old: "two", new: "2"}, {old: "three\n", new: ""}]
    edited = await chat.call(EDIT, {"files": [{"path": f"{path} ", "edits": edits}]})
    assert path.read_text() == "one\n2\n"
    assert edited["files"][0]["path"] == str(path)
    assert "-two\n" in edited["files"][0]["diff"]


def test_models_are_told_of_one_pair_of_names():
    schema = json.loads(EDIT.spec.input_schema)
    edit = schema["properties"]["files"]["items"]["properties"]["edits"]["items"]
    assert sorted(edit["properties"]) == ["new_text", "old_text", "replace_all"]
    assert edit["required"] == ["old_text", "new_text"]


async def test_edits_that_do_not_fit_change_nothing_and_are_told_without_noise(chat: Trial, agent: AgentProcess):
    path = agent.home / "a"
    path.write_text("one\none\n")
    good, bad = {"old_text": "one\none", "new_text": "two"}, {"old_text": "nothing", "new_text": ""}
    told = await chat.fail(EDIT, {"files": [{"path": str(path), "edits": [good, bad]}]})
    assert path.read_text() == "one\none\n"
    assert str(path) in told
    for noise in ("HTTP", "400", "POST", "http://"):
        assert noise not in told
    told = await chat.fail(EDIT, {"files": [{"path": str(path), "edits": [{"old_text": "one", "new_text": "2"}]}]})
    assert "replace_all" in told


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([], "'files' is empty"),
        ([{"path": " ", "edits": [{"old_text": "a", "new_text": "b"}]}], "files[0] has no path"),
        ([{"path": "/a", "edits": []}], "no edits for /a"),
        ([{"path": "/a", "edits": [{"new_text": "b"}]}], "files[0].edits[0] has no old_text"),
    ],
)
async def test_edits_that_say_too_little_are_refused(chat: Trial, files: object, told: str):
    said = await chat.fail(EDIT, {"files": files})
    assert told in said
    assert "Nothing was changed." in said


@pytest.mark.parametrize("tool", [WRITE, EDIT])
async def test_a_change_whose_answer_is_lost_is_not_made_again(agent: AgentProcess, tmp_path: Path, tool: object):
    path = agent.home / "a"
    path.write_text("one")
    args = (
        {"path": str(path), "content": "two"}
        if tool is WRITE
        else {"files": [{"path": str(path), "edits": [{"old_text": "one", "new_text": "two"}]}]}
    )
    async with relay_to(agent, tmp_path) as relay:
        relay.answers = False
        resolver = FixedResolver(resolved_of(agent, address=relay.address))
        async with trial(resolver) as chat:
            assert await chat.fail(tool, args) == UNKNOWN  # type: ignore[arg-type]
    assert path.read_text() == "two"
    assert (relay.connected, resolver.recovers) == (1, 0)
