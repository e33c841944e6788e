"""What a runner does next: by status, owner, takeovers and the client's deadline."""

from datetime import UTC, datetime, timedelta

import pytest

from chatd.core.lease import MOST_TAKEOVERS
from chatd.core.runner import AwaitClient, GiveUp, Next, Rest, RunTurn, StoreInterrupted, decide
from chatd.core.states import Status

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def decided(status: Status, *, is_ours: bool = True, takeovers: int = 0, in_seconds: float | None = 5) -> Next:
    deadline = None if in_seconds is None else NOW + timedelta(seconds=in_seconds)
    return decide(status, is_ours=is_ours, takeovers=takeovers, deadline=deadline, now=NOW)


@pytest.mark.parametrize("status", list(Status))
def test_a_chat_of_someone_else_is_left_alone(status: Status):
    assert decided(status, is_ours=False, takeovers=9) == Rest()


@pytest.mark.parametrize("takeovers", [0, MOST_TAKEOVERS - 1, MOST_TAKEOVERS, MOST_TAKEOVERS + 1])
def test_a_turn_is_run_until_it_was_taken_over_too_often(takeovers: int):
    assert decided(Status.RUNNING, takeovers=takeovers) == (GiveUp() if takeovers >= MOST_TAKEOVERS else RunTurn())


def test_an_interruption_is_stored_however_often_the_chat_was_taken_over():
    assert decided(Status.INTERRUPTING, takeovers=9) == StoreInterrupted()


@pytest.mark.parametrize(("in_seconds", "waits"), [(5, 5.0), (0, 0.0), (-5, 0.0), (None, None)])
def test_a_client_is_waited_for_until_its_deadline(in_seconds: float | None, waits: float | None):
    assert decided(Status.REQUIRES_ACTION, in_seconds=in_seconds) == AwaitClient(waits)


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.RUNNING, Status.INTERRUPTING, Status.REQUIRES_ACTION}))
def test_a_chat_that_rests_needs_no_runner(status: Status):
    assert decided(status) == Rest()
