"""Chats that wait for a replica with room are counted for whoever reads the metrics, and seldom."""

import asyncio
from collections.abc import AsyncIterator
from math import isnan
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from chatd.background import beside
from chatd.observe.metrics import Metrics
from chatd.server.queued_chats import FRESH_SECONDS, MOST_SECONDS, QueuedChats
from chatd.store.transitions import Take
from chatd.testing.fake_clock import FakeClock
from engine.counting import Counting
from engine.deployment import PATIENCE, Deployment, new_id, open_deployment
from server.running import running_server

pytestmark = pytest.mark.behaviour("SIDE-4")


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


class Watched:
    """A count over a store whose questions are counted."""

    def __init__(self, deployment: Deployment) -> None:
        self.store: Any = Counting(deployment.guarded)
        self.clock = FakeClock()
        self._metrics = Metrics()
        self.queued = QueuedChats(self.store, self._metrics.engine, self.clock)

    def value(self, pool: str) -> float | None:
        return self._metrics.registry.get_sample_value("chatd_chats_queued", {"pool": pool})


async def test_roots_and_children_that_nobody_runs_are_counted_apart(deployment: Deployment):
    watched = Watched(deployment)
    await deployment.idle_chat()
    owned = await deployment.new_chat(take=Take(new_id(), new_id()))
    await deployment.new_chat()
    await deployment.new_chat(parent_id=owned)
    await deployment.new_chat(parent_id=owned)
    before = watched.value("root")
    await watched.queued.count()

    assert before is None
    assert (watched.value("root"), watched.value("child")) == (1, 2)


async def test_readers_that_come_often_get_the_last_count(deployment: Deployment):
    watched = Watched(deployment)
    for _ in range(3):
        await watched.queued.count()
    await deployment.new_chat()
    await watched.queued.count()
    stale = watched.value("root")
    await watched.clock.advance(FRESH_SECONDS)
    await watched.queued.count()

    assert watched.store.asked == {"count_queued_chats": 2}
    assert (stale, watched.value("root")) == (0, 1)


async def test_a_database_that_can_not_say_leaves_no_number_and_no_error(deployment: Deployment):
    watched = Watched(deployment)
    await watched.queued.count()
    await deployment.pool.execute("ALTER TABLE chat_state RENAME TO elsewhere")
    await watched.clock.advance(FRESH_SECONDS)
    await watched.queued.count()

    assert isnan(watched.value("root") or 0)


async def test_a_database_that_hangs_does_not_keep_the_other_metrics_waiting(deployment: Deployment):
    watched = Watched(deployment)
    async with deployment.pool.acquire() as connection, connection.transaction():
        await connection.execute("LOCK chat_state")
        async with beside({"count": watched.queued.count()}):
            await watched.clock.wait_for("count queued chats")
            await watched.clock.advance(MOST_SECONDS)
            async with asyncio.timeout(PATIENCE):
                while watched.value("root") is None:
                    await asyncio.get_running_loop().run_in_executor(None, lambda: None)

    assert isnan(watched.value("root") or 0)


async def test_a_scrape_of_a_server_has_the_count(database: Any, tmp_path: Path):
    async with (
        running_server(database.dsn, tmp_path) as running,
        aiohttp.ClientSession(running.api.url) as http,
        http.get("/metrics") as response,
    ):
        text = await response.text()

    assert 'chatd_chats_queued{pool="root"} 0.0' in text
