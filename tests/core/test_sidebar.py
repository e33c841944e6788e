"""What a list of chats is told when a chat has changed."""

import pytest

from chatd.core.sidebar import Seen, WatchKind, changes
from chatd.core.states import Status

CREATED, DELETED, STATUS, ACTION = (
    WatchKind.CREATED,
    WatchKind.DELETED,
    WatchKind.STATUS_CHANGE,
    WatchKind.ACTION_REQUIRED,
)


def at(snapshot: int, status: Status = Status.RUNNING, *, archived: bool = False) -> Seen:
    return Seen(snapshot, status, archived)


@pytest.mark.parametrize(
    ("last", "now", "told"),
    [
        (None, at(1), (CREATED,)),
        (None, at(5), (STATUS,)),
        (None, at(5, archived=True), (DELETED,)),
        (at(4), at(5), ()),
        (at(4), at(5, Status.WAITING), (STATUS,)),
        (at(4), at(5, Status.REQUIRES_ACTION), (STATUS, ACTION)),
        (at(4, Status.WAITING), at(5, Status.WAITING, archived=True), (DELETED,)),
        (at(4, archived=True), at(5, archived=True), ()),
        (at(4, Status.WAITING, archived=True), at(5, Status.WAITING), (CREATED,)),
        (at(5), at(5, Status.WAITING), ()),
        (at(5), at(4, Status.WAITING), ()),
        (at(5), at(1), ()),
    ],
)
def test_what_has_changed_is_told_once_and_never_from_the_past(
    last: Seen | None, now: Seen, told: tuple[WatchKind, ...]
):
    assert changes(last, now) == told
