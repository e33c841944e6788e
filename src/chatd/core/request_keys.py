"""Keys that clients give to requests, so that one whose answer was lost can be sent again and is done once."""

import hashlib
from typing import Final
from uuid import UUID

from chatd.core.errors import InvalidRequest, Validation

HEADER: Final = "Idempotency-Key"
LONGEST: Final = 255  # characters, as other services have it; a UUID has 36


def check_key(key: str) -> None:
    """Raises InvalidRequest."""
    if not key or len(key) > LONGEST or not key.isascii() or not key.isprintable():
        rule = f"1 to {LONGEST} printable ASCII characters"
        raise InvalidRequest(f"Check the header {HEADER}.", validations=[Validation(HEADER, rule)])


def chat_id_of(owner_id: UUID, key: str) -> UUID:
    """Of the one chat that this key of this user makes."""
    return _hashed("chat", owner_id.bytes, key.encode())


def fork_id_of(owner_id: UUID, source_id: UUID, key: str) -> UUID:
    """Of the one fork of a chat that this key of this user makes."""
    return _hashed("fork", owner_id.bytes, source_id.bytes, key.encode())


def send_id_of(key: str) -> UUID:
    """The same for the same key; of a fixed length, whatever the client has taken."""
    return _hashed("send", key.encode())


def build_key_of(call_key: str) -> UUID:
    """Of the one build of a workspace that a call of a tool makes."""
    return _hashed("build", call_key.encode())


def workspace_key_of(owner_id: UUID, key: str) -> UUID:
    """Of the one workspace that this key of this user makes."""
    return _hashed("workspace", owner_id.bytes, key.encode())


def fingerprint_of(request: bytes) -> UUID:
    """Tells whether a request with a known key is the one that the key was first given with."""
    return _hashed("request", request)


def _hashed(purpose: str, *pieces: bytes) -> UUID:
    """A UUID of version 8, which is for such uses. The length of a piece stands before it, so that none can run into
    the next."""
    hashed = hashlib.sha256(purpose.encode())
    for piece in pieces:
        hashed.update(len(piece).to_bytes(8, "big") + piece)
    number = int.from_bytes(hashed.digest()[:16], "big")
    return UUID(int=(number & ~(0xF << 76) & ~(0x3 << 62)) | (8 << 76) | (0b10 << 62))
