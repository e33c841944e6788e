"""While a chat works in its workspace, what it does to its repository is kept: by real agents, in real repositories."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from agent.git.repos import cloned, git, repository
from agent.running import AgentProcess, running_agent
from chatd.clock import SystemClock
from chatd.diffs.keeping import DiffKeeper
from chatd.diffs.local import APART_SECONDS
from chatd.diffs.running import telling
from chatd.store.queries import ChatDiffStatus
from chatd.testing.fake_clock import FakeClock
from chatd.wire.agent.git import Changes, Repositories, Repository
from chatd.workspaces.agents.client import AgentClient, agent_client
from diffs.world import PATIENCE, REMOTES, at, following, gone, status_of, told_of, until
from workspaces.deployed import Deployed


def keeper_of(here: Deployed, due: list[int] | None = None) -> DiffKeeper:
    return DiffKeeper(
        here.store, SystemClock(), telling(here.hints), lambda: (due if due is not None else []).append(1)
    )


async def touch(agent: AgentProcess, chat_id: UUID, path: Path, content: str) -> None:
    reply = await agent.ask("PUT", "/files/content", chat=chat_id, query={"path": str(path)}, raw=content.encode())
    assert reply.status < 300, reply.body


def counts(row: ChatDiffStatus) -> tuple[int, int, int]:
    return row.additions, row.deletions, row.changed_files


@pytest.mark.behaviour("SIDE-3")
@pytest.mark.parametrize("form", REMOTES)
async def test_what_a_chat_does_to_its_repository_is_kept_while_its_turn_runs(
    here: Deployed, tmp_path: Path, form: str
):
    origin = repository(tmp_path / "origin")
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper_of(here)) as local:
        chat = (await here.chat()).change.chat_id
        place = cloned(agent.home / "project", origin)
        git(place, "remote", "set-url", "origin", REMOTES[form])
        git(place, "switch", "-q", "-c", "feature")
        await touch(agent, chat, place / "a.txt", "one\ntwo\nthree\nfour\n")
        local.reached(chat, here.person.user_id, at(agent))

        first = await until(here, chat, lambda row: row.additions == 1)
        assert (first.git_branch, first.git_root) == ("feature", str(place))
        assert (first.git_host, first.git_path) == ("github.test", "team/project")
        assert "secret" not in first.git_remote_origin
        assert counts(first) == (1, 0, 1)
        assert (first.ahead, first.behind) == (0, 0)
        told = told_of(here, chat)

        git(place, "commit", "-qam", "second")
        second = await until(here, chat, lambda row: row.git_head != first.git_head)
        assert (second.ahead, counts(second)) == (1, (1, 0, 1))
        assert told_of(here, chat) > told

        (place / "new").write_text("1\n2\n")
        local.left(chat)
        await gone(local)  # what it did last is looked at before it is left alone
        last = await status_of(here, chat)
    assert last is not None
    assert counts(last) == (3, 0, 2)


@pytest.mark.behaviour("SIDE-3")
async def test_the_repository_that_was_touched_last_counts_and_nothing_is_summed(here: Deployed, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper_of(here)) as local:
        chat = (await here.chat()).change.chat_id
        home, other = repository(agent.home), repository(tmp_path / "other")
        git(other, "switch", "-q", "-c", "there")
        local.reached(chat, here.person.user_id, at(agent))
        await until(here, chat, lambda row: row.git_branch == "main")  # around the working directory
        await touch(agent, chat, other / "new", "1\n2\n")
        there = await until(here, chat, lambda row: row.git_branch == "there")
        assert (there.git_root, counts(there)) == (str(other), (2, 0, 1))
        await touch(agent, chat, home / "mine", "1\n")
        mine = await until(here, chat, lambda row: row.git_branch == "main")
    assert counts(mine) == (1, 0, 1)


@pytest.mark.behaviour("SIDE-3")
async def test_nothing_is_written_twice(here: Deployed, tmp_path: Path, database: Any):
    due: list[int] = []
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper_of(here, due)) as local:
        chat = (await here.chat()).change.chat_id
        repository(agent.home)
        for _ in range(3):
            local.reached(chat, here.person.user_id, at(agent))
            await until(here, chat, lambda row: row.git_branch == "main")
            local.left(chat)
            await gone(local)
    assert (told_of(here, chat), len(due)) == (1, 1)


async def test_a_chat_that_changes_much_is_looked_at_every_few_seconds(here: Deployed, tmp_path: Path):
    clock = FakeClock()
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper_of(here), clock) as local:
        chat = (await here.chat()).change.chat_id
        place = repository(agent.home)
        local.reached(chat, here.person.user_id, at(agent))
        await until(here, chat, lambda row: row.git_branch == "main")
        (place / "new").write_text("1\n")
        await clock.wait_for("diff apart")
        assert (await until(here, chat, lambda _: True)).changed_files == 0
        await clock.advance(APART_SECONDS)
        await until(here, chat, lambda row: row.changed_files == 1)


async def test_one_request_waits_for_each_chat_and_none_when_its_turn_is_over(here: Deployed, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper_of(here)) as local:
        chat = (await here.chat()).change.chat_id
        repository(agent.home)
        for _ in range(5):  # it is found again and again
            local.reached(chat, here.person.user_id, at(agent))
        await until(here, chat, lambda row: row.git_branch == "main")
        assert local.followed == 1
        local.left(chat)
        await gone(local)
        health = (await agent.ask("GET", "/health")).json
    assert health["open_requests"] <= 1  # this one


async def test_a_workspace_without_a_repository_or_without_an_agent_leaves_what_is_known(
    here: Deployed, tmp_path: Path
):
    async with following(here, keeper_of(here)) as local:
        chat = (await here.chat()).change.chat_id
        async with running_agent(tmp_path / "agent") as agent:
            local.reached(chat, here.person.user_id, at(agent))
            local.left(chat)
            await gone(local)
            assert await status_of(here, chat) is None

            place = repository(tmp_path / "r")
            await touch(agent, chat, place / "new", "1\n")
            local.reached(chat, here.person.user_id, at(agent))
            known = await until(here, chat, lambda row: row.changed_files == 1)
            there = at(agent)
        local.reached(chat, here.person.user_id, there)  # it is gone
        local.left(chat)
        await gone(local)
        assert await status_of(here, chat) == known


async def test_another_branch_has_another_pull_request(here: Deployed, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper_of(here)) as local:
        chat = (await here.chat()).change.chat_id
        place = repository(agent.home)
        git(place, "remote", "add", "origin", REMOTES["scp"])
        local.reached(chat, here.person.user_id, at(agent))
        await until(here, chat, lambda row: row.git_branch == "main")
        await here.pool.execute(
            "UPDATE chat_diff_statuses SET url = 'u', pull_request_state = 'open', stale_at = now() + interval '1 day'"
        )
        (place / "new").write_text("1\n")
        kept = await until(here, chat, lambda row: row.changed_files == 1)
        git(place, "switch", "-q", "-c", "other")
        moved = await until(here, chat, lambda row: row.git_branch == "other")
    assert (kept.url, kept.stale_at > kept.updated_at) == ("u", True)  # an edit is nothing to ask a host about
    assert (moved.url, moved.pull_request_state, moved.stale_at) == ("", "", moved.updated_at)


async def test_who_learns_late_of_another_branch_leaves_its_pull_request(here: Deployed):
    keeper, chat, owner = keeper_of(here), (await here.chat()).change.chat_id, here.person.user_id
    before, after = (
        Repositories(version=branch, repositories=(Repository(root="/r", branch=branch),))
        for branch in ("main", "feature")
    )
    known = await keeper.keep(chat, owner, before, known=None)
    await here.pool.execute("UPDATE chat_diff_statuses SET url = 'of main', pull_request_state = 'open'")
    await keeper.keep(chat, owner, after, known=known)  # someone watches the repositories
    moved = await status_of(here, chat)
    await here.pool.execute("UPDATE chat_diff_statuses SET url = 'of feature', pull_request_state = 'open'")
    await keeper.keep(chat, owner, after, known=known)  # the turn looks less often
    late = await status_of(here, chat)

    assert moved is not None
    assert (moved.git_branch, moved.url, moved.pull_request_state) == ("feature", "", "")
    assert late is not None
    assert (late.git_branch, late.url, late.pull_request_state) == ("feature", "of feature", "open")


async def test_who_was_elsewhere_meanwhile_takes_no_pull_request_along(here: Deployed):
    keeper, chat, owner = keeper_of(here), (await here.chat()).change.chat_id, here.person.user_id
    main, feature, edited = (
        Repositories(
            version="1",
            repositories=(Repository(root="/r", branch=branch, changes=Changes(total_files=files)),),
        )
        for branch, files in (("main", 0), ("feature", 0), ("main", 1))
    )
    known = await keeper.keep(chat, owner, main, known=None)
    await keeper.keep(chat, owner, feature, known=known)
    await here.pool.execute("UPDATE chat_diff_statuses SET url = 'of feature', pull_request_state = 'open'")
    await keeper.keep(chat, owner, edited, known=known)  # who has not seen that it was on another branch
    back = await status_of(here, chat)

    assert back is not None
    assert (back.git_branch, back.url, back.pull_request_state) == ("main", "", "")


async def test_a_turn_that_begins_while_the_last_one_is_put_away_is_followed(
    here: Deployed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper_of(here)) as local:
        chat = (await here.chat()).change.chat_id
        place = repository(agent.home)
        closes: list[int] = []

        def client(*given: Any) -> AgentClient:
            made = agent_client(*given)
            close = made.close

            async def closing() -> None:
                await close()
                closes.append(1)
                if len(closes) == 2:  # of the watch, of the last look
                    local.reached(chat, here.person.user_id, at(agent))

            made.close = closing
            return made

        monkeypatch.setattr("chatd.diffs.local.agent_client", client)
        local.reached(chat, here.person.user_id, at(agent))
        await until(here, chat, lambda row: row.git_branch == "main")
        local.left(chat)
        async with asyncio.timeout(PATIENCE):
            while len(closes) < 2:
                await SystemClock().sleep(0.01, timer="test")
        (place / "new").write_text("1\n")
        await until(here, chat, lambda row: row.changed_files == 1)


async def test_a_database_that_is_away_ends_nothing_but_this_look(here: Deployed, tmp_path: Path):
    keeper = keeper_of(here)
    async with running_agent(tmp_path / "agent") as agent, following(here, keeper) as local:
        chat = (await here.chat()).change.chat_id
        repository(agent.home)

        async def away(chat_id: UUID) -> None:
            raise asyncpg.ConnectionDoesNotExistError("gone")

        known, keeper.known = keeper.known, away
        local.reached(chat, here.person.user_id, at(agent))
        await gone(local)
        keeper.known = known
        local.reached(chat, here.person.user_id, at(agent))
        assert await until(here, chat, lambda row: row.git_branch == "main")
