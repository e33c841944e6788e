"""A message that only one browser can read: RFC 8291, in the content coding aes128gcm of RFC 8188, as one record."""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chatd.core.secret import Secret

RECORD_BYTES: Final = 4096  # what every push service takes at least
AUTH_BYTES: Final = 16
POINT_BYTES: Final = 65  # an uncompressed point of P-256
_SALT_BYTES: Final = 16
_HEAD_BYTES: Final = _SALT_BYTES + 4 + 1 + POINT_BYTES
MOST_BYTES: Final = RECORD_BYTES - _HEAD_BYTES - 16 - 1  # of the message, beside the tag and the delimiter
_LAST_RECORD: Final = b"\x02"


class BrowserKeys(msgspec.Struct, frozen=True):
    """Of a subscription. `auth` is base64url."""

    p256dh: bytes
    auth: Secret


def encrypted(
    message: bytes, keys: BrowserKeys, *, own: ec.EllipticCurvePrivateKey | None = None, salt: bytes | None = None
) -> bytes:
    """The body of a request. `own` and `salt` are new each time but in tests. Raises ValueError when it is too long."""
    if len(message) > MOST_BYTES:
        raise ValueError(f"a push message of {len(message)} bytes is too long")
    own = own or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(_SALT_BYTES)
    own_point = point_of(own.public_key())
    shared = own.exchange(ec.ECDH(), public_key(keys.p256dh))
    auth = from_base64url(keys.auth.reveal())
    secret = _derived(shared, auth, b"WebPush: info\0" + keys.p256dh + own_point, 32)
    key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    sealed = AESGCM(key).encrypt(nonce, message + _LAST_RECORD, None)
    return salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(own_point)]) + own_point + sealed


def public_key(point: bytes) -> ec.EllipticCurvePublicKey:
    """Raises ValueError for what is no point of the curve, or is written in another way."""
    if len(point) != POINT_BYTES:
        raise ValueError("not an uncompressed point of P-256")
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except UnsupportedAlgorithm as error:
        raise ValueError("not a point of P-256") from error


def point_of(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """With or without padding. Raises ValueError."""
    bare = text.rstrip("=")
    data = urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    if base64url(data) != bare:  # the decoder leaves out what it does not know
        raise ValueError("not base64url")
    return data


def _derived(secret: bytes, salt: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=purpose).derive(secret)
