"""Hosts are asked about chats' branches: once, when it is due, by one replica, and not while they want a pause."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from chatd.clock import SystemClock
from chatd.core.diff_status import LEASE, LocalRefs
from chatd.core.secret import Secret
from chatd.diffs.hosts import StoredHosts
from chatd.diffs.pull_requests import PullRequests
from chatd.diffs.running import telling
from chatd.git_hosts.asking import open_session
from chatd.store.queries import ChatDiffStatus, GitProviderKind
from chatd.testing.fake_clock import FakeClock
from chatd.testing.git_host_server import GitHostServer, Pull, Repository, Said, git_host_server
from diffs.world import add_provider, add_status, status_of, store_refs, told_of
from engine.deployment import new_id
from store.world import CIPHER
from workspaces.deployed import Deployed


@pytest_asyncio.fixture
async def host() -> AsyncIterator[GitHostServer]:
    async with git_host_server() as server:
        yield server
        assert server.faults == []


@asynccontextmanager
async def replicas(here: Deployed, clock: FakeClock, count: int = 1) -> AsyncIterator[list[PullRequests]]:
    """Each with connections of its own. They ask when a test lets them."""
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(open_session(clock)) for _ in range(count)]
        yield [
            PullRequests(here.store, StoredHosts(here.store, session), clock, telling(here.hints))
            for session in sessions
        ]


def project(*pulls: Pull, path: str = "team/project", id: int = 1) -> Repository:
    return Repository(id=id, path=path, pulls=list(pulls))


async def known(here: Deployed, chat: Any) -> ChatDiffStatus:
    row = await status_of(here, chat)
    assert row is not None
    return row


def wait_of(row: ChatDiffStatus, clock: FakeClock) -> float:
    return (row.stale_at - clock.now()).total_seconds()


@pytest.mark.behaviour("SIDE-3")
@pytest.mark.parametrize("kind", GitProviderKind)
async def test_what_the_host_says_of_the_pull_request_is_stored_and_told(
    here: Deployed, host: GitHostServer, kind: GitProviderKind
):
    clock = FakeClock()
    reviews = [("bo", "APPROVED")]
    host.repositories = [project(Pull(number=7, title="Owls\0", draft=True, reviews=reviews, files=3, commits=2))]
    await add_provider(here, host, kind=kind)
    chat = await add_status(here, clock)
    async with replicas(here, clock) as (one,):
        assert await one.tick() == 1
        row = await known(here, chat)
        assert (row.pull_request_number, row.pull_request_title, row.pull_request_state) == (7, "Owls\ufffd", "open")
        assert (row.pull_request_draft, row.approved, row.changes_requested) == (True, True, False)
        assert (row.pull_request_additions, row.pull_request_deletions, row.pull_request_files) == (2, 1, 3)
        assert (row.commits, row.reviewer_count, row.author_login) == (2, 1, "ada")
        assert (row.head_branch, row.base_branch) == ("feature", "main")
        assert row.url.endswith("/7")
        assert (row.refreshed_at, wait_of(row, clock)) == (clock.now(), 120)
        assert told_of(here, chat) == 1

        assert await one.tick() == 0  # nothing is due
        await clock.advance(120)
        host.asked.clear()
        assert await one.tick() == 1
        assert told_of(here, chat) == 1  # no news
        assert host.asked
        assert all(path.endswith(" 304") for path in host.asked)  # what was answered is remembered
        host.repositories[0].pulls[0].state = "merged"
        await clock.advance(120)
        assert await one.tick() == 1
        row = await known(here, chat)
    assert (row.pull_request_state, wait_of(row, clock)) == ("merged", 3600)  # what is over is asked about seldom
    assert told_of(here, chat) == 2


@pytest.mark.behaviour("SIDE-3")
async def test_two_replicas_never_ask_for_the_same_and_chats_on_one_branch_are_asked_for_once(
    here: Deployed, host: GitHostServer
):
    clock = FakeClock()
    host.repositories = [project(Pull(number=n, branch=f"b{n}"), path=f"team/p{n}", id=n) for n in range(1, 9)]
    await add_provider(here, host)
    chats = [await add_status(here, clock, path=f"team/p{n}", branch=f"b{n}") for n in range(1, 9) for _ in range(2)]
    async with replicas(here, clock, 3) as several, asyncio.TaskGroup() as group:
        ticks = [group.create_task(one.tick()) for one in several]
    asked = [path for path in host.asked if path.endswith("/reviews")]
    assert sum(tick.result() for tick in ticks) == 16
    assert [(await known(here, chat)).pull_request_state for chat in chats] == ["open"] * 16
    # Two chats on a branch may be due in two replicas; one replica asks once for both.
    assert len(asked) <= 16
    assert len(set(asked)) == 8
    if ticks[0].result() == 16:
        assert len(asked) == 8


@pytest.mark.behaviour("SIDE-3")
async def test_a_host_that_wants_a_pause_is_asked_by_no_replica_until_it_is_over(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1)), project(Pull(number=2), path="team/other", id=2)]
    host.next_answers = [Said(429, headers={"Retry-After": "600"})]
    await add_provider(here, host)
    chats = [await add_status(here, clock), await add_status(here, clock, branch="b2")]
    async with replicas(here, clock, 2) as (one, other):
        await one.tick()
        asked = len(host.asked)
        assert asked == 1
        late = await add_status(here, clock, path="team/other")
        for _ in range(6):
            assert await one.tick() == 0
            assert await other.tick() == 0
            await clock.advance(100)
        assert len(host.asked) == asked
        assert {(await known(here, chat)).url for chat in [*chats, late]} == {""}
        await clock.advance(2)
        assert await other.tick() == 3
    assert [(await known(here, chat)).pull_request_number for chat in [*chats, late]] == [1, None, 2]


@pytest.mark.behaviour("SIDE-3")
async def test_an_answer_that_spends_the_last_of_a_limit_is_the_last_until_it_is_renewed(
    here: Deployed, host: GitHostServer
):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1))]
    renewed = int(clock.now().timestamp()) + 300
    spent = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(renewed)}
    host.next_answers = [Said(403, headers=spent)]
    await add_provider(here, host)
    chat = await add_status(here, clock)
    async with replicas(here, clock) as (one,):
        await one.tick()
        assert wait_of(await known(here, chat), clock) == 301
        await clock.advance(300)
        assert await one.tick() == 0
        await clock.advance(1)
        assert await one.tick() == 1
    assert (await known(here, chat)).pull_request_number == 1


@pytest.mark.parametrize(("status", "seconds"), [(500, 120), (401, 600), (404, 600)])
async def test_a_host_that_fails_or_refuses_is_asked_again_later_and_once_for_a_repository(
    here: Deployed, host: GitHostServer, status: int, seconds: int
):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1)), project(Pull(number=2), path="team/other", id=2)]
    host.next_answers = [Said(status)]
    await add_provider(here, host)
    chats = [await add_status(here, clock, branch=f"b{n}") for n in range(3)]
    async with replicas(here, clock) as (one,):
        assert await one.tick() == 3
        assert len(host.asked) == 1
        assert {wait_of(await known(here, chat), clock) for chat in chats} == {seconds}
        await clock.advance(seconds)
        assert await one.tick() == 3


async def test_a_host_that_does_not_answer_is_asked_once_and_holds_up_no_other(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1))]
    await add_provider(here, host)
    left = [await add_status(here, clock, host="silent.test", path=f"team/p{number}") for number in range(12)]
    chat = await add_status(here, clock)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        await here.sql.insert_git_provider(
            id=new_id(),
            kind=GitProviderKind.GITHUB,
            host="silent.test",
            api_url=f"http://127.0.0.1:{silent.getsockname()[1]}",
            token=CIPHER.encrypt(Secret("t")),
        )
        async with asyncio.timeout(20), replicas(here, clock) as (one,), asyncio.TaskGroup() as group:
            ticking = group.create_task(one.tick())
            await clock.wait_for("git host", 8)
            while (await known(here, chat)).pull_request_number is None:
                await SystemClock().sleep(0.02, timer="test")
            await clock.advance(20)
            assert await ticking == 13
    assert {wait_of(await known(here, chat), clock) for chat in left} == {120}


@pytest.mark.behaviour("SIDE-3")
async def test_a_pull_request_is_looked_for_often_after_a_push_and_seldom_later(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    host.repositories = [project()]
    await add_provider(here, host)
    chat = await add_status(here, clock)
    async with replicas(here, clock) as (one,):
        for _ in range(8):
            assert await one.tick() == 1
            assert wait_of(await known(here, chat), clock) == 15
            await clock.advance(15)
        assert await one.tick() == 1
        assert wait_of(await known(here, chat), clock) == 300
        await store_refs(here, clock, chat, refs(head="1", additions=9))
        assert await one.tick() == 0  # an edit is nothing to ask about
        host.repositories = [project(Pull(number=1))]
        await store_refs(here, clock, chat, refs(head="2"))
        assert await one.tick() == 1  # a push is, at once
    assert (await known(here, chat)).pull_request_number == 1


def refs(**fields: Any) -> LocalRefs:
    given: dict[str, Any] = {
        "root": "/r",
        "branch": "feature",
        "origin": "o",
        "host": "github.test",
        "path": "team/project",
        **fields,
    }
    return LocalRefs(**given)


async def test_what_becomes_stale_while_a_host_is_asked_is_asked_for_again(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1))]
    await add_provider(here, host)
    chat, moved = await add_status(here, clock), await add_status(here, clock, path="team/p2")
    async with replicas(here, clock) as (one,):
        store = here.sql
        leased = await store.lease_stale_diff_statuses(leased_until=clock.now() + LEASE, at=clock.now(), max_rows=9)
        assert {row.chat_id for row in leased} == {chat, moved}
        await store_refs(here, clock, chat, refs(head="pushed"))
        await store_refs(here, clock, moved, refs(branch="elsewhere"))
        for row in leased:
            found = await store.update_pull_request(
                **{name: getattr(row, name) for name in ANSWER},
                at=clock.now(),
                changed_at=clock.now(),
                leased_until=row.stale_at,
                stale_at=clock.now() + timedelta(hours=1),
                chat_id=row.chat_id,
                git_host=row.git_host,
                git_path=row.git_path,
                git_branch=row.git_branch,
            )
            assert (found is None) == (row.chat_id == moved)  # it is about another branch by now
        assert await one.tick() == 2


ANSWER = (
    *("url", "pull_request_state", "pull_request_title", "pull_request_draft", "pull_request_number"),
    *("changes_requested", "approved", "reviewer_count", "commits", "pull_request_additions"),
    *("pull_request_deletions", "pull_request_files", "author_login", "author_avatar_url", "base_branch"),
    "head_branch",
)


async def archive(here: Deployed, chat: Any, *, archived: bool) -> None:
    async with here.pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT set_config('chatd.transition', 'test', true)")
        await connection.execute("UPDATE chat_state SET archived = $1 WHERE chat_id = $2", archived, chat)


@pytest.mark.behaviour("SIDE-3")
async def test_archived_chats_are_left_alone_until_they_come_back(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1))]
    await add_provider(here, host)
    chat = await add_status(here, clock)
    await archive(here, chat, archived=True)
    async with replicas(here, clock) as (one,):
        for _ in range(5):
            assert await one.tick() == 0
            await clock.advance(100_000)
        assert host.asked == []
        await archive(here, chat, archived=False)
        await here.sql.mark_diff_stale(chat_id=chat, at=clock.now())
        assert await one.tick() == 1
    assert (await known(here, chat)).pull_request_number == 1


async def test_hosts_that_nobody_can_ask_cost_nothing_until_someone_can(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1))]
    chats = [await add_status(here, clock) for _ in range(3)]
    async with replicas(here, clock) as (one,):
        assert await one.tick() == 0
        before = [await known(here, chat) for chat in chats]
        await here.sql.insert_git_provider(
            id=new_id(), kind=GitProviderKind.GITHUB, host="other.test", api_url=host.github_url, token=None
        )
        assert await one.tick() == 0
        assert [await known(here, chat) for chat in chats] == before
        await add_provider(here, host)
        assert await one.tick() == 3


@pytest.mark.behaviour("SIDE-3")
async def test_the_worker_asks_by_itself_and_sooner_when_it_is_told(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    host.repositories = [project(Pull(number=1))]
    await add_provider(here, host)
    async with replicas(here, clock) as (one,), asyncio.TaskGroup() as group:
        running = group.create_task(one.run())
        await clock.wait_for("diff ticks apart")
        chat = await add_status(here, clock)
        one.hurry()
        await clock.advance(1)
        await clock.wait_for("diff ticks apart")
        assert (await known(here, chat)).pull_request_number == 1
        later = await add_status(here, clock, branch="b2")
        await clock.advance(1)
        await clock.wait_for("diff tick")
        await clock.advance(9)
        await clock.wait_for("diff ticks apart")
        assert (await known(here, later)).refreshed_at is not None
        running.cancel()
