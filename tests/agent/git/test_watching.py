"""Repositories that are watched: told when something moved, and quiet else."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from agent.commands import run
from agent.git.repos import git, repository
from agent.running import CHAT, SOURCE, WAIT_SECONDS, AgentProcess, running_agent, until_gone
from chatd.agent.caller import Caller
from chatd.agent.children import Children
from chatd.agent.git import watching
from chatd.agent.git.running import Git
from chatd.agent.git.scanning import Scanning
from chatd.agent.git.watching import RepositoryWatches
from chatd.agent.system_processes import descendants, living
from chatd.agent.touched import TouchedPaths
from chatd.clock import SystemClock
from chatd.testing.fake_clock import FakeClock


async def _watch(agent: AgentProcess, since: str | None = None, **query: str) -> Any:
    asked = {**query, **({"since": since} if since is not None else {})}
    reply = await agent.ask("GET", "/git/watch", query=asked)
    assert reply.status == 200, reply.body
    return reply.json


async def test_a_watch_answers_at_once_and_then_when_something_has_changed(agent: AgentProcess):
    home = repository(agent.home)
    (home / "deep" / "er").mkdir(parents=True)
    (home / "deep" / "er" / "f").write_text("x\n")
    git(home, "add", ".")
    first = await _watch(agent)
    assert first["is_watched"]

    seen = first
    changes = {
        "a file in a folder": lambda: (home / "deep" / "er" / "f").write_text("other\n"),
        "a new file": lambda: (home / "new").write_text("x\n"),
        "a new folder": lambda: (home / "made").mkdir() or (home / "made" / "f").write_text("x\n"),
        "a change in a new folder": lambda: (home / "made" / "f").write_text("x\ny\n"),
        "staged": lambda: git(home, "add", "."),
        "committed": lambda: git(home, "commit", "-q", "-m", "all"),
        "a branch": lambda: git(home, "checkout", "-q", "-b", "a/branch"),
        "gone": (home / "new").unlink,
    }
    for name, change in changes.items():
        async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as group:
            waiting = group.create_task(_watch(agent, seen["version"], wait_seconds="20"))
            change()
        assert waiting.result()["version"] != seen["version"], name
        seen = waiting.result()

    assert (await _watch(agent, seen["version"], wait_seconds="0"))["version"] == seen["version"]
    assert seen["repositories"][0]["branch"] == "a/branch"


async def test_a_folder_that_becomes_a_repository_is_noticed(agent: AgentProcess):
    first = await _watch(agent)
    assert first["repositories"] == []
    async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as group:
        waiting = group.create_task(_watch(agent, first["version"]))
        await run(agent, "git init -q")

    assert [one["root"] for one in waiting.result()["repositories"]] == [str(agent.home)]


async def test_where_the_kernel_has_no_watches_left_writes_and_ends_of_commands_are_enough(tmp_path: Path):
    """And what nobody tells of is found by looking every five seconds; here every half."""
    hurried = ("tests/agent/hurried_agent.py", "git.watching:MOST_INSTANCES=0,git.watching:POLL_SECONDS=0.5")
    root = SOURCE.parent
    async with running_agent(tmp_path / "agent", program=(str(root / hurried[0]), hurried[1])) as agent:
        home = repository(agent.home)
        seen = await _watch(agent)
        assert not seen["is_watched"]
        for change in (
            lambda: run(agent, "echo 1 > byacommand"),
            lambda: agent.ask("PUT", "/files/content", query={"path": f"{home}/written"}, raw=b"x"),
            lambda: asyncio.to_thread((home / "unseen").write_text, "x"),
        ):
            async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as group:
                waiting = group.create_task(_watch(agent, seen["version"]))
                await change()
            assert waiting.result()["version"] != seen["version"]
            seen = waiting.result()


class _Counting(Scanning):
    """Counts looks; there is nothing to see."""

    def __init__(self, home: Path, clock: FakeClock, touched: TouchedPaths) -> None:
        git = Git(Children(), clock, home=home, inherited={})
        super().__init__(git, touched, home, clock)
        self.looks = 0
        self._looked = asyncio.Event()

    async def until(self, looks: int) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while self.looks < looks:
                self._looked.clear()
                await self._looked.wait()

    async def look(self, roots: tuple[bytes, ...]) -> Any:
        self.looks += 1
        self._looked.set()
        return await super().look(())


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_there_is_one_look_a_second_and_none_while_nobody_watches(tmp_path: Path, clock: FakeClock):
    touched = TouchedPaths()
    scanning = _Counting(tmp_path, clock, touched)
    watches = RepositoryWatches(scanning, touched, clock)
    first = await watches.changed(CHAT, None)
    assert scanning.looks == 1
    async with asyncio.TaskGroup() as group:
        several = [group.create_task(watches.changed(CHAT, first.version)) for _ in range(3)]
        for _ in range(5):
            touched.stir(Caller(UUID(int=9), (CHAT,)))
        await clock.wait_for("git apart")
        assert scanning.looks == 1
        await clock.advance(watching.APART_SECONDS)
        await scanning.until(2)
        await clock.advance(0)
        assert scanning.looks == 2
        for one in several:
            one.cancel()
    touched.stir(Caller(CHAT))
    await clock.advance(watching.LINGER_SECONDS)

    assert scanning.looks == 2
    assert watches.count == 0


async def test_who_asks_again_soon_finds_the_watch_and_needs_no_look(tmp_path: Path, clock: FakeClock):
    touched = TouchedPaths()
    scanning = _Counting(tmp_path, clock, touched)
    watches = RepositoryWatches(scanning, touched, clock)
    first = await watches.changed(CHAT, None)
    await clock.advance(watching.LINGER_SECONDS - 1)
    assert await watches.changed(CHAT, None) == first
    await clock.advance(watching.LINGER_SECONDS - 1)

    assert (await watches.current(CHAT), scanning.looks, watches.count) == (first, 1, 1)
    watches.close()


async def test_a_git_that_hangs_is_ended_and_told(tmp_path: Path):
    (tmp_path / "git").write_text("#!/bin/sh\nsleep 1000\n")
    (tmp_path / "git").chmod(0o755)
    repository(tmp_path / "home")
    program = ("tests/agent/hurried_agent.py", "git.running:SECONDS=0.3")
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    root = SOURCE.parent
    async with running_agent(tmp_path / "agent", env=path, program=(str(root / program[0]), program[1])) as agent:
        (seen,) = (await agent.ask("GET", "/git/repositories")).json["repositories"]
        assert "took longer" in seen["error"]
        for process in descendants(living(), agent.pid):
            await until_gone(process.pid)


async def test_a_git_that_says_too_much_is_cut(tmp_path: Path):
    (tmp_path / "git").write_text("#!/bin/sh\nyes\n")
    (tmp_path / "git").chmod(0o755)
    children = Children()
    with children.reaping():
        ran = await Git(children, SystemClock(), home=tmp_path, inherited={"PATH": f"{tmp_path}:/usr/bin:/bin"}).run(
            bytes(tmp_path), "anything", most_bytes=100_000
        )

    assert (len(ran.output), ran.is_complete) == (100_000, False)
