"""A push service and its browsers: HTTPS on a real socket. It takes what RFC 8030, 8291 and 8292 allow, and no more."""

import asyncio
import ipaddress
import os
import re
import ssl
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import NameOID

from chatd.clock import Clock, SystemClock
from chatd.testing.vendors.http_exchange import MOST_HEAD_BYTES, Incoming, Outgoing, read_request

_AUTHORIZATION: Final = re.compile(r"vapid t=([\w-]+)\.([\w-]+)\.([\w-]+),\s*k=([\w-]+)")
_MOST_BYTES: Final = 4096
_TOPIC: Final = re.compile(r"[\w-]{1,32}")


class Received(msgspec.Struct, frozen=True):
    """A message as a service worker gets it, and with which headers it came."""

    message: Any
    headers: Mapping[str, str]


class Answer(msgspec.Struct, frozen=True):
    """What the service says to the next good message; `hold` lets it wait until it is set."""

    status: int = 201
    headers: Mapping[str, str] = {}
    hold: asyncio.Event | None = None


class Browser:
    """A subscription, with the keys that only the browser has."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.received: list[Received] = []
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._auth = os.urandom(16)
        self._point = _point(self._private.public_key())

    def subscription(self) -> dict[str, str]:
        """The body of the request to subscribe."""
        return {"endpoint": self.endpoint, "auth_key": _text(self._auth), "p256dh_key": _text(self._point)}

    def decrypt(self, body: bytes) -> bytes:
        """Raises ValueError or InvalidTag."""
        salt, record_bytes, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        if length != 65 or record_bytes < len(sealed):
            raise ValueError("not one record of a sender with a key of P-256")
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self._private.exchange(ec.ECDH(), public)
        secret = _hkdf(self._auth, shared, b"WebPush: info\0" + self._point + sender, 32)
        key = _hkdf(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _hkdf(salt, secret, b"Content-Encoding: nonce\0", 12)
        padded = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        if not padded.endswith(b"\x02"):
            raise ValueError("not the last record")
        return padded[:-1]


class PushServer:
    """`answers` are given one after the other, then 201. What was wrong with messages is in `faults`."""

    def __init__(self, url: str, ca: Path, clock: Clock) -> None:
        self.url = url
        self.ca = ca
        self.answers: list[Answer] = []
        self.faults: list[str] = []
        self.requests = 0
        self.application_key = ""  # what pages give when they subscribe; empty for whatever comes
        self._clock = clock
        self._browsers: dict[str, Browser] = {}
        self._changed = asyncio.Condition()

    def browser(self) -> Browser:
        path = f"/push/{_text(os.urandom(24))}"
        made = self._browsers[path] = Browser(f"{self.url}{path}")
        return made

    async def until(self, *, requests: int) -> None:
        """That so many have been answered in all."""
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(lambda: self.requests >= requests)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (incoming := await read_request(reader)) is not None:
                answer = self._answer(incoming)
                if answer.hold is not None:
                    await answer.hold.wait()
                await Outgoing(reader, writer).whole(
                    answer.status, b"", content_type="text/plain", headers=answer.headers
                )
                async with self._changed:
                    self.requests += 1
                    self._changed.notify_all()
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.transport.abort()

    def _answer(self, incoming: Incoming) -> Answer:
        browser = self._browsers.get(incoming.path)
        if browser is None:
            return Answer(404)
        try:
            self._check(incoming)
            message = msgspec.json.decode(browser.decrypt(incoming.body))
        except (ValueError, InvalidSignature, InvalidTag) as error:
            self.faults.append(str(error) or type(error).__name__)
            return Answer(400)
        answer = self.answers.pop(0) if self.answers else Answer()
        if 200 <= answer.status < 300:
            browser.received.append(Received(message, incoming.headers))
        return answer

    def _check(self, incoming: Incoming) -> None:
        headers = incoming.headers
        if len(incoming.body) > _MOST_BYTES:
            raise ValueError(f"a message of {len(incoming.body)} bytes is too large")
        if headers.get("content-encoding") != "aes128gcm" or not headers.get("ttl", "").isdigit():
            raise ValueError(f"the headers are wrong: {headers}")
        if not _TOPIC.fullmatch(headers.get("topic", "x")):
            raise ValueError("the topic is wrong")
        said = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
        if said is None:
            raise ValueError("no VAPID")
        head, body, signature, key = said.groups()
        if self.application_key and key != self.application_key:
            raise ValueError("not the key that the browser was given")
        _verify(f"{head}.{body}".encode(), _bytes(signature), _bytes(key))
        if msgspec.json.decode(_bytes(head)) != {"typ": "JWT", "alg": "ES256"}:
            raise ValueError("not ES256")
        claims = msgspec.json.decode(_bytes(body))
        left = claims["exp"] - self._clock.now().timestamp()
        if claims["aud"] != self.url or not 0 < left <= timedelta(days=1).total_seconds():
            raise ValueError(f"the claims are wrong: {claims}")
        if not claims["sub"].startswith(("mailto:", "https://")):
            raise ValueError("nobody to write to")


@asynccontextmanager
async def push_server(folder: Path, *, clock: Clock | None = None) -> AsyncGenerator[PushServer]:
    """Serves with a certificate of its own, which is in the file `ca`."""
    certificate = _certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    connections: set[asyncio.Task[None]] = set()
    service = PushServer("", certificate, clock or SystemClock())
    async with asyncio.TaskGroup() as group:

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = group.create_task(service.serve(reader, writer), name="push server connection")
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context, limit=MOST_HEAD_BYTES)
        service.url = f"https://localhost:{server.sockets[0].getsockname()[1]}"
        try:
            yield service
        finally:
            server.close()
            for task in connections:
                task.cancel()


def _certificate(folder: Path) -> Path:
    """With its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "push server")])
    names: Sequence[x509.GeneralName] = [
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2000, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2100, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "push-server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


def _verify(data: bytes, signature: bytes, point: bytes) -> None:
    numbers = [int.from_bytes(half, "big") for half in (signature[:32], signature[32:])]
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    key.verify(encode_dss_signature(*numbers), data, ec.ECDSA(hashes.SHA256()))


def _hkdf(salt: bytes, secret: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=purpose).derive(secret)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
