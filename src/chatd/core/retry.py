"""Whether a failed call is tried again, and when.

At most 25 attempts for one state of the history; the count is durable, so that no restart begins anew. One second,
doubling to a minute: about 20 minutes in all, in which most vendors' incidents pass. The vendor's hint is a floor.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import Final

import msgspec

from chatd.core.failure import Failure
from chatd.core.retry_after import bounded

MOST_ATTEMPTS: Final = 25  # see above: six waits on the way to a minute, then 18 of a minute
FIRST_WAIT_SECONDS: Final = 1  # a reset connection or a stale pool is over by then
LONGEST_WAIT_SECONDS: Final = 60  # a person who watches sees something happen

_DOUBLINGS: Final = 6  # 2**6 is the first above LONGEST_WAIT_SECONDS; more would only make big numbers


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """Wait, then make the next attempt. The wait is in whole milliseconds; every other form of it is derived."""

    attempt: int  # the one that failed, from 1
    delay_ms: int
    retrying_at: datetime

    @property
    def delay_seconds(self) -> float:
        return self.delay_ms / 1000


class GiveUpReason(StrEnum):
    NOT_RETRYABLE = "not_retryable"
    ATTEMPTS_SPENT = "attempts_spent"


class GiveUp(msgspec.Struct, frozen=True, kw_only=True):
    """The turn ends with this failure."""

    failure: Failure
    reason: GiveUpReason


class RetryPayload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What clients see while a retry is waited for: the retry event, and the chat's `retry_state`."""

    attempt: int
    delay_ms: int
    error: str
    kind: str
    provider: str
    retrying_at: datetime
    status_code: int | None = None


def decide(failure: Failure, attempt: int, now: datetime) -> Retry | GiveUp:
    """`attempt` is the number of the attempt that failed, from 1; a number that can't be one ends the turn too."""
    if not failure.retryable:
        return GiveUp(failure=failure, reason=GiveUpReason.NOT_RETRYABLE)
    if not 1 <= attempt < MOST_ATTEMPTS:
        return GiveUp(failure=failure, reason=GiveUpReason.ATTEMPTS_SPENT)
    # Rounded up: a hint is a floor.
    delay_ms = ceil(max(backoff_seconds(attempt), bounded(failure.retry_after_seconds or 0)) * 1000)
    return Retry(attempt=attempt, delay_ms=delay_ms, retrying_at=now + timedelta(milliseconds=delay_ms))


def backoff_seconds(attempt: int) -> int:
    """The wait after the given attempt when nobody asks for a longer one."""
    return min(FIRST_WAIT_SECONDS * 2 ** min(max(attempt - 1, 0), _DOUBLINGS), LONGEST_WAIT_SECONDS)


def seconds_left(retry_state: str, now: datetime) -> float:
    """Of the wait that an owner before us was in; 0 when that can't be told."""
    try:
        payload = msgspec.json.decode(retry_state, type=RetryPayload)
        return min(max(0.0, (payload.retrying_at - now).total_seconds()), payload.delay_ms / 1000)
    except (msgspec.MsgspecError, ValueError, TypeError):
        return 0.0


def retry_payload(failure: Failure, retry: Retry) -> RetryPayload:
    return RetryPayload(
        attempt=retry.attempt,
        delay_ms=retry.delay_ms,
        error=failure.message,
        kind=failure.kind.value,
        provider=failure.provider,
        retrying_at=retry.retrying_at,
        status_code=failure.status_code,
    )
