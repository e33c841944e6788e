"""The only source of randomness: ids, tokens, codes."""

import os
import secrets
import threading
from datetime import datetime
from typing import Final
from uuid import UUID

from chatd.core.secret import Secret
from chatd.core.tokens import TOKEN_PREFIX

_RANDOM_BITS: Final = 74  # what RFC 9562 leaves beside the 48-bit milliseconds, the version and the variant
_CODE_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that looks like something else
_CODE_LENGTH: Final = 16  # 80 bits

_lock = threading.Lock()
_last = 0


def uuid7(now: datetime) -> UUID:
    """Mint a UUIDv7 for that time; ids minted later in one process always sort later, even within a millisecond."""
    global _last  # noqa: PLW0603 - order within a millisecond needs the last id, whoever asked for it
    fresh = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
    with _lock:
        minted = max((int(now.timestamp() * 1000) << _RANDOM_BITS) | fresh, _last + 1)
        _last = minted
    milliseconds, random = minted >> _RANDOM_BITS, minted & ((1 << _RANDOM_BITS) - 1)
    high, low = random >> 62, random & ((1 << 62) - 1)
    return UUID(int=(milliseconds << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | low)


def new_token() -> Secret:
    """An opaque token of 256 random bits."""
    return Secret(TOKEN_PREFIX + secrets.token_urlsafe(32))


def new_setup_code() -> Secret:
    """Easy to read aloud and to type: four groups of four."""
    letters = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
    return Secret("-".join(letters[at : at + 4] for at in range(0, _CODE_LENGTH, 4)))


def new_host_id() -> str:
    """128 random bits: two machines never get the same."""
    return secrets.token_hex(16)


def new_suffix() -> str:
    """Four hex digits, to tell names apart."""
    return secrets.token_hex(2)
