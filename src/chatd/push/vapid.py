"""Who a push message comes from: the key pair of the deployment, and a signed statement for each push service.

RFC 8292. Browsers are given the public key when they subscribe, and their push service takes messages only from
whoever has the private one. It is made once, and never replaced: every subscription would end with it.
"""

from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from chatd.core.access import PUSHER
from chatd.core.errors import NotFound
from chatd.core.secret import Secret
from chatd.push.encryption import base64url, from_base64url, point_of
from chatd.store.actor import acting_as
from chatd.store.store import Store

SECRET_NAME: Final = "push_key"  # in the table `secrets`
_VALID_FOR: Final = timedelta(hours=12)  # a day is the most; clocks may differ
_HALF: Final = 32  # bytes of a number of P-256
_HTTPS_PORT: Final = 443
_HEADER: Final = base64url(b'{"typ":"JWT","alg":"ES256"}')


class PushKey:
    """The key pair. `public` is what browsers call applicationServerKey."""

    def __init__(self, private: ec.EllipticCurvePrivateKey) -> None:
        self._private = private
        self.public = base64url(point_of(private.public_key()))

    @classmethod
    def read(cls, stored: Secret) -> "PushKey":
        """Raises ValueError."""
        number = int.from_bytes(from_base64url(stored.reveal()), "big")
        return cls(ec.derive_private_key(number, ec.SECP256R1()))

    @classmethod
    def new(cls) -> "PushKey":
        return cls(ec.generate_private_key(ec.SECP256R1()))

    def stored(self) -> Secret:
        number = self._private.private_numbers().private_value
        return Secret(base64url(number.to_bytes(_HALF, "big")))

    def authorization(self, endpoint: str, *, contact: str, now: datetime) -> str:
        """The header for a request to this endpoint."""
        claims = {"aud": origin(endpoint), "exp": int((now + _VALID_FOR).timestamp()), "sub": contact}
        signed = f"{_HEADER}.{base64url(msgspec.json.encode(claims))}"
        r, s = decode_dss_signature(self._private.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        signature = base64url(r.to_bytes(_HALF, "big") + s.to_bytes(_HALF, "big"))
        return f"vapid t={signed}.{signature},k={self.public}"


async def load_push_key(store: Store) -> PushKey:
    """The deployment's. Of several replicas that start together on a new database one makes it."""
    with acting_as(PUSHER):
        stored = await store.get_secret(name=SECRET_NAME)
        if stored is None:
            await store.insert_secret_if_absent(name=SECRET_NAME, value=PushKey.new().stored())
            stored = await store.get_secret(name=SECRET_NAME)
    if stored is None:
        raise NotFound("Push key")
    return PushKey.read(stored)


def origin(endpoint: str) -> str:
    """All of an endpoint that is no secret, as RFC 6454 writes it."""
    parts = urlsplit(endpoint)
    host = parts.hostname or ""
    port = "" if parts.port in (None, _HTTPS_PORT) else f":{parts.port}"
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
