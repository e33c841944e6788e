"""What two replicas say to each other: small messages, each in a frame with its length before it."""

from collections.abc import Iterator
from typing import Final
from uuid import UUID

import msgspec

# Moves when a message changes its meaning. Replicas of different versions leave each other alone: their clients
# get stored messages, and no live parts of the other's chats until the upgrade is through.
VERSION: Final = 1
LENGTH_BYTES: Final = 4
_Key = tuple[int, int]  # history version and attempt: which episode of the chat


class FrameRefused(Exception):
    """What came is none of our messages."""


class _Message(msgspec.Struct, frozen=True, array_like=True, gc=False):
    pass


# Of who follows


class Hello(_Message, frozen=True, tag=1):
    version: int


class Follow(_Message, frozen=True, tag=2):
    """Send what there is of a chat from an episode on, of which `seq` parts are here. `number` stands for it from now
    on."""

    number: int
    chat_id: UUID
    key: _Key
    seq: int


class Leave(_Message, frozen=True, tag=3):
    number: int


class Ping(_Message, frozen=True, tag=4):
    """Answered by a Pong. Whoever hears nothing for long takes the other for dead."""


# Of who runs chats


class Welcome(_Message, frozen=True, tag=10):
    version: int


class Following(_Message, frozen=True, tag=11):
    """The first answer to Follow: the episodes that there are, oldest first."""

    number: int
    keys: tuple[_Key, ...]


class Opened(_Message, frozen=True, tag=12):
    number: int
    key: _Key


class Parts(_Message, frozen=True, tag=13):
    """Parts from `first` on, as a checkpoint would hold them."""

    number: int
    key: _Key
    first: int
    previews: str


class Live(_Message, frozen=True, tag=14):
    """The last words of running tools, by call."""

    number: int
    key: _Key
    said: tuple[tuple[str, str], ...]


class Closed(_Message, frozen=True, tag=15):
    """There are no more parts of this one."""

    number: int
    key: _Key


class Pong(_Message, frozen=True, tag=16):
    pass


Asked = Hello | Follow | Leave | Ping
Told = Welcome | Following | Opened | Parts | Live | Closed | Pong

# Of one frame. What is asked is small. What is told may be a single part as large as an episode can be, half of whose
# characters are written as six.
MOST_ASKED: Final = 1024
MOST_TOLD: Final = 64 * 1024 * 1024
_ENCODER: Final = msgspec.msgpack.Encoder()
_ASKED: Final = msgspec.msgpack.Decoder(Asked)
_TOLD: Final = msgspec.msgpack.Decoder(Told)


def frame(message: Asked | Told) -> bytes:
    body = _ENCODER.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_asked(body: bytes) -> Asked:
    """Raises FrameRefused."""
    try:
        return _ASKED.decode(body)
    except msgspec.DecodeError as error:
        raise FrameRefused(str(error)) from error


def read_told(body: bytes) -> Told:
    """Raises FrameRefused."""
    try:
        return _TOLD.decode(body)
    except msgspec.DecodeError as error:
        raise FrameRefused(str(error)) from error


class FrameCutter:
    """Bytes as they come into the bodies of whole frames."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Raises FrameRefused for a frame that is too long, as soon as its length is there."""
        rest = self._rest
        rest += data
        begin = 0
        while len(rest) - begin >= LENGTH_BYTES:
            size = int.from_bytes(rest[begin : begin + LENGTH_BYTES], "big")
            if size > self._most:
                raise FrameRefused(f"a frame of {size} bytes")
            end = begin + LENGTH_BYTES + size
            if len(rest) < end:
                break
            yield bytes(rest[begin + LENGTH_BYTES : end])
            begin = end
        del rest[:begin]
