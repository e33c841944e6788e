"""The state of a chat: derived from what is stored, never stored itself."""

from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """The stored half of the state."""

    WAITING = "waiting"
    RUNNING = "running"
    ERROR = "error"
    REQUIRES_ACTION = "requires_action"
    INTERRUPTING = "interrupting"


class State(StrEnum):
    """The letter is the status, 0 or 1 says whether messages wait in the queue, X stands for archived.

    A queued message that is held (someone edits it) does not count: it waits for its editor, not for the turn.
    """

    N = "N"  # there is no such chat
    W = "W"  # idle
    E0 = "E0"  # parked on an error
    E1 = "E1"
    R0 = "R0"  # a worker should generate
    R1 = "R1"
    I0 = "I0"  # a worker should store what was written and stop
    I1 = "I1"
    A0 = "A0"  # a client should post tool results
    A1 = "A1"
    XW = "XW"
    XE0 = "XE0"
    XE1 = "XE1"
    INVALID = "invalid"  # no transition leads here; reconcile_invalid leads out


_BY_PARTS: Final = {
    (Status.WAITING, False, False): State.W,
    (Status.ERROR, False, False): State.E0,
    (Status.ERROR, False, True): State.E1,
    (Status.RUNNING, False, False): State.R0,
    (Status.RUNNING, False, True): State.R1,
    (Status.INTERRUPTING, False, False): State.I0,
    (Status.INTERRUPTING, False, True): State.I1,
    (Status.REQUIRES_ACTION, False, False): State.A0,
    (Status.REQUIRES_ACTION, False, True): State.A1,
    (Status.WAITING, True, False): State.XW,
    (Status.ERROR, True, False): State.XE0,
    (Status.ERROR, True, True): State.XE1,
}

RUNNABLE: Final = frozenset({State.R0, State.R1, State.I0, State.I1, State.A0, State.A1})
ARCHIVED: Final = frozenset({State.XW, State.XE0, State.XE1})


def classify(status: Status, *, archived: bool, queued: bool) -> State:
    """The state of an existing chat; `queued` means that a message that nobody holds is waiting."""
    return _BY_PARTS.get((status, archived, queued), State.INVALID)
