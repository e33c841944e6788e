"""How an agent is started: detached, found again, and leaving by itself."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from agent.commands import start, until_said
from agent.running import SOURCE, WAIT_SECONDS, running_agent, until_gone
from chatd.agent.place import Place, Record
from chatd.agent.system_processes import boot_id, look_up


def _command(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chatd", "agent", *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **(env or {})},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """A folder for detached agents; whoever is left in it is ended."""
    yield tmp_path / "agent"
    record = Place(tmp_path / "agent").live_record()
    if record is not None:
        os.kill(record.pid, signal.SIGKILL)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError:
        return b""


def _record(folder: Path) -> Record:
    record = Place(folder).live_record()
    assert record is not None
    return record


async def test_a_detached_agent_is_nobodys_child_and_found_by_the_next_start(folder: Path):
    first = await asyncio.to_thread(_command, "--dir", str(folder))
    record = _record(folder)
    second = await asyncio.to_thread(_command, "--dir", str(folder))

    assert first.stdout == second.stdout == f"unix:{folder}/agent.sock\n"
    assert _record(folder) == record
    found = look_up(record.pid)
    assert found is not None
    assert found.group == record.pid
    assert os.getsid(record.pid) == record.pid
    os.kill(record.pid, signal.SIGTERM)
    await until_gone(record.pid)
    assert not (folder / "agent.sock").exists()
    assert not (folder / "agent.json").exists()


async def test_starts_at_the_same_time_make_one_agent(folder: Path):
    started = await asyncio.gather(*(asyncio.to_thread(_command, "--dir", str(folder)) for _ in range(4)))

    assert {(one.returncode, one.stdout) for one in started} == {(0, f"unix:{folder}/agent.sock\n")}
    holders = [pid for pid in _pids() if str(folder).encode() in _read(f"/proc/{pid}/cmdline")]
    assert holders == [_record(folder).pid]


async def test_nothing_of_the_starters_environment_can_be_read_from_a_detached_agent(folder: Path):
    secrets = {"CHATD_ENCRYPTION_KEYS": "hunter2", "OPENAI_API_KEY": "hunter2", "PGPASSWORD": "hunter2"}
    await asyncio.to_thread(_command, "--dir", str(folder), env=secrets)

    environ = Path(f"/proc/{_record(folder).pid}/environ").read_bytes()  # noqa: ASYNC240
    assert b"PATH=" in environ
    assert b"hunter2" not in environ
    assert str(SOURCE).encode() not in environ


def test_everything_in_the_folder_is_private(folder: Path):
    folder.mkdir(mode=0o755)
    _command("--dir", str(folder))

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for entry in folder.iterdir():
        assert stat.S_IMODE(entry.stat().st_mode) & 0o077 == 0, entry


async def test_what_a_killed_agent_left_is_taken_away_but_its_token_stays(tmp_path: Path):
    async with running_agent(tmp_path / "agent") as first:
        await first.kill()
    assert (first.folder / "agent.sock").exists()
    async with running_agent(tmp_path / "agent") as second:
        assert (await second.ask("GET", "/health")).json["pid"] == second.pid

    assert second.token == first.token


@pytest.mark.parametrize("wrong", [{"start_ticks": 1}, {"boot_id": "another"}])
async def test_a_pid_that_was_given_to_another_process_is_no_agent(folder: Path, wrong: dict[str, object]):
    me = look_up(os.getpid())
    assert me is not None
    place = Place.at(folder)
    right = {"pid": me.pid, "start_ticks": me.start_ticks, "boot_id": boot_id()}
    rest = {"address": "unix:/x", "version": "0", "workspace_id": "w"}
    (folder / "agent.json").write_text(json.dumps({**right, **rest}))
    assert place.live_record() is not None
    (folder / "agent.json").write_text(json.dumps({**right, **rest, **wrong}))

    assert place.live_record() is None


async def test_an_agent_that_nobody_needs_leaves(tmp_path: Path):
    async with running_agent(tmp_path / "agent", "--idle-minutes", "0.005") as agent:
        async with asyncio.timeout(WAIT_SECONDS):
            assert await agent.process.wait() == 0

        assert not (agent.folder / "agent.sock").exists()


async def test_a_running_process_keeps_its_agent_until_it_has_ended(tmp_path: Path):
    async with running_agent(tmp_path / "agent", "--idle-minutes", "0.01") as agent:
        id = await start(agent, "echo up; setsid sleep 3 >/dev/null 2>&1 & exit 0")
        await until_said(agent, id, "up")
        async with asyncio.timeout(WAIT_SECONDS):
            assert await agent.process.wait() == 0
        left = [pid for pid in _pids() if f"HOME={agent.home}".encode() in _read(f"/proc/{pid}/environ")]

    assert left == []


async def test_an_agent_listens_on_tcp_when_it_is_told_to(tmp_path: Path):
    async with running_agent(tmp_path / "agent", "--listen", "tcp:127.0.0.1:0") as agent:
        kind, host, port = agent.address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /health HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {agent.token}\r\n\r\n".encode())
        line = await reader.readline()
        writer.close()
        await writer.wait_closed()

    assert kind == "tcp"
    assert line == b"HTTP/1.1 200 OK\r\n"


async def test_a_folder_with_a_long_path_has_its_socket_elsewhere(tmp_path: Path):
    folder = tmp_path / ("x" * 120)
    async with running_agent(folder) as agent:
        assert (await agent.ask("GET", "/health")).status == 200
        socket = Path(agent.address.removeprefix("unix:"))

    assert len(str(socket)) < 108
    assert not socket.parent.exists()


@pytest.mark.parametrize(
    "arguments",
    [["--listen", "tcp:x"], ["--listen", "udp:a:1"], ["--idle-minutes", "-1"], ["--workspace-id", "a b"]],
)
def test_options_that_can_not_work_are_refused_with_a_sentence(tmp_path: Path, arguments: list[str]):
    refused = _command("--dir", str(tmp_path / "agent"), *arguments)

    assert refused.returncode == 1
    assert refused.stderr.startswith("chatd agent: ")
    assert "Traceback" not in refused.stderr


def test_an_agent_imports_little():
    """It has to be ready at once; what it imports is most of that."""
    listed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, chatd.agent.main, chatd.agent.compose, chatd.agent.serving; print(*sys.modules)",
        ],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = {name.split(".")[1] for name in listed if name.startswith("chatd.")}

    assert ours <= {"agent", "wire", "core", "clock", "background", "minting"}
    heavy = {
        "aiohttp",
        "asyncpg",
        "litestar",
        "typer",
        "rich",
        "structlog",
        "prometheus_client",
        "cryptography",
        "uvloop",
        "websockets",
    }
    assert heavy & {name.split(".")[0] for name in listed} == set()
    assert len([name for name in listed if name.startswith("chatd.")]) < 100
