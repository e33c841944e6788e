"""Every change of a chat, and where it may lead from where: the one table that decides it.

What is not in the table is refused by name (core/outcomes.py).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from chatd.core.states import State

N, W, E0, E1, R0, R1 = State.N, State.W, State.E0, State.E1, State.R0, State.R1
I0, I1, A0, A1 = State.I0, State.I1, State.A0, State.A1
XW, XE0, XE1, INVALID = State.XW, State.XE0, State.XE1, State.INVALID


class Transition(StrEnum):
    """Named as the SQL functions that carry them out."""

    # A client asks
    CREATE_CHAT = "create_chat"
    SEND_MESSAGE = "send_message"
    EDIT_MESSAGE = "edit_message"
    INTERRUPT = "interrupt"
    REQUEST_COMPACTION = "request_compaction"
    COMPLETE_REQUIRES_ACTION = "complete_requires_action"
    ARCHIVE = "archive"
    UNARCHIVE = "unarchive"
    BIND_WORKSPACE = "bind_workspace"
    RECONCILE_INVALID = "reconcile_invalid"
    # The queue
    DELETE_QUEUED = "delete_queued"
    PROMOTE_QUEUED = "promote_queued"
    REORDER_QUEUED = "reorder_queued"
    HOLD_QUEUED = "hold_queued"
    RELEASE_QUEUED = "release_queued"
    # Ownership
    ACQUIRE = "acquire"
    ABANDON = "abandon"
    # The owner reports
    RECORD_ATTEMPT = "record_attempt"
    RECORD_RETRY = "record_retry"
    SAVE_DRAFT = "save_draft"
    COMMIT_STEP = "commit_step"
    ENTER_REQUIRES_ACTION = "enter_requires_action"
    CANCEL_REQUIRES_ACTION = "cancel_requires_action"
    FINISH_TURN = "finish_turn"
    FINISH_INTERRUPTION = "finish_interruption"
    FINISH_ERROR = "finish_error"
    GIVE_UP = "give_up"  # taken over too often without a commit


Landings = Mapping[State, frozenset[State]]


def _to(*states: State) -> frozenset[State]:
    return frozenset(states)


def _stays(*states: State) -> dict[State, frozenset[State]]:
    return {state: _to(state) for state in states}


_OPEN: Final = (W, E0, E1, R0, R1, I0, I1, A0, A1)
_ARCHIVED: Final = (XW, XE0, XE1)

TABLE: Final[Mapping[Transition, Landings]] = {
    # With a message it runs; with the history of another chat (fork_chat) it rests.
    Transition.CREATE_CHAT: {N: _to(R0, W)},
    # A busy chat queues the message (R1, I1, A1), or is interrupted for it (R to I1; A goes on running, R1). A parked
    # one with a queue runs the oldest message that waits, and the new one waits (E1 to R1).
    Transition.SEND_MESSAGE: {
        W: _to(R0), E0: _to(R0), E1: _to(R1),
        R0: _to(R1, I1), R1: _to(R1, I1), I0: _to(I1), I1: _to(I1), A0: _to(A1, R1), A1: _to(A1, R1),
    },
    # The queue is cleared with what followed the edited message.
    Transition.EDIT_MESSAGE: {state: _to(R0) for state in _OPEN},
    Transition.INTERRUPT: {R0: _to(I0), R1: _to(I1), A0: _to(R0), A1: _to(R1)},
    Transition.REQUEST_COMPACTION: {W: _to(R0), E0: _to(R0), E1: _to(R1)},
    Transition.COMPLETE_REQUIRES_ACTION: {A0: _to(R0), A1: _to(R1)},
    Transition.ARCHIVE: {W: _to(XW), E0: _to(XE0), E1: _to(XE1)},
    Transition.UNARCHIVE: {XW: _to(W), XE0: _to(E0), XE1: _to(E1)},
    Transition.BIND_WORKSPACE: _stays(*_OPEN),
    Transition.RECONCILE_INVALID: {INVALID: _to(E0, E1)},
    # Where nothing waits (W and the zeros) there may still be held messages: they can be deleted, moved, sent now.
    Transition.DELETE_QUEUED: {
        **_stays(W, E0, R0, I0, A0), E1: _to(E0, E1), R1: _to(R0, R1), I1: _to(I0, I1), A1: _to(A0, A1),
    },
    Transition.PROMOTE_QUEUED: {
        W: _to(R0), E0: _to(R0), E1: _to(R0, R1), R0: _to(I1), R1: _to(I1), I0: _to(I1), I1: _to(I1),
        A0: _to(R0), A1: _to(R0, R1),
    },
    Transition.REORDER_QUEUED: _stays(*_OPEN),
    # To edit a waiting message: it stops counting, and counts again when its editor or the time releases it.
    Transition.HOLD_QUEUED: {
        **_stays(W, E0, R0, I0, A0), E1: _to(E0, E1), R1: _to(R0, R1), I1: _to(I0, I1), A1: _to(A0, A1),
    },
    # On an idle chat a released message is sent.
    Transition.RELEASE_QUEUED: {
        W: _to(R0), E0: _to(E1), E1: _to(E1), R0: _to(R1), R1: _to(R1), I0: _to(I1), I1: _to(I1),
        A0: _to(A1), A1: _to(A1),
    },
    Transition.ACQUIRE: _stays(R0, R1, I0, I1, A0, A1),
    Transition.ABANDON: _stays(*_OPEN, *_ARCHIVED),
    Transition.RECORD_ATTEMPT: _stays(R0, R1),
    Transition.RECORD_RETRY: _stays(R0, R1),
    Transition.SAVE_DRAFT: _stays(R0, R1),
    # With `finish` it ends the turn too, and the head of the queue is promoted.
    Transition.COMMIT_STEP: {R0: _to(R0, W), R1: _to(R0, R1)},
    Transition.ENTER_REQUIRES_ACTION: {R0: _to(A0), R1: _to(A1)},
    Transition.CANCEL_REQUIRES_ACTION: {A0: _to(R0), A1: _to(R1)},
    Transition.FINISH_TURN: {R0: _to(W), R1: _to(R0, R1)},
    Transition.FINISH_INTERRUPTION: {I0: _to(W), I1: _to(R0, R1)},
    Transition.FINISH_ERROR: {W: _to(E0), R0: _to(E0), R1: _to(E1)},
    Transition.GIVE_UP: {
        R0: _to(E0), R1: _to(E1), I0: _to(E0), I1: _to(E1), A0: _to(E0), A1: _to(E1),
    },
}  # fmt: skip


def landings(transition: Transition, state: State) -> frozenset[State]:
    """Where the transition may lead from there; nowhere when it is not allowed."""
    return TABLE[transition].get(state, frozenset())


def diagram() -> str:
    """The table as a Mermaid state diagram: one arrow for each pair of states, with all that lead along it."""
    arrows: dict[tuple[State, State], list[Transition]] = {}
    for transition, cells in TABLE.items():
        for state, ends in cells.items():
            for end in ends - {state}:
                arrows.setdefault((state, end), []).append(transition)
    order = list(State)
    rows = sorted(arrows.items(), key=lambda row: (order.index(row[0][0]), order.index(row[0][1])))
    lines = [f"    {_name(start)} --> {_name(end)}: {', '.join(names)}" for (start, end), names in rows]
    return "\n".join(["stateDiagram-v2", *lines])


def _name(state: State) -> str:
    return "[*]" if state is State.N else str(state)
