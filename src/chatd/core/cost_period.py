"""The time that a sum of costs is over."""

from datetime import UTC, datetime, timedelta
from typing import Final

from chatd.core.errors import InvalidRequest, Validation

_BY_DEFAULT: Final = timedelta(days=30)
LONGEST: Final = timedelta(days=366)  # a year; more is a matter of several questions


def cost_period(start: datetime | None, end: datetime | None, now: datetime) -> tuple[datetime, datetime]:
    """Until now and the 30 days before, unless told otherwise; in UTC. Raises InvalidRequest."""
    until = _utc(end) if end is not None else now
    since = _utc(start) if start is not None else until - _BY_DEFAULT
    if since >= until:
        raise InvalidRequest("Check start_date.", validations=[Validation("start_date", "must be before end_date")])
    if until - since > LONGEST:
        detail = f"must be at most {LONGEST.days} days before end_date"
        raise InvalidRequest("Check start_date.", validations=[Validation("start_date", detail)])
    return since, until


def _utc(time: datetime) -> datetime:
    """Without a zone it is UTC."""
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (OverflowError, ValueError) as error:  # at the ends of the calendar
        raise InvalidRequest("This is no time that can be asked for.") from error
