"""The states of a chat and the table of its transitions."""

import itertools

import pytest

from chatd.core.states import ARCHIVED, RUNNABLE, State, Status, classify
from chatd.core.transitions import (
    TABLE,
    Transition,
    diagram,
    landings,
)

QUEUE_STATES = {State.E1, State.R1, State.I1, State.A1, State.XE1}
EMPTY_TWIN = {State.E1: State.E0, State.R1: State.R0, State.I1: State.I0, State.A1: State.A0}


@pytest.mark.behaviour("STATE-8")
def test_every_combination_is_a_state_and_no_two_are_the_same():
    found = [
        classify(status, archived=archived, queued=queued)
        for status, archived, queued in itertools.product(Status, (False, True), (False, True))
    ]

    assert found.count(State.INVALID) == 8
    assert len(set(found) - {State.INVALID}) == 12
    assert set(found) == set(State) - {State.N}


def test_a_waiting_chat_with_a_queue_and_an_archived_one_that_runs_are_invalid():
    assert classify(Status.WAITING, archived=False, queued=True) is State.INVALID
    assert classify(Status.RUNNING, archived=True, queued=False) is State.INVALID


def test_every_transition_has_a_row_and_every_cell_a_landing():
    assert set(TABLE) == set(Transition)
    assert all(cells and all(ends for ends in cells.values()) for cells in TABLE.values())


@pytest.mark.behaviour("STATE-8")
def test_no_transition_leads_to_an_invalid_chat_or_to_none():
    ends = {end for cells in TABLE.values() for landed in cells.values() for end in landed}

    assert not ends & {State.INVALID, State.N}


def test_every_state_can_be_reached_and_left():
    reached = {end for cells in TABLE.values() for state, landed in cells.items() for end in landed - {state}}
    left = {state for cells in TABLE.values() for state, landed in cells.items() if landed - {state}}

    assert reached == set(State) - {State.N, State.INVALID}
    assert left == set(State)


def test_an_invalid_chat_has_one_way_out():
    assert [transition for transition, cells in TABLE.items() if State.INVALID in cells] == [
        Transition.RECONCILE_INVALID
    ]


def test_an_archived_chat_only_comes_back_or_loses_its_owner():
    for state in ARCHIVED:
        assert {transition for transition, cells in TABLE.items() if state in cells} == {
            Transition.UNARCHIVE,
            Transition.ABANDON,
        }


@pytest.mark.parametrize("transition", Transition)
def test_what_is_not_in_the_table_leads_nowhere(transition: Transition):
    for state in State:
        assert bool(landings(transition, state)) == (state in TABLE[transition])


@pytest.mark.parametrize("transition", Transition)
def test_a_queue_only_widens_what_is_possible_with_the_owner_and_the_reports(transition: Transition):
    """Whoever generates need not know whether messages wait: what it may report is the same with and without."""
    for full, empty in EMPTY_TWIN.items():
        assert (full in TABLE[transition]) == (empty in TABLE[transition])


def test_ownership_and_reports_of_progress_change_no_state():
    for transition in (
        Transition.ACQUIRE,
        Transition.ABANDON,
        Transition.RECORD_ATTEMPT,
        Transition.RECORD_RETRY,
        Transition.SAVE_DRAFT,
        Transition.REORDER_QUEUED,
    ):
        assert all(ends == {state} for state, ends in TABLE[transition].items())


def test_every_turn_can_end_and_every_error_be_left():
    for state in RUNNABLE:
        assert Transition.GIVE_UP in {name for name, cells in TABLE.items() if state in cells}
    for state in (State.E0, State.E1):
        assert landings(Transition.SEND_MESSAGE, state) <= RUNNABLE


def test_the_diagram_draws_every_change_of_state():
    drawn = diagram()

    assert drawn.startswith("stateDiagram-v2")
    for transition, cells in TABLE.items():
        for state, ends in cells.items():
            for end in ends - {state}:
                start = "[*]" if state is State.N else state
                (line,) = [line for line in drawn.splitlines() if line.strip().startswith(f"{start} --> {end}:")]
                assert transition in line
