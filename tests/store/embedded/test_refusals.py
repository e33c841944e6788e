"""What chatd can't or must not start is refused with the reason and what to do."""

import signal
from pathlib import Path

import pytest

from chatd.clock import SystemClock
from chatd.core.errors import StartRefused
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.account import _make_user
from chatd.store.keeper.options import KeeperLimits
from chatd.store.keeper.paths import KeeperError, PostgresHome, postgres_socket, private_folder
from chatd.store.keeper.process import identify
from chatd.store.postgres_binaries import find_binaries

FAST = {"fsync": "off"}


async def made(data_dir):
    clock = SystemClock()
    async with embedded_postgres(data_dir, clock=clock, server_settings=FAST):
        pass
    await wait_stopped(data_dir, clock)
    return PostgresHome(data_dir / "postgres")


async def test_a_postgres_that_chatd_did_not_start_is_left_alone(data_dir, spawn, until):
    home = await made(data_dir)
    command = [find_binaries().bin / "postgres", "-D", home.data, "-k", home.sockets, "-c", "listen_addresses="]
    with spawn(*command) as foreign:
        try:
            await until(postgres_socket(home.sockets).exists)
            with pytest.raises(StartRefused, match=f"in use by process {foreign.pid}"):
                async with embedded_postgres(data_dir, clock=SystemClock()):
                    pass
            assert foreign.poll() is None
        finally:
            foreign.send_signal(signal.SIGINT)


async def test_files_of_another_major_version_are_not_opened(data_dir):
    home = await made(data_dir)
    (home.data / "PG_VERSION").write_text("14\n")
    mine = find_binaries()
    with pytest.raises(StartRefused, match=rf"of Postgres 14, but .* {mine.version}.* restore") as refused:
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass
    assert str(home.data) in refused.value.message


async def test_a_postgres_that_ends_again_and_again_is_reported_with_its_last_words(data_dir, until):
    limits = KeeperLimits(first_delay=0.01)
    settings = {"shared_buffers": "nonsense"}
    with pytest.raises(StartRefused, match=r"started 5 times(.|\n)*shared_buffers.*nonsense"):
        async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=settings, limits=limits):
            pass
    await wait_stopped(data_dir, SystemClock())
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST) as postgres:
        assert identify(postgres.postgres_pid) is not None


async def test_a_folder_that_holds_something_else_is_not_overwritten(data_dir):
    (data_dir / "postgres" / "data").mkdir(parents=True)
    (data_dir / "postgres" / "data" / "letter.txt").write_text("mine")
    with pytest.raises(StartRefused, match="holds no database"):
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass


async def test_a_data_directory_that_is_a_file_is_refused(data_dir):
    data_dir.write_text("")
    with pytest.raises(StartRefused, match="Not a directory"):
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass
    data_dir.unlink()


def test_a_configured_folder_without_postgres_is_not_passed_over(tmp_path):
    with pytest.raises(StartRefused, match="no postgres and initdb in"):
        find_binaries(tmp_path)


def test_a_postgres_that_is_too_old_is_refused(tmp_path):
    for program in ("postgres", "initdb"):
        (tmp_path / program).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 14.9'\n")
        (tmp_path / program).chmod(0o755)
    with pytest.raises(StartRefused, match=r"Postgres 14\.9; chatd needs 15"):
        find_binaries(tmp_path)


def test_no_postgres_anywhere_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(StartRefused, match="No Postgres programs"):
        find_binaries(system_root=tmp_path)


def test_the_newest_postgres_of_the_system_is_taken_when_there_is_no_wheel(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for version in ("9", "15", "17"):
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        for program in ("postgres", "initdb"):
            (folder / program).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}.4 (Debian 1)'\n")
            (folder / program).chmod(0o755)
    found = find_binaries(system_root=tmp_path)
    assert (found.version, found.major, found.bin) == ("17.4", 17, tmp_path / "17" / "bin")


def test_without_useradd_root_is_told_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KeeperError, match=r"no useradd.*start chatd as another user"):
        _make_user()


def test_a_socket_folder_that_others_can_write_is_refused(tmp_path):
    folder = tmp_path / "sockets"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(KeeperError, match="not a private folder"):
        private_folder(folder, mode=0o700, uid=Path.home().stat().st_uid)
