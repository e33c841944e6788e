"""Who is acting: a context variable that every store call of a task sees."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from chatd.core.access import Actor
from chatd.core.errors import NoActor

_acting: Final[ContextVar[Actor | None]] = ContextVar("chatd_actor", default=None)


@contextmanager
def acting_as(actor: Actor | None) -> Iterator[None]:
    """Within the block (and the tasks it starts) store calls are made by this actor; None means nobody."""
    token = _acting.set(actor)
    try:
        yield
    finally:
        _acting.reset(token)


def require_actor(method: str) -> Actor:
    """The actor, or NoActor naming the call that forgot it."""
    actor = _acting.get()
    if actor is None:
        raise NoActor(method)
    return actor
