"""A chat that this replica owns, as its runner gets it, and what a runner is."""

from typing import Protocol, Self
from uuid import UUID

import msgspec

from chatd.core.states import State, Status
from chatd.core.transitions import Transition
from chatd.store.queries import ListOwnedChatsRow
from chatd.store.transitions import Applied, Fence


class Owned(msgspec.Struct, frozen=True):
    """The chat when ownership was last seen; it may have moved on since, which the fence finds out."""

    chat_id: UUID
    runner_id: UUID
    status: Status
    snapshot_version: int
    history_version: int
    generation_attempt: int
    applied: Applied | None = None  # the transition that gave it to us: all that there is to know

    @property
    def fence(self) -> Fence:
        return Fence(self.chat_id, self.runner_id, self.history_version)

    @property
    def is_taken_over(self) -> bool:
        """Whether someone else may have run it before, or we ourselves before a runner failed."""
        return self.applied is None or self.applied.change.transition == Transition.ACQUIRE

    @classmethod
    def of(cls, row: ListOwnedChatsRow) -> Self | None:
        if row.runner_id is None:
            return None
        status = Status.WAITING if row.archived else row.status  # archived: whatever it says, there is nothing to run
        return cls(
            row.chat_id,
            row.runner_id,
            status,
            row.snapshot_version,
            row.history_version,
            row.generation_attempt,
        )

    @classmethod
    def after(cls, applied: Applied, replica_id: UUID) -> Self | None:
        """What a transition has given to this replica, if anything."""
        change = applied.change
        if change.runner_id is None or change.replica_id != replica_id:
            return None
        return cls(
            change.chat_id,
            change.runner_id,
            change.status,
            change.snapshot_version,
            change.history_version,
            change.generation_attempt,
            applied,
        )


class Runner(Protocol):
    """Runs an owned chat until it rests or is no longer this runner's.

    It acts as the worker. When cancelled it stops soon: the replica may be about to lose the chat. Whatever it raises
    is logged, and it is called again for as long as the database says that the chat is this replica's and should run.
    """

    async def __call__(self, owned: Owned) -> None: ...


# Those that a runner has something to do for.
RUNNABLE_STATUSES = frozenset({Status.RUNNING, Status.INTERRUPTING, Status.REQUIRES_ACTION})
INTERRUPTIBLE_STATUSES = frozenset({Status.RUNNING, Status.REQUIRES_ACTION})


def was_given_up(applied: Applied) -> bool:
    """Whether `acquire` parked the chat instead of taking it."""
    return applied.state in (State.E0, State.E1)
