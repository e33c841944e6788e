"""Removes what has expired: tokens nobody can use any more, old keys of sends and entries of the audit log, forgotten
login failures, what dead replicas left."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from chatd.clock import Clock
from chatd.core import throttle
from chatd.core.access import JANITOR
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.store import Store

_EVERY_SECONDS: Final = 3600.0
_KEEP_EXPIRED: Final = timedelta(days=7)  # long enough to see in the database why a token stopped working
_KEEP_DEAD_REPLICAS: Final = timedelta(days=1)  # long enough to see in the database what ran where
_KEEP_ORPHAN_FILES: Final = timedelta(days=1)  # long enough to finish the message that they were uploaded for
# Who has waited a month for an answer has given up, or lost the key with it: phones and laptops that slept over a
# holiday are awake by then.
_KEEP_SEND_KEYS: Final = timedelta(days=30)
_FILES_AT_ONCE: Final = 100  # up to a gigabyte
_ROWS_AT_ONCE: Final = 1000  # a short statement
_MOST_BATCHES: Final = 100  # of such statements in a round; the rest goes at the next one
_log = get_logger("chatd.janitor")


async def clean_forever(store: Store, clock: Clock, *, keep_audit: timedelta | None) -> None:
    while True:
        await clock.sleep(_EVERY_SECONDS, timer="janitor")
        try:
            await clean(store, keep_audit=keep_audit)
        except Exception as error:  # noqa: BLE001 - the next round tries again
            _log.warning("expired rows can't be removed", error=str(error))


async def clean(store: Store, *, keep_audit: timedelta | None = None) -> None:
    """`keep_audit`: how long entries of the audit log stay; None for ever."""
    with acting_as(JANITOR):
        await store.delete_expired_tokens(expired_for=_KEEP_EXPIRED, max_rows=_ROWS_AT_ONCE)
        await store.delete_old_login_failures(older_than=throttle.FORGET_AFTER)
        await store.delete_dead_replicas(silent_for=_KEEP_DEAD_REPLICAS)
        await store.delete_old_hosts(unseen_for=_KEEP_DEAD_REPLICAS)
        await store.delete_stale_checkpoints()
        await _delete_orphan_files(store)
        await _in_batches(lambda: store.delete_old_sends(older_than=_KEEP_SEND_KEYS, max_rows=_ROWS_AT_ONCE))
        if keep_audit is not None:
            await _in_batches(lambda: store.delete_old_audit_entries(older_than=keep_audit, max_rows=_ROWS_AT_ONCE))


async def _in_batches(delete: Callable[[], Awaitable[int]]) -> None:
    for _ in range(_MOST_BATCHES):
        if await delete() < _ROWS_AT_ONCE:
            return


async def _delete_orphan_files(store: Store) -> None:
    async with store.transaction() as tx:
        orphans = await tx.lock_orphan_files(older_than=_KEEP_ORPHAN_FILES, max_rows=_FILES_AT_ONCE)
        if orphans:
            await tx.delete_orphan_files(ids=orphans)
