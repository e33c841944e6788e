"""Removes what has expired: tokens nobody can use any more, forgotten login failures, what dead replicas left."""

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
_FILES_AT_ONCE: Final = 100  # up to a gigabyte
_ROWS_AT_ONCE: Final = 1000  # a short statement; the rest goes at the next round
_log = get_logger("chatd.janitor")


async def clean_forever(store: Store, clock: Clock) -> None:
    while True:
        await clock.sleep(_EVERY_SECONDS, timer="janitor")
        try:
            await clean(store)
        except Exception as error:  # noqa: BLE001 - the next round tries again
            _log.warning("expired rows can't be removed", error=str(error))


async def clean(store: Store) -> None:
    with acting_as(JANITOR):
        await store.delete_expired_tokens(expired_for=_KEEP_EXPIRED, max_rows=_ROWS_AT_ONCE)
        await store.delete_old_login_failures(older_than=throttle.FORGET_AFTER)
        await store.delete_dead_replicas(silent_for=_KEEP_DEAD_REPLICAS)
        await store.delete_stale_checkpoints()
        await _delete_orphan_files(store)


async def _delete_orphan_files(store: Store) -> None:
    async with store.transaction() as tx:
        orphans = await tx.lock_orphan_files(older_than=_KEEP_ORPHAN_FILES, max_rows=_FILES_AT_ONCE)
        if orphans:
            await tx.delete_orphan_files(ids=orphans)
