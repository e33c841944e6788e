"""A diff that someone wants now is asked of its host like everything else: not while the host wants a pause."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest_asyncio

from chatd.core.access import GIT_SYNC
from chatd.diffs.asking import DiffFinder
from chatd.diffs.hosts import StoredHosts
from chatd.diffs.keeping import DiffKeeper
from chatd.diffs.local import LocalDiffs
from chatd.diffs.pull_requests import PullRequests
from chatd.diffs.running import Diffs, telling
from chatd.git_hosts.asking import open_session
from chatd.store.actor import acting_as
from chatd.testing.fake_clock import FakeClock
from chatd.testing.git_host_server import GitHostServer, Pull, Repository, Said, git_host_server
from chatd.workspaces.resolving import Reason, Resolved, WorkspaceUnavailable
from diffs.world import add_provider, add_status, status_of
from workspaces.deployed import Deployed


class NoWorkspace:
    """A resolver of chats whose workspaces are stopped."""

    async def resolve(self, chat_id: UUID) -> Resolved:
        raise WorkspaceUnavailable(Reason.STOPPED)

    async def recover(self, failed: Resolved) -> Resolved:
        raise WorkspaceUnavailable(Reason.STOPPED)

    def used(self, workspace_id: UUID) -> None: ...


@pytest_asyncio.fixture
async def host() -> AsyncIterator[GitHostServer]:
    async with git_host_server() as server:
        server.repositories = [Repository(id=1, path="team/project", pulls=[Pull(number=7)])]
        yield server


@asynccontextmanager
async def finder(here: Deployed, clock: FakeClock) -> AsyncIterator[DiffFinder]:
    changed = telling(here.hints)
    async with open_session(clock) as session:
        hosts = StoredHosts(here.store, session)
        pulls = PullRequests(here.store, hosts, clock, changed)
        keeper = DiffKeeper(here.store, clock, changed, pulls.hurry)
        diffs = Diffs(LocalDiffs(keeper, clock), keeper, pulls, hosts, session)
        yield DiffFinder(here.store, diffs, NoWorkspace(), clock)


async def find(here: Deployed, made: DiffFinder, chat: UUID) -> Any:
    return await made.find(chat, await status_of(here, chat))


async def test_a_pause_that_another_replica_was_told_of_counts_for_diffs_too(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    await add_provider(here, host)
    chat = await add_status(here, clock)
    with acting_as(GIT_SYNC):
        await here.store.pause_git_host(host="github.test", until=clock.now() + timedelta(minutes=10))
    async with finder(here, clock) as made:
        paused = await find(here, made, chat)
        asked = list(host.asked)
        await clock.advance(601)
        found = await find(here, made, chat)

    assert (paused, asked) == (None, [])
    assert found.text == host.repositories[0].pulls[0].diff


async def test_a_limit_that_is_met_here_is_a_pause_for_every_replica(here: Deployed, host: GitHostServer):
    clock = FakeClock()
    await add_provider(here, host)
    chat = await add_status(here, clock)
    host.next_answers = [Said(429, headers={"Retry-After": "600"})]
    async with finder(here, clock) as one, finder(here, clock) as other:
        first = await find(here, one, chat)
        second = await find(here, other, chat)

    assert (first, second) == (None, None)
    assert len(host.asked) == 1
