"""Leases: whoever may take a chat can be sure that its old owner has let go."""

from hypothesis import given
from hypothesis import strategies as st

from chatd.core.lease import (
    HEARTBEAT_SECONDS,
    LEASE_SECONDS,
    MOST_TAKEOVERS,
    gives_up,
    is_silent,
    may_take,
    must_let_go,
)

ages = st.floats(min_value=0, max_value=100)


@given(ages)
def test_an_owner_that_may_be_robbed_has_let_go_before(age: float):
    """Both count from the last beat that reached the database; the owner's own count started no later."""
    assert must_let_go(age) or not is_silent(age)


def test_an_owner_has_a_heartbeat_of_time_to_stop_before_anyone_may_start():
    stops_at = LEASE_SECONDS - HEARTBEAT_SECONDS

    assert must_let_go(stops_at)
    assert not is_silent(stops_at + HEARTBEAT_SECONDS)


def test_two_missed_heartbeats_are_no_reason_to_stop():
    assert not must_let_go(2 * HEARTBEAT_SECONDS)


def test_a_replica_that_never_beat_holds_nothing():
    assert is_silent(None)


@given(ages)
def test_after_a_restart_of_the_database_nobody_takes_before_everyone_could_beat(since_restart: float):
    """All rows are as old as the restart at least; a live replica beats within a heartbeat of it."""
    beating_for = max(0.0, since_restart - HEARTBEAT_SECONDS)

    assert not may_take(beating_for) or since_restart > HEARTBEAT_SECONDS


def test_a_chat_that_ends_its_owners_is_given_up():
    assert [takeovers for takeovers in range(6) if gives_up(takeovers)] == list(range(MOST_TAKEOVERS, 6))
