"""How much a user may spend: which limits count, when their periods begin and end, and the refusal when one is spent.

The most particular limits count alone: a user's own; else those of the user's groups, of which the most generous one
does; else everyone's. A limit is spent when what was spent has reached it.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

import msgspec

from chatd.core.errors import UsageLimitReached

_A_MONTH_OR_MORE = timedelta(days=31)


class Period(StrEnum):
    """In UTC. A week begins on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def start(self, now: datetime) -> datetime:
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        match self:
            case Period.DAY:
                return midnight
            case Period.WEEK:
                return midnight - timedelta(days=midnight.weekday())
            case Period.MONTH:
                return midnight.replace(day=1)

    def reset(self, now: datetime) -> datetime:
        """When the next one begins."""
        start = self.start(now)
        match self:
            case Period.DAY:
                return start + timedelta(days=1)
            case Period.WEEK:
                return start + timedelta(days=7)
            case Period.MONTH:
                return (start + _A_MONTH_OR_MORE).replace(day=1)


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """A limit that a user is under, and what the user has spent in its period. None: as much as they like."""

    period: Period
    microdollars: int | None
    spent_microdollars: int
    is_own: bool = False
    group_id: UUID | None = None

    @property
    def is_spent(self) -> bool:
        return self.microdollars is not None and self.spent_microdollars >= self.microdollars


def counting(limits: Iterable[Limit]) -> list[list[Limit]]:
    """The sets of limits that count: all of a set have to hold, and one set that holds is enough."""
    own: list[Limit] = []
    everyones: list[Limit] = []
    groups: dict[UUID, list[Limit]] = {}
    for limit in limits:
        if limit.is_own:
            own.append(limit)
        elif limit.group_id is not None:
            groups.setdefault(limit.group_id, []).append(limit)
        else:
            everyones.append(limit)
    if own:
        return [own]
    return list(groups.values()) or ([everyones] if everyones else [])


def refusal(limits: Iterable[Limit], now: datetime) -> UsageLimitReached | None:
    """Why the user may not begin anything now; None when they may. It resets when they may again, at the earliest."""
    spent = [[limit for limit in together if limit.is_spent] for together in counting(limits)]
    if not spent or not all(spent):
        return None
    last_of_each = [_last(together, now) for together in spent]
    return _refused(min(last_of_each, key=lambda limit: limit.period.reset(now)), now)


def _last(spent: Sequence[Limit], now: datetime) -> Limit:
    """The one that resets last: until then the others don't help."""
    return max(spent, key=lambda limit: limit.period.reset(now))


def _refused(limit: Limit, now: datetime) -> UsageLimitReached:
    return UsageLimitReached(
        period=limit.period,
        limit_microdollars=limit.microdollars or 0,
        spent_microdollars=limit.spent_microdollars,
        resets_at=limit.period.reset(now),
    )
