"""Where the files and sockets go: long paths, folders that Postgres' user can't reach, other OS users."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

import chatd
from chatd.clock import SystemClock
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.paths import SOCKET_PATH_BYTES, DataDirectory
from chatd.store.postgres_binaries import find_binaries
from store.embedded.server_process import server_process

FAST = {"fsync": "off"}
SYSTEM_PYTHON = "/usr/bin/python3"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: another OS user runs Postgres")


def mode(path):
    return path.stat().st_mode & 0o777


def skip_unless_nobody_can_run_this():
    usable = Path(SYSTEM_PYTHON).exists() and (
        subprocess.run(
            [SYSTEM_PYTHON, "-c", f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]!r})"]
        ).returncode
        == 0
    )
    if not usable:
        pytest.skip(f"{SYSTEM_PYTHON} is not the Python version that the packages here are built for")
    try:
        subprocess.run(["ls", Path(chatd.__file__).parent], user="nobody", check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("another user can't read this checkout")


def owner_of(pid):
    return Path(f"/proc/{pid}").owner()


async def test_a_path_too_long_for_a_socket_works_for_every_server(data_dir, monkeypatch):
    deep = data_dir.parent / ("d" * 60) / ("e" * 60) / "data"
    assert len(str(deep)) > SOCKET_PATH_BYTES
    async with embedded_postgres(deep, clock=SystemClock(), server_settings=FAST) as first:
        connection = await asyncpg.connect(first.dsn)
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()
        short = Path(DataDirectory(deep).keeper_address()).parent
        assert mode(short) & 0o066 == 0
        monkeypatch.setenv("TMPDIR", "/")
        async with server_process(deep) as second:
            assert second.told.dsn == first.dsn
    await wait_stopped(deep, SystemClock())
    assert not (short / "keeper.sock").exists()
    shutil.rmtree(short)


@pytest.mark.parametrize("name", ["one, two", "a b%20?#&=+@:;'\"\\ü"])
async def test_a_folder_of_any_name_can_be_connected_to(data_dir, monkeypatch, name):
    monkeypatch.setenv("TMPDIR", str(data_dir.parent))
    named = data_dir.parent / name
    async with embedded_postgres(named, clock=SystemClock(), server_settings=FAST) as postgres:
        connection = await asyncpg.connect(postgres.dsn)
        assert Path(await connection.fetchval("SHOW data_directory")) == named / "postgres" / "data"
        await connection.close()
    await wait_stopped(named, SystemClock())


@needs_root
async def test_as_root_unreachable_folders_are_left_as_they_are_and_the_files_go_elsewhere(data_dir):
    closed = data_dir.parent / "closed"
    closed.mkdir(mode=0o700)
    mine = closed / "data"
    try:
        async with embedded_postgres(mine, clock=SystemClock(), server_settings=FAST) as postgres:
            location = Path(DataDirectory(mine).location.read_text().strip())
            assert len(postgres.notes) == 1
            assert str(location) in postgres.notes[0]
            connection = await asyncpg.connect(postgres.dsn)
            await connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
            await connection.close()
        await wait_stopped(mine, SystemClock())
        assert mode(closed) == 0o700
        assert mode(location / "data") == 0o700
        # The choice holds, also when the folder could be reached later.
        closed.chmod(0o755)
        async with embedded_postgres(mine, clock=SystemClock(), server_settings=FAST) as postgres:
            connection = await asyncpg.connect(postgres.dsn)
            assert await connection.fetchval("SELECT value FROM kept") == 7
            await connection.close()
        await wait_stopped(mine, SystemClock())
    finally:
        if DataDirectory(mine).location.exists():
            shutil.rmtree(DataDirectory(mine).location.read_text().strip())


@needs_root
async def test_as_root_a_reachable_folder_is_used_and_shows_nothing_to_others(data_dir):
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        assert postgres.notes == ()
    assert mode(data_dir) == 0o711
    for private in (*data_dir.iterdir(), *(data_dir / "postgres").iterdir()):
        if private.name != "postgres":
            assert mode(private) & 0o077 == 0, private


@needs_root
def test_programs_that_postgres_user_cannot_reach_are_copied_once_with_their_libraries(tmp_path, data_dir):
    """In a process of its own: trying as another user forks."""
    tmp_path.chmod(0o700)
    installed = find_binaries().bin.parent
    hidden = tmp_path / installed.parent.name
    shutil.copytree(installed, hidden / installed.name, symlinks=True)
    libraries = installed.parent.parent / f"{installed.parent.name}.libs"
    if libraries.exists():
        shutil.copytree(libraries, tmp_path / libraries.name)
    shared = data_dir.parent / "shared"
    script = (
        "import sys; from pathlib import Path; from chatd.store.keeper.account import *; "
        "print(reachable_programs(Path(sys.argv[1]), '18.6', postgres_account(), shared=Path(sys.argv[2])))"
    )
    copies: list[Path] = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-S", "-c", script, hidden / installed.name / "bin", shared],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(chatd.__file__).parent.parent)},
            capture_output=True,
            text=True,
            check=True,
        )
        copies.append(Path(done.stdout.strip()))
    assert copies[0] == copies[1]
    assert copies[0].is_relative_to(shared)
    assert mode(copies[0] / "postgres") == 0o755
    assert len(list(shared.iterdir())) == 1
    assert mode(tmp_path) == 0o700


@needs_root
async def test_a_normal_user_runs_postgres_as_itself(data_dir):
    skip_unless_nobody_can_run_this()
    own = data_dir.parent / "own"
    own.mkdir()
    shutil.chown(own, "nobody")
    async with server_process(own / "data", python=SYSTEM_PYTHON, user="nobody") as server:
        assert server.told.notes == ()
        connection = await asyncpg.connect(server.told.dsn)
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()
        owner = owner_of(server.told.postgres_pid)
        await server.leave()
    await wait_stopped(own / "data", SystemClock())
    assert owner == "nobody"
    assert mode(own / "data") == 0o700
