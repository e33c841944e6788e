"""What a workspace is by its latest build, and what may follow."""

import pytest

from chatd.core.workspaces.kinds import BuildStatus, BuildTransition
from chatd.core.workspaces.states import (
    Step,
    WorkspaceState,
    decide_create,
    decide_start,
    decide_stop,
    may_build,
    state_of,
)

S = WorkspaceState


def test_a_state_follows_from_the_latest_build():
    assert {(t, s): state_of(t, s) for t in BuildTransition for s in BuildStatus} == {
        (t, s): {
            BuildStatus.PENDING: under_way,
            BuildStatus.RUNNING: under_way,
            BuildStatus.SUCCEEDED: done,
            BuildStatus.FAILED: S.FAILED,
            BuildStatus.CANCELLED: S.FAILED,
        }[s]
        for t, under_way, done in (
            (BuildTransition.START, S.STARTING, S.RUNNING),
            (BuildTransition.STOP, S.STOPPING, S.STOPPED),
            (BuildTransition.DELETE, S.DELETING, S.DELETED),
        )
        for s in BuildStatus
    }
    assert state_of(BuildTransition.START, BuildStatus.RUNNING, deleted=True) is S.DELETED


def test_nothing_is_built_beside_another_build_and_nothing_of_what_is_deleted():
    allowed = {(state, t) for state in S for t in BuildTransition if may_build(state, t)}

    assert allowed == {
        (S.RUNNING, BuildTransition.STOP),
        (S.RUNNING, BuildTransition.DELETE),
        (S.STOPPED, BuildTransition.START),
        (S.STOPPED, BuildTransition.DELETE),
        *((S.FAILED, t) for t in BuildTransition),
    }


@pytest.mark.parametrize("decide", [decide_create, decide_start, decide_stop])
def test_who_comes_while_something_is_built_waits(decide: object):
    assert callable(decide)
    assert {decide(state) for state in S if state.is_built} == {Step.WAIT}


def test_a_chat_gets_a_workspace_only_where_none_is_of_use():
    made = {state for state in (None, *S) if decide_create(state) is Step.CREATE}

    assert made == {None, S.DELETED, S.FAILED}
    assert (decide_create(S.RUNNING), decide_create(S.STOPPED)) == (Step.NOTHING, Step.IS_STOPPED)


def test_start_and_stop_build_only_what_changes_something():
    rest = (None, S.DELETED, S.FAILED, S.STOPPED, S.RUNNING)

    assert [decide_start(state) for state in rest] == [Step.MISSING, Step.MISSING, Step.BUILD, Step.BUILD, Step.NOTHING]
    assert [decide_stop(state) for state in rest] == [Step.MISSING, Step.MISSING, Step.BUILD, Step.NOTHING, Step.BUILD]
