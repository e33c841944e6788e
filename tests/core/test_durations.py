"""Lengths of time: read as they are written, refused when they are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.durations import seconds_of, shown_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("5m", 300), ("1h30m", 5400), ("0s", 0), ("250ms", 0.25), ("1.5h", 5400), ("30", 30), (" 90S ", 90)],
)
def test_a_length_of_time_is_read(text: str, seconds: float):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "ten", "-5s", "5 m", "1d", "5m!", "1e3s", "٣s", "inf", "nan", "9" * 50])
def test_what_is_no_length_of_time_is_refused(text: str):
    with pytest.raises(ValueError, match="no length of time"):
        seconds_of(text)


@given(st.integers(0, 10**7))
def test_what_is_shown_is_read_as_the_same(seconds: int):
    assert seconds_of(shown_seconds(seconds)) == seconds


def test_parts_of_a_second_are_shown():
    assert [shown_seconds(each) for each in (0.25, 1.5, 90, 5400, 0)] == ["250ms", "1.5s", "1m30s", "1h30m", "0s"]
