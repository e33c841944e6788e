"""How long a chat waits whose runner ends again and again without getting anywhere."""

from typing import Final
from uuid import UUID

import msgspec

FIRST_PAUSE_SECONDS: Final = 4.0  # two rounds of the reconciliation
LONGEST_PAUSE_SECONDS: Final = 60.0  # when the cause is gone, the chat goes on within a minute
_DOUBLINGS: Final = 4  # from the first pause to the longest: 4 s doubled 4 times is above 60 s


class _Ends(msgspec.Struct):
    count: int
    history_version: int
    not_before: float


class Pauses:
    """Counts the ends of runners per chat. Times are monotonic seconds that the caller gives."""

    def __init__(self) -> None:
        self._ends: dict[UUID, _Ends] = {}

    def note_end(self, chat_id: UUID, history_version: int, now: float) -> None:
        """A runner that was started at this history has ended. The first time costs nothing."""
        known = self._ends.get(chat_id)
        count = known.count + 1 if known is not None and known.history_version == history_version else 1
        pause = min(FIRST_PAUSE_SECONDS * 2 ** min(count - 2, _DOUBLINGS), LONGEST_PAUSE_SECONDS) if count > 1 else 0
        self._ends[chat_id] = _Ends(count, history_version, now + pause)

    def may_start(self, chat_id: UUID, history_version: int, now: float) -> bool:
        """A chat whose history has moved since is a new case."""
        known = self._ends.get(chat_id)
        return known is None or known.history_version != history_version or now >= known.not_before

    def keep(self, chat_ids: set[UUID]) -> None:
        """Forget all others: they are not ours any more."""
        self._ends = {chat_id: ends for chat_id, ends in self._ends.items() if chat_id in chat_ids}
