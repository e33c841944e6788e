"""What is started and cancelled follows from what the database says, however old its answer is."""

from uuid import UUID

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.gave_up import gave_up_error
from chatd.core.states import Status
from chatd.engine.owned import Owned
from chatd.engine.pauses import LONGEST_PAUSE_SECONDS, Pauses
from chatd.engine.reconcile import compare

CHATS = [UUID(int=number) for number in range(1, 5)]
RUNNERS = [UUID(int=number) for number in range(11, 13)]
STATUSES = st.sampled_from(list(Status))
RUNNING = st.dictionaries(st.sampled_from(CHATS), st.sampled_from(RUNNERS))


def owned(chat_id: UUID, runner_id: UUID, status: Status = Status.RUNNING) -> Owned:
    return Owned(chat_id, runner_id, status, 5, 3, 1)


LISTED = st.lists(
    st.builds(owned, st.sampled_from(CHATS), st.sampled_from(RUNNERS), STATUSES), unique_by=lambda o: o.chat_id
)


@given(LISTED, RUNNING, RUNNING)
def test_a_chat_is_never_both_run_and_started_and_only_what_is_lost_is_cancelled(
    listed: list[Owned], before: dict[UUID, UUID], now: dict[UUID, UUID]
):
    difference = compare(listed, before, now)
    said = {chat.chat_id: chat.runner_id for chat in listed}

    assert not {chat.chat_id for chat in difference.start} & set(now)
    assert not {chat.chat_id for chat in (*difference.start, *difference.abandon)} & set(before)
    for chat_id in difference.cancel:
        assert before[chat_id] == now[chat_id] != said.get(chat_id)


@given(LISTED, RUNNING)
def test_when_nothing_moved_meanwhile_nothing_is_left_out(listed: list[Owned], running: dict[UUID, UUID]):
    difference = compare(listed, running, running)
    said = {chat.chat_id: chat.runner_id for chat in listed}

    assert {chat.chat_id for chat in (*difference.start, *difference.abandon)} == set(said) - set(running)
    assert set(difference.cancel) == {chat for chat in running if said.get(chat) != running[chat]}


def test_pauses_double_to_a_limit_and_end_when_the_history_moves():
    pauses, chat, now = Pauses(), CHATS[0], 0.0
    waited: list[float] = []
    for _ in range(40):
        pauses.note_end(chat, 3, now)
        wait = 0.0
        while not pauses.may_start(chat, 3, now + wait):
            wait += 1
        waited.append(wait)
        now += wait

    assert waited[:7] == [0, 4, 8, 16, 32, 60, 60]
    assert set(waited[5:]) == {LONGEST_PAUSE_SECONDS}
    pauses.note_end(chat, 3, now)
    assert pauses.may_start(chat, 4, now)
    pauses.keep(set())
    assert pauses.may_start(chat, 3, now)


def test_the_error_of_a_chat_that_was_given_up_is_for_people():
    error = msgspec.json.decode(gave_up_error())

    assert (error["kind"], error["retryable"]) == ("gave_up", True)
    assert error["message"].startswith("The server stopped 4 times while it was working on this answer")
