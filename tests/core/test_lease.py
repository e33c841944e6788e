"""Leases: whoever may take a chat can be sure that its old owner has let go."""

from chatd.core.lease import HEARTBEAT_SECONDS, LEASE_SECONDS, MOST_TAKEOVERS, gives_up, must_let_go


def test_an_owner_has_a_heartbeat_of_time_to_stop_before_anyone_may_start():
    """Both count from the last beat that reached the database; the owner's own count started no later."""
    assert must_let_go(LEASE_SECONDS - HEARTBEAT_SECONDS)


def test_two_missed_heartbeats_are_no_reason_to_stop():
    assert not must_let_go(2 * HEARTBEAT_SECONDS)


def test_a_chat_that_ends_its_owners_is_given_up():
    assert [takeovers for takeovers in range(6) if gives_up(takeovers)] == list(range(MOST_TAKEOVERS, 6))
