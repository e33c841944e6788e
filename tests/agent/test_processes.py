"""Commands in a workspace: started, waited for, watched, written to."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from agent.commands import finished, output, run, start, until_said
from agent.running import CHAT, OTHER_CHAT, WAIT_SECONDS, AgentProcess, running_agent

NOBODYS_ID = "01900000-0000-7000-8000-0000000000ff"


async def test_one_blocking_call_gives_the_whole_result_of_a_command(agent: AgentProcess):
    shown = await run(agent, "echo out; echo err >&2; exit 3")

    assert shown["state"] == "exited"
    assert shown["running"] is False
    assert shown["exit_code"] == 3
    assert shown["output"] == "out\nerr\n"
    assert "truncated" not in shown


@pytest.mark.behaviour("PROC-2")
async def test_a_wait_blocks_until_the_exit_and_no_longer(agent: AgentProcess):
    id = await start(agent, "read line; echo got $line")
    waiting = asyncio.gather(finished(agent, id), finished(agent, id))
    assert (await output(agent, id))["running"] is True
    await agent.ask("POST", f"/processes/{id}/stdin", body={"text": "it\n"})

    assert [shown["output"] for shown in await waiting] == ["got it\n", "got it\n"]


@pytest.mark.behaviour("PROC-2")
async def test_a_shorter_wait_ends_with_what_there_is(agent: AgentProcess):
    id = await start(agent, "echo before; read line")
    await until_said(agent, id, "before")
    shown = await output(agent, id, wait="true", wait_seconds="0.05")

    assert shown["running"] is True
    assert shown["output"] == "before\n"
    assert "exit_code" not in shown


async def test_new_output_wakes_who_waits_for_more(agent: AgentProcess):
    id = await start(agent, "while read line; do echo got $line; done")
    version = (await output(agent, id))["version"]
    waiting = asyncio.gather(output(agent, id, since=str(version)))
    await agent.ask("POST", f"/processes/{id}/stdin", body={"text": "one\n"})
    (shown,) = await waiting

    assert shown["output"] == "got one\n"
    assert shown["running"] is True
    assert shown["version"] > version


async def test_a_query_that_is_not_right_is_refused(agent: AgentProcess):
    id = await start(agent, "true")

    for query in (
        {"wait": "maybe"},
        {"wait_seconds": "301"},
        {"wait_seconds": "nan"},
        {"since": "x"},
        {"colour": "red"},
    ):
        assert (await agent.ask("GET", f"/processes/{id}/output", query=query)).status == 400, query


async def test_input_is_open_until_it_is_closed(agent: AgentProcess):
    id = await start(agent, "cat; echo done")
    written = await agent.ask("POST", f"/processes/{id}/stdin", body={"text": "héllo\n", "close": True})

    assert written.json == {"written": 7, "closed": True}
    assert (await finished(agent, id))["output"] == "héllo\ndone\n"
    assert (await agent.ask("POST", f"/processes/{id}/stdin", body={"text": "more"})).status == 409


async def test_a_command_can_be_given_no_input(agent: AgentProcess):
    assert (await run(agent, "cat; echo done", stdin=False))["output"] == "done\n"


async def test_more_input_than_a_pipe_holds_arrives_whole(agent: AgentProcess):
    id = await start(agent, "head -c 300000 | wc -c")
    written = await agent.ask("POST", f"/processes/{id}/stdin", body={"text": "x" * 300_000})

    assert written.json["written"] == 300_000
    assert (await finished(agent, id))["output"].strip() == "300000"


async def test_a_command_runs_unattended_and_knows_its_chat(agent: AgentProcess):
    shown = await run(agent, "env -0 | tr '\\0' '\\n'", env={"EXTRA": "yes", "PAGER": "more"})
    env = dict(line.split("=", 1) for line in shown["output"].splitlines() if "=" in line)

    assert env["CHATD_CHAT_AGENT"] == "true"
    assert env["CHATD_CHAT_ID"] == str(CHAT)
    assert env["CHATD_WORKSPACE_ID"]
    assert {env[name] for name in ("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR")} == {"true"}
    assert env["GIT_PAGER"] == "cat"
    assert (env["NO_COLOR"], env["TERM"], env["GIT_TERMINAL_PROMPT"]) == ("1", "dumb", "0")
    assert (env["EXTRA"], env["PAGER"]) == ("yes", "more")
    assert env["HOME"] == str(agent.home)


async def test_what_is_ours_in_the_agents_environment_is_not_in_a_commands(tmp_path: Path):
    secrets = {"CHATD_ENCRYPTION_KEYS": "hunter2", "CHATD_DATABASE_URL": "postgres://hunter2"}
    async with running_agent(tmp_path / "agent", env=secrets) as agent:
        shown = await run(agent, "env")

    assert "hunter2" not in shown["output"]


async def test_an_environment_that_can_not_be_is_refused(agent: AgentProcess):
    for env in ({"CHATD_CHAT_ID": "x"}, {"A=B": "x"}, {"": "x"}, {"A": "\0"}):
        reply = await agent.ask("POST", "/processes", body={"key": "k", "command": "true", "env": env})
        assert reply.status == 400, env
        assert reply.json["validations"]


WRONG_STARTS: list[dict[str, object]] = [
    {"command": "  "},
    {"command": "echo a\0b"},
    {"command": "x" * 200_000},
    {"command": "true", "key": ""},
    {"command": "true", "key": "k" * 201},
    {"command": "true", "workdir": "relative"},
    {"command": "true", "workdir": "/nowhere/at/all"},
    {"command": "true", "workdir": "/etc/passwd"},
    {"command": "true", "workdir": "/a\0b"},
    {"command": "true", "workdir": "/" + "x" * 5000},
    {"command": "true", "workdir": "/\ud800"},
    {"command": "echo \ud800"},
    {"command": "true", "env": {"A": "\ud800"}},
    {"command": "true", "env": {"A": "x" * 200_000}},
    {"command": "true", "colour": "red"},
    {"command": 3},
    {},
]


async def test_a_start_that_can_not_work_is_refused_and_takes_no_key(agent: AgentProcess):
    for asked in WRONG_STARTS:
        reply = await agent.ask("POST", "/processes", body={"key": "k", **asked})
        assert reply.status == 400, (asked, reply.body)
        assert reply.json["message"]
    assert list((agent.folder / "processes").iterdir()) == []
    assert (await agent.ask("POST", "/processes", body={"key": "k", "command": "true"})).status == 201


async def test_a_command_starts_where_it_is_told_else_at_home(agent: AgentProcess, tmp_path: Path):
    name = os.fsdecode("ä-".encode() + b"\xff")  # no UTF-8
    (tmp_path / name).mkdir()
    body = json.dumps({"key": "k", "command": "pwd | od -An -tx1", "workdir": str(tmp_path / name)})
    reply = await agent.ask("POST", "/processes", raw=body.encode())

    assert "c3 a4 2d ff 0a" in (await finished(agent, reply.json["id"]))["output"]
    assert (await run(agent, "pwd"))["output"] == f"{agent.home}\n"
    listed = (await agent.ask("GET", "/processes")).json["processes"]
    assert listed[-1]["workdir"] == str(tmp_path / name)


@pytest.mark.behaviour("PROC-5")
async def test_output_beyond_the_bound_keeps_its_head_and_tail(agent: AgentProcess):
    shown = await run(agent, "seq 1 100000")
    truncated = shown["truncated"]

    assert shown["output"].startswith("1\n2\n3\n")
    assert shown["output"].endswith("\n99999\n100000\n")
    assert truncated["original_bytes"] == 588_895
    assert truncated["retained_bytes"] + truncated["omitted_bytes"] == 588_895
    assert f"[{truncated['omitted_bytes']} bytes are left out here]" in shown["output"]
    assert len(shown["output"].encode()) <= 32 * 1024


async def test_who_wants_less_output_is_given_less_by_the_same_rule(agent: AgentProcess):
    id = await start(agent, "seq 1 100000")
    await finished(agent, id)
    shown = await output(agent, id, most_bytes="2000")

    assert len(shown["output"].encode()) <= 2000
    assert shown["output"].startswith("1\n2\n3\n")
    assert shown["output"].endswith("\n99999\n100000\n")


async def test_a_process_of_another_chat_looks_like_none(agent: AgentProcess):
    id = await start(agent, "sleep 600")

    for method, path, body in [
        ("GET", f"/processes/{id}/output", None),
        ("POST", f"/processes/{id}/signal", {"signal": "kill"}),
        ("POST", f"/processes/{id}/stdin", {"text": "x"}),
        ("DELETE", f"/processes/{id}/key", None),
    ]:
        theirs = await agent.ask(method, path, chat=OTHER_CHAT, body=body)
        nobodys = await agent.ask(method, path.replace(id, NOBODYS_ID), chat=OTHER_CHAT, body=body)
        assert (theirs.status, theirs.body) == (404, nobodys.body)
    assert (await agent.ask("GET", "/processes", chat=OTHER_CHAT)).json == {"processes": []}
    assert (await output(agent, id))["running"] is True


async def test_the_list_has_the_newest_ten_with_running_ones_first(agent: AgentProcess):
    running = await start(agent, "sleep 600")
    ended = [await start(agent, f"echo {n}") for n in range(11)]
    for id in ended:
        await finished(agent, id)
    listed = (await agent.ask("GET", "/processes")).json["processes"]

    assert len(listed) == 10
    assert listed[0]["id"] == running
    assert listed[0]["running"] is True
    assert {one["id"] for one in listed[1:]} < set(ended)
    assert listed[1]["exit_code"] == 0


async def test_a_key_starts_one_process_however_often_and_at_once(agent: AgentProcess):
    body = {"key": "once", "command": f"echo ran >> {agent.home}/marks"}
    replies = await asyncio.gather(*(agent.ask("POST", "/processes", body=body) for _ in range(8)))
    await finished(agent, replies[0].json["id"])
    again = await agent.ask("POST", "/processes", body=body)

    assert sorted(reply.status for reply in replies) == [200] * 7 + [201]
    assert {reply.json["id"] for reply in (*replies, again)} == {replies[0].json["id"]}
    assert again.json == {"id": again.json["id"], "fresh": False, "state": "exited"}
    assert (agent.home / "marks").read_text() == "ran\n"


async def test_one_key_is_another_in_another_chat(agent: AgentProcess):
    body = {"key": "once", "command": "true"}
    one = await agent.ask("POST", "/processes", body=body)
    other = await agent.ask("POST", "/processes", body=body, chat=OTHER_CHAT)

    assert (one.status, other.status) == (201, 201)
    assert one.json["id"] != other.json["id"]


async def test_a_key_with_another_command_is_refused(agent: AgentProcess):
    await agent.ask("POST", "/processes", body={"key": "once", "command": "true"})
    reply = await agent.ask("POST", "/processes", body={"key": "once", "command": "false"})

    assert (reply.status, reply.json["kind"]) == (409, "key_reused")


async def test_an_older_epoch_can_change_nothing(agent: AgentProcess):
    id = await start(agent, "cat", epoch=7)

    for path, body in [
        ("/processes", {"key": "new", "command": f"touch {agent.home}/ran"}),
        (f"/processes/{id}/signal", {"signal": "kill"}),
        (f"/processes/{id}/stdin", {"text": "x"}),
    ]:
        reply = await agent.ask("POST", path, epoch=6, body=body)
        assert (reply.status, reply.json["kind"]) == (409, "stale_epoch")
        assert (await agent.ask("POST", path, epoch=None, body=body)).status == 400
    assert (await output(agent, id))["running"] is True
    assert not (agent.home / "ran").exists()
    assert (await agent.ask("POST", "/processes", epoch=8, body={"key": "a", "command": "true"})).status == 201
    assert (await agent.ask("POST", "/processes", chat=OTHER_CHAT, body={"key": "a", "command": "true"})).status == 201


async def test_an_agent_that_is_started_again_still_knows_the_newest_epoch(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as first:
        await start(first, "true", epoch=7)
        await first.kill()
    async with running_agent(tmp_path / "agent") as second:
        reply = await second.ask("POST", "/processes", epoch=6, body={"key": "k", "command": "true"})

    assert reply.json["kind"] == "stale_epoch"


async def test_a_child_that_holds_the_pipe_delays_the_end_only_for_a_while(agent: AgentProcess):
    shown = await run(agent, f"sleep 600 & echo $! > {agent.home}/pid; echo started")

    assert shown["exit_code"] == 0
    assert shown["output"] == "started\n"
    os.kill(int((agent.home / "pid").read_text()), 0)  # it lives


async def test_who_leaves_while_waiting_holds_the_agent_no_longer(agent: AgentProcess):
    id = await start(agent, "read line")
    _, writer = await asyncio.open_unix_connection(agent.address.removeprefix("unix:"))
    head = f"GET /processes/{id}/output?wait=true HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {agent.token}\r\n\r\n"
    writer.write(head.encode())
    await _until_open(agent, 2)
    writer.close()
    await writer.wait_closed()
    await _until_open(agent, 1)

    assert (await output(agent, id))["running"] is True


async def _until_open(agent: AgentProcess, requests: int) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while (await agent.ask("GET", "/health")).json["open_requests"] != requests:
            pass
