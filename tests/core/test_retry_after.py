"""The wait that a response asks for, in any of its forms; nonsense asks for nothing."""

import math
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.retry_after import LONGEST_HINT_SECONDS, bounded, retry_after_seconds

pytestmark = pytest.mark.behaviour("ERR-3")

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def test_no_header_asks_for_nothing():
    assert retry_after_seconds({}, NOW) is None
    assert retry_after_seconds({"date": "Sun, 01 Mar 2026 12:00:00 GMT"}, NOW) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [("7", 7.0), ("0", 0.0), ("1.5", 1.5), (" 20 ", 20.0), ("+3", 3.0), ("1e2", 100.0), (".5", 0.5)],
)
def test_retry_after_is_a_number_of_seconds(value: str, expected: float):
    assert retry_after_seconds({"retry-after": value}, NOW) == expected


@pytest.mark.parametrize(
    "value",
    [
        "Sun, 01 Mar 2026 12:01:30 GMT",
        "Sunday, 01-Mar-26 12:01:30 GMT",
        "Sun Mar  1 12:01:30 2026",
        "Sun, 01 Mar 2026 14:01:30 +0200",
        "Sun, 01 Mar 2026 12:01:30 -0000",
    ],
)
def test_retry_after_may_be_an_http_date_in_any_of_its_forms(value: str):
    assert retry_after_seconds({"retry-after": value}, NOW) == 90.0


def test_milliseconds_win_over_seconds_whichever_is_longer():
    assert retry_after_seconds({"retry-after": "60", "retry-after-ms": "1500"}, NOW) == 1.5
    assert retry_after_seconds({"retry-after-ms": "90000.5", "retry-after": "2"}, NOW) == 90.0005


@given(
    st.sampled_from(["retry-after", "retry-after-ms"]).flatmap(
        lambda name: st.tuples(st.just(name), st.lists(st.booleans(), min_size=len(name), max_size=len(name)))
    )
)
def test_a_header_is_found_in_any_case(drawn: tuple[str, list[bool]]):
    name, capitals = drawn
    written = "".join(c.upper() if up else c for c, up in zip(name, capitals, strict=True))

    assert retry_after_seconds({written: "3000"}, NOW) == (3.0 if name.endswith("ms") else 3000.0)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "nan",
        "inf",
        "-Infinity",
        "1_000",
        "٣",
        "12 s",
        "0x10",
        "1e9999",
        "99 Foo 2026",
        "Sun, 99 Mar 2026 12:00:00 GMT",
        "1" * 5000,
    ],
)
def test_nonsense_is_ignored(value: str):
    assert retry_after_seconds({"retry-after": value}, NOW) is None
    assert retry_after_seconds({"retry-after-ms": value, "retry-after": "4"}, NOW) == 4.0


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "-5"},
        {"retry-after-ms": "-5"},
        {"retry-after-ms": "-5", "retry-after": "60"},
        {"retry-after": "Sun, 01 Mar 2026 11:59:59 GMT"},
        {"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"},
    ],
)
def test_what_is_past_or_negative_is_zero(headers: dict[str, str]):
    assert retry_after_seconds(headers, NOW) == 0.0


@pytest.mark.parametrize("value", ["9" * 40, "1e300", "1e999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_an_absurd_wait_is_cut_to_the_longest_window_of_any_vendor(value: str):
    assert retry_after_seconds({"retry-after": value}, NOW) == LONGEST_HINT_SECONDS


def test_a_header_sent_twice_counts_with_its_longer_wait():
    assert retry_after_seconds({"Retry-After": "5", "retry-after": "9"}, NOW) == 9.0


@given(st.integers(0, int(LONGEST_HINT_SECONDS)), st.integers(-12, 14))
def test_a_date_that_we_write_is_read_as_the_seconds_until_then(seconds: int, zone: int):
    then = (NOW + timedelta(seconds=seconds)).astimezone(timezone(timedelta(hours=zone)))

    assert retry_after_seconds({"retry-after": format_datetime(then)}, NOW) == seconds


@given(
    st.dictionaries(st.sampled_from(["retry-after", "Retry-After-Ms", "RETRY-AFTER", "x"]) | st.text(), st.text()),
    st.datetimes(timezones=st.just(UTC)),
)
def test_any_headers_give_nothing_or_a_wait_within_bounds(headers: dict[str, str], now: datetime):
    hint = retry_after_seconds(headers, now)

    assert hint is None or 0 <= hint <= LONGEST_HINT_SECONDS


@given(st.floats())
def test_a_bounded_hint_is_never_outside(seconds: float):
    hint = bounded(seconds)

    assert 0 <= hint <= LONGEST_HINT_SECONDS
    assert hint == seconds or math.isnan(seconds) or not 0 <= seconds <= LONGEST_HINT_SECONDS
