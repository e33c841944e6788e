"""Feeds a vendor's bytes, cut anywhere, through a framing and a reader into an answer, as the guarded stream does."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

import msgspec

from chatd.core.accumulate import Accumulator, Answer
from chatd.core.model import Finished, ModelEvent, UsageReported, VendorError
from chatd.core.usage import Usage
from chatd.providers.framing.wire_event import WireEvent
from chatd.providers.protocols.protocol import VendorProtocol

READ_AT = "2026-01-02T03:04:05Z"  # one moment for all events, so that answers can be compared


class Framing(Protocol):
    def feed(self, chunk: bytes) -> list[WireEvent]: ...

    def end(self) -> list[WireEvent]: ...


class Read(msgspec.Struct, frozen=True):
    """What came out of a stream: every event in order, and the message that they make."""

    events: tuple[ModelEvent, ...]
    answer: Answer

    @property
    def finished(self) -> bool:
        return any(isinstance(event, Finished) for event in self.events)

    @property
    def failures(self) -> tuple[VendorError, ...]:
        return tuple(event for event in self.events if isinstance(event, VendorError))

    @property
    def usages(self) -> tuple[Usage, ...]:
        return tuple(event.usage for event in self.events if isinstance(event, UsageReported))


def pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """`data` cut at these positions; those outside of it are taken modulo its length."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:stop] for start, stop in pairwise(places)]


def frame(framing: Framing, chunks: Iterable[bytes]) -> list[WireEvent]:
    """All framed events of a stream that came in these chunks and ended well."""
    events = [event for chunk in chunks for event in framing.feed(chunk)]
    return [*events, *framing.end()]


def read(protocol: VendorProtocol, framing: Framing, chunks: Iterable[bytes]) -> Read:
    """The stream that came in these chunks and ended well. Raises UnreadableStream."""
    reader = protocol.reader()
    events: list[ModelEvent] = []
    for chunk in chunks:
        for wire_event in framing.feed(chunk):
            events.extend(reader.read(wire_event))
    for wire_event in framing.end():
        events.extend(reader.read(wire_event))
    events.extend(reader.end())
    return Read(tuple(events), fold(protocol, events))


def fold(protocol: VendorProtocol, events: Sequence[ModelEvent]) -> Answer:
    """The message of these events; what is still open counts as someone had stopped the stream."""
    accumulator = Accumulator(protocol.name)
    for event in events:
        accumulator.add(event, READ_AT)
    whole = any(isinstance(event, Finished) for event in events)
    return accumulator.answer() if whole else accumulator.cut_short(READ_AT)
