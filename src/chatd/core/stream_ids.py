"""Event ids of a chat's stream: what a client has seen when it has seen an event.

A durable event is `snapshot.index`: the snapshot that it belongs to, then the newest message that was sent by then and,
for what follows the messages, a letter for how far the events of this snapshot have come. A preview that the client
holds is added (`.history.attempt.seq`), so that it can go on with it. A live part is `history.attempt.seq`. To clients
ids are opaque.
"""

import re
from enum import IntEnum
from typing import Final

import msgspec


class Place(IntEnum):
    """How far the events of one snapshot have come, in their order."""

    MESSAGES = 0  # in the middle of them: `through` says where
    QUEUE = 1
    STATUS = 2
    ERROR = 3
    ACTION = 4
    RETRY = 5
    PREVIEW = 6  # all of them: what follows are live parts


_LETTERS: Final = ("", "q", "s", "e", "a", "r", "p")


class Preview(msgspec.Struct, frozen=True, gc=False):
    """Which live parts a client holds: those of one attempt, up to a number."""

    history: int
    attempt: int
    seq: int = 0

    @property
    def id(self) -> str:
        return f"{self.history}.{self.attempt}.{self.seq}"


class DurableId(msgspec.Struct, frozen=True, gc=False):
    snapshot: int
    through: int  # the newest message that the client has
    place: Place
    preview: Preview | None = None

    @property
    def id(self) -> str:
        held = f".{self.preview.id}" if self.preview else ""
        return f"{self.snapshot}.{self.through}{_LETTERS[self.place]}{held}"


EventId = DurableId | Preview

# 18 digits: each is a bigint of the database, and none of these counters comes near its end.
_NUMBER: Final = r"(\d{1,18})"
_PREVIEW: Final = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
_PART: Final = re.compile(_PREVIEW, re.ASCII)
_DURABLE: Final = re.compile(rf"{_NUMBER}\.{_NUMBER}([qsearp]?)(?:\.{_PREVIEW})?", re.ASCII)


def read_event_id(text: str) -> EventId | None:
    """None when it is none of ours."""
    if part := _PART.fullmatch(text):
        return Preview(*map(int, part.groups()))
    if durable := _DURABLE.fullmatch(text):
        snapshot, through, letter, *held = durable.groups()
        preview = Preview(*map(int, held)) if held[0] is not None else None
        return DurableId(int(snapshot), int(through), Place(_LETTERS.index(letter)), preview)
    return None
