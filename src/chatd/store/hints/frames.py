"""Hints as frames of a limited size: small ones share a frame, a large one travels in pieces.

Pure: bytes in, hints out. Frames of one sender must arrive in the order in which they were sent, as NOTIFY
and NATS do; a frame that is missing within a large hint is noticed and reported.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from chatd.store.hints.subscribers import Hint

PAYLOAD_LIMIT = 1_000_000  # bytes; what a hint may carry, and it fits into one NATS message (1 MiB)
TOPIC_LIMIT = 200  # bytes; a kind and one or two ids
PARTIAL_LIMIT = 32  # large hints under way from as many senders: at most 32 MB of memory
PARTIAL_SECONDS = 30.0  # pieces leave together, so a hint still incomplete after this will stay so
_HINT_OVERHEAD = 16  # bytes of msgpack around a topic and a payload: the lengths of both and the pair
_PIECE_OVERHEAD = 64  # bytes of msgpack around a piece: tag, sender, three numbers and the lengths


class Batch(msgspec.Struct, frozen=True, array_like=True, tag="b"):
    """Hints that are whole."""

    hints: list[tuple[str, bytes]]


class Piece(msgspec.Struct, frozen=True, array_like=True, tag="p"):
    """Part `index` of the `count` parts of one hint; `number` tells a sender's large hints apart."""

    sender: bytes
    number: int
    index: int
    count: int
    topic: str
    part: bytes


class Dropped(msgspec.Struct, frozen=True, array_like=True, tag="d"):
    """The sender had to throw hints away: everyone may have missed something."""


class Missing(msgspec.Struct, frozen=True):
    """Something did not arrive, about one topic or (None) about any."""

    topic: str | None


Frame = Batch | Piece | Dropped
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)


class Cutter:
    """Makes the frames of one sender."""

    def __init__(self, sender: bytes) -> None:
        self._sender = sender
        self._number = 0

    def cut(self, hints: Iterable[Hint], *, dropped: bool, limit: int) -> list[bytes]:
        """Frames of at most `limit` bytes that carry the hints in order; with `dropped`, a Dropped first."""
        frames: list[bytes] = [_encoder.encode(Dropped())] if dropped else []
        together: list[tuple[str, bytes]] = []
        whole = limit - _HINT_OVERHEAD  # a batch has an overhead of its own
        room = whole
        for hint in hints:
            size = len(hint.topic.encode()) + len(hint.payload) + _HINT_OVERHEAD
            if together and size > room:
                frames.append(_encoder.encode(Batch(together)))
                together, room = [], whole
            if size > whole:
                frames.extend(self._pieces(hint, limit))
            else:
                together.append((hint.topic, hint.payload))
                room -= size
        if together:
            frames.append(_encoder.encode(Batch(together)))
        return frames

    def _pieces(self, hint: Hint, limit: int) -> Iterator[bytes]:
        self._number += 1
        step = limit - _PIECE_OVERHEAD - len(hint.topic.encode())
        count = -(-len(hint.payload) // step)
        for index in range(count):
            part = hint.payload[index * step : (index + 1) * step]
            yield _encoder.encode(Piece(self._sender, self._number, index, count, hint.topic, part))


class _Partial:
    """A large hint under way from one sender; `broken` once a piece was missed and reported."""

    def __init__(self, first: Piece, started: float) -> None:
        self.topic = first.topic
        self.number = first.number
        self.started = started
        self.parts: list[bytes] = []
        self.size = 0
        self.broken = False

    def accepts(self, piece: Piece) -> bool:
        return piece.index == len(self.parts) and self.size + len(piece.part) <= PAYLOAD_LIMIT

    def add(self, part: bytes) -> None:
        self.parts.append(part)
        self.size += len(part)

    def give_up(self) -> Missing:
        self.broken = True
        self.parts, self.size = [], 0
        return Missing(self.topic)


class Joiner:
    """Puts the frames of all senders back together. Bounded in number, size and age of what is incomplete."""

    def __init__(self) -> None:
        self._partials: dict[bytes, _Partial] = {}  # one a sender, the oldest first

    def feed(self, frame: bytes, now: float) -> Sequence[Hint | Missing]:
        """What this frame completes or shows to be missing. `now` is any clock that only grows."""
        try:
            read = _decoder.decode(frame)
        except (msgspec.DecodeError, UnicodeDecodeError):  # another version's, or not ours
            return [Missing(None)]
        match read:
            case Batch():
                return [Hint(topic, payload) for topic, payload in read.hints]
            case Dropped():
                return [Missing(None)]
            case Piece():
                return [*self.expire(now), *self._join(read, now)]

    def expire(self, now: float) -> list[Missing]:
        """Give up what is too old; call now and then, for a last piece that was lost."""
        old = [s for s, partial in self._partials.items() if now - partial.started > PARTIAL_SECONDS]
        return self._discard(old)

    def _join(self, piece: Piece, now: float) -> Iterator[Hint | Missing]:
        partial = self._partials.get(piece.sender)
        if partial is None or partial.number != piece.number:
            if partial is not None:
                yield from self._discard([piece.sender])
            partial = self._partials[piece.sender] = _Partial(piece, now)
            yield from self._discard(list(self._partials)[:-PARTIAL_LIMIT])
        if partial.broken:
            return
        if not partial.accepts(piece):
            yield partial.give_up()
            return
        partial.add(piece.part)
        if len(partial.parts) >= piece.count:
            del self._partials[piece.sender]
            yield Hint(partial.topic, b"".join(partial.parts))

    def _discard(self, senders: list[bytes]) -> list[Missing]:
        gone = [self._partials.pop(sender) for sender in senders]
        return [Missing(partial.topic) for partial in gone if not partial.broken]
