"""What a replica owns against what it runs: the difference, as a value."""

from collections.abc import Iterable, Mapping
from uuid import UUID

import msgspec

from chatd.engine.owned import RUNNABLE_STATUSES, Owned


class Difference(msgspec.Struct, frozen=True):
    start: tuple[Owned, ...]  # owned, should run, and nobody runs it
    cancel: tuple[UUID, ...]  # run, but no longer owned: chat ids
    abandon: tuple[Owned, ...]  # owned, but there is nothing to run


def compare(owned: Iterable[Owned], before: Mapping[UUID, UUID], now: Mapping[UUID, UUID]) -> Difference:
    """`owned` is what the database said; `before` and `now` are the runners by chat when it was asked and answered.

    A chat whose runner started or ended in between is left for the next time: the answer may be older than that.
    """
    listed = {chat.chat_id: chat for chat in owned}
    idle = [chat for chat in listed.values() if chat.chat_id not in before and chat.chat_id not in now]
    lost = [
        chat_id
        for chat_id, runner_id in before.items()
        if now.get(chat_id) == runner_id and (chat_id not in listed or listed[chat_id].runner_id != runner_id)
    ]
    return Difference(
        start=tuple(chat for chat in idle if chat.status in RUNNABLE_STATUSES),
        cancel=tuple(lost),
        abandon=tuple(chat for chat in idle if chat.status not in RUNNABLE_STATUSES),
    )
