"""Retries are bounded, wait longer each time, and never come back before the vendor asked."""

import json
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.failure import Failure, FailureKind, FailureSignals, Fault, classify, with_provider
from chatd.core.retry import MOST_ATTEMPTS, GiveUp, GiveUpReason, Retry, backoff_seconds, decide, retry_payload
from chatd.core.retry_after import LONGEST_HINT_SECONDS

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

hints = st.none() | st.floats(0, LONGEST_HINT_SECONDS)
times = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
failures = st.builds(
    Failure,
    kind=st.sampled_from(FailureKind),
    provider=st.sampled_from(["anthropic", ""]),
    status_code=st.none() | st.integers(400, 599),
    retryable=st.booleans(),
    message=st.just("Anthropic is temporarily unavailable."),
    retry_after_seconds=hints,
)


def unavailable(hint: float | None = None) -> Failure:
    return Failure(
        kind=FailureKind.TIMEOUT,
        provider="anthropic",
        status_code=503,
        retryable=True,
        message="Anthropic is temporarily unavailable.",
        retry_after_seconds=hint,
    )


def waits(hint: float | None = None) -> list[float]:
    decisions = [decide(unavailable(hint), attempt, NOW) for attempt in range(1, MOST_ATTEMPTS)]
    return [decision.delay_seconds for decision in decisions if isinstance(decision, Retry)]


def test_the_wait_doubles_from_one_second_to_a_minute():
    assert waits() == [1, 2, 4, 8, 16, 32, *[60] * 18]


@pytest.mark.behaviour("ERR-3")
def test_a_longer_hint_replaces_the_wait_and_a_shorter_one_does_not():
    assert waits(10.0) == [10, 10, 10, 10, 16, 32, *[60] * 18]
    assert waits(0.0) == waits()


@pytest.mark.parametrize(("attempt", "is_retried"), [(1, True), (24, True), (25, False), (26, False), (10**9, False)])
def test_the_twenty_fifth_attempt_is_the_last(attempt: int, is_retried: bool):
    decision = decide(unavailable(), attempt, NOW)

    assert isinstance(decision, Retry) is is_retried


def test_spent_attempts_end_with_the_last_failure():
    assert decide(unavailable(7), 25, NOW) == GiveUp(failure=unavailable(7), reason=GiveUpReason.ATTEMPTS_SPENT)


@pytest.mark.parametrize("attempt", [0, -1])
def test_a_count_that_no_attempt_can_have_ends_the_turn(attempt: int):
    assert isinstance(decide(unavailable(), attempt, NOW), GiveUp)


def test_what_is_not_retryable_ends_at_once():
    failure = msgspec.structs.replace(unavailable(), retryable=False)

    assert decide(failure, 1, NOW) == GiveUp(failure=failure, reason=GiveUpReason.NOT_RETRYABLE)


@pytest.mark.behaviour("ERR-3")
@given(failures, st.integers(), hints)
def test_a_hint_changes_when_never_whether(failure: Failure, attempt: int, hint: float | None):
    decisions = [decide(f, attempt, NOW) for f in (failure, msgspec.structs.replace(failure, retry_after_seconds=hint))]

    assert type(decisions[0]) is type(decisions[1])


@given(hints, st.integers(1, MOST_ATTEMPTS - 1), times)
def test_every_form_of_the_wait_is_the_same_value(hint: float | None, attempt: int, now: datetime):
    retry = decide(unavailable(hint), attempt, now)

    assert isinstance(retry, Retry)
    assert retry.retrying_at - now == timedelta(milliseconds=retry.delay_ms)
    assert retry.retrying_at - now == timedelta(seconds=retry.delay_seconds)
    payload = retry_payload(unavailable(hint), retry)
    assert (payload.delay_ms, payload.retrying_at) == (retry.delay_ms, retry.retrying_at)


@pytest.mark.behaviour("ERR-3")
@given(hints, st.integers(1, MOST_ATTEMPTS - 1))
def test_the_wait_is_the_longer_of_hint_and_backoff_to_the_next_millisecond(hint: float | None, attempt: int):
    retry = decide(unavailable(hint), attempt, NOW)

    assert isinstance(retry, Retry)
    floor = max(backoff_seconds(attempt), hint or 0)
    assert floor <= retry.delay_seconds <= floor + 0.001


@given(st.floats())
def test_a_hint_made_by_hand_that_is_no_wait_does_no_harm(hint: float):
    retry = decide(unavailable(hint), 1, NOW)

    assert isinstance(retry, Retry)
    assert 1 <= retry.delay_seconds <= LONGEST_HINT_SECONDS


@given(st.integers())
def test_the_backoff_of_any_number_stays_within_its_bounds(attempt: int):
    assert 1 <= backoff_seconds(attempt) <= 60


@pytest.mark.behaviour("ERR-1", "ERR-3")
def test_the_retry_event_says_everything_that_a_client_shows():
    failure = classify(FailureSignals(status_code=529, provider="anthropic", headers={"Retry-After": "12.25"}), NOW)
    retry = decide(failure, 3, NOW)

    assert isinstance(retry, Retry)
    assert json.loads(msgspec.json.encode(retry_payload(failure, retry))) == {
        "attempt": 3,
        "delay_ms": 12250,
        "error": "Anthropic is temporarily overloaded.",
        "kind": "overloaded",
        "provider": "anthropic",
        "retrying_at": "2026-03-01T12:00:12.250000Z",
        "status_code": 529,
    }


def test_the_retry_event_has_no_status_code_where_there_was_none():
    failure = with_provider(classify(FailureSignals(fault=Fault.CONNECTION_RESET), NOW), "openai")
    retry = decide(failure, 1, NOW)

    assert isinstance(retry, Retry)
    assert "status_code" not in json.loads(msgspec.json.encode(retry_payload(failure, retry)))
