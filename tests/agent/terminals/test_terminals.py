"""Terminals: real programs on real pseudo terminals, over real WebSockets."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent.running import SOURCE, WAIT_SECONDS, AgentProcess, running_agent, until_gone
from chatd.agent.system_processes import living

Socket = aiohttp.ClientWebSocketResponse


async def _start(agent: AgentProcess, command: str | None = None, **asked: Any) -> str:
    reply = await agent.ask("POST", "/terminals", chat=None, body={"command": command, **asked})
    assert reply.status == 201, reply.body
    return reply.json["id"]


async def _until(socket: Socket, wanted: bytes) -> bytes:
    """All that was shown up to there."""
    seen = b""
    async with asyncio.timeout(WAIT_SECONDS):
        while wanted not in seen:
            frame = await socket.receive()
            assert frame.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), (frame, seen)
            seen += frame.data if frame.type is aiohttp.WSMsgType.BINARY else b""
    return seen


async def _to_the_end(socket: Socket) -> tuple[bytes, list[Any], int | None]:
    """What was shown, the text frames, and the code of the close."""
    seen, told = bytearray(), list[Any]()
    async with asyncio.timeout(WAIT_SECONDS):
        async for frame in socket:
            if frame.type is aiohttp.WSMsgType.BINARY:
                seen += frame.data
            else:
                told.append(json.loads(frame.data))
    return bytes(seen), told, socket.close_code


async def _listed(agent: AgentProcess) -> list[Any]:
    return (await agent.ask("GET", "/terminals", chat=None)).json["terminals"]


def _session(leader: int) -> list[int]:
    return [process.pid for process in living() if process.session == leader]


async def test_a_login_shell_runs_where_asked_and_answers_what_is_typed(agent: AgentProcess, tmp_path: Path):
    id = await _start(agent, workdir=str(tmp_path), env={"PS1": "> "}, columns=91, rows=33)
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await socket.send_bytes(b"stty size; tty; pwd; echo $TERM-$((40+2))\n")
        shown = await _until(socket, b"xterm-256color-42")
        await socket.send_bytes(b"exit 7\n")
        _, told, code = await _to_the_end(socket)

    assert b"33 91" in shown
    assert b"/dev/pts/" in shown
    assert str(tmp_path).encode() + b"\r\n" in shown
    assert (told, code) == ([{"type": "exit", "exit_code": 7}], 1000)


async def test_keys_reach_the_group_in_front_because_the_terminal_is_its_sessions(agent: AgentProcess):
    id = await _start(agent, "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await _until(socket, b"ready")
        await socket.send_bytes(b"\x03")
        shown, told, _ = await _to_the_end(socket)

    assert b"caught" in shown
    assert told == [{"type": "exit", "exit_code": 3}]


async def test_a_new_size_is_told_to_the_program(agent: AgentProcess):
    id = await _start(agent, "trap 'stty size' WINCH; echo ready; while :; do sleep 0.1; done")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await _until(socket, b"ready")
        await socket.send_str('{"type": "resize", "columns": 101, "rows": 43}')
        await _until(socket, b"43 101")
        assert [(one["columns"], one["rows"]) for one in await _listed(agent)] == [(101, 43)]


async def test_who_comes_back_sees_what_was_there_and_several_see_the_same(agent: AgentProcess):
    id = await _start(agent, "echo first; read x; echo got $x; read y")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await _until(socket, b"first")
    async with agent.socket(f"/terminals/{id}/attach") as one, agent.socket(f"/terminals/{id}/attach") as two:
        assert b"first" in await _until(two, b"first")
        assert (await _listed(agent))[0]["attached"] == 2
        await one.send_bytes(b"typed\n")
        assert b"first" in await _until(one, b"got typed")
        await _until(two, b"got typed")


async def test_the_end_can_still_be_seen_by_who_comes_later(agent: AgentProcess):
    id = await _start(agent, "echo bye; exit 5")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await _to_the_end(socket)
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        shown, told, _ = await _to_the_end(socket)

    assert shown == b"bye\r\n"
    assert told == [{"type": "exit", "exit_code": 5}]
    assert [(one["running"], one["exit_code"]) for one in await _listed(agent)] == [(False, 5)]


async def test_much_output_arrives_whole_for_who_reads(agent: AgentProcess):
    id = await _start(agent, "read go; seq 1 200000; echo end")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await socket.send_bytes(b"\n")
        shown, told, _ = await _to_the_end(socket)

    assert [one["type"] for one in told] == ["exit"]
    assert shown.replace(b"\r\n", b"\n").endswith("\n".join(map(str, range(1, 200_001))).encode() + b"\nend\n")


async def test_a_program_is_held_up_while_nobody_reads_and_goes_on_when_all_have_left(agent: AgentProcess):
    mark = agent.home / "done"
    id = await _start(agent, f"read go; head -c 8000000 /dev/zero; touch {mark}")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await socket.send_bytes(b"\n")
        await _until(socket, b"\0")
        memory = int(Path(f"/proc/{agent.pid}/statm").read_text().split()[1]) * 4096  # noqa: ASYNC240
        assert memory < 200_000_000
        assert not mark.exists()
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await _to_the_end(socket)

    assert mark.exists()


async def test_a_slow_reader_is_told_what_it_lost_and_holds_up_no_other(agent: AgentProcess):
    id = await _start(agent, "read go; seq 1 1000000; echo end")
    path = f"/terminals/{id}/attach"
    async with agent.socket(path) as slow, agent.socket(path) as fast:
        await fast.send_bytes(b"\n")
        shown, told, _ = await _to_the_end(fast)
        late, told_late, _ = await _to_the_end(slow)

    assert [one["type"] for one in told] == ["exit"]
    assert shown.endswith(b"\r\nend\r\n")
    assert [one["type"] for one in told_late] == ["skipped", "exit"]
    assert len(late) + told_late[0]["bytes"] == len(shown)
    assert late.endswith(b"\r\nend\r\n")


async def test_input_that_a_program_does_not_read_is_dropped_and_told(tmp_path: Path):
    program = (str(SOURCE.parent / "tests/agent/hurried_agent.py"), "terminals.terminal:INPUT_SECONDS=0.2")
    async with running_agent(tmp_path / "agent", program=program) as agent:
        id = await _start(agent, "stty raw -echo; echo ready; sleep 1000")
        async with agent.socket(f"/terminals/{id}/attach") as socket:
            await _until(socket, b"ready")
            await socket.send_bytes(b"x" * 500_000)
            async with asyncio.timeout(WAIT_SECONDS):
                told = json.loads((await socket.receive()).data)
            assert told["type"] == "dropped"
            assert 0 < told["bytes"] < 500_000


async def test_an_end_hangs_up_on_all_of_the_session(agent: AgentProcess):
    id = await _start(agent, "echo $$; sleep 1000 & (trap '' HUP; sleep 1001) & wait")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        leader = int((await _until(socket, b"\r\n")).split()[0])
        for pid in _session(leader):
            assert pid
        assert (await agent.ask("DELETE", f"/terminals/{id}", chat=None)).status == 200
        _, told, _ = await _to_the_end(socket)
    async with asyncio.timeout(WAIT_SECONDS):
        for pid in _session(leader):
            await until_gone(pid)

    assert [one["type"] for one in told] == ["exit"]
    assert await _listed(agent) == []
    assert (await agent.ask("DELETE", f"/terminals/{id}", chat=None)).status == 404


async def test_a_terminal_that_nobody_looks_at_ends_after_a_while(tmp_path: Path):
    change = "terminals.terminals:IDLE_SECONDS=0.5"
    program = (str(SOURCE.parent / "tests/agent/hurried_agent.py"), change)
    async with running_agent(tmp_path / "agent", program=program) as agent:
        id = await _start(agent, "echo $$; sleep 1000")
        async with agent.socket(f"/terminals/{id}/attach") as socket:
            leader = int((await _until(socket, b"\r\n")).split()[0])
        await until_gone(leader)
        assert await _listed(agent) == []


async def test_a_stop_of_the_agent_ends_shells_that_take_no_notice_of_a_sigterm(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent:
        id = await _start(agent, "trap '' TERM; echo $$; while :; do sleep 0.1; done")
        async with agent.socket(f"/terminals/{id}/attach") as socket:
            leader = int((await _until(socket, b"\r\n")).split()[0])
            agent.process.send_signal(signal.SIGTERM)
            _, _, code = await _to_the_end(socket)
            async with asyncio.timeout(WAIT_SECONDS):
                await agent.process.wait()

    assert _session(leader) == []
    assert code in (1000, 1012)  # the program's end, or that of the agent


async def test_no_more_terminals_are_open_than_the_most(agent: AgentProcess):
    for _ in range(16):
        await _start(agent, "sleep 1000")
    refused = await agent.ask("POST", "/terminals", chat=None, body={})

    assert (refused.status, refused.json["kind"]) == (429, "too_many_terminals")


@pytest.mark.parametrize(
    "asked",
    [
        {"columns": 0},
        {"rows": 1001},
        {"command": " "},
        {"command": "a\0b"},
        {"workdir": "relative"},
        {"workdir": "/nowhere"},
        {"workdir": "/etc/passwd"},
        {"env": {"CHATD_X": "1"}},
        {"other": 1},
    ],
)
async def test_what_can_not_be_started_is_refused(agent: AgentProcess, asked: dict[str, object]):
    assert (await agent.ask("POST", "/terminals", chat=None, body=asked)).status == 400


async def test_a_socket_needs_the_token_and_a_terminal_that_is_there(agent: AgentProcess):
    id = await _start(agent, "sleep 1000")
    for path, token, status in (
        (f"/terminals/{id}/attach", "wrong", 401),
        ("/terminals/nothing/attach", None, 404),
        ("/nothing", None, 404),
        ("/health", None, 404),
    ):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with agent.socket(path, token=token):
                pass
        assert refused.value.status == status
    assert (await _listed(agent))[0]["attached"] == 0


@pytest.mark.parametrize("frame", ["", "{}", "[", '{"type": "resize", "columns": 0, "rows": 1}', '{"type": "x"}'])
async def test_a_text_frame_that_is_not_understood_ends_the_connection_and_not_the_terminal(
    agent: AgentProcess, frame: str
):
    id = await _start(agent, "sleep 1000")
    async with agent.socket(f"/terminals/{id}/attach") as socket:
        await socket.send_str(frame)
        assert (await _to_the_end(socket))[2] == 1003

    assert (await _listed(agent))[0]["running"]


async def test_of_terminals_that_have_ended_only_the_latest_are_kept(agent: AgentProcess):
    """Each keeps what it has shown."""
    ids = list[str]()
    for _ in range(20):
        ids.append(await _start(agent, "true"))
        async with asyncio.timeout(WAIT_SECONDS):
            while any(one["running"] for one in await _listed(agent)):
                pass
    last = await _start(agent, "true")

    assert [one["id"] for one in await _listed(agent)] == [*ids[-16:], last]
