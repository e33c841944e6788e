"""What a list of chats is told of a chat that has changed."""

from enum import StrEnum

import msgspec

from chatd.core.states import Status


class WatchKind(StrEnum):
    CREATED = "created"  # also when it comes back from the archive
    DELETED = "deleted"  # from the list, into the archive
    STATUS_CHANGE = "status_change"
    ACTION_REQUIRED = "action_required"  # its client has to answer
    TITLE_CHANGE = "title_change"
    SUMMARY_CHANGE = "summary_change"  # of its last turn
    CHAT_SUMMARY_CHANGE = "chat_summary_change"
    DIFF_STATUS_CHANGE = "diff_status_change"
    CONTEXT_DIRTY = "context_dirty"  # its workspace has other instructions than it was given
    CHAT_CHANGE = "chat_change"  # of what people set beside the title: labels, its place, plan mode


class Seen(msgspec.Struct, frozen=True, gc=False):
    """A chat at one snapshot, as far as lists are concerned."""

    snapshot_version: int
    status: Status
    archived: bool


FIRST_SNAPSHOT = 1


def changes(last: Seen | None, now: Seen) -> tuple[WatchKind, ...]:
    """What has changed since a list was last told of the chat; `last` is None when it was told nothing of it yet."""
    if last is not None and now.snapshot_version <= last.snapshot_version:
        return ()
    if now.snapshot_version == FIRST_SNAPSHOT:
        return (WatchKind.CREATED,)
    if now.archived:
        return () if last is not None and last.archived else (WatchKind.DELETED,)
    if last is not None and last.archived:
        return (WatchKind.CREATED,)
    if last is not None and last.status is now.status:
        return ()
    if now.status is Status.REQUIRES_ACTION:
        return (WatchKind.STATUS_CHANGE, WatchKind.ACTION_REQUIRED)
    return (WatchKind.STATUS_CHANGE,)
