"""How many chats wait for a replica with room, counted when someone reads the metrics."""

from math import nan
from typing import Final

from chatd.clock import Clock
from chatd.core.access import WORKER
from chatd.observe.engine_metrics import EngineMetrics
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.store import Store

FRESH_SECONDS: Final = 5.0  # scrapers that come more often get the last count
MOST_SECONDS: Final = 2.0  # a scraper gives up after some seconds, and wants the other metrics
_log = get_logger("chatd.queued-chats")


class QueuedChats:
    def __init__(self, store: Store, metrics: EngineMetrics, clock: Clock) -> None:
        self._store = store
        self._metrics = metrics
        self._clock = clock
        self._asked_at: float | None = None

    async def count(self) -> None:
        """Anyone may ask. Never fails: a count that can't be had is no number."""
        now = self._clock.monotonic()
        if self._asked_at is not None and now - self._asked_at < FRESH_SECONDS:
            return
        self._asked_at = now
        try:
            with acting_as(WORKER):
                async with self._clock.timeout(MOST_SECONDS, timer="count queued chats"):
                    queued = await self._store.count_queued_chats()
        except Exception as error:  # noqa: BLE001 - the other metrics are there whatever the database does
            _log.info("waiting chats can't be counted", error=str(error) or type(error).__name__)
            self._metrics.queue(roots=nan, children=nan)
        else:
            self._metrics.queue(roots=queued.roots, children=queued.children)
