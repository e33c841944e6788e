"""The client of agents: every route of theirs, refusals as they are told, and what becomes of a lost connection."""

import asyncio
import logging
import os
import traceback
from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp
import pytest

from agent.running import CHAT, OTHER_CHAT, AgentProcess, running_agent
from chatd.clock import SystemClock
from chatd.core.errors import TooLarge
from chatd.core.secret import Secret
from chatd.testing.fake_clock import FakeClock
from chatd.wire.agent.files import EditFiles, FileEdit, FileEdits, LinesQuery, ListQuery, MovePath, RemoveQuery
from chatd.wire.agent.health import Health
from chatd.wire.agent.processes import ProcessState, SignalName, StartProcess, WriteStdin
from chatd.workspaces.agents.client import AgentClient, agent_client
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from workspaces.agents.clients import client_of


async def test_a_command_is_started_once_waited_for_and_acknowledged(client: AgentClient):
    asked = StartProcess(key="one", command="echo begin; read word; echo $word")
    started = await client.start(asked)
    assert started.fresh
    assert (await client.start(asked)).id == started.id

    first = await client.output(started.id, since=0, wait_seconds=30)
    assert first.output == "begin\n"
    assert [process.id for process in (await client.processes()).processes] == [started.id]
    assert (await client.write_stdin(started.id, WriteStdin(text="end\n"))).written == 4
    ended = await client.output(started.id, wait_seconds=30, most_bytes=2000)
    assert (ended.state, ended.exit_code, ended.output) == (ProcessState.EXITED, 0, "begin\nend\n")
    await client.acknowledge(started.id)

    with pytest.raises(AgentRefused) as refused:
        await client.signal(started.id, SignalName.TERMINATE)
    assert refused.value.status == 409


async def test_an_agent_that_is_stopping_counts_as_gone(client: AgentClient):
    stubborn = await client.start(
        StartProcess(key="one", command="trap '' TERM; echo ready; while :; do sleep 1; done")
    )
    await client.output(stubborn.id, since=0, wait_seconds=30)
    async with asyncio.TaskGroup() as tasks:
        stopping = tasks.create_task(client.shutdown())
        while not (await client.health()).is_stopping:
            pass
        with pytest.raises(AgentUnreachable) as gone:
            await client.start(StartProcess(key="two", command="true"))
    assert not gone.value.was_sent
    assert stopping.result().ended >= 1


async def test_all_connections_are_closed_also_when_closing_is_cancelled(
    client: AgentClient, monkeypatch: pytest.MonkeyPatch
):
    await client.health()
    await client.start(StartProcess(key="one", command="true"))  # over a connection of its own
    sessions = list(client._exchange._sessions.values())
    close = aiohttp.ClientSession.close

    async def cancelled(session: aiohttp.ClientSession) -> None:
        await close(session)
        raise asyncio.CancelledError

    monkeypatch.setattr(aiohttp.ClientSession, "close", cancelled)
    with pytest.raises(asyncio.CancelledError):
        await client.close()
    assert [session.closed for session in sessions] == [True, True]


async def test_all_but_some_keys_are_acknowledged(client: AgentClient, agent: AgentProcess):
    ids = [(await client.start(StartProcess(key=key, command="true"))).id for key in ("a:1:0", "a:1:1", "a:2:0")]
    async with client_of(agent, chat=OTHER_CHAT) as other:
        theirs = (await other.start(StartProcess(key="a:1:0", command="true"))).id
    await client.acknowledge_all(keep="a:2:")
    acknowledged = {path.stem for path in (agent.folder / "processes").glob("*.ack")}
    assert acknowledged == set(ids[:2])
    assert theirs not in acknowledged
    with pytest.raises(AgentRefused):
        await client.acknowledge_all(keep="")


