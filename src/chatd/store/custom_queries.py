"""Queries that no fixed text can say: their tables are found in the catalogue. Wrapped like the generated ones."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from chatd.core.secret import Secret


class EncryptedColumn(msgspec.Struct, frozen=True):
    """A column of type `encrypted_text`; the names come from the catalogue, quoted."""

    table: str
    column: str


class SealedValue(msgspec.Struct, frozen=True):
    """One stored ciphertext and the place of its row, which holds while the row is locked."""

    row: str
    value: Secret


class CustomQueries(Protocol):
    async def list_encrypted_columns(self) -> list[EncryptedColumn]:
        """Every column that holds ciphertext, in a stable order; of a partitioned table, those of its partitions."""
        ...

    async def lock_values_under_other_keys(
        self, *, column: EncryptedColumn, key_id: str, max_rows: int
    ) -> list[SealedValue]:
        """Lock some values that are not encrypted with this key. Call it in a transaction."""
        ...

    async def replace_sealed_values(self, *, column: EncryptedColumn, values: Sequence[SealedValue]) -> int:
        """Write the values back to their locked rows, in one statement; returns how many rows changed."""
        ...

    async def list_announced_keys(self) -> list[int]:
        """The primary keys that live servers announce (`store/announce.py`)."""
        ...

    async def hold_announcements(self) -> None:
        """Until the end of the transaction no server can announce a key; waits for those that are about to."""
        ...


class SqlCustomQueries:
    _db: Any

    async def list_encrypted_columns(self) -> list[EncryptedColumn]:
        rows = await self._db.fetch(
            """-- name: list_encrypted_columns
            SELECT format('%I.%I', n.nspname, c.relname), quote_ident(a.attname)
            FROM pg_attribute a
            JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' -- a row's place is unique within one table only
            JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE a.atttypid = 'encrypted_text'::regtype AND NOT a.attisdropped
            ORDER BY 1, 2"""
        )
        return [EncryptedColumn(*row) for row in rows]

    async def lock_values_under_other_keys(
        self, *, column: EncryptedColumn, key_id: str, max_rows: int
    ) -> list[SealedValue]:
        rows = await self._db.fetch(
            f"""-- name: lock_values_under_other_keys
            SELECT ctid::text, {column.column}::text FROM ONLY {column.table}
            WHERE NOT starts_with({column.column}, $1) LIMIT $2 FOR UPDATE""",  # noqa: S608
            f"enc1:{key_id}:",
            max_rows,
        )
        return [SealedValue(row, Secret(value)) for row, value in rows]

    async def replace_sealed_values(self, *, column: EncryptedColumn, values: Sequence[SealedValue]) -> int:
        status = await self._db.execute(
            f"""-- name: replace_sealed_values
            UPDATE ONLY {column.table} AS t SET {column.column} = fresh.value
            FROM unnest($1::tid[], $2::text[]) AS fresh (row, value) WHERE t.ctid = fresh.row""",  # noqa: S608
            [_tid(value.row) for value in values],
            [value.value.reveal() for value in values],
        )
        return int(status.rpartition(" ")[2])

    async def list_announced_keys(self) -> list[int]:
        rows = await self._db.fetch(
            """-- name: list_announced_keys
            SELECT DISTINCT objid::bigint FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 2 AND classid = $1 AND objid::bigint < 2147483648
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())""",
            ANNOUNCEMENT_CLASS,
        )
        return [row[0] for row in rows]

    async def hold_announcements(self) -> None:
        await self._db.execute(
            "-- name: hold_announcements\nSELECT pg_advisory_xact_lock($1, $2)", ANNOUNCEMENT_CLASS, ANNOUNCEMENT_GATE
        )


ANNOUNCEMENT_CLASS = 0x63686B79  # "chky": the advisory locks that say which primary key a server encrypts with
ANNOUNCEMENT_GATE = -1  # no key has this number: who announces passes this lock, who revokes keys closes it


def _tid(text: str) -> tuple[int, int]:
    """`(12,3)` as asyncpg takes it."""
    block, offset = text.strip("()").split(",")
    return int(block), int(offset)
