"""Ids: time-ordered UUIDs minted here, one type per thing they name."""

import os
import threading
from typing import NewType
from uuid import UUID

UserId = NewType("UserId", UUID)
GroupId = NewType("GroupId", UUID)
TokenId = NewType("TokenId", UUID)

_RANDOM_BITS = 74  # what RFC 9562 leaves beside the 48-bit milliseconds, the version and the variant
_lock = threading.Lock()
_last = 0


def uuid7(unix_milliseconds: int) -> UUID:
    """Mint a UUIDv7 for that time; ids minted later in one process always sort later, even within a millisecond."""
    global _last
    fresh = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
    with _lock:
        minted = max((unix_milliseconds << _RANDOM_BITS) | fresh, _last + 1)
        _last = minted
    milliseconds, random = minted >> _RANDOM_BITS, minted & ((1 << _RANDOM_BITS) - 1)
    high, low = random >> 62, random & ((1 << 62) - 1)
    return UUID(int=(milliseconds << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | low)
