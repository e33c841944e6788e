"""How replicas know each other: by certificates of an authority whose key is a secret in the database.

TLS does the rest. Whoever can read that secret is a replica; nobody else can listen in, ask, or stand in for one. A
certificate names the replica that it is for, so that an address which has a new tenant is not taken for the old one.
"""

import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from chatd.core.access import KEYRING
from chatd.core.errors import StartRefused
from chatd.core.secret import Secret
from chatd.store.actor import acting_as
from chatd.store.store import Store

SECRET_NAME: Final = "relay_authority"
_AUTHORITY: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "chatd replicas")])
# They end with the process that made them, or with the secret: machines whose clocks differ must not refuse each other.
_FROM: Final = datetime(2020, 1, 1, tzinfo=UTC)
_TO: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)  # "never", as RFC 5280 spells it


class Credentials(msgspec.Struct, frozen=True):
    """Of one replica: to be asked, and to ask."""

    listening: ssl.SSLContext
    dialling: ssl.SSLContext


def name_of(replica_id: UUID) -> str:
    """The host name in the certificate of a replica, whatever its address is."""
    return f"{replica_id}.replica.chatd"


async def load_credentials(store: Store, replica_id: UUID) -> Credentials:
    """Made anew for this replica. The first replica of a deployment makes the authority."""
    with acting_as(KEYRING):
        secret = await store.get_secret(name=SECRET_NAME)
        if secret is None:
            # Of two that do so at once, the first one's is kept.
            await store.insert_secret_if_absent(name=SECRET_NAME, value=_new_authority())
            secret = await store.get_secret(name=SECRET_NAME)
    assert secret is not None, "it was just stored"
    return issue(secret, replica_id)


def issue(authority: Secret, replica_id: UUID) -> Credentials:
    key = load_pem_private_key(authority.reveal().encode(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise StartRefused(
            "The secret that replicas know each other by can't be read.",
            detail=f"Delete the row {SECRET_NAME} of the table secrets and start all replicas again.",
        )
    root = _certificate(_AUTHORITY, key.public_key(), key, is_authority=True)
    own = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, str(replica_id))])
    leaf = _certificate(subject, own.public_key(), key, host=name_of(replica_id))
    trusted = root.public_bytes(Encoding.PEM).decode()
    listening = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    dialling = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with tempfile.TemporaryDirectory(prefix="chatd-") as folder:  # the ssl module reads keys from files alone
        path = Path(folder, "replica.pem")
        pem = own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + leaf.public_bytes(Encoding.PEM)
        path.write_bytes(pem)  # nobody else may enter the folder
        for context in (listening, dialling):
            context.load_cert_chain(path)
            context.load_verify_locations(cadata=trusted)
            context.verify_mode = ssl.CERT_REQUIRED
            context.minimum_version = ssl.TLSVersion.TLSv1_3
    return Credentials(listening, dialling)


def _new_authority() -> Secret:
    key = ec.generate_private_key(ec.SECP256R1())
    return Secret(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


def _certificate(
    subject: x509.Name,
    key: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool = False,
    host: str | None = None,
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_AUTHORITY)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_TO)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if host is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    return builder.sign(signer, hashes.SHA256())
