"""A replica beats while it makes progress, and knows in time when its lease can't be counted on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest_asyncio

from chatd.background import beside
from chatd.core.lease import LEASE_SECONDS
from chatd.store.heartbeat import Heartbeat, Lease, Progress, Pulse, ReplicaRow, dial
from chatd.store.migrate import shipped_functions
from chatd.store.queries import Replica
from chatd.store.store import SqlStore
from chatd.store.transitions import Take
from chatd.testing.fake_clock import FakeClock
from engine.deployment import new_id, open_deployment
from store.world import open_sql

PATIENCE = 20  # real seconds


@pytest_asyncio.fixture
async def sql(database: Any) -> AsyncIterator[SqlStore]:
    async with open_sql(database.dsn) as sql:
        yield sql


class Line:
    """The way to the database, which a test can cut or clog."""

    def __init__(self, dsn: str) -> None:
        self.row = ReplicaRow(new_id(), "http://here", "host", 1, "1.0")
        self.cut = False
        self.clogged = asyncio.Event()
        self.clogged.set()  # set: it flows
        self.dials = 0
        self.beats = 0
        self._dsn = dsn

    async def dial(self) -> Pulse:
        self.dials += 1
        if self.cut:
            raise ConnectionRefusedError("cut")
        return _Observed(self, await dial(self._dsn, self.row, function_schema=shipped_functions().schema))


class _Observed:
    def __init__(self, line: Line, inner: Pulse) -> None:
        self._line = line
        self._inner = inner

    async def beat(self) -> None:
        if self._line.cut:
            raise ConnectionResetError("cut")
        await self._line.clogged.wait()
        await self._inner.beat()
        self._line.beats += 1

    async def farewell(self) -> None:
        await self._inner.farewell()

    def drop(self) -> None:
        self._inner.drop()


class Beating:
    def __init__(self, dsn: str) -> None:
        self.clock = FakeClock()
        self.line = Line(dsn)
        self.progress = Progress(self.clock)
        self.lease = Lease()
        self.heartbeat = Heartbeat(self.line.dial, progress=self.progress, tell=self.lease.change, clock=self.clock)

    async def pass_time(self, seconds: float, *, progress: bool = True) -> None:
        for _ in range(round(seconds)):
            await self.clock.wait_for("heartbeat")
            if progress:
                self.progress.touch()
            await self.clock.advance(1)
        await self.clock.wait_for("heartbeat")


@asynccontextmanager
async def heart(dsn: str) -> AsyncIterator[Beating]:
    """A heartbeat in the loop of the test."""
    beating = Beating(dsn)
    async with beside({"heartbeat": beating.heartbeat.run()}):
        await beating.clock.wait_for("heartbeat")
        yield beating


async def _row(sql: SqlStore, beating: Beating) -> Replica:
    row = await sql.get_replica(id=beating.line.row.id)
    assert row is not None
    return row


async def test_a_replica_beats_every_three_seconds_over_one_connection(database: Any, sql: SqlStore):
    async with heart(database.dsn) as beating:
        assert (beating.line.beats, beating.lease.held) == (1, True)
        await beating.pass_time(30)

        assert (beating.line.beats, beating.line.dials) == (11, 1)
        assert [row.url for row in await sql.list_live_replicas()] == ["http://here"]


async def test_the_number_of_statements_does_not_grow_with_chats(database: Any):
    counts: list[int] = []
    async with open_deployment(database.dsn) as deployment, heart(database.dsn) as beating:
        for chats in (0, 20):
            for _ in range(chats):
                await deployment.new_chat(take=Take(beating.line.row.id, new_id()))
            before = beating.line.beats
            await beating.pass_time(12)
            counts.append(beating.line.beats - before)

    assert counts == [4, 4]


async def test_a_connection_that_is_lost_is_made_anew(database: Any, sql: SqlStore):
    async with heart(database.dsn) as beating:
        first = await _row(sql, beating)
        connection = await asyncpg.connect(database.dsn)
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'chatd heartbeat'"
            " AND datname = current_database()"
        )
        await connection.close()
        await beating.pass_time(5)

        assert beating.lease.held
        assert beating.line.dials == 2
        assert (await _row(sql, beating)).heartbeat_at > first.heartbeat_at
        assert (await _row(sql, beating)).beating_since == first.beating_since


async def test_without_a_beat_the_lease_is_lost_three_seconds_before_anyone_may_take_its_chats(database: Any):
    async with heart(database.dsn) as beating:
        beating.line.cut = True
        await beating.pass_time(6)
        assert beating.lease.held
        await beating.pass_time(1)
        assert not beating.lease.held

        beating.line.cut = False
        await beating.pass_time(1)
        assert beating.lease.held


async def test_an_answer_that_never_comes_hides_no_lost_lease(database: Any):
    """Beats hang for as long as they may; the lease runs all the same."""
    async with heart(database.dsn) as beating:
        beating.line.clogged.clear()
        await beating.clock.advance(6.9)
        assert beating.lease.held
        await beating.clock.advance(0.2)
        assert not beating.lease.held

        beating.line.clogged.set()
        await beating.clock.wait_for("heartbeat")
        await beating.pass_time(2)
        assert beating.lease.held


async def test_a_lease_counts_from_when_its_beat_was_sent(database: Any):
    async with heart(database.dsn) as beating:
        beating.line.clogged.clear()
        await beating.clock.advance(3)
        await beating.clock.wait_for("heartbeat-answer")
        await beating.clock.advance(1.5)  # the answer takes so long
        beating.line.clogged.set()
        await beating.clock.wait_for("heartbeat")
        beating.line.cut = True
        await beating.clock.advance(5.4)
        assert beating.lease.held
        await beating.clock.advance(0.2)

        assert not beating.lease.held


async def test_a_loop_without_progress_stops_the_heartbeat_until_it_goes_on(database: Any, sql: SqlStore):
    async with heart(database.dsn) as beating:
        await beating.pass_time(LEASE_SECONDS, progress=False)
        before = beating.line.beats
        await beating.pass_time(LEASE_SECONDS, progress=False)
        assert (beating.line.beats, beating.lease.held) == (before, False)

        await beating.pass_time(1)
        assert (beating.line.beats, beating.lease.held) == (before + 1, True)


async def test_a_gap_as_long_as_a_lease_starts_the_time_of_beating_anew(database: Any, sql: SqlStore):
    async with heart(database.dsn) as beating:
        connection = await asyncpg.connect(database.dsn)
        await connection.execute(
            "UPDATE replicas SET beating_since = now() - interval '1 hour', heartbeat_at = now() - interval '9 seconds'"
        )
        await beating.pass_time(3)
        kept = (await _row(sql, beating)).beating_since
        await connection.execute("UPDATE replicas SET heartbeat_at = now() - interval '11 seconds'")
        await beating.pass_time(3)
        reset = (await _row(sql, beating)).beating_since
        await connection.close()

        assert (reset - kept).total_seconds() > 3000


async def test_a_replica_that_ends_well_leaves_no_row(database: Any, sql: SqlStore):
    async with heart(database.dsn) as beating, asyncio.TaskGroup() as tasks:
        tasks.create_task(_until_gone(sql, beating.line.row.id))
        beating.heartbeat.stop()
    assert await sql.list_live_replicas() == []


async def _until_gone(sql: SqlStore, id: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while await sql.get_replica(id=id) is not None:
            pass


async def test_a_beat_after_the_clock_was_set_back_starts_the_time_of_beating_anew_only_if_it_lies_ahead(
    database: Any, sql: SqlStore
):
    async with heart(database.dsn) as beating:
        connection = await asyncpg.connect(database.dsn)
        for since, kept in ((timedelta(hours=-1), True), (timedelta(minutes=50), False)):
            before = await connection.fetchval(
                "UPDATE replicas SET heartbeat_at = now() + interval '1 hour', beating_since = now() + $1::interval"
                " RETURNING beating_since",
                since,
            )
            await beating.pass_time(3)
            row = await _row(sql, beating)
            assert (row.beating_since == before) is kept
            assert row.beating_since <= row.heartbeat_at < before + timedelta(hours=2)
        await connection.close()
