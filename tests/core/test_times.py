"""Times as texts."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from chatd.core.times import iso

TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds it


@given(TIMES, TIMES)
def test_a_time_as_a_text_has_microseconds_and_sorts_as_the_time_does(one: datetime, other: datetime):
    assert iso(one) == one.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert datetime.fromisoformat(iso(one)) == one
    assert (iso(one) < iso(other)) == (one < other)
