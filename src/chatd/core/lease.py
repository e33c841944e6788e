"""How replicas keep and lose their chats: the numbers, and the decisions over ages that the database measured.

A replica beats once for all its chats. Ages are by database time and are never compared with a process' own clock; the
one exception is `must_let_go`, by which a replica that can't reach the database judges itself, on its monotonic clock.
"""

from typing import Final

HEARTBEAT_SECONDS: Final = 3.0  # three may be missed within a lease
LEASE_SECONDS: Final = 10.0  # silent for longer: its chats may be taken
RECONCILE_SECONDS: Final = 2.0  # how often a replica compares what it owns with what it runs
MOST_TAKEOVERS: Final = 3  # without a commit in between: a turn that kills its process must not kill them all


def is_silent(heartbeat_age_seconds: float | None) -> bool:
    """Whether the chats of a replica may be taken; None: it never beat, or its row is gone."""
    return heartbeat_age_seconds is None or heartbeat_age_seconds > LEASE_SECONDS


def may_take(beating_for_seconds: float) -> bool:
    """Whether a replica may take others' chats: after a restart of the database everyone looks silent at first, so a
    taker must itself have been beating for as long as the others were given."""
    return beating_for_seconds >= LEASE_SECONDS


def must_let_go(seconds_since_beat: float) -> bool:
    """Whether a replica that could not beat has to stop its work: before anyone else may start it."""
    return seconds_since_beat >= LEASE_SECONDS - HEARTBEAT_SECONDS


def gives_up(takeovers: int) -> bool:
    """Whether a chat that was taken over this often without a commit goes to `error`."""
    return takeovers >= MOST_TAKEOVERS
