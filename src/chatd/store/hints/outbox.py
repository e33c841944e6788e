"""Hints that wait to leave: bounded, each once, in the order in which they were first published."""

from collections.abc import Sequence

from chatd.store.hints.subscribers import Hint

HINT_LIMIT = 10_000  # hints that may wait; more in one outage and a poll is cheaper than the list
BYTE_LIMIT = 8_000_000  # bytes that may wait: eight of the largest payloads
TAKE_BYTES = 2_000_000  # bytes sent at once, so that one answer is waited for only a moment


class Outbox:
    """When it is full everything in it is thrown away, and `dropped` says so until that has been sent."""

    def __init__(self) -> None:
        self._waiting: dict[Hint, None] = {}
        self._bytes = 0
        self.dropped = False

    def __bool__(self) -> bool:
        return bool(self._waiting) or self.dropped

    def add(self, hint: Hint) -> None:
        if hint in self._waiting:
            return
        self._waiting[hint] = None
        self._bytes += _weight(hint)
        if len(self._waiting) > HINT_LIMIT or self._bytes > BYTE_LIMIT:
            self._waiting.clear()
            self._bytes = 0
            self.dropped = True

    def take(self) -> tuple[bool, list[Hint]]:
        """What leaves next: whether hints were dropped before it, and the hints."""
        dropped, self.dropped = self.dropped, False
        taken: list[Hint] = []
        weight = 0
        for hint in self._waiting:
            weight += _weight(hint)
            if taken and weight > TAKE_BYTES:
                break
            taken.append(hint)
        for hint in taken:
            del self._waiting[hint]
            self._bytes -= _weight(hint)
        return dropped, taken

    def put_back(self, dropped: bool, hints: Sequence[Hint]) -> None:
        """What was taken may not have left: it goes to the front again."""
        later = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        self.dropped = self.dropped or dropped
        for hint in (*hints, *later):
            self.add(hint)


def _weight(hint: Hint) -> int:
    return len(hint.topic) + len(hint.payload)
