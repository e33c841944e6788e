"""What a runner does next with its chat: a decision on what is known of the chat, and nothing else."""

from datetime import datetime

import msgspec

from chatd.core.lease import gives_up
from chatd.core.states import Status


class RunTurn(msgspec.Struct, frozen=True):
    pass


class GiveUp(msgspec.Struct, frozen=True):
    """Those who ran this turn died of it, one after the other: what people have seen is stored, and that is it."""


class StoreInterrupted(msgspec.Struct, frozen=True):
    """Someone has stopped the turn: what there is of its step is stored."""


class AwaitClient(msgspec.Struct, frozen=True):
    """For so long; None: nobody knows until when."""

    seconds: float | None


class Rest(msgspec.Struct, frozen=True):
    """The chat needs no runner, or not this one."""


Next = RunTurn | GiveUp | StoreInterrupted | AwaitClient | Rest


def decide(status: Status, *, is_ours: bool, takeovers: int, deadline: datetime | None, now: datetime) -> Next:
    """`takeovers` are those since the last commit; `deadline` is the client's."""
    if not is_ours:
        return Rest()
    match status:
        case Status.RUNNING:
            return GiveUp() if gives_up(takeovers) else RunTurn()
        case Status.INTERRUPTING:
            return StoreInterrupted()
        case Status.REQUIRES_ACTION:
            return AwaitClient(None if deadline is None else max(0.0, (deadline - now).total_seconds()))
        case _:
            return Rest()
