"""A repository that names programs to run: none of them runs because somebody looks at it."""

import os
import stat
from pathlib import Path

import pytest

from agent.git.repos import git, repository
from agent.running import SOURCE, AgentProcess, running_agent


def _trap(folder: Path, name: str) -> tuple[Path, Path]:
    """A program, and the file that it leaves when it ran."""
    program, ran = folder / f"{name}.sh", folder / f"{name}.ran"
    program.write_text(f'#!/bin/sh\ntouch "{ran}"\ncat\n')
    program.chmod(0o755)
    return program, ran


def _change(home: Path) -> None:
    """Another content with another time, so that git has to read it; and one that is new."""
    (home / "a.txt").write_text("changed\n")
    os.utime(home / "a.txt", (1, 1))
    (home / "new").write_text("new\n")


async def _look_at_all(agent: AgentProcess, home: Path) -> None:
    reply = await agent.ask("GET", "/git/repositories")
    assert reply.status == 200
    (seen,) = reply.json["repositories"]
    assert seen["error"] is None, seen
    assert {file["path"] for file in seen["changes"]["files"]} >= {"a.txt", "new"}
    for base in ("head", "default"):
        diff = await agent.ask("GET", "/git/diff", query={"root": str(home), "base": base})
        assert diff.status == 200, diff.body
        assert "+changed" in diff.json["diff"]
    assert (await agent.ask("GET", "/git/watch")).status == 200


@pytest.mark.parametrize(
    ("name", "settings", "attributes"),
    [
        ("monitor", {"core.fsmonitor": "{}"}, ""),
        ("external", {"diff.external": "{}"}, ""),
        ("driver", {"diff.x.command": "{}", "diff.x.textconv": "{}"}, "* diff=x"),
        ("clean", {"filter.x.clean": "{}", "filter.x.smudge": "{}", "filter.x.required": "true"}, "* filter=x"),
        ("process", {"filter.x.process": "{}", "filter.x.required": "true"}, "* filter=x"),
        ("equals", {"filter.a=b.clean": "{}"}, "* filter=a=b"),
        ("dots", {"filter.a.b c.clean": "{}"}, '* filter="a.b c"\n*.txt filter=a.b\\ c'),
        ("pager", {"core.pager": "{}", "pager.diff": "{}", "pager.status": "{}"}, ""),
        ("editor", {"core.editor": "{}", "core.askPass": "{}", "credential.helper": "{}"}, ""),
        ("ordering", {"diff.orderFile": "{}", "diff.submodule": "diff", "status.submoduleSummary": "true"}, ""),
    ],
)
async def test_what_the_configuration_names_does_not_run(
    agent: AgentProcess, tmp_path: Path, name: str, settings: dict[str, str], attributes: str
):
    home = repository(agent.home)
    program, ran = _trap(tmp_path, name)
    (home / ".gitattributes").write_text(attributes)
    for key, value in settings.items():
        git(home, "config", key, value.format(program))
    _change(home)

    await _look_at_all(agent, home)

    assert not ran.exists()


async def test_the_traps_of_these_tests_do_run_when_git_is_asked_plainly(agent: AgentProcess, tmp_path: Path):
    home = repository(agent.home)
    program, ran = _trap(tmp_path, "clean")
    (home / ".gitattributes").write_text("* filter=a=b\n")
    git(home, "config", "filter.a=b.clean", str(program))
    _change(home)
    git(home, "diff")

    assert ran.exists()


async def test_what_the_configuration_of_the_user_names_does_not_run_either(agent: AgentProcess, tmp_path: Path):
    home = repository(agent.home)
    program, ran = _trap(tmp_path, "user")
    (home / "more").write_text(f'[filter "y"]\nclean = {program}\n')
    (home / ".gitconfig").write_text(
        f'[include]\npath = more\n[filter "x"]\nprocess = {program}\n[core]\nfsmonitor = {program}\n'
    )
    (home / ".gitattributes").write_text("*.txt filter=x\nnew filter=y\n")
    _change(home)

    await _look_at_all(agent, home)

    assert not ran.exists()


