"""Who is acting, and through which request: context variables that every store call of a task sees."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import msgspec

from chatd.core.access import Actor
from chatd.core.errors import NoActor


class Origin(msgspec.Struct, frozen=True):
    """Where a change comes from, for the audit log; empty where nobody asked."""

    request_id: str = ""
    client_address: str = ""


_NOWHERE: Final = Origin()
_asked: Final[ContextVar[Origin]] = ContextVar("chatd_origin", default=_NOWHERE)
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


@contextmanager
def asking_from(origin: Origin) -> Iterator[None]:
    """Within the block what is done was asked for from there."""
    token = _asked.set(origin)
    try:
        yield
    finally:
        _asked.reset(token)


def asked_from() -> Origin:
    return _asked.get()
