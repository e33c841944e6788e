"""Secrets at rest: AES-256-GCM with the key's id in the value, so that several keys can be read at once.

It keeps secrets from whoever reads the database or a backup. It does not bind a value to its row: who can write to the
database can put one secret in another's place.
"""

import base64
import binascii
import hashlib
import hmac
import os
import re
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from chatd.core.errors import UnreadableSecret
from chatd.core.secret import Secret

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12  # what GCM is defined for; random nonces are safe for 2^32 values per key
_SHAPE: Final = re.compile(r"^enc1:([0-9a-f]{16}):([A-Za-z0-9+/=]+)$")


class EncryptionKey:
    """One 32-byte key and its public id."""

    __slots__ = ("_aead", "_signing_key", "id")

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"an encryption key has {KEY_BYTES} bytes, not {len(key)}")
        self.id: Final = hashlib.sha256(b"chatd encryption key id\0" + key).hexdigest()[:16]
        self._aead = AESGCM(key)
        self._signing_key = hmac.digest(key, b"chatd signing key", "sha256")

    @classmethod
    def from_text(cls, text: str) -> "EncryptionKey":
        """Base64, as `chatd keys new` prints it. The text never appears in the error."""
        try:
            return cls(base64.b64decode(text.strip(), validate=True))
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"an encryption key is {KEY_BYTES} bytes in base64") from error

    def seal(self, plain: str) -> str:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._aead.encrypt(nonce, plain.encode("utf-8", "surrogatepass"), self.id.encode())
        return f"enc1:{self.id}:{base64.b64encode(nonce + sealed).decode()}"

    def open(self, sealed: bytes) -> str:
        plain = self._aead.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], self.id.encode())
        return plain.decode("utf-8", "surrogatepass")

    def sign(self, purpose: str, message: bytes) -> bytes:
        """32 bytes that only a holder of the key can make, for this purpose and no other."""
        return hmac.digest(hmac.digest(self._signing_key, purpose.encode(), "sha256"), message, "sha256")

    def __repr__(self) -> str:
        return f"EncryptionKey({self.id})"


def new_key_text() -> str:
    return base64.b64encode(os.urandom(KEY_BYTES)).decode()


class Cipher:
    """A ring of keys: the first encrypts, all decrypt."""

    def __init__(self, keys: Sequence[EncryptionKey]) -> None:
        if not keys:
            raise ValueError("at least one encryption key is needed")
        self.primary: Final = keys[0]
        self._by_id = {key.id: key for key in keys}

    @property
    def key_ids(self) -> tuple[str, ...]:
        return tuple(self._by_id)

    def encrypt(self, secret: Secret) -> Secret:
        return Secret(self.primary.seal(secret.reveal()))

    def decrypt(self, stored: Secret) -> Secret:
        match = _SHAPE.fullmatch(stored.reveal())
        if match is None:
            raise UnreadableSecret("?", "the value is not in chatd's format.")
        key = self._by_id.get(match[1])
        if key is None:
            raise UnreadableSecret(match[1], "that key is not configured.")
        try:
            return Secret(key.open(base64.b64decode(match[2])))
        except (InvalidTag, binascii.Error, UnicodeDecodeError) as error:
            raise UnreadableSecret(key.id, "the value is damaged.") from error

    def sign(self, purpose: str, message: bytes) -> bytes:
        """With the primary key."""
        return self.primary.sign(purpose, message)

    def is_signed(self, purpose: str, message: bytes, signature: bytes) -> bool:
        """With any of the keys: a replica may have another primary one while they are rotated."""
        signed = [hmac.compare_digest(key.sign(purpose, message), signature) for key in self._by_id.values()]
        return any(signed)

    def is_current(self, stored: Secret) -> bool:
        """Whether the value is under the primary key already."""
        return stored.reveal().startswith(f"enc1:{self.primary.id}:")
