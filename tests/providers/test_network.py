"""The way to a vendor: proxies, trusted certificates, and addresses that are not asked."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chatd.core.failure import FailureSignals, Fault, classify
from chatd.core.secret import Secret
from chatd.providers.network import Proxy, vendor_socket
from chatd.providers.transport import Transport, TransportFault, open_transport
from providers.posting import WHOLE, body, fault, request
from providers.raw_vendor import Talk, Vendor, says, vendor

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "169.254.170.2", "100.100.100.200", "[fd00:ec2::254]", "[::ffff:169.254.169.254]"]
)
async def test_addresses_at_which_clouds_give_out_credentials_are_not_asked(host: str):
    async with open_transport() as transport:
        told = await fault(transport, request(f"http://{host}/latest"))

    assert told.fault is Fault.ADDRESS
    assert not classify(FailureSignals(fault=told.fault, text=told.text), NOW).retryable


def test_an_address_at_which_containers_find_their_host_is_asked():
    vendor_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("169.254.1.2", 11434))).close()


def test_connections_are_kept_alive_while_a_model_thinks():
    with vendor_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))) as made:
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60


@asynccontextmanager
async def proxy(talk: Talk, no_proxy: str = "") -> AsyncIterator[tuple[Vendor, Transport]]:
    async with vendor(talk) as (running, _):
        url = Secret(running.url.removesuffix("/v1").replace("//", "//ada:p%40ss@"))
        async with open_transport(proxy=url, no_proxy=no_proxy) as transport:
            yield running, transport


async def test_a_vendor_is_asked_through_the_proxy_with_its_password():
    async with proxy(WHOLE) as (running, transport):
        assert await body(transport, request("http://vendor.test/v1/x%3A0")) == b"hello"

    first, *lines = running.heads[0].decode().split("\r\n")
    assert first == "POST http://vendor.test/v1/x%3A0 HTTP/1.1"
    assert "Proxy-Authorization: Basic YWRhOnBAc3M=" in lines


async def test_this_machine_is_asked_without_the_proxy():
    async with proxy(says()) as (running, transport), vendor(WHOLE) as (local, _):
        assert await body(transport, request(local.url)) == b"hello"

    assert running.connections == 0


@pytest.mark.parametrize(
    ("no_proxy", "host", "is_direct"),
    [
        ("", "api.vendor.test", False),
        ("vendor.test", "api.vendor.test", True),
        (".vendor.test, other", "api.vendor.test", True),
        ("*.vendor.test", "API.vendor.test", True),
        ("vendor.test", "evilvendor.test", False),
        ("vendor.test:443", "vendor.test", True),
        ("vendor.test:80", "vendor.test", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("fd00::/8", "fd00::1", True),
        ("[fd00::1]", "fd00::1", True),
        ("[fd00::1]:443", "fd00::1", True),
        ("[fd00::1]:80", "fd00::1", False),
        ("*", "api.vendor.test", True),
        (",", "api.vendor.test", False),
        ("", "localhost", True),
        ("", "x.localhost", True),
        ("", "::1", True),
    ],
)
def test_no_proxy_names_hosts_that_are_asked_directly(no_proxy: str, host: str, is_direct: bool):
    assert (Proxy(Secret("http://p:1"), no_proxy).for_host(host, 443) is None) is is_direct
    assert Proxy().for_host(host, 443) is None


@pytest.mark.parametrize(("status", "found"), [("407 No", Fault.PROXY), ("403 No", Fault.PROXY)])
async def test_a_proxy_that_refuses_is_a_matter_of_configuration(status: str, found: Fault):
    told = await _through_a_proxy_that_says(status)

    assert told.fault is found
    assert "p@ss" not in told.text
    assert "ada" not in told.text


async def test_a_proxy_that_reaches_nobody_is_worth_another_try():
    told = await _through_a_proxy_that_says("502 Bad Gateway")

    assert classify(FailureSignals(fault=told.fault, text=told.text), NOW).retryable


async def _through_a_proxy_that_says(status: str) -> TransportFault:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    url = Secret(f"http://ada:p%40ss@127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        async with open_transport(proxy=url) as transport:
            return await fault(transport, request("https://vendor.test/v1"))
    finally:
        server.close()


async def test_the_operators_certificates_are_trusted_and_no_others(tmp_path: Path):
    trusted = _certificate(tmp_path)
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(trusted)
    running = Vendor(WHOLE)
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0, ssl=server_side)
    asked = request(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    try:
        async with open_transport(ca=trusted) as transport:
            assert await body(transport, asked) == b"hello"
        async with open_transport() as transport:
            told = await fault(transport, asked)
    finally:
        server.close()

    assert told.fault is Fault.TLS


async def test_plain_text_in_place_of_tls_is_a_matter_of_trust():
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        async with open_transport() as transport:
            told = await fault(transport, request(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"))
    finally:
        server.close()

    assert told.fault is Fault.TLS


def _certificate(folder: Path) -> Path:
    """A certificate for this machine that signs itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "vendor")])
    now = datetime.now(UTC)  # noqa: TID251 - TLS compares with the real clock
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "vendor.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path
