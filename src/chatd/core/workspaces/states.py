"""What a workspace is, by its latest build; and what may be done to it then."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from chatd.core.workspaces.kinds import BuildStatus, BuildTransition


class WorkspaceState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DELETING = "deleting"
    DELETED = "deleted"
    FAILED = "failed"  # the last build failed, or was cancelled

    @property
    def is_built(self) -> bool:
        """Whether a build is under way: there is one at a time."""
        return self in (WorkspaceState.STARTING, WorkspaceState.STOPPING, WorkspaceState.DELETING)


_UNDER_WAY: Final = {
    BuildTransition.START: WorkspaceState.STARTING,
    BuildTransition.STOP: WorkspaceState.STOPPING,
    BuildTransition.DELETE: WorkspaceState.DELETING,
}
_DONE: Final = {
    BuildTransition.START: WorkspaceState.RUNNING,
    BuildTransition.STOP: WorkspaceState.STOPPED,
    BuildTransition.DELETE: WorkspaceState.DELETED,
}


def state_of(transition: BuildTransition, status: BuildStatus, *, deleted: bool = False) -> WorkspaceState:
    """By the latest build of a workspace."""
    if deleted:
        return WorkspaceState.DELETED
    if not status.is_over:
        return _UNDER_WAY[transition]
    return _DONE[transition] if status is BuildStatus.SUCCEEDED else WorkspaceState.FAILED


class Step(StrEnum):
    """What is done next for someone who wants a workspace to be in a state."""

    CREATE = "create"
    BUILD = "build"
    WAIT = "wait"  # for the build that is under way; then decide again
    NOTHING = "nothing"  # it is as wanted
    IS_STOPPED = "is_stopped"  # there is one, to be started first
    MISSING = "missing"  # there is none


_S: Final = WorkspaceState
_CREATE: Final[Mapping[WorkspaceState | None, Step]] = {
    None: Step.CREATE,
    _S.DELETED: Step.CREATE,
    _S.FAILED: Step.CREATE,
    _S.STOPPED: Step.IS_STOPPED,
    _S.RUNNING: Step.NOTHING,  # also when its agent is dead: that comes back when it is used
}
_START: Final[Mapping[WorkspaceState | None, Step]] = {
    None: Step.MISSING,
    _S.DELETED: Step.MISSING,
    _S.FAILED: Step.BUILD,
    _S.STOPPED: Step.BUILD,
    _S.RUNNING: Step.NOTHING,
}
_STOP: Final[Mapping[WorkspaceState | None, Step]] = {
    None: Step.MISSING,
    _S.DELETED: Step.MISSING,
    _S.FAILED: Step.BUILD,
    _S.STOPPED: Step.NOTHING,
    _S.RUNNING: Step.BUILD,
}


def decide_create(state: WorkspaceState | None) -> Step:
    """For a chat that wants a workspace; None: it has none. Never a second one beside one that is there."""
    return _CREATE.get(state, Step.WAIT)


def decide_start(state: WorkspaceState | None) -> Step:
    return _START.get(state, Step.WAIT)


def decide_stop(state: WorkspaceState | None) -> Step:
    return _STOP.get(state, Step.WAIT)


def may_build(state: WorkspaceState, transition: BuildTransition) -> bool:
    """Whether such a build may be the next one: nothing is built now, and it changes something."""
    if state.is_built or state is WorkspaceState.DELETED:
        return False
    return _DONE[transition] is not state