async def test_files_are_written_read_edited_moved_and_removed(client: AgentClient, agent: AgentProcess):
    path = str(agent.home / "a b" / "näme?&#.txt")
    written = await client.write(path, b"one\ntwo\n")
    assert (written.path, written.size, written.created) == (path, 8, True)
    assert (await client.lines(LinesQuery(path=path, offset=2))).content == "2\ttwo"
    edits = (FileEdit(search="two", replacement="three"),)
    edited = await client.edit(EditFiles(files=(FileEdits(path=path, edits=edits),)))
    assert "+three" in edited.files[0].diff
    assert await client.content(path, most_bytes=100) == b"one\nthree\n"
    assert (await client.status(path)).size == 10
    moved = str(agent.home / "moved")
    await client.move(MovePath(source=path, target=moved))
    assert (await client.resolve(moved)).exists
    await client.make_directory(str(agent.home / "folder"))
    assert [entry.name for entry in (await client.list(ListQuery())).entries] == ["a b", "folder", "moved"]
    await client.remove(RemoveQuery(path=moved))
    assert not (await client.resolve(moved)).exists


async def test_a_file_is_sent_and_read_in_pieces_and_one_that_is_too_large_is_left(
    client: AgentClient, agent: AgentProcess
):
    path = str(agent.home / "large")

    async def pieces() -> AsyncGenerator[bytes]:
        for place in range(64):
            yield bytes([place]) * 65536

    assert (await client.write(path, pieces())).size == 64 * 65536
    with pytest.raises(TooLarge):
        await client.content(path, most_bytes=65536)
    async with client.open_content(path, headers={"Range": "bytes=65536-65537"}) as response:
        assert await response.read() == b"\x01\x01"
    assert (await client.health()).pid == agent.pid  # the connection that was left did no harm


async def test_names_that_are_no_text_go_through(client: AgentClient, agent: AgentProcess):
    name = b"\xff\xfe.txt"
    (agent.home / os.fsdecode(name)).write_text("odd")
    listed = (await client.list(ListQuery())).entries[0].name
    assert os.fsencode(listed) == name
    assert await client.content(str(agent.home / listed), most_bytes=10) == b"odd"
    await client.move(MovePath(source=str(agent.home / listed), target=str(agent.home / f"{listed}2")))
    assert [entry.name for entry in (await client.list(ListQuery())).entries] == [f"{listed}2"]


async def test_a_refusal_tells_what_the_agent_told(client: AgentClient, agent: AgentProcess):
    with pytest.raises(AgentRefused) as missing:
        await client.content(str(agent.home / "nothing"), most_bytes=10)
    assert (missing.value.status, missing.value.kind) == (404, "not_found")
    assert missing.value.message.endswith("does not exist.")
    async with client_of(agent, epoch=7) as newer:
        await newer.start(StartProcess(key="k", command="true"))
    with pytest.raises(AgentRefused) as stale:
        await client.start(StartProcess(key="l", command="true"))
    assert stale.value.kind == "stale_epoch"


async def test_a_process_of_another_chat_is_not_seen(client: AgentClient, agent: AgentProcess):
    started = await client.start(StartProcess(key="one", command="true"))
    async with client_of(agent, chat=OTHER_CHAT) as other:
        assert not (await other.processes()).processes
        with pytest.raises(AgentRefused) as refused:
            await other.output(started.id)
    assert refused.value.status == 404


@pytest.mark.parametrize("id", ["../health", "", "a/b?c#d", "..", "\n"])
async def test_an_id_that_is_none_is_not_found(client: AgentClient, id: str):
    with pytest.raises(AgentRefused) as refused:
        await client.output(id)
    assert refused.value.status in (400, 404)


async def test_nobody_there_is_told_apart_from_a_connection_that_broke(tmp_path: Path):
    gone = agent_client(f"unix:{tmp_path}/nothing.sock", Secret("t"), SystemClock())
    with pytest.raises(AgentUnreachable) as unreachable:
        await gone.health()
    assert not unreachable.value.was_sent
    await gone.close()

    async with running_agent(tmp_path / "agent") as agent, client_of(agent) as client:
        started = await client.start(StartProcess(key="k", command="while [ ! -e go ]; do sleep 0.02; done"))

        async def wait() -> None:
            with pytest.raises(AgentUnreachable):
                await client.output(started.id, wait_seconds=300)

        async with asyncio.TaskGroup() as tasks, client_of(agent) as other:
            tasks.create_task(wait())
            while (await other.health()).open_requests < 2:
                pass
            await agent.kill()
            (agent.home / "go").touch()  # nobody else ends it
        with pytest.raises(AgentUnreachable) as unreachable:
            await client.health()
        assert not unreachable.value.was_sent


