"""Whether a user may spend more, asked when a message is admitted and never again."""

from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import BOOKKEEPER
from chatd.core.spend import Limit, Period, refusal
from chatd.store.actor import acting_as
from chatd.store.store import Store


class Spending:
    """`forget` is called when the area `usage_limits` changes, here or on another replica.

    Checked before a chat is created, a message sent or edited, a compaction or a title asked for. What was admitted
    runs: a queued message is promoted whatever was spent meanwhile, and a turn goes on to its end.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._is_limited: bool | None = None  # whether anyone is; None: not known
        self._generation = 0

    def forget(self) -> None:
        self._generation += 1
        self._is_limited = None

    async def check(self, user_id: UUID) -> None:
        """Raises UsageLimitReached. Without any limit in the deployment it costs no query. Anyone may ask."""
        with acting_as(BOOKKEEPER):
            if not await self._anyone_is_limited():
                return
            now = self._clock.now()
            rows = await self._store.list_spending(
                user_id=user_id,
                day_start=Period.DAY.start(now),
                week_start=Period.WEEK.start(now),
                month_start=Period.MONTH.start(now),
            )
        limits = [
            Limit(
                period=row.period,
                microdollars=row.microdollars,
                spent_microdollars=row.spent_microdollars,
                is_own=row.is_own,
                group_id=row.group_id,
            )
            for row in rows
        ]
        if refused := refusal(limits, now):
            raise refused

    async def _anyone_is_limited(self) -> bool:
        if self._is_limited is not None:
            return self._is_limited
        generation = self._generation
        found = await self._store.has_usage_limits()
        # What was read before a change must not outlive it.
        if generation == self._generation:
            self._is_limited = found
        return found
