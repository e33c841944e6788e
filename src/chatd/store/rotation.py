"""Re-encrypts every secret with the primary key, column by column, a few rows per transaction."""

from collections.abc import Callable
from typing import Final

import msgspec

from chatd.core.errors import StartRefused
from chatd.store.announce import announcement
from chatd.store.cipher import Cipher
from chatd.store.custom_queries import EncryptedColumn, SealedValue
from chatd.store.store import Store

_ROWS_PER_TRANSACTION: Final = 200  # rows stay locked for milliseconds; a turn that reads its key does not wait


class Rotated(msgspec.Struct, frozen=True):
    """How many values of one column were under another key."""

    column: EncryptedColumn
    values: int


async def rotate(store: Store, cipher: Cipher, *, progress: Callable[[EncryptedColumn, int], None]) -> list[Rotated]:
    """Afterwards the primary key alone reads everything, and the other keys are marked revoked.

    Can be stopped at any point and run again: what is done stays done and every value stays readable with the ring.
    Raises StartRefused while a live server still encrypts with another key.
    """
    await _refuse_other_servers(store, cipher)
    report: list[Rotated] = []
    for column in await store.list_encrypted_columns():
        done = 0
        while moved := await _rotate_some(store, cipher, column):
            done += moved
            progress(column, done)
        report.append(Rotated(column, done))
    async with store.transaction() as tx:
        # No server can start between this look and the revocation: it would write under a key that is then forgotten.
        await tx.hold_announcements()
        await _refuse_other_servers(tx, cipher)
        for column in await tx.list_encrypted_columns():
            if await tx.lock_values_under_other_keys(column=column, key_id=cipher.primary.id, max_rows=1):
                raise StartRefused("A secret was stored under another key meanwhile.", detail="Rotate again.")
        await tx.revoke_encryption_keys_except(id=cipher.primary.id)
    return report


async def _rotate_some(store: Store, cipher: Cipher, column: EncryptedColumn) -> int:
    async with store.transaction() as tx:
        stale = await tx.lock_values_under_other_keys(
            column=column, key_id=cipher.primary.id, max_rows=_ROWS_PER_TRANSACTION
        )
        if not stale:
            return 0
        fresh = [SealedValue(old.row, cipher.encrypt(cipher.decrypt(old.value))) for old in stale]
        return await tx.replace_sealed_values(column=column, values=fresh)


async def _refuse_other_servers(store: Store, cipher: Cipher) -> None:
    others = set(await store.list_announced_keys()) - {announcement(cipher.primary.id)}
    if others:
        raise StartRefused(
            "A running server still encrypts with another key, so secrets it stores now would be missed.",
            detail="Give every server the same keys (the new one first), restart them, then rotate again.",
        )