async def test_an_agent_that_does_not_answer_is_given_up(agent: AgentProcess):
    clock = FakeClock()
    async with client_of(agent, clock=clock) as client:
        started = await client.start(StartProcess(key="k", command="exec sleep 600"))

        async def wait() -> None:
            with pytest.raises(AgentUnreachable, match="230 seconds"):
                await client.output(started.id, wait_seconds=200)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(wait())
            await clock.wait_for("agent")
            await clock.advance(231)
        await client.signal(started.id, SignalName.KILL)


async def test_the_longest_wait_is_the_agents(client: AgentClient):
    started = await client.start(StartProcess(key="k", command="true"))
    assert (await client.output(started.id, wait_seconds=4000)).exit_code == 0


async def test_a_socket_with_a_path_that_is_too_long_is_reached(tmp_path: Path, agent: AgentProcess):
    deep = tmp_path / ("long" * 20) / ("longer" * 20)
    deep.mkdir(parents=True)
    os.symlink(agent.address.removeprefix("unix:"), deep / "agent.sock")  # noqa: PTH211
    client = agent_client(f"unix:{deep}/agent.sock", Secret(agent.token), SystemClock())
    assert isinstance(await client.health(), Health)
    await client.close()
    missing = agent_client(f"unix:{deep}/none/agent.sock", Secret(agent.token), SystemClock())
    with pytest.raises(AgentUnreachable):
        await missing.health()
    await missing.close()


async def test_an_agent_on_tcp_is_reached_and_proxies_are_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with running_agent(tmp_path / "agent", "--listen", "tcp:127.0.0.1:0") as agent, client_of(agent) as client:
        assert (await client.health()).pid == agent.pid
        await client.heartbeat()


async def test_a_redirect_is_not_followed_and_no_token_is_shown(caplog: pytest.LogCaptureFixture):
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(
            b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n" if len(asked) == 1 else b"x\r\n"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    secret = "a-token-nobody-sees"
    client = agent_client(f"tcp:127.0.0.1:{port}", Secret(secret), SystemClock())
    with caplog.at_level(logging.DEBUG):
        with pytest.raises(AgentRefused) as refused:
            await client.health()
        with pytest.raises(AgentUnreachable) as nonsense:
            await client.health()
    await client.close()
    server.close()
    assert refused.value.status == 302
    assert len(asked) == 2
    assert secret not in "".join(traceback.format_exception(nonsense.value)) + caplog.text


async def test_a_change_whose_answer_is_lost_is_sent_once_and_said_to_be_sent():
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.split(" ", 1)[0])
        if asked[-1] == "GET":  # so that there is a connection that could be kept
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n{"path":"/","exists":1}')
            await writer.drain()
            await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    client = agent_client(f"tcp:127.0.0.1:{server.sockets[0].getsockname()[1]}", Secret("t"), SystemClock())
    with pytest.raises(AgentUnreachable, match="can't be read"):
        await client.resolve("/")
    for change in (client.write("/a", b"text"), client.acknowledge("p"), client.make_directory("/b")):
        with pytest.raises(AgentUnreachable) as lost:
            await change
        assert lost.value.was_sent
    await client.close()
    server.close()
    assert asked == ["GET", "PUT", "DELETE", "POST"]


async def test_an_agent_is_stopped(agent: AgentProcess):
    async with client_of(agent, chat=CHAT) as client:
        await client.start(StartProcess(key="k", command="exec sleep 600"))
        assert (await client.shutdown()).left == ()
