"""What leaves towards a vendor, by which way, and what the network's failures are."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chatd.core.failure import FailureSignals, Fault, classify
from chatd.core.secret import Secret
from chatd.providers.network import Proxy, vendor_socket
from chatd.providers.transport import OutboundRequest, Transport, TransportFault, as_fault, as_written, open_transport
from providers.raw_vendor import Talk, Vendor, chunk, head, says, vendor

WAIT_SECONDS = 30.0  # of real time, for what takes milliseconds
NOW = datetime(2026, 3, 1, tzinfo=UTC)
WHOLE = says(head(), chunk(b"hello"), chunk(b""))


def request(url: str, **headers: str) -> OutboundRequest:
    return OutboundRequest(url, b"{}", headers)


async def body(transport: Transport, asked: OutboundRequest) -> bytes:
    async with asyncio.timeout(WAIT_SECONDS), transport.post(asked) as response:
        return await response.read()


async def fault(transport: Transport, asked: OutboundRequest) -> TransportFault:
    with pytest.raises(TransportFault) as caught:
        await body(transport, asked)
    return caught.value


async def test_a_redirect_is_not_followed_so_that_no_key_goes_elsewhere():
    async with vendor(WHOLE) as (elsewhere, _):
        moved = says(head("307 Moved", extra=f"Location: {elsewhere.url}\r\n"), chunk(b""))
        async with vendor(moved) as (running, transport):
            assert await body(transport, request(running.url, **{"x-api-key": "k"})) == b""

    assert (running.requests, elsewhere.requests) == (1, 0)


@pytest.mark.parametrize(
    "path",
    ["/model/anthropic.claude-x-v1%3A0/invoke", "/model/arn%3Aaws%3Abedrock%2Fp/x", "/a:b/c@d", "/v1?alt=sse"],
)
async def test_a_path_is_sent_as_it_was_signed(path: str):
    async with vendor(WHOLE) as (running, transport):
        await body(transport, request(running.url.removesuffix("/v1") + path))

    assert running.heads[0].split(b" ")[1] == path.encode()


def test_a_path_is_written_so_that_the_network_takes_it():
    assert str(as_written("http://h/ä b?q=1")) == "http://h/%C3%A4%20b?q=1"
    assert str(as_written("http://bücher.test/v1")) == "http://xn--bcher-kva.test/v1"


@pytest.mark.parametrize("url", ["http://a..b/v1", "http://h:99999/v1", "ftp://h/v1", "nothing", "http://", "//h/v1"])
async def test_what_is_no_address_is_said_to_be_none(url: str):
    async with open_transport() as transport:
        told = await fault(transport, request(url))

    assert told.fault is Fault.ADDRESS


async def test_a_key_that_no_header_can_hold_is_a_matter_of_credentials():
    async with vendor(WHOLE) as (running, transport):
        told = await fault(transport, request(running.url, **{"x-api-key": "two\nlines"}))

    assert told.fault is Fault.CREDENTIALS
    assert "lines" not in told.text


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]"])
async def test_addresses_at_which_clouds_give_out_credentials_are_not_asked(host: str):
    async with open_transport() as transport:
        told = await fault(transport, request(f"http://{host}/latest"))

    assert told.fault is Fault.ADDRESS
    assert not classify(FailureSignals(fault=told.fault, text=told.text), NOW).retryable


def test_connections_are_kept_alive_while_a_model_thinks():
    with vendor_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))) as made:
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60


async def test_connections_are_made_with_such_sockets_and_reused():
    async with vendor(WHOLE) as (running, transport):
        assert [await body(transport, request(running.url)) for _ in range(3)] == [b"hello"] * 3

    assert running.connections == 1


async def test_a_dead_connection_is_replaced_by_a_new_one_and_not_by_another_dead_one():
    dying = asyncio.Event()
    together = asyncio.Barrier(2)

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if dying.is_set() and running.connections == 2:
            raise ConnectionResetError  # both that were there before
        if running.connections <= 2:
            await together.wait()
        await WHOLE(_reader, writer)

    async with vendor(talk) as (running, transport):
        async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as tasks:
            for _ in range(2):
                tasks.create_task(body(transport, request(running.url)))
        dying.set()
        assert await body(transport, request(running.url)) == b"hello"

    assert (running.connections, running.requests) == (3, 4)


async def test_a_new_connection_that_breaks_is_not_tried_again():
    async def reset(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        raise ConnectionResetError

    async with vendor(reset) as (running, transport):
        told = await fault(transport, request(running.url))

    assert told.fault in (Fault.USE_OF_CLOSED_CONNECTION, Fault.CONNECTION_RESET)
    assert running.requests == 1


async def test_a_call_that_is_cancelled_before_its_headers_closes_the_socket():
    asked = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()

    async with vendor(hang) as (running, transport), asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(body(transport, request(running.url)))
        await asked.wait()
        asking.cancel()
        await running.hung_up.wait()


async def test_a_head_without_end_is_refused():
    async with vendor(says(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1_000_000)) as (running, transport):
        told = await fault(transport, request(running.url))

    assert told.fault is Fault.PROTOCOL


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


def test_a_connection_cut_off_in_the_handshake_is_worth_another_try():
    key = ConnectionKey("h", 443, True, True, None, None, None)

    assert as_fault(aiohttp.ClientConnectorSSLError(key, ssl.SSLEOFError(8, "eof"))).fault is Fault.CONNECTION_RESET
    assert as_fault(aiohttp.ClientConnectorSSLError(key, ssl.SSLError(1, "alert"))).fault is Fault.TLS


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (aiohttp.ServerDisconnectedError(), Fault.USE_OF_CLOSED_CONNECTION),
        (aiohttp.ClientConnectionResetError("Cannot write to closing transport"), Fault.CONNECTION_RESET),
        (aiohttp.ClientOSError(104, "Connection reset by peer"), Fault.CONNECTION_RESET),
        (aiohttp.ClientPayloadError("Response payload is not completed"), Fault.CONNECTION_RESET),
        (aiohttp.ConnectionTimeoutError("late"), Fault.TIMED_OUT),
        (aiohttp.ClientError("odd"), Fault.PROTOCOL),
    ],
)
@pytest.mark.behaviour("ERR-5")
def test_each_exception_of_the_client_is_a_fault_that_is_retried(error: aiohttp.ClientError, found: Fault):
    told = as_fault(error)

    assert told.fault is found
    assert classify(FailureSignals(fault=told.fault), NOW).retryable


@pytest.mark.behaviour("ERR-5")
async def test_a_name_that_no_resolver_knows_is_retried():
    async with open_transport() as transport:
        told = await fault(transport, request("http://nobody.invalid/v1"))

    assert told.fault is Fault.DNS
    assert classify(FailureSignals(fault=told.fault), NOW).retryable


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
