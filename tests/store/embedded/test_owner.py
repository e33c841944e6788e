"""A data directory of another user is not touched, and no link in it is followed."""

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import chatd
from chatd.clock import SystemClock
from chatd.core.errors import StartRefused
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.options import KeeperOptions
from chatd.store.postgres_binaries import find_binaries

FAST = {"fsync": "off"}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root can give a folder away")


def start_keeper(data_dir):
    """As a server does, without the server's own checks."""
    found = find_binaries()
    options = KeeperOptions(data_dir=str(data_dir), binaries=str(found.bin), postgres_version=found.version)
    return subprocess.run(
        [sys.executable, "-S", "-P", "-m", "chatd.store.keeper", options.to_json()],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(chatd.__file__).parent.parent)},
        capture_output=True,
        text=True,
    )


def foreign_with_a_trap(data_dir):
    """Another user's folder; its keeper.log leads to a file that only root can write."""
    target = data_dir.parent / "target"
    target.write_text("root's own")
    data_dir.mkdir()
    (data_dir / "keeper.log").symlink_to(target)
    shutil.chown(data_dir, "nobody")
    return target


@needs_root
async def test_a_data_directory_of_another_user_is_refused_with_who_may_use_it(data_dir):
    target = foreign_with_a_trap(data_dir)
    with pytest.raises(StartRefused) as refused:
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass
    assert refused.value.message == (
        f"{data_dir} belongs to user nobody. Start chatd as nobody, or choose another data directory."
    )
    assert target.read_text() == "root's own"
    assert [entry.name for entry in data_dir.iterdir()] == ["keeper.log"]


@needs_root
def test_the_keeper_itself_does_not_follow_another_users_link(data_dir):
    target = foreign_with_a_trap(data_dir)
    done = start_keeper(data_dir)
    assert done.returncode == 1
    assert done.stderr == f"{data_dir} belongs to user nobody. Start chatd as nobody, or choose another data directory."
    assert target.read_text() == "root's own"
    assert [entry.name for entry in data_dir.iterdir()] == ["keeper.log"]


@needs_root
async def test_a_database_folder_of_another_user_is_refused_not_advised_to_be_removed(data_dir):
    (data_dir / "postgres").mkdir(parents=True)
    shutil.chown(data_dir / "postgres", "nobody")
    with pytest.raises(StartRefused, match=r"postgres belongs to user nobody\. Start chatd as nobody") as refused:
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass
    assert "Remove" not in refused.value.message


async def test_a_user_after_root_is_told_whose_the_folder_is(data_dir, monkeypatch):
    data_dir.mkdir()
    owner = pwd.getpwuid(os.geteuid()).pw_name
    monkeypatch.setattr("os.geteuid", lambda: data_dir.stat().st_uid + 1)
    with pytest.raises(StartRefused) as refused:
        async with embedded_postgres(data_dir, clock=SystemClock()):
            pass
    assert refused.value.message == (
        f"{data_dir} belongs to user {owner}. Start chatd as {owner}, or choose another data directory."
    )


@pytest.mark.parametrize("name", ["keeper.log", "keeper.lock", "postgres-running.json", "postgres-location"])
async def test_a_link_in_the_data_directory_is_not_followed(data_dir, name):
    target = data_dir.parent / "target"
    target.write_text("{}")
    data_dir.mkdir(mode=0o711)
    (data_dir / name).symlink_to(target)
    with pytest.raises(StartRefused, match=rf"{name} is a link, which chatd does not follow\. Remove it"):
        async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST):
            pass
    assert target.read_text() == "{}"
    if name == "keeper.lock":
        (data_dir / name).unlink()
    await wait_stopped(data_dir, SystemClock())
    (data_dir / name).unlink(missing_ok=True)