async def test_a_configuration_that_never_ends_is_given_up(tmp_path: Path):
    program = (str(SOURCE.parent / "tests/agent/hurried_agent.py"), "git.running:SECONDS=0.5")
    async with running_agent(tmp_path / "agent", program=program) as agent:
        home = repository(agent.home)
        os.mkfifo(tmp_path / "pipe")
        git(home, "config", "core.excludesFile", str(tmp_path / "pipe"))
        (seen,) = (await agent.ask("GET", "/git/repositories")).json["repositories"]
        diff = await agent.ask("GET", "/git/diff", query={"root": str(home)})

    assert "took longer" in seen["error"]
    assert (diff.status, diff.json["kind"]) == (409, "git_failed")


async def test_hooks_do_not_run(agent: AgentProcess, tmp_path: Path):
    home = repository(agent.home)
    program, ran = _trap(tmp_path, "hook")
    for folder in (home / ".git" / "hooks", tmp_path / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-commit"):
            (folder / name).write_bytes(program.read_bytes())
            (folder / name).chmod(0o755)
    git(home, "config", "core.hooksPath", str(tmp_path / "hooks"))
    _change(home)
    os.utime(home / "a.txt")

    await _look_at_all(agent, home)

    assert not ran.exists()


async def test_looking_writes_nothing(agent: AgentProcess):
    home = repository(agent.home)
    _change(home)
    os.utime(home / "a.txt", (2, 2))
    before = {
        path: path.lstat().st_mtime_ns for path in (home / ".git").rglob("*") if stat.S_ISREG(path.lstat().st_mode)
    }

    await _look_at_all(agent, home)

    assert before == {
        path: path.lstat().st_mtime_ns for path in (home / ".git").rglob("*") if stat.S_ISREG(path.lstat().st_mode)
    }


@pytest.mark.parametrize("url", ["ext::{}", "/{}", "ssh://host/x", "helper::x"])
async def test_what_is_missing_is_not_fetched(agent: AgentProcess, tmp_path: Path, url: str):
    """A partial clone asks its remote for objects, and a remote can be a program."""
    home = repository(agent.home)
    program, ran = _trap(tmp_path, "remote")
    (tmp_path / "git-remote-helper").symlink_to(program)
    blob = git(home, "rev-parse", "HEAD:a.txt")
    (home / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": url.format(program),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(program),
        "core.sshCommand": str(program),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
    }.items():
        git(home, "config", key, value)
    _change(home)

    reply = await agent.ask("GET", "/git/repositories")
    await agent.ask("GET", "/git/diff", query={"root": str(home)})

    assert reply.status == 200
    assert not ran.exists()


async def test_nothing_runs_in_a_submodule_either(agent: AgentProcess, tmp_path: Path):
    inner = repository(tmp_path / "inner")
    home = repository(agent.home)
    git(home, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(home, "commit", "-q", "-m", "sub")
    program, ran = _trap(tmp_path, "sub")
    (home / "sub" / ".gitattributes").write_text("* filter=x\n")
    git(home / "sub", "config", "filter.x.clean", str(program))
    git(home / "sub", "config", "core.fsmonitor", str(program))
    _change(home / "sub")
    ran.unlink(missing_ok=True)
    git(home, "config", "diff.ignoreSubmodules", "none")
    git(home, "config", "diff.submodule", "diff")
    git(home, "config", "status.submoduleSummary", "true")
    _change(home)

    await _look_at_all(agent, home)

    assert not ran.exists()


async def test_a_repository_of_another_user_and_one_whose_tree_is_elsewhere_do_no_harm(agent: AgentProcess):
    home = repository(agent.home)
    _change(home)
    if os.geteuid() == 0:
        os.chown(home / ".git", 12345, 12345)
        os.chown(home, 12345, 12345)
    await _look_at_all(agent, home)
    git(home, "-c", "safe.directory=*", "config", "core.worktree", "/")

    (seen,) = (await agent.ask("GET", "/git/repositories")).json["repositories"]
    assert "another folder" in seen["error"]
