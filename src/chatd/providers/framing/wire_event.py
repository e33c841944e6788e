"""One framed event of a vendor's stream, before anyone knows what it means."""

from typing import Final

import msgspec

MOST_EVENT_BYTES: Final = 16 * 1024 * 1024  # an image of 10 MiB in base64 fits; more is a broken vendor


class WireEvent(msgspec.Struct, frozen=True, gc=False):
    """`name` is empty where the framing gave none. `data` is what the vendor put into it, most often JSON."""

    name: str
    data: bytes


class UnreadableStream(ValueError):
    """Bytes or JSON that no vendor should send. The message is for logs: it may quote what came."""
