"""What side jobs store, on a real database."""

from typing import Any
from uuid import UUID

import msgspec

_FENCED = (
    "WITH fenced AS (SELECT s.chat_id FROM chat_state s WHERE s.chat_id = $1 AND s.history_version = $2 FOR SHARE)"
    " UPDATE chats SET {} FROM fenced WHERE chats.id = fenced.chat_id RETURNING chats.id"
)


class Since(msgspec.Struct, frozen=True):
    has_summary: bool
    new_messages: int


class SqlSideStore:
    """A `SideStore`."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    async def replace_chat_title(self, *, title: str, id: UUID, expected: str) -> UUID | None:
        statement = "UPDATE chats SET title = $1 WHERE id = $2 AND title = $3 RETURNING id"
        return await self._pool.fetchval(statement, title, id, expected)

    async def set_turn_label(self, *, id: UUID, history_version: int, label: str | None) -> UUID | None:
        statement = _FENCED.format("last_turn_summary = $3::text")
        return await self._pool.fetchval(statement, id, history_version, label)

    async def set_chat_summary(self, *, id: UUID, history_version: int, summary: str) -> UUID | None:
        statement = _FENCED.format("summary = $3::text, summary_generated_at = now()")
        return await self._pool.fetchval(statement, id, history_version, summary)

    async def count_messages_since_summary(self, *, id: UUID, history_version: int) -> Since | None:
        row = await self._pool.fetchrow(
            """
            SELECT
                c.summary_generated_at IS NOT NULL AS has_summary,
                (
                    SELECT count(*) FROM messages m
                    WHERE m.chat_id = c.id AND m.role = 'user' AND m.visibility <> 'model' AND NOT m.deleted
                      AND m.created_at > coalesce(c.summary_generated_at, '-infinity')
                ) AS new_messages
            FROM chats c JOIN chat_state s ON s.chat_id = c.id
            WHERE c.id = $1 AND s.history_version = $2
            """,
            id,
            history_version,
        )
        return None if row is None else Since(row["has_summary"], row["new_messages"])
