"""When a vendor says how long to wait: the hint in a response's headers."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

# The longest window after which any vendor's limit is renewed is a month. More than that is a mistake of the sender's
# and would not fit into a time stamp in the end; less would make us come back before we were asked to.
LONGEST_HINT_SECONDS: Final = 31 * 24 * 60 * 60.0

_LONGEST_VALUE: Final = 64  # characters; the longest form of an HTTP date has 33
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """The wait that a response asks for; `None` if it asks for none or can't be understood.

    `retry-after-ms` wins over `retry-after`, which is in seconds or an HTTP date. What is past or negative is 0. If a
    header is there more than once, the longest wait counts: a hint is a floor. `now` has a time zone.
    """
    milliseconds = [number / 1000 for value in _values(headers, "retry-after-ms") for number in _numbers(value)]
    if milliseconds:
        return bounded(max(milliseconds))
    seconds = [wait for value in _values(headers, "retry-after") for wait in (*_numbers(value), *_until(value, now))]
    return bounded(max(seconds)) if seconds else None


def bounded(seconds: float) -> float:
    """A hint, from any source, between nothing and the longest one that is believed."""
    return 0.0 if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_HINT_SECONDS)


def _values(headers: Mapping[str, str], name: str) -> Iterator[str]:
    for key, value in headers.items():
        if len(key) == len(name) and key.lower() == name and len(value) <= _LONGEST_VALUE:
            yield value.strip()


def _numbers(value: str) -> Iterator[float]:
    """None or one. Not float() alone, which takes "nan", "infinity", "1_0" and other scripts' digits."""
    if _NUMBER.fullmatch(value):
        yield float(value)


def _until(value: str, now: datetime) -> Iterator[float]:
    """None or one: the seconds until an HTTP date."""
    try:
        date = parsedate_to_datetime(value)
        # Two of the three forms of an HTTP date name no zone that Python knows; all of them are in UTC.
        yield ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return
