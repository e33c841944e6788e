"""The plan of every statement that a connection carries out, those inside of functions and triggers too."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import msgspec

from chatd.store.migrate import shipped_functions
from chatd.store.pool import connect

TABLES = frozenset(
    {
        *("chats", "chat_state", "messages", "queued_messages", "files", "chat_files", "chat_checkpoints"),
        *("workspaces", "workspace_builds", "workspace_build_logs", "chat_contexts", "chat_diff_statuses"),
        *("side_costs", "chat_sends", "push_subscriptions", "indexed_chats", "message_words"),
    }
)
_SETTINGS = """
    LOAD 'auto_explain';
    SET auto_explain.log_min_duration = 0;
    SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_format = json;
    SET auto_explain.log_level = notice;
    SET client_min_messages = notice;
    SET track_functions = 'all';
    SET plan_cache_mode = force_generic_plan; -- what a connection settles on, and what knows no value
"""
_PARTIAL = """
    SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indpred IS NOT NULL"""
_CALLED = "SELECT funcname FROM pg_stat_xact_user_functions WHERE calls > 0"


class Statement(msgspec.Struct, frozen=True):
    text: str
    plan: dict[str, Any]

    def nodes(self) -> Iterator[dict[str, Any]]:
        waiting = [self.plan]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.get("Plans", [])


class PlanWatch:
    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]", partial: frozenset[str]) -> None:
        self.connection = connection
        self._partial = partial
        self._notices: list[str] = []
        connection.add_log_listener(self._hear)

    def _hear(self, _connection: object, notice: object) -> None:
        self._notices.append(str(getattr(notice, "message", "")))

    async def statements(self) -> list[Statement]:
        """All since the last call."""
        # Notices come before the answer of their statement, but are heard in the next turn of the loop.
        await self.connection.execute("SELECT 'heard'")
        while not any("'heard'" in notice for notice in self._notices):
            await self.connection.execute("SELECT 'heard'")
        notices, self._notices = self._notices, []
        found = [msgspec.json.decode(notice.partition("plan:")[2]) for notice in notices if "plan:" in notice]
        return [Statement(said["Query Text"], said["Plan"]) for said in found]

    async def called_functions(self) -> set[str]:
        """In this transaction; what was inlined into another statement was not called."""
        return {row[0] for row in await self.connection.fetch(_CALLED)}

    def scans(self, statements: list[Statement]) -> list[str]:
        """Which statement reads all of which table: by itself, or by an index from end to end."""
        return sorted(
            {
                f"{node['Node Type']} of {table}: {' '.join(statement.text.split())[:160]}"
                for statement in statements
                for node in statement.nodes()
                if (table := node.get("Relation Name")) in TABLES and self._reads_all(node)
            }
        )

    def _reads_all(self, node: dict[str, Any]) -> bool:
        if node["Node Type"] in ("Index Scan", "Index Only Scan"):
            return "Index Cond" not in node and node["Index Name"] not in self._partial
        return node["Node Type"] in ("Seq Scan", "Parallel Seq Scan", "Sample Scan")


@asynccontextmanager
async def watch_plans(dsn: str) -> AsyncIterator[PlanWatch]:
    connection = await connect(dsn, function_schema=shipped_functions().schema)
    try:
        partial = frozenset(row[0] for row in await connection.fetch(_PARTIAL))
        await connection.execute(_SETTINGS)
        yield PlanWatch(connection, partial)
    finally:
        await connection.close()


def used_indexes(statements: list[Statement]) -> set[str]:
    return {node["Index Name"] for statement in statements for node in statement.nodes() if "Index Name" in node}
