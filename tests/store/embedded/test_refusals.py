"""What chatd can't or must not start is refused with the reason and what to do."""

import os
import re
import signal

import pytest

from chatd.clock import SystemClock
from chatd.core.errors import StartRefused
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.account import _make_user
from chatd.store.keeper.files import KeeperError, private_folder
from chatd.store.keeper.options import KeeperLimits
from chatd.store.keeper.paths import PostgresHome, postgres_socket
from chatd.store.keeper.process import identify
from chatd.store.keeper.watch import log
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


def test_every_line_of_the_keepers_log_says_when_and_who(capsys):
    log("its last words:\n\tof two lines")
    line = re.compile(rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d \[{os.getpid()}\] ")
    assert [line.sub("", one, count=1) for one in capsys.readouterr().err.splitlines() if line.match(one)] == [
        "its last words:",
        "\tof two lines",
    ]


async def test_a_folder_that_holds_something_else_is_not_overwritten(data_dir):
    (data_dir / "postgres" / "data").mkdir(parents=True)
    (data_dir / "postgres" / "data" / "letter.txt").write_text("mine")
    with pytest.raises(StartRefused, match="holds no database"):
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass


async def test_a_data_directory_that_is_a_file_is_refused(data_dir):
    data_dir.write_text("")
    with pytest.raises(StartRefused, match=r"is not a folder\. Move it away"):
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
    with pytest.raises(KeeperError, match=r"not a private folder.* Remove it"):
        private_folder(folder, mode=0o700, uid=os.geteuid(), temporary=True)


def test_nobody_is_told_to_remove_the_folder_of_the_database(tmp_path):
    folder = tmp_path / "postgres"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(KeeperError, match="Other users can write") as open_for_others:
        private_folder(folder, mode=0o700, uid=os.geteuid())
    with pytest.raises(KeeperError, match="belongs to user") as foreign:
        private_folder(folder, mode=0o700, uid=os.geteuid() + 1)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(KeeperError, match="not a link to it") as link:
        private_folder(tmp_path / "link", mode=0o700, uid=os.geteuid())
    assert not any("Remove" in str(refused.value) for refused in (open_for_others, foreign, link))


async def test_a_start_that_is_killed_is_told_with_what_to_do(data_dir, monkeypatch):
    killed = data_dir.parent / "killed"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(killed))
    with pytest.raises(StartRefused, match=r"ended by signal 9\. See the system's log .* start again"):
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass
    killed.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(StartRefused, match=r"ended with code 3 and no reason\. See .*keeper\.log"):
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass


async def test_a_start_registers_no_more_than_one_fork_hook(tmp_path, monkeypatch):
    hooks: list[object] = []
    monkeypatch.setattr("os.register_at_fork", lambda **hook: hooks.append(hook))
    for _ in range(3):
        with pytest.raises(StartRefused, match="no postgres and initdb"):
            async with embedded_postgres(tmp_path / "data", clock=SystemClock(), binaries=tmp_path):
                pass
    assert len(hooks) <= 1
