"""Which limit of spending counts, and until when."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.errors import Conflict, UsageLimitReached
from chatd.core.spend import Limit, Period, refusal

pytestmark = pytest.mark.behaviour("COST-4")

NOW = datetime(2026, 2, 25, 15, 30, tzinfo=UTC)  # a Wednesday
TOMORROW, MONDAY, MARCH = (datetime(2026, *day, tzinfo=UTC) for day in ((2, 26), (3, 2), (3, 1)))
A, B = UUID(int=1), UUID(int=2)


def own(limit: int | None, spent: int = 100, period: Period = Period.DAY) -> Limit:
    return Limit(period=period, microdollars=limit, spent_microdollars=spent, is_own=True)


def of_group(group: UUID, limit: int | None, spent: int = 100, period: Period = Period.DAY) -> Limit:
    return Limit(period=period, microdollars=limit, spent_microdollars=spent, group_id=group)


def everyones(limit: int | None, spent: int = 100, period: Period = Period.DAY) -> Limit:
    return Limit(period=period, microdollars=limit, spent_microdollars=spent)


@pytest.mark.parametrize(
    ("period", "start", "reset"),
    [
        (Period.DAY, datetime(2026, 2, 25, tzinfo=UTC), TOMORROW),
        (Period.WEEK, datetime(2026, 2, 23, tzinfo=UTC), MONDAY),
        (Period.MONTH, datetime(2026, 2, 1, tzinfo=UTC), MARCH),
    ],
)
def test_periods_begin_at_midnight_in_utc_and_weeks_on_monday(period: Period, start: datetime, reset: datetime):
    assert (period.start(NOW), period.reset(NOW)) == (start, reset)


@given(st.sampled_from(Period), st.integers(0, 6 * 10**15), st.integers(-14, 14))
def test_every_moment_is_in_one_period_and_the_next_begins_where_it_ends(period: Period, microseconds: int, hours: int):
    elsewhere = timezone(timedelta(hours=hours))
    now = (datetime(1990, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)).astimezone(elsewhere)
    start, reset = period.start(now), period.reset(now)

    assert start <= now < reset
    assert start.utcoffset() == timedelta()
    assert period.start(reset) == reset
    assert period.start(reset - timedelta(microseconds=1)) == start
    assert period is not Period.WEEK or start.weekday() == 0
    assert period is not Period.MONTH or start.day == 1


@pytest.mark.parametrize(
    "limits",
    [
        [],
        [everyones(101)],
        [own(None), everyones(1)],
        [own(101), of_group(A, 1), everyones(1)],
        [of_group(A, 1), of_group(B, 101), everyones(1)],
        [of_group(A, 1), of_group(B, None)],
        [of_group(A, 101), of_group(A, 1000, period=Period.MONTH), of_group(B, 1)],
    ],
    ids=["none", "not spent", "exempt", "own", "the most generous group", "an exempt group", "all of one group"],
)
def test_a_user_may_spend(limits: list[Limit]):
    assert refusal(limits, NOW) is None


@pytest.mark.parametrize(
    ("limits", "limit", "resets_at"),
    [
        ([everyones(100)], 100, TOMORROW),
        ([everyones(0, 0)], 0, TOMORROW),
        ([own(50, period=Period.WEEK), of_group(A, None), everyones(None)], 50, MONDAY),
        ([of_group(A, 50), of_group(B, 60, period=Period.MONTH), everyones(None)], 50, TOMORROW),
        ([own(50), own(90, period=Period.MONTH), own(1000, period=Period.WEEK)], 90, MARCH),
        ([of_group(A, 50), of_group(A, 60, period=Period.WEEK), of_group(B, 70, period=Period.MONTH)], 70, MARCH),
    ],
    ids=["reached", "nothing", "own", "earliest group", "last of own", "last of each group"],
)
def test_a_refusal_names_the_limit_and_when_it_resets(limits: list[Limit], limit: int, resets_at: datetime):
    refused = refusal(limits, NOW)

    assert isinstance(refused, UsageLimitReached)
    assert (refused.limit_microdollars, refused.resets_at) == (limit, resets_at)
    assert refused.kind == "usage_limit"


def test_people_are_told_how_much_and_until_when():
    refused = refusal([own(1_234_500_000, 1_234_560_001, Period.MONTH)], NOW)

    assert isinstance(refused, Conflict)  # 409, as every other refusal of what would clash
    assert (
        refused.message == "Your usage limit of $1,234.50 per month is reached. It resets on 2026-03-01 at 00:00 UTC."
    )
    assert refused.detail == "$1,234.560001 is spent. An administrator can raise the limit."
