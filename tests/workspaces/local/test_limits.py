"""Limits hold inside, and nothing outside suffers; where they can't be set, the build says so."""

import subprocess
from pathlib import Path

import pytest

from chatd.workspaces.local import limits
from chatd.workspaces.local.account import sandbox_account
from chatd.workspaces.local.limits import Groups, Limits, make_groups
from chatd.workspaces.local.sandbox import CONFINED
from workspaces.local.running import Log, local, new_spec, workspace

FORK_BOMB = "bomb() { bomb | bomb & }; bomb; sleep 1; echo survived"
MEMORY_HOG = 'python3 -c "x = []\nwhile True: x.append(bytearray(1024 * 1024))"; echo ended with $?'


def _enforced() -> frozenset[str]:
    found = make_groups("chatd-trial-of-tests", Limits(memory_mb=64, processes=64, cpus=1.0))
    found.remove()
    return found.enforced


async def test_a_fork_bomb_is_contained(root: Path):
    async with workspace(root, '{"processes": 64}') as running:
        said = await running.run(FORK_BOMB)
        assert "survived" in said.output or "fork" in said.output.lower()
        record = running.record()
        if record.groups:
            assert len(Groups(Path(group) for group in record.groups).pids()) <= 64
        await running.provisioner.stop(running.spec, running.log)
        assert await running.provisioner.find(running.spec) is None


FORKS = """
import os, resource, signal
resource.setrlimit(resource.RLIMIT_NPROC, (30, 30))
made = 0
try:
    while made < 100:
        if os.fork() == 0:
            signal.pause()
        made += 1
except BlockingIOError:
    print("refused after", made)
"""


@pytest.mark.usefixtures("bubblewrap")
def test_the_limit_of_processes_that_is_set_inside_counts_what_is_inside_alone():
    """What is done where control groups can't be made: others of the same user have no part in it."""
    account = sandbox_account(None)
    who = {"user": account.uid, "group": account.gid, "extra_groups": []} if account.switch else {}
    others = [subprocess.Popen(["sleep", "60"], cwd="/", **who) for _ in range(40)]  # type: ignore[call-overload]
    try:
        seen = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
        command = ["bwrap", *CONFINED, *seen, "--", "/usr/bin/python3", "-c", FORKS]
        said = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, **who)  # type: ignore[call-overload]
    finally:
        for process in others:
            process.kill()
            process.wait()

    assert said.stdout.startswith("refused after 2"), said
    assert 20 <= int(said.stdout.split()[-1]) < 30


async def test_a_memory_hog_is_contained(root: Path):
    if "memory" not in _enforced():
        pytest.skip("control groups for memory can't be made here")
    async with workspace(root, '{"memory_mb": 128}') as running:
        said = await running.run(MEMORY_HOG)

        assert "ended with 137" in said.output
        assert (await running.run("echo well")).output == "well\n"


async def test_what_is_not_limited_is_said(root: Path, monkeypatch: pytest.MonkeyPatch):
    if _enforced() >= {"memory", "cpu"}:
        unlimited = make_groups("chatd-trial-of-tests", Limits())
        assert unlimited.folders == ()
        return
    log = Log()
    provisioner, spec = local(root), new_spec('{"cpus": 1.5}')
    await provisioner.start(spec, log)
    await provisioner.delete(spec, log)

    assert "Not limited" in log.text


def test_groups_are_made_where_the_second_version_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On files that look like it; that it works is seen on machines that have it."""
    own = tmp_path / "system.slice" / "chatd.service"
    own.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "system.slice", own):
        (folder / "cgroup.procs").touch()
        (folder / "cgroup.controllers").write_text("cpu memory pids")
        (folder / "cgroup.subtree_control").write_text("memory pids" if folder != own else "")
    made = tmp_path / "system.slice" / "chatd-w"
    made.mkdir()
    for name in ("memory.max", "memory.swap.max", "pids.max", "cgroup.procs"):
        (made / name).touch()
    monkeypatch.setattr(limits, "_own_groups", lambda: [(frozenset[str](), own)])

    groups = make_groups("chatd-w", Limits(memory_mb=64, processes=100, cpus=2.0))

    assert groups.folders == (made,)
    assert groups.enforced == {"memory", "pids"}
    assert (made / "memory.max").read_text() == str(64 * 1024**2)
    assert (made / "pids.max").read_text() == "100"
    assert not (own / "chatd-w").exists()


def test_a_group_that_no_process_may_be_moved_to_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    own = tmp_path / "own"
    made = own / "chatd-w"
    made.mkdir(parents=True)
    (made / "cgroup.procs").mkdir()  # nothing can be written to it
    monkeypatch.setattr(limits, "_own_groups", lambda: [(frozenset({"pids"}), own)])

    groups = make_groups("chatd-w", Limits(processes=100))

    assert groups.folders == ()
    assert groups.enforced == frozenset()
