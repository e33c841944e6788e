"""No query that runs per request, turn or sweep reads a whole table, however many chats there are.

Everything is called on a large database whose server explains each statement that it carries out, those inside of
functions, triggers and foreign keys too, by plans that know no values.
"""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest_asyncio

from chatd.core.transitions import Transition
from chatd.store import migrate
from chatd.store.store import SqlStore
from store.busy_scenario import Scenario, insert_file_of, reads
from store.large_world import LargeWorld, load
from store.plan_watch import TABLES, PlanWatch, Statement, used_indexes, watch_plans
from store.world import new_id

SQL = Path(migrate.__file__).parent / "sql"
NAMES_A_TABLE = re.compile(rf"\b(FROM|JOIN|INTO|UPDATE)\s+({'|'.join(TABLES)})\b")

# 50,000 messages; a million in the long tests.
SIZE = (
    {"chats": 20_000, "each": 45, "long": 100_000}
    if os.environ.get("CHATD_TEST_LONG")
    else ({"chats": 2_000, "each": 22, "long": 6_000})
)
NOT_HOT = {
    "delete_dead_replicas": "once an hour, and there are few replicas",
    "delete_old_hosts": "once an hour, and there are few machines",
    "list_offered_templates": "a tool that a chat calls once or twice, and it counts all workspaces",
    "delete_stale_checkpoints": "once an hour, and only chats that run have some",
}
# Set-returning functions whose statement becomes part of the caller's plan, and what that plan shows of them.
INLINED = {"open_calls": "CTE answer", "silent_replicas": "CTE owners"}
# Indexes that no query here has to use.
SPARE = {
    "chats_by_parent": "for ON DELETE CASCADE",
    "files_by_owner": "for the owner's own list of files",
    "push_subscriptions_by_token": "for ON DELETE CASCADE",
}


class Large(msgspec.Struct, frozen=True):
    watch: PlanWatch
    world: LargeWorld

    async def play(self) -> list[Statement]:
        """All of it, in the transaction of the caller."""
        sql = SqlStore(self.watch.connection)
        # Loading may have taken longer than a lease.
        await self.watch.connection.execute(
            "UPDATE replicas SET heartbeat_at = now() WHERE id <> $1", self.world.silent
        )
        for method, args in reads(self.world).items():
            await getattr(sql, method)(**args)
        await sql.insert_file(**insert_file_of(self.world))
        await sql.attach_file(**insert_file_of(self.world), chat_id=self.world.chat, most_files=10**6)
        await Scenario.on(sql, self.world).play()
        return await self.watch.statements()


@pytest_asyncio.fixture
async def large(database: Any) -> AsyncIterator[Large]:
    async with watch_plans(database.dsn) as watch:
        await watch.connection.execute("SET auto_explain.log_min_duration = -1")
        world = await load(watch.connection, **SIZE)
        await watch.connection.execute("SET auto_explain.log_min_duration = 0")
        yield Large(watch, world)


def queries() -> dict[str, str]:
    """Every named query and its text."""
    texts = "".join(path.read_text() for path in sorted(SQL.glob("*.sql")))
    parts = re.split(r"^-- name: (\w+) .*$", texts, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_query_of_chats_is_watched():
    on_tables = {name for name, text in queries().items() if NAMES_A_TABLE.search(text)}
    transitions = {str(transition) for transition in Transition} | {"release_overdue", "hand_over"}

    assert on_tables - transitions - set(NOT_HOT) == {*reads(LargeWorld(*[new_id() for _ in range(9)])), "insert_file"}


async def test_no_hot_query_reads_a_whole_table(large: Large):
    transaction = large.watch.connection.transaction()
    await transaction.start()
    statements = await large.play()
    called = await large.watch.called_functions()
    await transaction.rollback()

    assert large.watch.scans(statements) == []
    # Nothing was left out: each query was explained, and each function that reads a table was called or is inlined.
    explained = {match[1] for statement in statements if (match := re.match(r"-- name: (\w+)", statement.text))}
    assert {*reads(large.world), "insert_file", *map(str, Transition), "release_overdue", "hand_over"} <= explained
    functions = {
        path.stem
        for folder in ("functions", "transitions")
        for path in (SQL / folder).glob("*.sql")
        if NAMES_A_TABLE.search(path.read_text())
    }
    assert functions - called == set(INLINED)
    shown = {node.get("Subplan Name") for statement in statements for node in statement.nodes()}
    assert set(INLINED.values()) <= shown
    # And each index is there for something.
    indexes = {
        row[0]
        for row in await large.watch.connection.fetch(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND tablename = ANY ($1)", list(TABLES)
        )
    }
    assert indexes - used_indexes(statements) == set(SPARE)


async def test_a_missing_index_is_noticed(large: Large):
    missed: dict[str, list[str]] = {}
    for index in ("chat_state_free", "chat_state_owned_by", "chats_by_root", "queued_messages_held_until"):
        transaction = large.watch.connection.transaction()
        await transaction.start()
        await large.watch.connection.execute(f"DROP INDEX {index}")
        missed[index] = large.watch.scans(await large.play())
        await transaction.rollback()

    assert all(missed.values()), missed
